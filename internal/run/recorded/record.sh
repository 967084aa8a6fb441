#!/usr/bin/env bash
# Records the sessions anew: plays each script of scenarios/ through the real
# Claude Code CLI, in a copy of its project, and keeps what the hooks were given.
# Needs what proof/e2e/run-claude-scenario.sh needs, and jq, python3 and node, since the
# tools that the script calls really run.
#
#   internal/run/recorded/record.sh            all sessions
#   internal/run/recorded/record.sh NAME ...   these (a session that goes on from another one
#                                 needs that one's end state: it is played as well)
#
# RECORD_WORK keeps the runs (default: a directory below TMPDIR, removed at the end).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
work=${RECORD_WORK:-}
if [ -z "$work" ]; then
  work=$(mktemp -d "${TMPDIR:-/tmp}/recorded.XXXXXX")
  trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work"

# The events that our plugin registers; the probe plugin sees more.
events="SessionStart UserPromptSubmit PostToolUse PostToolUseFailure Stop SubagentStop PreCompact SessionEnd"

# Tools are found on a plain PATH, so that no version manager's path gets into the
# payloads. Commits get a fixed author and date: the same script, the same hashes.
plain=$(dirname "$(command -v go)"):$(dirname "$(command -v node)"):/usr/local/bin:/usr/bin:/bin
gocache=$(go env GOCACHE)
export GIT_AUTHOR_NAME="Dana Reyes" GIT_AUTHOR_EMAIL=dana@example.com
export GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL
export GIT_AUTHOR_DATE="2026-01-12T09:30:00Z" GIT_COMMITTER_DATE="2026-01-12T09:30:00Z"

probe=$work/probe-plugin
rm -rf "$probe"
cp -R "$root/proof/e2e/probe-plugin" "$probe"
rm -rf "$probe/.mcp.json" "$probe/skills" "$probe/commands" # hooks alone: no word of ours in the transcripts
(cd "$root" && CGO_ENABLED=0 go build -buildvcs=false -o "$probe/bin/" ./proof/fakeanthropic/cmd/hookprobe)

played=" "
play() { # NAME
  local name=$1 script=$here/scenarios/$1.json out=$work/$1 project before steps=() n i
  case $played in *" $name "*) return ;; esac
  project=$(jq -r .project "$script")
  before=$(jq -r '.after // empty' "$script")
  if [ -n "$before" ]; then play "$before"; fi
  echo "== $name" >&2
  rm -rf "$out" "$out.project" "$out.payloads"
  mkdir -p "$out.payloads"
  if [ -n "$before" ]; then
    cp -R "$work/$before/project" "$out.project"
  else
    cp -R "$here/testdata/projects/$project" "$out.project"
    if [ -e "$out.project/go.mod.txt" ]; then mv "$out.project/go.mod.txt" "$out.project/go.mod"; fi
  fi

  jq '{turns: [.steps[].turns[]], rules: (.rules // [])}' "$script" >"$out.scenario.json"
  if [ "$(jq -r '.mode // "one-process"' "$script")" = one-process ]; then steps+=(--one-process); fi
  steps+=(--session-id "$(jq -r .session_id "$script")")
  n=$(jq '.steps | length' "$script")
  for ((i = 0; i < n; i++)); do
    steps+=(--prompt "$(jq -r ".steps[$i].prompt" "$script")")
  done
  PATH=$plain "$root/proof/e2e/run-claude-scenario.sh" --plugin "$probe" --scenario "$out.scenario.json" \
    --project "$out.project" --out "$out" "${steps[@]}" \
    --env HOOKPROBE_DIR="$out.payloads" --env GOCACHE="$gocache" --env GOTOOLCHAIN=local --env GOFLAGS="-buildvcs=false -count=1" \
    --env PYTHONDONTWRITEBYTECODE=1 --env NO_COLOR=1 \
    --env GIT_AUTHOR_NAME="$GIT_AUTHOR_NAME" --env GIT_AUTHOR_EMAIL="$GIT_AUTHOR_EMAIL" \
    --env GIT_COMMITTER_NAME="$GIT_COMMITTER_NAME" --env GIT_COMMITTER_EMAIL="$GIT_COMMITTER_EMAIL" \
    --env GIT_AUTHOR_DATE="$GIT_AUTHOR_DATE" --env GIT_COMMITTER_DATE="$GIT_COMMITTER_DATE"
  played="$played$name "
  keep "$name" "$project" "$script" "$out"
}

clean() { # OUT: this machine's paths out, placeholders in, not a byte else
  local slug
  slug=$(printf %s "$1/project" | sed 's/[^A-Za-z0-9]/-/g')
  sed -e "s#$1/project#{{project}}#g" -e "s#$1/home#{{home}}#g" -e "s#$slug#-project#g" \
    -e "s#$1/tmp#/tmp#g" -e "s#$1#/tmp/run#g" -e "s#$gocache#{{home}}/.cache/go-build#g"
}

# The CLI's own catalogue of agents and skills is long, says nothing about the
# session and is not ours to keep: the lines stay, for their uuids, their text goes.
without_listings() {
  local line
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in
      *'"attachment":{"type":"skill_listing"'* | *'"attachment":{"type":"agent_listing_delta"'*)
        jq -c '.attachment |= {type}' <<<"$line" ;;
      *) printf '%s\n' "$line" ;;
    esac
  done
}

keep() { # NAME PROJECT SCRIPT OUT
  local to=$here/sessions/$1 out=$4 f event i=0
  rm -rf "$to"
  mkdir -p "$to"
  for f in "$out.payloads"/*.json; do
    event=${f##*-}
    event=${event%.json}
    case " $events " in *" $event "*) ;; *) continue ;; esac
    i=$((i + 1))
    clean "$out" <"$f" >"$to/$(printf %03d $i)-$event.json"
  done
  find "$out/home/.claude/projects" -maxdepth 2 -name "$(jq -r .session_id "$3").jsonl" -exec cat {} + |
    without_listings | clean "$out" >"$to/transcript.jsonl"
  find "$out/home/.claude/projects" -path "*/$(jq -r .session_id "$3")/subagents/*" -type f | while IFS= read -r f; do
    mkdir -p "$to/subagents"
    without_listings <"$f" | clean "$out" >"$to/subagents/${f##*/}"
  done
  jq -n --arg name "$1" --arg project "$2" --slurpfile s "$3" \
    --arg cli "$(sed -n 's/^cli: \([^ ]*\).*/\1/p' "$out/environment.txt")" \
    '{name: $name, project: $project, note: $s[0].note, after: $s[0].after, cli_version: $cli,
      session_id: $s[0].session_id, prompts: [$s[0].steps[].prompt]} | with_entries(select(.value != null))' >"$to/meta.json"
  echo "   $i payloads, $(wc -c <"$to/transcript.jsonl") bytes of transcript" >&2
}

if [ $# -eq 0 ]; then
  set -- "$here"/scenarios/*.json
fi
for s in "$@"; do
  s=${s##*/}
  play "${s%.json}"
done
