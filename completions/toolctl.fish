# As ~/.config/fish/completions/toolctl.fish. The script comes from the toolctl in use.
toolctl completions fish | source
