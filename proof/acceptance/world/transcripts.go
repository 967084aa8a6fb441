//go:build unix

package world

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"claudemem/internal/run/recorded"
)

// ProjectOf returns the directory of a recorded session's project, a repository with its files.
func ProjectOf(t testing.TB, home string, s recorded.Session) string {
	t.Helper()
	dir := filepath.Join(home, s.Project)
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	if err := recorded.CopyFiles(dir, s.Project); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "init", "-q", "-b", "main", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// Play has the real hook report the recorded sessions but the payloads that left leaves out.
func (m *Memory) Play(sessions []recorded.Session, left func(recorded.Payload) bool) {
	m.T.Helper()
	verbs := map[string]string{
		"UserPromptSubmit": "new", "PostToolUse": "save", "PostToolUseFailure": "save", "Stop": "summary",
		"SubagentStop": "summary", "PreCompact": "summary", "SessionEnd": "end",
	}
	for _, s := range sessions {
		project := ProjectOf(m.T, m.Home, s)
		for _, p := range s.Payloads {
			if verb := verbs[p.Event]; verb != "" && !left(p) {
				if r := m.Hook(verb, recorded.Render(p.Body, project, m.Home), "CLAUDE_PROJECT_DIR="+project); r.Exit != 0 {
					m.T.Fatalf("%s/%s: exit %d", s.Name, p.Name, r.Exit)
				}
				Until(m.T, time.Minute, "the spool is empty: what is in it would come after what follows", func() bool { return m.Spooled() == 0 })
			}
		}
		m.Settle(time.Minute)
	}
}

// Recorded returns the recorded session of a name.
func Recorded(t *testing.T, name string) recorded.Session {
	t.Helper()
	all := recorded.Sessions()
	i := slices.IndexFunc(all, func(s recorded.Session) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("there is no recorded session %q", name)
	}
	return all[i]
}
