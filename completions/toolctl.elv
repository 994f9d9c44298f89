# For ~/.config/elvish/rc.elv. The script comes from the toolctl in use.
eval (toolctl completions elvish | slurp)
