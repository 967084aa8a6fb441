//go:build e2e && linux

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const (
	fix    = "TestBurstIsTheCeiling is red since the last release. Find out why and fix the limiter."
	resume = "Remind me, where did we leave the limiter?"
)

// settled waits for the worker to have nothing left to do and keeps its books.
const settled = `
for i in $(seq 100); do
  "$plugin/bin/claude-mem" stats --json >"$out/stats.json" || exit 1
  grep -Eq '"pending": *0[^0-9]' "$out/stats.json" && grep -Eq '"processing": *0[^0-9]' "$out/stats.json" && exit 0
  sleep 0.1
done
exit 1`

// pidOf prints the worker's pid; kill -9 takes no leave.
const (
	pidOf = `sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$HOME/.claude-mem/worker.json"`
	kill9 = `pid=$(` + pidOf + `) && echo "$pid" >"$out/killed" && kill -9 "$pid" &&
while kill -0 "$pid" 2>/dev/null && ! grep -q '^State:.*Z' /proc/$pid/status; do sleep 0.01; done`
)

// holdLock keeps every worker from running: somebody else has worker.lock.
const holdLock = `mkdir -p -m 700 "$HOME/.claude-mem" && cd "$HOME/.claude-mem" &&
setsid flock -o worker.lock sh -c 'echo $$ >"$out/holder"; exec sleep 600' >/dev/null 2>&1 </dev/null &
for i in $(seq 100); do [ -s "$out/holder" ] && exit 0; sleep 0.05; done; exit 1`

// releaseLock notes what the first session left behind, then lets workers run.
// First the workers that its hooks started have to give up: one that still waits
// for the lock would take it, and the second session would not have to start one.
const releaseLock = `for i in $(seq 200); do
  alive=
  for p in /proc/[0-9]*; do
    tr '\0' ' ' 2>/dev/null <"$p/cmdline" | grep -q "^${plugin%/*}/bin/claude-mem worker" && alive=1
  done
  [ -n "$alive" ] || break
  sleep 0.05
done
[ -z "$alive" ] || { echo "a worker waits for the lock without end"; exit 1; }
find "$HOME/.claude-mem/spool" -maxdepth 1 -name '*.json' | wc -l >"$out/spooled"
[ -e "$HOME/.claude-mem/worker.json" ] && echo 1 >"$out/worked" || echo 0 >"$out/worked"
kill "$(cat "$out/holder")"
for i in $(seq 100); do flock -n "$HOME/.claude-mem/worker.lock" true && exit 0; sleep 0.05; done
echo "the lock is not free"; exit 1`

// TestTwoSessions checks that the work of one session is in the first request of the
// next one, whether the worker kept running, died or was never up between them
// (accept-capture, point 2).
func TestTwoSessions(t *testing.T) {
	plugin := buildPlugin(t)
	for _, v := range []struct {
		name  string
		steps []string
		check func(t *testing.T, out string) string
	}{
		{name: "plain", steps: []string{"--prompt", fix, "--new-session", "--prompt", resume},
			check: func(*testing.T, string) string { return "worker up" }},
		{name: "worker killed in between", steps: []string{"--prompt", fix, "--between", kill9, "--new-session", "--prompt", resume},
			check: wasKilled},
		{name: "no worker in the first session", steps: []string{"--between", holdLock, "--prompt", fix, "--between", releaseLock,
			"--new-session", "--prompt", resume}, check: hadNoWorker},
	} {
		t.Run(v.name, func(t *testing.T) {
			out := play(t, plugin, append(v.steps, "--after", settled)...)
			checkBlock(t, v.name, out)
			checkHooks(t, v.name, out)
			checkBooks(t, v.name, out, v.check(t, out))
		})
	}
}

func wasKilled(t *testing.T, out string) string {
	t.Helper()
	if note(t, out, "killed") <= 1 {
		t.Error("no worker was killed")
	}
	return "worker killed with SIGKILL"
}

func hadNoWorker(t *testing.T, out string) string {
	t.Helper()
	// One prompt, four tools, Stop and SessionEnd: all of them wait in the spool.
	if n := note(t, out, "spooled"); n != 7 {
		t.Errorf("%d files in the spool after the first session, want 7", n)
	}
	if note(t, out, "worked") != 0 {
		t.Error("a worker ran although the lock was taken")
	}
	return "7 events spooled without a worker"
}

var passesNow = regexp.MustCompile(`(?i)\b(pass(es|ed)?|succeeds?|succeeded|green|works now|now works)\b`)

