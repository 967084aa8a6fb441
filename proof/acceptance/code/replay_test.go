//go:build unix && slow

package code

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"

	"claudemem/internal/capture/outline"
	"claudemem/proof/eval/replay"
)

const (
	replayedCommits = 100 // of each repository
	leastExact      = 0.98
)

// TestCodeReplay has sessions make the commits of three public repositories, hunk by hunk
// through the real hook, and compares the changed symbols of each session with those
// between the file before and the file after the commit.
func TestCodeReplay(t *testing.T) {
	sources := os.Getenv("OUTLINE_CLONES")
	if sources == "" {
		t.Skip("OUTLINE_CLONES names no folder of clones")
	}
	for _, source := range replay.Sources {
		t.Run(source.Name, func(t *testing.T) {
			commits, err := replay.Commits(t.Context(), sources, source, replayedCommits)
			if err != nil {
				t.Fatal(err)
			}
			m := world.NewMemory(t)
			m.MustCommand("worker", "start")
			dirs := make([]string, len(commits))
			edits := 0
			for i, c := range commits {
				dirs[i] = filepath.Join(m.Home, "work", fmt.Sprintf("commit%03d", i))
				edits += replayCommit(m, dirs[i], fmt.Sprintf("replay-%03d", i), c)
			}
			m.Settle(5 * time.Minute)
			var same, missing, extra, misnamed int
			for i, c := range commits {
				want, got := wantedChanges(c), recordedChanges(m, dirs[i])
				for change := range got {
					name := change[strings.IndexByte(change, ' ')+1:]
					if !want.names[name] {
						misnamed++
						t.Logf("%.12s: %s: nothing of that name changed", c.ID, change)
					}
				}
				for change, n := range want.count {
					same += min(n, got[change])
					missing += max(n-got[change], 0)
					if n > got[change] {
						t.Logf("%.12s: missing %s", c.ID, change)
					}
				}
				for change, n := range got {
					extra += max(n-want.count[change], 0)
					if n > want.count[change] {
						t.Logf("%.12s: not in the commit: %s", c.ID, change)
					}
				}
			}
			share := float64(same) / float64(max(same+missing+extra, 1))
			world.Figure(t, 2, "%s: %d commits, %d edits, %d changed symbols: %.2f %% equal, %d missing, %d more, %d wrong in name",
				source.Name, len(commits), edits, same+missing, 100*share, missing, extra, misnamed)
			if len(commits) < replayedCommits || share < leastExact || misnamed > 0 {
				t.Errorf("%d commits, %.2f %% equal, %d wrong in name", len(commits), 100*share, misnamed)
			}
		})
	}
}

// replayCommit makes the edits of a commit in a new project and returns their number.
func replayCommit(m *world.Memory, dir, session string, c replay.Commit) int {
	m.T.Helper()
	write := func(name, content string) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			m.T.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			m.T.Fatal(err)
		}
	}
	for _, f := range c.Files {
		if f.Before != nil {
			write(f.Path, string(f.Before))
		}
	}
	write("README.md", "a project\n")
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		m.T.Fatalf("git init: %v\n%s", err, out)
	}
	event := func(name string, more map[string]any) map[string]any {
		p := map[string]any{"session_id": session, "cwd": dir, "hook_event_name": name, "permission_mode": "default", "transcript_path": filepath.Join(m.Home, session+".jsonl")}
		for key, value := range more {
			p[key] = value
		}
		return p
	}
	m.Send("new", event("UserPromptSubmit", map[string]any{"prompt": "Make the change.", "prompt_id": session}))
	n, host := 0, replay.NewSession(dir, session)
	for _, f := range c.Files {
		for _, e := range host.Commit(f) {
			write(f.Path, e.After)
			if r := m.Hook("save", e.Payload); r.Exit != 0 || len(r.Stderr) != 0 {
				m.T.Errorf("hook: exit %d, stderr %q", r.Exit, r.Stderr)
			}
			n++
		}
	}
	m.Send("summary", event("Stop", map[string]any{"last_assistant_message": "Done.", "stop_hook_active": false}))
	m.Send("end", event("SessionEnd", map[string]any{"reason": "other"}))
	return n
}

// changes are changes by "TYPE FILE NAME", and the names that are among them.
type changes struct {
	count map[string]int
	names map[string]bool
}

// wantedChanges compares the files of a commit as a whole.
func wantedChanges(c replay.Commit) changes {
	want := changes{map[string]int{}, map[string]bool{}}
	for _, f := range c.Files {
		for _, x := range outline.Compare(outline.Of(f.Path, f.Before), outline.Of(f.Path, f.After)) {
			name := f.Path + " " + x.Name
			want.count[string(x.Type)+" "+name]++
			want.names[name] = true
		}
	}
	return want
}

// recordedChanges are those that the memory has of a project.
func recordedChanges(m *world.Memory, dir string) map[string]int {
	m.T.Helper()
	got := map[string]int{}
	for offset := 0; ; {
		var page struct {
			Total   int
			Results []struct {
				File, Name string
				ChangeType string `json:"change_type"`
			}
		}
		out, err := m.Command("changes", "--json", "--project", dir, "--limit", "100", "--offset", fmt.Sprint(offset))
		if err != nil && len(out) == 0 {
			m.T.Fatal(err)
		}
		if err := json.Unmarshal(out, &page); err != nil {
			m.T.Fatalf("%v: %s", err, out)
		}
		for _, r := range page.Results {
			got[r.ChangeType+" "+r.File+" "+r.Name]++
		}
		if offset += len(page.Results); len(page.Results) == 0 || offset >= page.Total {
			return got
		}
	}
}
