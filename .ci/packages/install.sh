#!/bin/sh
# Installs claude-mem @VERSION@: fetches the archive for this system, checks it against the hash below, puts both programs
# into ~/.local/bin (or BIN_DIR) and runs `claude-mem install`. Nothing is left after a failure, and no sudo is needed.
#   curl -fsSL @URL@/install.sh | sh
#   NO_INSTALL=1 places the programs only.
set -eu
main() {
  os=$(uname -s) arch=$(uname -m)
  case $arch in x86_64 | amd64) arch=amd64 ;; aarch64 | arm64) arch=arm64 ;; esac
  case $os-$arch in
    Linux-amd64) file=linux_amd64 hash=@SHA256:linux_amd64@ ;;
    Linux-arm64) file=linux_arm64 hash=@SHA256:linux_arm64@ ;;
    Darwin-amd64) file=darwin_amd64 hash=@SHA256:darwin_amd64@ ;;
    Darwin-arm64) file=darwin_arm64 hash=@SHA256:darwin_arm64@ ;;
    *) fail "there is no archive for $os on $arch" ;;
  esac
  file=claude-mem_@VERSION@_$file.tar.gz
  bin=${BIN_DIR:-$HOME/.local/bin}
  made=; dir=$bin
  while [ ! -d "$dir" ]; do made=$dir dir=$(dirname "$dir"); done # the highest directory that is made here
  temp=
  trap 'status=$?; rm -rf "$temp"; [ $status = 0 ] || [ -z "$made" ] || rm -rf "$made"; exit $status' EXIT
  trap 'exit 130' HUP INT TERM
  mkdir -p "$bin" || fail "cannot make $bin"
  temp=$(mktemp -d "$bin/.claude-mem.XXXXXX") || fail "cannot write to $bin" # beside the place, so that a rename is enough
  fetch "${CLAUDE_MEM_URL:-@URL@}/$file" "$temp/$file" || fail "could not fetch ${CLAUDE_MEM_URL:-@URL@}/$file"
  [ "$(sum "$temp/$file")" = "$hash" ] || fail "$file is not the file of this release: its hash is another one"
  tar -xzf "$temp/$file" -C "$temp" ./claude-mem ./claude-mem-hook || fail "could not unpack $file (is the disk full?)"
  "$temp/claude-mem" --version >/dev/null || fail "the program does not run on this system"
  for program in claude-mem claude-mem-hook; do [ ! -d "$bin/$program" ] || fail "$bin/$program is a folder"; done
  [ ! -e "$bin/claude-mem-hook" ] || cp -p "$bin/claude-mem-hook" "$temp/old" || fail "cannot write to $bin"
  mv -f "$temp/claude-mem-hook" "$bin/claude-mem-hook" || fail "cannot replace $bin/claude-mem-hook"
  mv -f "$temp/claude-mem" "$bin/claude-mem" || { # both programs or none
    mv -f "$temp/old" "$bin/claude-mem-hook" 2>/dev/null || rm -f "$bin/claude-mem-hook"
    fail "cannot replace $bin/claude-mem"
  }
  made=
  echo "claude-mem @VERSION@ is in $bin" >&2
  case :$PATH: in *:"$bin":*) ;; *) echo "$bin is not in your PATH: add it, or write $bin/claude-mem" >&2 ;; esac
  [ -z "${NO_INSTALL:-}" ] || return 0
  if [ -t 0 ]; then set --; elif (: </dev/tty) 2>/dev/null; then exec_from=/dev/tty; else set -- --yes; fi
  "$bin/claude-mem" install "$@" <"${exec_from:-/dev/stdin}" ||
    { echo "install: the programs are in place; \`$bin/claude-mem install\` connects your agent" >&2; return 1; }
}
fail() { echo "install: $1; nothing was installed" >&2; exit 1; }
fetch() {
  if command -v curl >/dev/null; then curl -fsSL --retry 2 -o "$2" "$1"; else wget -q -O "$2" "$1"; fi
}
sum() {
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d' ' -f1
}
main "$@" # read as a whole before anything runs
