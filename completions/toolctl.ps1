# For $PROFILE. The script comes from the toolctl in use.
toolctl completions powershell | Out-String | Invoke-Expression
