# Sourced by each accept-SUBJECT: clones HEAD into a temporary directory and prints one
# line per point, with its command and figure. Logs are kept in $logs.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
logs=$work/logs
mkdir -p "$logs"
git clone -q "$root" "$work/clone" || exit 1
cd "$work/clone" || exit 1
failed=0
runs=0

say() { # say POINT STATUS COMMAND FIGURE
  local verdict=ok
  [ "$2" = 0 ] || { verdict=FAILED; failed=1; }
  printf '%s %-6s %s → %s\n' "$1" "$verdict" "$3" "$4"
}
atmost() { # atmost POINT LIMIT FIGURE UNIT COMMAND
  awk -v f="$3" -v l="$2" 'BEGIN { exit !(f != "" && f <= l) }'
  say "$1" $? "$5" "${3:-nothing measured} $4 (bar $2)"
}
seconds() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(seconds)" 'BEGIN { printf "%.1f s", b - a }'; }
figures() { # the figures that the tests of a point printed; a test of two subjects has the number of one
  { grep -ohE "point $1: .*" "$2" || grep -ohE 'point [0-9]+: .*' "$2"; } | sed -E 's/^point [0-9]+: //' | paste -sd ';' - | sed 's/;/; /g'
}
gotest() { # gotest POINT PATTERN PACKAGE [FLAG ...]: without figures of their own the cases that pass are counted
  local point=$1 pattern=$2 package=$3 status log figure
  shift 3
  runs=$((runs + 1))
  log=$logs/point$point-$runs.txt
  go test -count=1 -v -run "$pattern" "$package" "$@" >"$log" 2>&1
  status=$?
  grep -q '^--- PASS\|^ok' "$log" || status=1
  if grep -q '^ *--- SKIP\|no tests to run' "$log"; then status=1; fi
  figure=$(figures "$point" "$log")
  say "$point" $status "go test -run '$pattern' $package${*:+ $*}" "${figure:-$(grep -c '^ *--- PASS' "$log") cases pass}"
}
each_point() { # each_point POINT ...: calls their functions, then says where the logs are
  local p
  for p in "$@"; do "point$p"; done
  echo "logs: $logs"
  exit $failed
}
