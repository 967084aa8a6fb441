#!/bin/sh
# Tests the scripts: ./test.sh
set -eu

here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

check() { # NAME GOT WANT
  if [ "$2" = "$3" ]; then
    echo "ok   $1"
  else
    echo "FAIL $1: got '$2', want '$3'"
    failed=1
  fi
}

mkdir "$dir/data"
echo hello >"$dir/data/file"
for day in 1 2 3 4; do
  BACKUP_DATE=2026-01-0$day "$here/backup.sh" "$dir/data" "$dir/to" >/dev/null
done
check "an archive a day" "$(ls "$dir/to" | wc -l | tr -d ' ')" 4

"$here/rotate.sh" "$dir/to" 2 >/dev/null
check "rotation keeps the newest two" "$(ls "$dir/to" | tr '\n' ' ')" "backup-2026-01-03.tar.gz backup-2026-01-04.tar.gz "

exit $failed
