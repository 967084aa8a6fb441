//go:build unix

package world

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	ChangedMark = " (file changed since)"
	GoneMark    = " (file gone)"
	BranchMark  = " [branch %s, not merged]"
)

// Project is a directory that sessions work in, usually a git repository.
type Project struct {
	M        *Memory
	Dir      string
	Sessions int
}

// NewProject makes a repository on main with a few files in one commit.
func NewProject(t *testing.T, m *Memory) *Project {
	t.Helper()
	home, err := filepath.EvalSymlinks(m.Home)
	if err != nil {
		t.Fatal(err)
	}
	p := &Project{M: m, Dir: filepath.Join(home, "till")}
	for _, name := range []string{"basket.go", "receipt.go", "ledger.go", "tariff.go", "voucher.go"} {
		p.Write(name, "package till\n\n// "+name+"\n")
	}
	p.Git("init", "-q", "-b", "main")
	p.Commit("Begin")
	return p
}

// Write writes a file of the project.
func (p *Project) Write(name, content string) {
	p.M.T.Helper()
	path := filepath.Join(p.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.M.T.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		p.M.T.Fatal(err)
	}
}

// Git runs git in the project.
func (p *Project) Git(args ...string) {
	p.M.T.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = p.Dir
	cmd.Env = []string{"HOME=" + p.M.Home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@localhost", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@localhost"}
	if out, err := cmd.CombinedOutput(); err != nil {
		p.M.T.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// Commit commits all that has changed.
func (p *Project) Commit(subject string) {
	p.M.T.Helper()
	p.Git("add", "-A")
	p.Git("commit", "-q", "-m", subject)
}

// payload is a recorded one of Claude Code, in this project and session.
func (p *Project) payload(name, session string, change map[string]any) []byte {
	p.M.T.Helper()
	b, err := os.ReadFile(Root("testdata", "claude-code-hooks", name+".json"))
	if err != nil {
		p.M.T.Fatal(err)
	}
	var members map[string]any
	if err := json.Unmarshal(b, &members); err != nil {
		p.M.T.Fatal(err)
	}
	members["session_id"], members["cwd"] = session, p.Dir
	if members["prompt_id"] != nil {
		members["prompt_id"] = session + "-prompt"
	}
	for key, value := range change {
		members[key] = value
	}
	if b, err = json.Marshal(members); err != nil {
		p.M.T.Fatal(err)
	}
	return b
}

// Send gives the hook a recorded payload with the change, and returns what it gives the model.
func (p *Project) Send(name, session string, change map[string]any) string {
	p.M.T.Helper()
	r := p.M.Hook("", p.payload(name, session, change))
	if r.Exit != 0 || len(r.Stderr) != 0 {
		p.M.T.Errorf("hook: exit %d, stderr %q", r.Exit, r.Stderr)
	}
	return p.given(r.Stdout)
}

// given is what a hook's reply gives the model, "" for nothing.
func (p *Project) given(stdout []byte) string {
	p.M.T.Helper()
	if len(stdout) == 0 {
		return ""
	}
	var reply struct {
		HookSpecificOutput struct{ AdditionalContext string }
	}
	if err := json.Unmarshal(stdout, &reply); err != nil {
		p.M.T.Errorf("%v: %s", err, stdout)
	}
	return reply.HookSpecificOutput.AdditionalContext
}

// Expect looks at what a new session is given; want has a mark for each bug, ""
// for none. What is too late on a busy machine is left out, so it may take a few.
func (p *Project) Expect(step string, want map[string]string, given func() string) {
	p.M.T.Helper()
	var wrong []string
	for range 10 {
		text := given()
		wrong = nil
		for bug, mark := range want {
			wrong = append(wrong, misses(text, bug, mark)...)
		}
		if len(wrong) == 0 {
			return
		}
		wrong = append(wrong, text)
	}
	p.M.T.Errorf("%s: %s", step, strings.Join(wrong, "\n"))
}

// InBlock is given at a session's start, withRead with the content of a file.
func (p *Project) InBlock() string {
	p.Sessions++
	return p.Send("SessionStart-startup", fmt.Sprintf("ask-%d", p.Sessions), nil)
}

// misses looks at what is said of a bug: some line must bear the mark, and none another.
func misses(text, bug, mark string) (wrong []string) {
	said, marked := false, false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, "- ") || !strings.Contains(line, bug) {
			continue
		}
		said = true
		rest := line
		if mark != "" && strings.HasSuffix(line, mark) {
			marked = true
			rest = strings.TrimSuffix(line, mark)
		}
		if strings.Contains(rest, " since)") || strings.Contains(rest, " gone)") || strings.Contains(rest, "not merged]") {
			wrong = append(wrong, fmt.Sprintf("want no mark but %q: %s", mark, line))
		}
	}
	if !said || marked != (mark != "") {
		wrong = append(wrong, fmt.Sprintf("nothing about %q is marked %q", bug, mark))
	}
	return wrong
}

// InjectedText is what a hook gave the model, "" for nothing.
func InjectedText(t testing.TB, r HookResult) string {
	t.Helper()
	if len(bytes.TrimSpace(r.Stdout)) == 0 {
		return ""
	}
	var reply struct {
		HookSpecificOutput struct{ AdditionalContext string }
	}
	if err := json.Unmarshal(r.Stdout, &reply); err != nil {
		t.Fatalf("%v: %s", err, r.Stdout)
	}
	return reply.HookSpecificOutput.AdditionalContext
}

// InTime returns the first text of give that is wanted, else the last of ten: a busy
// machine may be late with a text or a part of it, which is then left out. give gets the
// number of the try, from 0.
func InTime(give func(n int) string, wanted func(text string) bool) (text string) {
	for n := range 10 {
		if text = give(n); wanted(text) {
			break
		}
	}
	return text
}
