#!/bin/sh
# Commits what is staged, with the message from standard input: git_commit.sh
command -v git >/dev/null || { echo "git is not installed; for instance: apt-get install git" >&2; exit 127; }
own() { git --no-pager -c safe.directory='*' -c core.fsmonitor=false -c core.hooksPath=/dev/null "$@"; }
merge=$(own rev-parse --git-path MERGE_HEAD) || exit
if [ ! -e "$merge" ] && own diff --cached --quiet --no-ext-diff --no-textconv --ignore-submodules=dirty; then
  echo "nothing is staged, so there is nothing to commit; stage files with git_add" >&2
  exit 1
fi
if ! own var GIT_AUTHOR_IDENT >/dev/null 2>&1 || ! own var GIT_COMMITTER_IDENT >/dev/null 2>&1; then
  echo "who commits is not known: set GIT_AUTHOR_NAME, GIT_AUTHOR_EMAIL, GIT_COMMITTER_NAME and GIT_COMMITTER_EMAIL where toolctl runs, or user.name and user.email in the repository's own configuration" >&2
  exit 1
fi
own -c commit.gpgSign=false -c gc.auto=0 -c maintenance.auto=false -c core.editor=false -c commit.template= \
  commit --quiet --no-verify --no-gpg-sign --no-status --cleanup=whitespace --file=- || exit
own log -1 --no-color --no-show-signature --no-ext-diff --no-textconv --stat=120 --format='%h %s'