// checkBlock looks at the first request of the second session.
func checkBlock(t *testing.T, name, out string) {
	t.Helper()
	var first []request
	var second *request
	for _, r := range readLines[request](t, filepath.Join(out, "requests.jsonl")) {
		switch {
		case r.Kind == "rule" && r.Name == "second session" && second == nil:
			second = &r
		case r.Kind == "turn" || r.Kind == "after_turns":
			first = append(first, r)
		}
	}
	if second == nil || len(first) == 0 {
		t.Fatalf("%d requests of the first session, second session: %v", len(first), second != nil)
	}
	for _, r := range first {
		if _, n := block(t, r); n != 0 {
			t.Error("the first session was given a memory, and there was none")
			break
		}
	}
	got, n := block(t, *second)
	if n != 1 {
		t.Fatalf("%d context blocks in the second session's first request, want 1", n)
	}
	t.Logf("block:\n%s", got)

	if !strings.Contains(got, "bucket.go") {
		t.Error("the block does not name the edited file, bucket.go")
	}
	if !strings.Contains(got, "go test ./...") {
		t.Error("the block does not name the failing command, go test ./...")
	}
	if !passesNow.MatchString(got) {
		t.Error("the block does not say that the command passes now")
	}
	if !strings.Contains(got, "TestBurstIsTheCeiling is red") {
		t.Error("the block does not name the request")
	}
	lines := outputLines(t, first)
	if len(lines) < 10 {
		t.Errorf("only %d lines of tool output to compare with", len(lines))
	}
	copied := 0
	for _, l := range lines {
		if strings.Contains(got, l) {
			copied++
			t.Errorf("the block holds a line of tool output: %s", l)
		}
	}
	if t.Failed() {
		return
	}
	t.Logf("point 2: %s: block of %d characters names file, command, pass and request, 0 of %d output lines verbatim",
		name, len([]rune(got)), len(lines))
}

// checkHooks looks at how the CLI saw every hook end.
func checkHooks(t *testing.T, name, out string) {
	t.Helper()
	type result struct {
		Name     string `json:"hook_name"`
		Outcome  string `json:"outcome"`
		ExitCode *int   `json:"exit_code"`
		Stderr   string `json:"stderr"`
	}
	all := readLines[result](t, filepath.Join(out, "hook-results.jsonl"))
	for _, r := range all {
		// SessionEnd's result may come after the stream's end, then it has no line at all.
		if r.Outcome != "success" || r.ExitCode == nil || *r.ExitCode != 0 || r.Stderr != "" {
			t.Errorf("hook %+v", r)
		}
	}
	// SessionStart, UserPromptSubmit and Stop of both sessions, four tools in the first.
	if len(all) < 10 {
		t.Errorf("%d hook results, want at least 10", len(all))
	}
	if b, _ := os.ReadFile(filepath.Join(out, "stderr.txt")); len(b) > 0 {
		t.Errorf("the CLI's stderr: %s", b)
	}
	t.Logf("point 2: %s: %d hooks, all exit 0", name, len(all))
}

// checkBooks looks at the events of both sessions: none lost, none twice.
func checkBooks(t *testing.T, name, out, how string) {
	t.Helper()
	b := readStats(t, out)
	// Two prompts, four tools, two Stops, two SessionEnds.
	if !b.balanced() || b.Queue.Received != 10 || b.Queue.Failed != 0 || b.Queue.Pending+b.Queue.Processing != 0 {
		t.Errorf("books %+v, want 10 received, all processed or skipped", b.Queue)
	}
	left, err := filepath.Glob(filepath.Join(out, "home", ".claude-mem", "spool", "*.json"))
	if err != nil || len(left) > 0 {
		t.Errorf("left in the spool: %v, %v", left, err)
	}
	t.Logf("point 2: %s: %s, received %d = processed %d + skipped %d", name, how, b.Queue.Received, b.Queue.Processed, b.Queue.Skipped)
}

// TestPluginIsValid lets the CLI judge the plugin's manifest, hooks and skills.
func TestPluginIsValid(t *testing.T) {
	plugin := buildPlugin(t)
	cli := strings.Split(strings.TrimSpace(script(t, "--cli")), "\n")
	cmd := exec.Command(cli[0], append(cli[1:], "plugin", "validate", "--strict", plugin)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "DISABLE_AUTOUPDATER=1",
		"DISABLE_TELEMETRY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("claude plugin validate --strict: %v\n%s", err, out)
	}
	t.Logf("point 2: claude plugin validate --strict: valid")
}
