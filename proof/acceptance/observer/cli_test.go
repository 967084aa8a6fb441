//go:build unix && e2e

package observer

import (
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"
)

// realVendors are the providers that need a program of others.
var realVendors = []string{"claude"}

// pathOf is the directory of a provider's program, "" where it needs none.
func pathOf(t *testing.T, vendor string) string {
	t.Helper()
	if vendor != "claude" {
		return ""
	}
	dir, _ := claudeCLI(t)
	return dir
}

// claudeCLI is the real CLI, as the command `claude` in a directory of its own.
// Each start is noted in the file starts there, with its process id.
func claudeCLI(t *testing.T) (dir, starts string) {
	t.Helper()
	out, err := exec.Command(world.Root("proof", "e2e", "run-claude-scenario.sh"), "--cli").Output()
	if err != nil {
		t.Skipf("NOT TESTED, there is no CLI: %v", err)
	}
	words := strings.Fields(string(out))
	for i := range words {
		words[i] = "'" + words[i] + "'"
	}
	dir = t.TempDir()
	starts = filepath.Join(dir, "starts")
	script := fmt.Sprintf("#!/bin/sh\necho \"$$ $*\" >>'%s'\nexec %s \"$@\"\n", starts, strings.Join(words, " "))
	if err := os.WriteFile(filepath.Join(dir, "claude"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir, starts
}

// cliStart is a start of the CLI that was to hold a conversation.
type cliStart struct {
	pid  int
	args string
}

func cliStarts(t *testing.T, file string) []cliStart {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	var all []cliStart
	for line := range strings.Lines(string(b)) {
		pid, args, _ := strings.Cut(strings.TrimSpace(line), " ")
		// The arguments hold the system prompt, with lines of its own.
		if n, err := strconv.Atoi(pid); err == nil && strings.Contains(args, "stream-json") {
			all = append(all, cliStart{n, args})
		}
	}
	return all
}

// alive reports whether a process runs; one that only waits to be collected does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(b), ") Z ")
}

func anyAlive(starts []cliStart) bool {
	for _, s := range starts {
		if alive(s.pid) {
			return true
		}
	}
	return false
}

// transcripts are the files in which the CLI keeps conversations, by whether they
// lie in the observer's own directory.
func transcripts(m *world.Memory) (own, others []string) {
	root := filepath.Join(m.Home, ".claude", "projects")
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // what is not there holds no transcript
		}
		if strings.HasSuffix(filepath.Base(filepath.Dir(path)), "-memory-observer") {
			own = append(own, path)
		} else {
			others = append(others, path)
		}
		return nil
	})
	return own, others
}

// runOf returns the name of the observer's run for a host's session.
func runOf(m *world.Memory, session string) (run string) {
	m.T.Helper()
	m.Query(func(r *sql.Rows) error { return r.Scan(&run) }, "SELECT memory_session_id FROM sessions WHERE host_session_id = ?", session)
	return run
}

// TestClaude has the real CLI observe, against the stand-in.
func TestClaude(t *testing.T) {
	path, log := claudeCLI(t)
	var hold atomic.Bool
	released := make(chan struct{})
	release := sync.OnceFunc(func() { close(released) })
	api := world.NewStandIn(t, func(*world.Asked) world.Reply {
		if hold.Load() {
			<-released
		}
		return world.Reply{}
	})
	t.Cleanup(release)
	m := world.NewMemory(t)
	m.Configure(api.With("claude", "MAX_OBSERVERS", "2"))
	m.Prepend(path)
	m.MustCommand("worker", "start")

	h := &world.Host{M: m, ID: "claude-a"}
	for range 3 {
		h.Turn(2)
		m.Settle(world.SettleLimit)
	}
	run, calls, starts := runOf(m, h.ID), api.Calls(), cliStarts(t, log)
	if len(calls) != 3 || len(starts) != 1 || run == "" || calls[0].Run != run || calls[2].Run != run {
		t.Fatalf("%d calls in %d processes, runs %s and %s; want 3 in one, run %s",
			len(calls), len(starts), calls[0].Run, calls[len(calls)-1].Run, run)
	}
	m.MustCommand("worker", "stop")
	if anyAlive(starts) {
		t.Error("a process is left after stop")
	}
	m.MustCommand("worker", "start")
	h.Turn(2)
	m.Settle(world.SettleLimit)
	calls, starts = api.Calls(), cliStarts(t, log)
	last := calls[len(calls)-1]
	if len(starts) != 2 || !strings.Contains(starts[1].args, "--resume "+run) || last.Run != run || runOf(m, h.ID) != run ||
		!strings.Contains(string(last.Body), "Make change 1 of claude-a") {
		t.Errorf("after a restart: %d processes, run %s, want it resumed as %s with what was said before", len(starts), last.Run, run)
	}

	three := make([]*world.Host, 3)
	var wg sync.WaitGroup
	for i := range three {
		three[i] = &world.Host{M: m, ID: fmt.Sprint("claude-at-once-", i)}
		wg.Go(func() { three[i].Turn(2) })
	}
	wg.Wait()
	b := m.Settle(world.SettleLimit)
	runs := map[string]bool{}
	for _, c := range api.Calls()[len(calls):] {
		runs[c.Run] = true
	}
	if len(runs) != 3 || b.Processed != b.Received {
		t.Errorf("three sessions at once: %d runs, books %+v", len(runs), b)
	}
	own, others := transcripts(m)
	if len(others) > 0 || len(own) == 0 {
		t.Errorf("transcripts %v in the observer's directory, %v outside", own, others)
	}
	h.End()
	world.Until(t, world.SettleLimit, "the transcript of a completed session is deleted", func() bool {
		own, _ := transcripts(m)
		for _, file := range own {
			if strings.Contains(file, run) {
				return false
			}
		}
		return true
	})

	// The worker dies while the CLI waits for an answer.
	hold.Store(true)
	before := api.Count()
	three[0].Turn(2)
	world.Until(t, world.SettleLimit, "a call is under way", func() bool { return api.Count() > before })
	starts = cliStarts(t, log)
	if !anyAlive(starts) {
		t.Error("no process holds the call")
	}
	killed := time.Now()
	if err := syscall.Kill(m.WorkerPID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	world.Until(t, 10*time.Second, "no process is left after kill -9", func() bool { return !anyAlive(starts) })
	gone := time.Since(killed)
	hold.Store(false)
	release()
	if b := m.Settle(world.SettleLimit); b.Processed != b.Received || b.Failed != 0 {
		t.Errorf("after kill -9: books %+v", b)
	}
	starts = cliStarts(t, log)
	m.MustCommand("worker", "stop")
	if anyAlive(starts) {
		t.Error("a process is left after the last stop")
	}
	world.Figure(t, 4, "worker with the real CLI: 3 turns in 1 process, resumed after a restart as the same run, 3 sessions at once, %d transcripts outside, no process %d ms after kill -9",
		len(others), gone.Milliseconds())
}
