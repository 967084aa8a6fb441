#!/usr/bin/env bash
# Plays one scenario through the real Claude Code CLI with a plugin loaded,
# against a fake Messages API on loopback. Needs Linux, bash 4, go, git and, the
# first time, npm; no account, no key, no network of its own.
#
#   run-claude-scenario.sh --plugin DIR --scenario FILE --prompt TEXT --out DIR
#       --plugin ""           no plugin but what the home has installed
#       [--prompt TEXT ...]   further prompts: each resumes the same session
#       [--one-process]       the prompts of a session go one after the other to one
#                             CLI process (one SessionStart, one SessionEnd), as a
#                             person at the terminal would type them
#       [--new-session]       the prompts after it belong to a fresh session
#       [--session-id UUID]   of the (next) fresh session; default: a random one
#       [--resume UUID]       the prompts after it belong to an earlier session
#       [--fork UUID]         the prompts after it belong to a fork of this session with that id
#       [--between COMMAND]   run at this point of the sequence, same environment
#                             (a new scenario: curl -d @FILE $ANTHROPIC_BASE_URL/__fake/scenario)
#       [--project DIR]       copied to OUT/project (default: a small Go project)
#       [--home DIR]          copied to OUT/home first (settings, plugin data)
#       [--env NAME=VALUE]    for the CLI and the plugin (repeatable)
#       [--var NAME=VALUE]    for {{NAME}} in the scenario; project, home are set
#       [--after COMMAND]     run in the project, same environment, after the CLI
#       [--timeout SECONDS]   for each CLI run and for COMMAND (default 120)
#       [--version V]         CLI version (default 2.1.197; "latest" works too)
#       [--no-isolation]      no private network and process namespace
#       [--cli]               only prints the CLI's command, one word a line
#       [-- CLI ARGUMENTS]    added to the CLI's command line
#
# Environment: AGENT_E2E_CACHE (default: XDG cache) keeps the CLI and the built
# tools; CLAUDE_BIN names a CLI to use instead of installing one.
#
# Leaves in OUT: requests.jsonl (what the model was sent), stdout.jsonl (the
# CLI's stream, hook results included), hook-results.jsonl (those alone), between.txt,
# hooks.jsonl (what hookprobe recorded, where the plugin uses it), stderr.txt,
# after.txt, exit-code, environment.txt, debug/, project/ and home/.
# Exit status: that of the last CLI run, or of COMMAND where the CLI had 0;
# 64 for wrong arguments, 69 where the CLI cannot be had (no npm, or its registry
# cannot be reached), 70 where it could be had and installing it failed.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
die() { echo "run-claude-scenario: $1" >&2; exit "${2:-64}"; } # MESSAGE [STATUS]
abs() { (cd "$1" 2>/dev/null && pwd) || die "no such directory: $1"; }

plugin= plugin_given= scenario= out= project= home= after= timeout=120 version=2.1.197 isolate=1 one_process=0 cli_only=0
steps=() envs=() vars=() extra=()
while [ $# -gt 0 ]; do
  case $1 in
    --plugin) plugin_given=1; if [ -n "$2" ]; then plugin=$(abs "$2"); fi; shift 2 ;;
    --scenario) [ -f "$2" ] || die "no such file: $2"
      scenario=$(abs "$(dirname "$2")")/$(basename "$2"); shift 2 ;;
    --prompt) steps+=("p:$2"); shift 2 ;;
    --new-session) steps+=("n:"); shift ;;
    --one-process) one_process=1; shift ;;
    --session-id) steps+=("s:$2"); shift 2 ;;
    --resume) steps+=("r:$2"); shift 2 ;;
    --fork) steps+=("f:$2"); shift 2 ;;
    --between) steps+=("b:$2"); shift 2 ;;
    --out) mkdir -p "$2"; out=$(abs "$2"); shift 2 ;;
    --project) project=$(abs "$2"); shift 2 ;;
    --home) home=$(abs "$2"); shift 2 ;;
    --env) envs+=("$2"); shift 2 ;;
    --var) vars+=(-var "$2"); shift 2 ;;
    --after) after=$2; shift 2 ;;
    --timeout) timeout=$2; shift 2 ;;
    --version) version=$2; shift 2 ;;
    --no-isolation) isolate=0; shift ;;
    --cli) cli_only=1; shift ;;
    --) shift; extra=("$@"); break ;;
    -h | --help) sed -n '2,/^set -/p' "$0" | sed '$d; s/^# \{0,1\}//'; exit 0 ;;
    *) die "unknown argument: $1 (see --help)" ;;
  esac
