# For ~/.bashrc, or as /usr/share/bash-completion/completions/toolctl. The script comes from the toolctl in use.
source <(toolctl completions bash)
