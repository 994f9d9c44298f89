#!/bin/sh
# Runs the SQL of standard input against a database that is only read: sql_query.sh FILE
command -v sqlite3 >/dev/null || { echo "sqlite3 is not installed; for instance: apt-get install sqlite3" >&2; exit 127; }
[ -f "$1" ] || { echo "$1 is not a file" >&2; exit 1; }
kind=$(head -c 20 -- "$1" | od -An -v -tx1 | tr -d ' \n') || exit
case "$kind" in
  53514c69746520666f726d6174203300????0101*) ;;
  53514c69746520666f726d6174203300????0[12]0[12]*)
    echo "$1 is a database in WAL mode: its newest rows may be in $1-wal, and reading it would need to write beside it. Query a copy (sqlite3 FILE \"VACUUM INTO 'copy.db'\"), or leave WAL mode (PRAGMA journal_mode=DELETE)." >&2
    exit 1 ;;
  "") ;;
  *) echo "$1 is not a SQLite database, or it is encrypted" >&2; exit 1 ;;
esac
exec sqlite3 -batch -safe -readonly -bail -json "$1"