done
if [ $cli_only = 0 ]; then
  [ -n "$plugin_given" ] || die "--plugin is missing"
  [ -n "$scenario" ] || die "--scenario is missing"
  [ -n "$out" ] || die "--out is missing"
  [[ ${steps[*]-} == *p:* ]] || die "--prompt is missing"
  [ ! -e "$out/requests.jsonl" ] || die "$out holds an earlier run"
fi

# --- tools: built and installed once, then found in the cache -----------------
cache=${AGENT_E2E_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/agent-e2e}
mkdir -p "$cache/bin"
(cd "$here/../.." && CGO_ENABLED=0 go build -buildvcs=false -o "$cache/bin/" ./proof/fakeanthropic/cmd/...)

find_cli() { # prints the CLI's command in an npm prefix, one word a line
  local m=$1/node_modules/@anthropic-ai f
  for f in "$m"/claude-code-*/claude "$m"/claude-code-*/claude.exe; do
    if [ -x "$f" ]; then echo "$f"; return; fi
  done
  if [ -f "$m/claude-code/cli.js" ]; then printf '%s\n' node "$m/claude-code/cli.js"; fi
}
if [ -n "${CLAUDE_BIN:-}" ]; then
  cli=("$CLAUDE_BIN")
else
  prefix=$cache/claude-code-$version
  mapfile -t cli < <(find_cli "$prefix")
  if [ ${#cli[@]} -eq 0 ]; then
    command -v npm >/dev/null || die "no CLI in $prefix and no npm to install it with" 69
    mkdir -p "$prefix"
    if ! npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$prefix" \
      "@anthropic-ai/claude-code@$version" >&2; then
      npm view --silent @anthropic-ai/claude-code name >/dev/null 2>&1 ||
        die "no CLI in $prefix and npm's registry cannot be reached" 69
      die "npm could not install the CLI" 70
    fi
    mapfile -t cli < <(find_cli "$prefix")
    [ ${#cli[@]} -gt 0 ] || die "npm brought no CLI for this platform" 70
  fi
fi

if [ $cli_only = 1 ]; then
  printf '%s\n' "${cli[@]}"
  exit 0
fi

# --- a scratch home and project ----------------------------------------------
mkdir -p "$out/home" "$out/project" "$out/tmp" "$out/debug"
if [ -n "$home" ]; then cp -R "$home/." "$out/home/"; fi
if [ -n "$project" ]; then
  cp -R "$project/." "$out/project/"
else
  mkdir -p "$out/project/src"
  printf '# Demo\n\nA demo project.\n' >"$out/project/README.md"
  printf 'package main\n\nimport "fmt"\n\nfunc main() {\n\tfmt.Println("hello")\n}\n' >"$out/project/src/main.go"
fi
if [ ! -e "$out/project/.git" ]; then
  git -C "$out/project" init -q -b main
  git -C "$out/project" add -A
  git -C "$out/project" -c user.name=dev -c user.email=dev@example.com commit -qm "Initial commit"
fi

# --- the run itself, in its own network and process namespace if possible -----
ns=()
if [ $isolate = 1 ]; then
  for try in "unshare -n -p -f --mount-proc --kill-child" "unshare -r -n -p -f --mount-proc --kill-child"; do
    if $try sh -c 'ip link set lo up' 2>/dev/null; then read -ra ns <<<"$try"; break; fi
  done
fi
# Older CLIs know fewer flags.
help=$("${cli[@]}" --help </dev/null 2>/dev/null || true)
flags=(--output-format stream-json --verbose --dangerously-skip-permissions)
case $help in *--include-hook-events*) flags+=(--include-hook-events) ;; esac
case $help in *--debug-file*) flags+=(--debug-file "$out/debug/debug.txt") ;; esac

{
  echo "cli: $("${cli[@]}" --version </dev/null 2>/dev/null)"
  echo "isolation: ${ns[*]:-none}"
} >"$out/environment.txt"

declare -p cli steps flags extra vars envs >"$out/tmp/arrays"
status=0
"${ns[@]}" env -i PATH="$cache/bin:$PATH" HOME="$out/home" TMPDIR="$out/tmp" LANG=C.UTF-8 TERM=dumb \
  out="$out" timeout="$timeout" one_process="$one_process" after="$after" plugin="$plugin" scenario="$scenario" \
  fake="$cache/bin/fakeanthropic" isolated="${#ns[@]}" \
  bash -c '
set -uo pipefail
. "$out/tmp/arrays"
if [ "$isolated" != 0 ]; then ip link set lo up; fi
"$fake" -scenario "$scenario" -log "$out/requests.jsonl" -url-file "$out/tmp/url" \
  -max-time 1h -var project="$out/project" -var home="$out/home" ${vars[@]+"${vars[@]}"} \
  >/dev/null 2>"$out/fake.txt" &
server=$!
trap "kill $server 2>/dev/null; wait $server 2>/dev/null" EXIT
for _ in $(seq 100); do
  [ -s "$out/tmp/url" ] && break
  kill -0 "$server" 2>/dev/null || { cat "$out/fake.txt" >&2; exit 65; }
  sleep 0.05
done
export ANTHROPIC_BASE_URL=$(cat "$out/tmp/url") ANTHROPIC_API_KEY=dummy IS_SANDBOX=1
export CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_TELEMETRY=1 DISABLE_AUTOUPDATER=1 \
  DISABLE_ERROR_REPORTING=1 CLAUDE_CODE_MAX_RETRIES=2
export HOOKPROBE_LOG="$out/hooks.jsonl"
for e in ${envs[@]+"${envs[@]}"}; do export "$e"; done
unset fake scenario isolated
cd "$out/project"
new_uuid() {
  od -An -N16 -tx1 /dev/urandom | tr -d " \n" |
    sed -E "s/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/\1-\2-4\3-8\4-\5/"
}
status=0 uuid= next_uuid= fork= pid= load=()
if [ -n "$plugin" ]; then load=(--plugin-dir "$plugin"); fi

# --one-process: the session'"'"'s CLI reads prompts from descriptor 8 and is read at
# descriptor 9; a "result" line ends each turn.
open_cli() {
  mkfifo "$out/tmp/in" "$out/tmp/answers"
  timeout -k 5 "$timeout" "${cli[@]}" -p --input-format stream-json "${id[@]}" ${load[@]+"${load[@]}"} \
    "${flags[@]}" ${extra[@]+"${extra[@]}"} <"$out/tmp/in" >"$out/tmp/answers" 2>>"$out/stderr.txt" &
  pid=$!
  exec 8>"$out/tmp/in" 9<"$out/tmp/answers"
  rm "$out/tmp/in" "$out/tmp/answers"
}
ask_cli() { # TEXT
  local s=$1 line
  s=${s//\\/\\\\}; s=${s//\"/\\\"}; s=${s//$'"'\\n'"'/\\n}; s=${s//$'"'\\t'"'/\\t}
  (printf "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"%s\"}}\n" "$s" >&8) # a dead CLI then ends the subshell, not the run
  while IFS= read -r line <&9; do
    printf "%s\n" "$line" >>"$out/stdout.jsonl"
    case $line in *\"type\":\"result\"*) return 0 ;; esac
  done
  return 1
}
close_cli() {
  [ -n "$pid" ] || return 0
  exec 8>&-
  cat <&9 >>"$out/stdout.jsonl"
  exec 9<&-
  wait "$pid"
  status=$?
  pid=
  return $status
}

for step in "${steps[@]}"; do
  what=${step#?:}
  case $step in
    n:*) close_cli || break; uuid=; continue ;;
    r:*) close_cli || break; uuid=$what; continue ;;
    f:*) close_cli || break; fork=$what; continue ;;
    s:*) next_uuid=$what; continue ;;
    b:*)
      timeout -k 5 "$timeout" bash -c "$what" </dev/null >>"$out/between.txt" 2>&1 8>&- 9>&-
      status=$?
      [ $status = 0 ] || break
      continue ;;
  esac
  if [ -z "$uuid" ]; then
    uuid=${next_uuid:-$(new_uuid)} next_uuid=
    id=(--session-id "$uuid"); echo "session: $uuid" >>"$out/environment.txt"
  else
    id=(--resume "$uuid")
  fi
  if [ -n "$fork" ]; then
    id+=(--fork-session --session-id "$fork") uuid=$fork fork=
  fi
  if [ "$one_process" = 1 ]; then
    [ -n "$pid" ] || open_cli
    ask_cli "$what" && continue
    close_cli || break
    status=1
    break
  fi
  timeout -k 5 "$timeout" "${cli[@]}" -p "$what" "${id[@]}" ${load[@]+"${load[@]}"} \
    "${flags[@]}" ${extra[@]+"${extra[@]}"} \
    </dev/null >>"$out/stdout.jsonl" 2>>"$out/stderr.txt"
  status=$?
  [ $status = 0 ] || break
done
close_cli || true
if [ -n "$after" ]; then
  timeout -k 5 "$timeout" bash -c "$after" </dev/null >"$out/after.txt" 2>&1
  s=$?
  [ $status != 0 ] || status=$s
fi
exit $status
' || status=$?
grep '"subtype":"hook_response"' "$out/stdout.jsonl" >"$out/hook-results.jsonl" 2>/dev/null || true
echo "$status" >"$out/exit-code"
rm -rf "$out/tmp"
exit "$status"
