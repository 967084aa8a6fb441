#!/bin/sh
# Keeps the newest archives: rotate.sh TARGET KEEP
set -eu

target=$1
keep=$2

cd "$target"
ls backup-*.tar.gz | sort | tail -n +"$((keep + 1))" | while read -r old; do
  rm "$old"
  echo "removed $old"
done
