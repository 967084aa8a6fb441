//go:build unix

package acceptance

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// needle is a text that stands in everything that the test has forgotten; it is no word.
const needle = "Qzvnightjarx"

// sessionOfNeedle is the host's name of the session that works on it.
var sessionOfNeedle = fmt.Sprintf("session-%d", len(needle))

// needles returns the files of the data directory that have the needle, in any case, as a
// word of the index has it too.
func (m *memory) needles() (files []string) {
	m.eachFile(func(path string, content []byte) {
		if bytes.Contains(bytes.ToLower(content), []byte(strings.ToLower(needle))) {
			files = append(files, filepath.Base(path))
		}
	})
	return files
}

// playNeedle has two sessions work, one of them on the needle: prompts, tool calls, closing
// messages and learnings.
func (m *memory) playNeedle(project string, turns int) {
	m.t.Helper()
	for _, session := range []string{needle, "harmless"} {
		id := fmt.Sprintf("session-%d", len(session))
		base := func(event, prompt string) map[string]any {
			return map[string]any{"session_id": id, "hook_event_name": event, "prompt_id": prompt, "cwd": project, "transcript_path": filepath.Join(project, "t.jsonl")}
		}
		for n := range turns {
			prompt := fmt.Sprintf("%s-p%d", id, n)
			p := base("UserPromptSubmit", prompt)
			p["prompt"] = fmt.Sprintf("From now on: name the project %s in %d places. Why does the build of %s fail?", session, n, session)
			m.send("new", p)
			p = base("PostToolUse", prompt)
			p["tool_name"], p["tool_use_id"] = "Edit", prompt+"-t"
			p["tool_input"] = map[string]any{"file_path": filepath.Join(project, "src", session+".go"), "old_string": "a", "new_string": "b " + session}
			p["tool_response"] = map[string]any{"filePath": filepath.Join(project, "src", session+".go"), "originalFile": "a"}
			m.send("save", p)
			p = base("Stop", prompt)
			p["last_assistant_message"] = fmt.Sprintf("Fixed the build of %s: the cause was a missing `%sCache` in %s.go, number %d.", session, session, session, n)
			m.send("summary", p)
		}
	}
}

// TestForgetBytes has everything with a text forgotten, through the real programs, and
// looks for its bytes in every file of the data directory. Playing the same again, as an
// import would, does not bring it back.
func TestForgetBytes(t *testing.T) {
	t.Parallel()
	for _, workerUp := range []bool{true, false} {
		for how, arguments := range map[string][]string{
			"query":   {"--query", needle},
			"session": {"--session", sessionOfNeedle},
			"project": {"--project"},
		} {
			t.Run(fmt.Sprintf("%s, worker up %v", how, workerUp), func(t *testing.T) {
				m := newMemory(t)
				root := t.TempDir()
				project := filepath.Join(root, "shop")
				if how == "project" {
					project = filepath.Join(root, needle)
					arguments = append(arguments, project)
				}
				if err := os.MkdirAll(project, 0o700); err != nil {
					t.Fatal(err)
				}
				m.mustCommand("worker", "start")
				m.playNeedle(project, 3)
				m.settle(30 * time.Second)
				// Deleted work leaves bytes in free pages; what comes in without a worker is spooled.
				m.mustCommand("search", needle)
				m.mustCommand("worker", "stop")
				release := m.holdLock()
				m.playNeedle(project, 4)
				release()
				corrupt := filepath.Join(m.dir, "spool", "corrupt")
				if err := os.MkdirAll(corrupt, 0o700); err != nil {
					t.Fatal(err)
				}
				named := map[string]string{"query": needle, "session": sessionOfNeedle, "project": project}[how]
				if err := os.WriteFile(filepath.Join(corrupt, "x.json"), []byte(`{"broken":"`+named), 0o600); err != nil {
					t.Fatal(err)
				}
				if workerUp {
					m.mustCommand("worker", "start")
					m.settle(30 * time.Second)
				}
				if found := m.needles(); len(found) < 3 {
					t.Fatalf("only %v have it", found)
				}
				before := m.needles()
				if out := string(m.mustCommand(append([]string{"forget"}, arguments...)...)); !strings.Contains(out, "Would erase:") {
					t.Errorf("the dry run says %s", out)
				}
				if len(m.needles()) == 0 {
					t.Fatal("the dry run erased")
				}
				out := m.mustCommand(append([]string{"forget", "--yes"}, arguments...)...)
				if left := m.needles(); len(left) > 0 {
					t.Errorf("%v have it still; %s", left, out)
				}
				if how != "project" && !strings.Contains(string(m.mustCommand("search", "harmless", "--all")), "harmless") {
					t.Error("the other session is gone too")
				}
				m.mustCommand("worker", "start")
				m.playNeedle(project, 4)
				m.settle(30 * time.Second)
				if out := m.mustCommand("search", needle, "--all", "--json"); !bytes.Contains(out, []byte(`"count": 0`)) {
					t.Errorf("it came back: %s", out)
				}
				if books := m.books(); !books.Balanced() {
					t.Errorf("the books do not balance: %+v", books)
				}
				figure(t, 5, "%s: %d files had it, none has it after forget", how, len(before))
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
			m := newMemory(t)
			project := filepath.Join(t.TempDir(), needle)
			if err := os.MkdirAll(project, 0o700); err != nil {
				t.Fatal(err)
			}
			m.mustCommand("worker", "start")
			m.playNeedle(project, 2)
			m.settle(30 * time.Second)
			m.mustCommand("backup")
			m.mustCommand("worker", "stop")
			logFile := filepath.Join(m.dir, "logs", "earlier.log")
			if err := os.WriteFile(logFile, []byte("in "+project+"\nelsewhere\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			noted := filepath.Join(m.dir, "forgetting.json")
			cmd := m.start("forget", "--yes", "--project", project)
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
			before := m.needles()
			m.mustCommand("worker", "start")
			m.mustCommand("worker", "stop")
			if found := m.needles(); len(found) > 0 {
				t.Errorf("%v have it still", found)
			}
			if kept, err := os.ReadFile(logFile); err != nil || !strings.Contains(string(kept), "elsewhere\n") {
				t.Errorf("the log is %q, %v", kept, err)
			}
			if books := m.books(); !books.Balanced() {
				t.Errorf("the books do not balance: %+v", books)
			}
			figure(t, 5, "killed after %v, unfinished %v: %d files had it, none after the next start", pause, err == nil, len(before))
		})
	}
}
