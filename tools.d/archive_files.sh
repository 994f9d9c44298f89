#!/bin/sh
# Packs paths and prints a ToolResult with the archive: archive_files.sh PATH…
for program in tar gzip base64; do
  command -v "$program" >/dev/null || { echo "$program is not installed" >&2; exit 127; }
done
# The manifest puts a `--` before the paths.
shift
for path do
  [ -e "$path" ] || [ -L "$path" ] || { echo "there is no $path" >&2; exit 1; }
done
packed=$TMPDIR/packed
tar --create --file=- --ignore-failed-read --exclude-vcs --sort=name --owner=0 --group=0 --numeric-owner -- "$@" >"$packed" || exit
entries=$(tar --list --file="$packed" | wc -l) || exit
gzip -n "$packed" || exit
bytes=$(wc -c <"$packed.gz") || exit
if [ "$bytes" -gt 4194304 ]; then
  echo "the archive has $bytes bytes, more than 4194304; name fewer files" >&2
  exit 1
fi
printf '{"content":"%d entries, %d bytes packed","artifacts":[{"type":"file","mimeType":"application/gzip","data":"' "$entries" "$bytes"
base64 -w 0 "$packed.gz" || exit
printf '"}]}\n'
