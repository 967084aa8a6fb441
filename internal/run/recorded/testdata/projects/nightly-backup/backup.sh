#!/bin/sh
# Packs a directory: backup.sh SOURCE TARGET
set -eu

source=$1
target=$2
date=${BACKUP_DATE:-$(date +%Y-%m-%d)}

mkdir -p "$target"
tar -czf "$target/backup-$date.tar.gz" -C "$source" .
echo "backup-$date.tar.gz"
