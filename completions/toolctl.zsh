#compdef toolctl
# As _toolctl in a folder of fpath, or in ~/.zshrc after compinit. The script comes from the toolctl in use.
source <(toolctl completions zsh)
