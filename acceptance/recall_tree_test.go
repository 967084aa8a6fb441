//go:build unix

package acceptance

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	changedMark = " (file changed since)"
	goneMark    = " (file gone)"
	branchMark  = " [branch %s, not merged]"
)

// project is a directory that sessions work in, usually a git repository.
type project struct {
	m        *memory
	dir      string
	sessions int
}

// newProject makes a repository on main with a few files in one commit.
func newProject(t *testing.T, m *memory) *project {
	t.Helper()
	home, err := filepath.EvalSymlinks(m.home)
	if err != nil {
		t.Fatal(err)
	}
	p := &project{m: m, dir: filepath.Join(home, "till")}
	for _, name := range []string{"basket.go", "receipt.go", "ledger.go", "tariff.go", "voucher.go"} {
		p.write(name, "package till\n\n// "+name+"\n")
	}
	p.git("init", "-q", "-b", "main")
	p.commit("Begin")
	return p
}

func (p *project) write(name, content string) {
	p.m.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		p.m.t.Fatal(err)
	}
}

func (p *project) git(args ...string) {
	p.m.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = p.dir
	cmd.Env = []string{"HOME=" + p.m.home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@localhost", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@localhost"}
	if out, err := cmd.CombinedOutput(); err != nil {
		p.m.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func (p *project) commit(subject string) {
	p.m.t.Helper()
	p.git("add", "-A")
	p.git("commit", "-q", "-m", subject)
}

// payload is a recorded one of Claude Code, in this project and session.
func (p *project) payload(name, session string, change map[string]any) []byte {
	p.m.t.Helper()
	b, err := os.ReadFile("../testdata/claude-code-hooks/" + name + ".json")
	if err != nil {
		p.m.t.Fatal(err)
	}
	var members map[string]any
	if err := json.Unmarshal(b, &members); err != nil {
		p.m.t.Fatal(err)
	}
	members["session_id"], members["cwd"] = session, p.dir
	if members["prompt_id"] != nil {
		members["prompt_id"] = session + "-prompt"
	}
	for key, value := range change {
		members[key] = value
	}
	if b, err = json.Marshal(members); err != nil {
		p.m.t.Fatal(err)
	}
	return b
}

func (p *project) send(name, session string, change map[string]any) string {
	p.m.t.Helper()
	r := p.m.hook("", p.payload(name, session, change))
	if r.exit != 0 || len(r.stderr) != 0 {
		p.m.t.Errorf("hook: exit %d, stderr %q", r.exit, r.stderr)
	}
	return p.given(r.stdout)
}

// given is what a hook's reply gives the model, "" for nothing.
func (p *project) given(stdout []byte) string {
	p.m.t.Helper()
	if len(stdout) == 0 {
		return ""
	}
	var reply struct {
		HookSpecificOutput struct{ AdditionalContext string }
	}
	if err := json.Unmarshal(stdout, &reply); err != nil {
		p.m.t.Errorf("%v: %s", err, stdout)
	}
	return reply.HookSpecificOutput.AdditionalContext
}

// fix is a session that fixes a bug in a file, which it changes twice; it ends as
// distilled memory. during is what happens between the last change and the stop.
func (p *project) fix(file, bug string, during ...func()) {
	p.m.t.Helper()
	p.sessions++
	session := fmt.Sprintf("fix-%d-%s", p.sessions, file)
	calls := 0
	call := func(name string, change map[string]any) {
		calls++
		change["tool_use_id"] = fmt.Sprintf("%s-%d", session, calls)
		p.send(name, session, change)
	}
	path := filepath.Join(p.dir, file)
	test := "Test" + strings.ToUpper(file[:1]) + strings.TrimSuffix(file[1:], ".go")
	p.send("SessionStart-startup", session, nil)
	p.send("UserPromptSubmit", session, map[string]any{"prompt": "Fix this in " + file + ": " + bug + "."})
	call("PostToolUseFailure-Bash", map[string]any{"tool_input": map[string]any{"command": "go test ./..."},
		"error": "Exit code 1\n--- FAIL: " + test + " (0.00s)\n    " + bug + "\nFAIL"})
	for n := range 2 {
		old, now := fmt.Sprintf("\treturn %d", n), fmt.Sprintf("\treturn %d", n+p.sessions*10)
		p.write(file, "package till\n\nfunc sum() int {\n"+now+"\n}\n")
		call("PostToolUse-Edit", map[string]any{
			"tool_input": map[string]any{"file_path": path, "old_string": old, "new_string": now},
			"tool_response": map[string]any{"filePath": path, "oldString": old, "newString": now, "structuredPatch": []any{map[string]any{
				"oldStart": 3, "oldLines": 2, "newStart": 3, "newLines": 2, "lines": []string{" func sum() int {", "-" + old, "+" + now}}}},
		})
	}
	call("PostToolUse-Bash", map[string]any{"tool_input": map[string]any{"command": "go test ./..."},
		"tool_response": map[string]any{"stdout": "ok  \ttill\t0.003s", "stderr": "", "interrupted": false, "isImage": false}})
	for _, f := range during {
		f()
	}
	p.send("Stop", session, map[string]any{"last_assistant_message": "The cause was that " + bug + ". " + file + " counts in whole cents now, and all tests pass."})
	p.m.settle(60 * time.Second)
}

// expect looks at what a new session is given; want has a mark for each bug, ""
// for none. What is too late on a busy machine is left out, so it may take a few.
func (p *project) expect(step string, want map[string]string, given func() string) {
	p.m.t.Helper()
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
	p.m.t.Errorf("%s: %s", step, strings.Join(wrong, "\n"))
}

// inBlock is given at a session's start, withRead with the content of a file.
func (p *project) inBlock() string {
	p.sessions++
	return p.send("SessionStart-startup", fmt.Sprintf("ask-%d", p.sessions), nil)
}

func (p *project) withRead(file string) func() string {
	return func() string {
		p.sessions++
		session := fmt.Sprintf("read-%d", p.sessions)
		return p.send("PostToolUse-Read", session, map[string]any{"tool_use_id": session,
			"tool_input": map[string]any{"file_path": filepath.Join(p.dir, file)}})
	}
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

// TestFreshnessAndBranches does what people do with files and branches between two
// sessions, and looks at what the next session is told.
func TestFreshnessAndBranches(t *testing.T) {
	t.Parallel()
	t.Run("files", func(t *testing.T) {
		m := newMemory(t)
		m.mustCommand("worker", "start")
		p := newProject(t, m)
		p.fix("basket.go", "totals lose a cent")
		p.fix("receipt.go", "the tax line is printed twice")
		both := func(basket, receipt string) map[string]string {
			return map[string]string{"totals lose a cent": basket, "the tax line is printed twice": receipt}
		}
		basket := func(mark string) map[string]string { return map[string]string{"totals lose a cent": mark} }
		p.expect("as it was left", both("", ""), p.inBlock)
		p.expect("as it was left: Read", basket(""), p.withRead("basket.go"))
		p.commit("Count in cents")
		p.expect("committed", both("", ""), p.inBlock)
		p.write("basket.go", "package till\n\n// by somebody else\n")
		p.expect("changed", both(changedMark, ""), p.inBlock)
		p.expect("changed: Read", basket(changedMark), p.withRead("basket.go"))
		p.git("checkout", "-q", "basket.go")
		p.expect("change taken back", both("", ""), p.inBlock)
		if err := os.Remove(filepath.Join(p.dir, "receipt.go")); err != nil {
			t.Fatal(err)
		}
		p.expect("removed", both("", goneMark), p.inBlock)
		release := p.withoutWorker()
		p.expect("without a worker", both("", goneMark), p.inBlock)
		release()
		figure(t, 5, "a file changed, changed back, removed: marked in the next block and with the Read's result, with and without a worker")
	})

	t.Run("branches", func(t *testing.T) {
		m := newMemory(t)
		m.mustCommand("worker", "start")
		p := newProject(t, m)
		onTopic := func(branch string) string { return fmt.Sprintf(branchMark, branch) }

		p.git("checkout", "-q", "-b", "cents")
		p.fix("basket.go", "totals lose a cent", func() { p.commit("Count in cents") }) // committed while it is observed
		p.git("checkout", "-q", "main")
		p.git("checkout", "-q", "-b", "tax")
		p.fix("receipt.go", "the tax line is printed twice")
		p.commit("Print the tax once") // after it was observed
		p.git("checkout", "-q", "main")
		p.git("checkout", "-q", "-b", "books")
		p.fix("ledger.go", "entries are sorted by name")
		p.commit("Sort entries by date")
		p.git("checkout", "-q", "main")
		p.fix("tariff.go", "the night tariff begins too late")
		p.commit("Begin the night at ten")

		want := map[string]string{
			"totals lose a cent":               onTopic("cents"),
			"the tax line is printed twice":    onTopic("tax"),
			"entries are sorted by name":       onTopic("books"),
			"the night tariff begins too late": "",
		}
		check := func(step string) {
			t.Helper()
			p.expect(step, want, p.inBlock)
		}
		basket := func(mark string) map[string]string { return map[string]string{"totals lose a cent": mark} }
		check("before any merge")
		p.expect("before any merge: Read", basket(onTopic("cents")), p.withRead("basket.go"))
		release := p.withoutWorker()
		check("before any merge, without a worker")
		release()

		p.git("merge", "-q", "--no-ff", "-m", "Merge cents", "cents")
		want["totals lose a cent"] = ""
		check("one merged")
		p.expect("one merged: Read", basket(""), p.withRead("basket.go"))

		p.git("checkout", "-q", "tax")
		p.git("rebase", "-q", "main")
		p.git("checkout", "-q", "main")
		p.git("merge", "-q", "--ff-only", "tax")
		p.git("branch", "-q", "-d", "tax")
		want["the tax line is printed twice"] = ""
		check("one rebased, fast-forwarded and deleted")

		p.git("checkout", "-q", "books")
		p.git("merge", "-q", "-m", "Catch up", "main")
		for bug := range want {
			want[bug] = ""
		}
		check("on the last branch, with main merged into it")
		p.git("checkout", "-q", "main")
		want["entries are sorted by name"] = onTopic("books")
		check("back on main")
		p.git("merge", "-q", "--ff-only", "books")
		want["entries are sorted by name"] = ""
		check("all merged")

		p.git("checkout", "-q", "-b", "vouchers")
		p.fix("voucher.go", "vouchers are counted twice", func() { p.commit("Count vouchers once") })
		p.git("checkout", "-q", "main")
		want["vouchers are counted twice"] = onTopic("vouchers")
		check("one more")
		p.git("merge", "-q", "--squash", "vouchers")
		p.git("commit", "-q", "-m", "Vouchers, in one commit")
		check("merged as one commit") // which git cannot tell
		p.git("branch", "-q", "-D", "vouchers")
		want["vouchers are counted twice"] = ""
		check("and deleted")
		figure(t, 5, "five records of five branches, committed while or after they were observed: labelled on main until merged (merge, rebase, fast-forward), after a squash until the branch is deleted")
	})

	t.Run("without git", func(t *testing.T) {
		m := newMemory(t)
		p := newProject(t, m)
		p.git("checkout", "-q", "-b", "cents")
		nowhere := t.TempDir()
		for i, entry := range m.env {
			if strings.HasPrefix(entry, "PATH=") {
				m.env[i] = "PATH=" + nowhere
			}
		}
		m.mustCommand("worker", "start")
		p.fix("basket.go", "totals lose a cent", func() { p.commit("Count in cents") })
		p.git("checkout", "-q", "main")
		basket := func(mark string) map[string]string { return map[string]string{"totals lose a cent": mark} }
		p.expect("no git on the PATH", basket(changedMark), p.inBlock)
		p.git("merge", "-q", "cents")
		p.expect("no git on the PATH, merged", basket(""), p.inBlock)

		if err := os.RemoveAll(filepath.Join(p.dir, ".git")); err != nil {
			t.Fatal(err)
		}
		p.fix("receipt.go", "the tax line is printed twice")
		p.expect("no repository any more", map[string]string{"totals lose a cent": "", "the tax line is printed twice": ""}, p.inBlock)
		p.checkNoErrors()
		figure(t, 5, "no git, no repository: no label, no error; files are compared all the same")
	})
}

// withoutWorker stops the worker and keeps others from starting, until release.
func (p *project) withoutWorker() (release func()) {
	p.m.t.Helper()
	p.m.mustCommand("worker", "stop")
	unlock := p.m.holdLock()
	return func() {
		unlock()
		p.m.mustCommand("worker", "start")
	}
}

// checkNoErrors looks for trouble in the logs.
func (p *project) checkNoErrors() {
	p.m.t.Helper()
	logs, err := filepath.Glob(filepath.Join(p.m.dir, "logs", "*"))
	if err != nil || len(logs) == 0 {
		p.m.t.Fatalf("no logs (%v)", err)
	}
	for _, path := range logs {
		content, err := os.ReadFile(path)
		if err != nil {
			p.m.t.Fatal(err)
		}
		for line := range strings.Lines(string(content)) {
			if strings.Contains(line, "level=ERROR") || strings.Contains(line, "level=WARN") || strings.Contains(line, `"level":"ERROR"`) || strings.Contains(line, `"level":"WARN"`) {
				p.m.t.Errorf("%s: %s", filepath.Base(path), line)
			}
		}
	}
}
