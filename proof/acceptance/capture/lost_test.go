//go:build linux

package capture

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"
)

// TestLostEventsAreTold fills the disk of the data directory while 8 agents work: the events
// that neither the worker nor a hook could keep are counted, and told once there is room.
func TestLostEventsAreTold(t *testing.T) {
	world.NeedBinaries(t)
	if !world.OwnMounts(t) {
		return
	}
	for _, alive := range []bool{true, false} {
		t.Run(fmt.Sprintf("worker alive %t", alive), func(t *testing.T) {
			m := world.NewMemory(t)
			settings, err := os.ReadFile(filepath.Join(m.Dir, "config.json"))
			if err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mount("none", m.Dir, "tmpfs", 0, "size=8m,mode=700"); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_, _ = m.Command("worker", "stop")
				_ = syscall.Unmount(m.Dir, syscall.MNT_DETACH)
			})
			if err := os.WriteFile(filepath.Join(m.Dir, "config.json"), settings, 0o600); err != nil {
				t.Fatal(err)
			}
			m.MustCommand("worker", "start")
			fillDisk(m, 500, alive)

			now := sessionStart(m, "while-full")
			for _, want := range []string{"the worker", "the hook", "no space left on device"} {
				if !strings.Contains(now, want) {
					t.Errorf("told while the disk is full: %q, want %q", now, want)
				}
			}

			if err := syscall.Mount("none", m.Dir, "tmpfs", syscall.MS_REMOUNT, "size=64m,mode=700"); err != nil {
				t.Fatal(err)
			}
			m.MustCommand("worker", "start")
			then := sessionStart(m, "with-room")
			books := m.Settle(60 * time.Second)
			lost := 500 - books.Received
			if lost < 100 {
				t.Fatalf("only %d of 500 events were lost: the disk was not full", lost)
			}
			if books.Lost != lost || !books.Balanced() {
				t.Errorf("books %+v, want %d lost", books, lost)
			}
			// The write-ahead log of a database on a full disk may have room for the count: then it is
			// told at once, and the log file has no room for its line.
			want := fmt.Sprintf("%d events of ", lost)
			early := alive && strings.Contains(now, want)
			if early == strings.Contains(then, want) {
				t.Errorf("told while full %q and with room %q, want %q once", now, then, want)
			}
			if again := sessionStart(m, "later"); strings.Contains(again, "could not be kept") {
				t.Errorf("told twice: %q", again)
			}
			report, _ := m.Command("doctor", "--json")
			if !strings.Contains(string(report), `"event-lost"`) || !strings.Contains(string(report), fmt.Sprintf("%d events lost from", lost)) {
				t.Errorf("doctor: %s", report)
			}
			if log := lossesLogged(m); log != lost && (!early || log != 0) {
				t.Errorf("worker.log tells of %d lost events, want %d", log, lost)
			}
			world.Figure(t, 2, "disk full, worker alive %t: 500 events, %d received, %d lost and told", alive, books.Received, books.Lost)
		})
	}
}

// lossesLogged adds up the lost events that the worker's log tells of. A line that the disk had no
// room for can stand in front of one.
func lossesLogged(m *world.Memory) (lost int) {
	m.T.Helper()
	log, err := os.ReadFile(filepath.Join(m.Dir, "logs", "worker.log"))
	if err != nil {
		m.T.Fatal(err)
	}
	for _, match := range regexp.MustCompile(`"events were lost","count":(\d+)`).FindAllSubmatch(log, -1) {
		n, _ := strconv.Atoi(string(match[1]))
		lost += n
	}
	return lost
}

// fillDisk has 8 sessions send events until count were sent. After the first tenth, the disk
// is full; alive tells whether the worker lives on.
func fillDisk(m *world.Memory, count int, alive bool) {
	m.T.Helper()
	var next atomic.Int64
	var full sync.Once
	var agents sync.WaitGroup
	for agent := range 8 {
		agents.Go(func() {
			for {
				n := int(next.Add(1))
				if n > count {
					return
				}
				if n > count/10 {
					full.Do(func() {
						if pid := m.WorkerPID(); !alive && pid != 0 {
							_ = syscall.Kill(pid, syscall.SIGKILL)
						}
						fill(m)
					})
				}
				m.Send("save", map[string]any{
					"session_id": fmt.Sprintf("agent-%d", agent), "cwd": "/nonexistent/project", "hook_event_name": "PostToolUse", "tool_name": "Bash",
					"tool_use_id": fmt.Sprintf("tool-%d", n), "tool_input": map[string]any{"command": fmt.Sprintf("make part%d", n)},
					"tool_response": map[string]any{"stdout": strings.Repeat(fmt.Sprintf("line %d of the output\n", n), 1000)},
				})
			}
		})
	}
	agents.Wait()
}

// fill writes a file until the disk takes no more.
func fill(m *world.Memory) {
	f, err := os.Create(filepath.Join(m.Dir, "filler"))
	if err != nil {
		return // full already
	}
	defer f.Close()
	for size := 64 << 10; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
}

// sessionStart runs the hook of a session's start and returns what the user is told.
func sessionStart(m *world.Memory, session string) string {
	m.T.Helper()
	r := m.Send("context", map[string]any{"session_id": session, "cwd": "/nonexistent/project", "hook_event_name": "SessionStart", "source": "startup"})
	var reply struct {
		SystemMessage string `json:"systemMessage"`
	}
	if len(r.Stdout) > 0 {
		if err := json.Unmarshal(r.Stdout, &reply); err != nil {
			m.T.Errorf("session start: %v: %s", err, r.Stdout)
		}
	}
	return reply.SystemMessage
}
