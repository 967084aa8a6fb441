//go:build unix

package forget

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"
)

// sessionOfNeedle is the host's name of the session that works on it.
var sessionOfNeedle = fmt.Sprintf("session-%d", len(world.Needle))

// TestForgetBytes has everything with a text forgotten, through the real programs, and
// looks for its bytes in every file of the data directory. Playing the same again, as an
// import would, does not bring it back.
func TestForgetBytes(t *testing.T) {
	t.Parallel()
	for _, workerUp := range []bool{true, false} {
		for how, arguments := range map[string][]string{
			"query":   {"--query", world.Needle},
			"session": {"--session", sessionOfNeedle},
			"project": {"--project"},
		} {
			t.Run(fmt.Sprintf("%s, worker up %v", how, workerUp), func(t *testing.T) {
				m := world.NewMemory(t)
				root := t.TempDir()
				project := filepath.Join(root, "shop")
				if how == "project" {
					project = filepath.Join(root, world.Needle)
					arguments = append(arguments, project)
				}
				if err := os.MkdirAll(project, 0o700); err != nil {
					t.Fatal(err)
				}
				m.MustCommand("worker", "start")
				m.PlayNeedle(project, 3)
				m.Settle(30 * time.Second)
				// Deleted work leaves bytes in free pages; what comes in without a worker is spooled.
				m.MustCommand("search", world.Needle)
				m.MustCommand("worker", "stop")
				release := m.HoldLock()
				m.PlayNeedle(project, 4)
				release()
				corrupt := filepath.Join(m.Dir, "spool", "corrupt")
				if err := os.MkdirAll(corrupt, 0o700); err != nil {
					t.Fatal(err)
				}
				named := map[string]string{"query": world.Needle, "session": sessionOfNeedle, "project": project}[how]
				if err := os.WriteFile(filepath.Join(corrupt, "x.json"), []byte(`{"broken":"`+named), 0o600); err != nil {
					t.Fatal(err)
				}
				if workerUp {
					m.MustCommand("worker", "start")
					m.Settle(30 * time.Second)
				}
				if found := m.Needles(); len(found) < 3 {
					t.Fatalf("only %v have it", found)
				}
				before := m.Needles()
				if out := string(m.MustCommand(append([]string{"forget"}, arguments...)...)); !strings.Contains(out, "Would erase:") {
					t.Errorf("the dry run says %s", out)
				}
				if len(m.Needles()) == 0 {
					t.Fatal("the dry run erased")
				}
				out := m.MustCommand(append([]string{"forget", "--yes"}, arguments...)...)
				if left := m.Needles(); len(left) > 0 {
					t.Errorf("%v have it still; %s", left, out)
				}
				if how != "project" && !strings.Contains(string(m.MustCommand("search", "harmless", "--all")), "harmless") {
					t.Error("the other session is gone too")
				}
				m.MustCommand("worker", "start")
				m.PlayNeedle(project, 4)
				m.Settle(30 * time.Second)
				if out := m.MustCommand("search", world.Needle, "--all", "--json"); !bytes.Contains(out, []byte(`"count": 0`)) {
					t.Errorf("it came back: %s", out)
				}
				if books := m.Books(); !books.Balanced() {
					t.Errorf("the books do not balance: %+v", books)
				}
				world.Figure(t, 5, "%s: %d files had it, none has it after forget", how, len(before))
			})
		}
	}
}

// TestKilledForget kills `claude-mem forget` in the middle, with SIGKILL: the next worker
// completes it.
func TestKilledForget(t *testing.T) {
	t.Parallel()
	for _, pause := range []time.Duration{0, 5 * time.Millisecond, 20 * time.Millisecond} {
		t.Run(fmt.Sprint(pause), func(t *testing.T) {
			m := world.NewMemory(t)
			project := filepath.Join(t.TempDir(), world.Needle)
			if err := os.MkdirAll(project, 0o700); err != nil {
				t.Fatal(err)
			}
			m.MustCommand("worker", "start")
			m.PlayNeedle(project, 2)
			m.Settle(30 * time.Second)
			m.MustCommand("backup")
			m.MustCommand("worker", "stop")
			logFile := filepath.Join(m.Dir, "logs", "earlier.log")
			if err := os.WriteFile(logFile, []byte("in "+project+"\nelsewhere\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			noted := filepath.Join(m.Dir, "forgetting.json")
			cmd := m.Start("forget", "--yes", "--project", project)
			for deadline := time.Now().Add(30 * time.Second); ; {
				if _, err := os.Stat(noted); err == nil {
					break
				}
				if time.Now().After(deadline) {
					t.Fatal("forget has not begun")
				}
				time.Sleep(time.Millisecond / 5)
			}
			time.Sleep(pause)
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			_, err := os.Stat(noted)
			before := m.Needles()
			m.MustCommand("worker", "start")
			m.MustCommand("worker", "stop")
			if found := m.Needles(); len(found) > 0 {
				t.Errorf("%v have it still", found)
			}
			if kept, err := os.ReadFile(logFile); err != nil || !strings.Contains(string(kept), "elsewhere\n") {
				t.Errorf("the log is %q, %v", kept, err)
			}
			if books := m.Books(); !books.Balanced() {
				t.Errorf("the books do not balance: %+v", books)
			}
			world.Figure(t, 5, "killed after %v, unfinished %v: %d files had it, none after the next start", pause, err == nil, len(before))
		})
	}
}
