//go:build linux

package acceptance

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// inNamespaceKey is set in the process that has mounts of its own.
const inNamespaceKey = "CLAUDE_MEM_TEST_IN_NAMESPACE"

// ownMounts reports whether this process may mount file systems that no other sees. The
// first call runs the test again in a process that may, and returns false.
func ownMounts(t *testing.T) bool {
	t.Helper()
	if os.Getenv(inNamespaceKey) != "" {
		return true
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	flags := "-Urm"
	if os.Geteuid() == 0 {
		flags = "-m"
	}
	if err := exec.Command("unshare", flags, "true").Run(); err != nil {
		t.Skipf("no mounts of one's own here: %v", err)
	}
	again := exec.Command("unshare", flags, self, "-test.run=^"+t.Name()+"$", "-test.v")
	again.Env = append(os.Environ(), inNamespaceKey+"=1")
	out, err := again.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
	return false
}

// TestLostEventsAreTold fills the disk of the data directory while 8 agents work: the events
// that neither the worker nor a hook could keep are counted, and told once there is room.
func TestLostEventsAreTold(t *testing.T) {
	needBinaries(t)
	if !ownMounts(t) {
		return
	}
	for _, alive := range []bool{true, false} {
		t.Run(fmt.Sprintf("worker alive %t", alive), func(t *testing.T) {
			m := newMemory(t)
			settings, err := os.ReadFile(filepath.Join(m.dir, "config.json"))
			if err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mount("none", m.dir, "tmpfs", 0, "size=8m,mode=700"); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_, _ = m.command("worker", "stop")
				_ = syscall.Unmount(m.dir, syscall.MNT_DETACH)
			})
			if err := os.WriteFile(filepath.Join(m.dir, "config.json"), settings, 0o600); err != nil {
				t.Fatal(err)
			}
			m.mustCommand("worker", "start")
			m.fillDisk(500, alive)

			now := m.sessionStart("while-full")
			for _, want := range []string{"the worker", "the hook", "no space left on device"} {
				if !strings.Contains(now, want) {
					t.Errorf("told while the disk is full: %q, want %q", now, want)
				}
			}

			if err := syscall.Mount("none", m.dir, "tmpfs", syscall.MS_REMOUNT, "size=64m,mode=700"); err != nil {
				t.Fatal(err)
			}
			m.mustCommand("worker", "start")
			then := m.sessionStart("with-room")
			books := m.settle(60 * time.Second)
			lost := 500 - books.Received
			if lost < 100 {
				t.Fatalf("only %d of 500 events were lost: the disk was not full", lost)
			}
			if books.Lost != lost || !books.Balanced() {
				t.Errorf("books %+v, want %d lost", books, lost)
			}
			if want := fmt.Sprintf("%d events of ", lost); !strings.Contains(then, want) {
				t.Errorf("told with room: %q, want %q", then, want)
			}
			if again := m.sessionStart("later"); strings.Contains(again, "could not be kept") {
				t.Errorf("told twice: %q", again)
			}
			report, _ := m.command("doctor", "--json")
			if !strings.Contains(string(report), `"event-lost"`) || !strings.Contains(string(report), fmt.Sprintf("%d events lost from", lost)) {
				t.Errorf("doctor: %s", report)
			}
			if log := m.lossesLogged(); log != lost {
				t.Errorf("worker.log tells of %d lost events, want %d", log, lost)
			}
			figure(t, 2, "disk full, worker alive %t: 500 events, %d received, %d lost and told", alive, books.Received, books.Lost)
		})
	}
}

// lossesLogged adds up the lost events that the worker's log tells of. A line that the disk had no
// room for can stand in front of one.
func (m *memory) lossesLogged() (lost int) {
	m.t.Helper()
	log, err := os.ReadFile(filepath.Join(m.dir, "logs", "worker.log"))
	if err != nil {
		m.t.Fatal(err)
	}
	for _, match := range regexp.MustCompile(`"events were lost","count":(\d+)`).FindAllSubmatch(log, -1) {
		n, _ := strconv.Atoi(string(match[1]))
		lost += n
	}
	return lost
}

// fillDisk has 8 sessions send events until count were sent. After the first tenth, the disk
// is full; alive tells whether the worker lives on.
func (m *memory) fillDisk(count int, alive bool) {
	m.t.Helper()
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
						if pid := m.workerPID(); !alive && pid != 0 {
							_ = syscall.Kill(pid, syscall.SIGKILL)
						}
						m.fill()
					})
				}
				m.send("save", map[string]any{
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
func (m *memory) fill() {
	f, err := os.Create(filepath.Join(m.dir, "filler"))
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
func (m *memory) sessionStart(session string) string {
	m.t.Helper()
	r := m.send("context", map[string]any{"session_id": session, "cwd": "/nonexistent/project", "hook_event_name": "SessionStart", "source": "startup"})
	var reply struct {
		SystemMessage string `json:"systemMessage"`
	}
	if len(r.stdout) > 0 {
		if err := json.Unmarshal(r.stdout, &reply); err != nil {
			m.t.Errorf("session start: %v: %s", err, r.stdout)
		}
	}
	return reply.SystemMessage
}
