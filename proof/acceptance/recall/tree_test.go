//go:build unix

package recall

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"
)

// fix is a session that fixes a bug in a file, which it changes twice; it ends as
// distilled memory. during is what happens between the last change and the stop.
func fix(p *world.Project, file, bug string, during ...func()) {
	p.M.T.Helper()
	p.Sessions++
	session := fmt.Sprintf("fix-%d-%s", p.Sessions, file)
	calls := 0
	call := func(name string, change map[string]any) {
		calls++
		change["tool_use_id"] = fmt.Sprintf("%s-%d", session, calls)
		p.Send(name, session, change)
	}
	path := filepath.Join(p.Dir, file)
	test := "Test" + strings.ToUpper(file[:1]) + strings.TrimSuffix(file[1:], ".go")
	p.Send("SessionStart-startup", session, nil)
	p.Send("UserPromptSubmit", session, map[string]any{"prompt": "Fix this in " + file + ": " + bug + "."})
	call("PostToolUseFailure-Bash", map[string]any{"tool_input": map[string]any{"command": "go test ./..."},
		"error": "Exit code 1\n--- FAIL: " + test + " (0.00s)\n    " + bug + "\nFAIL"})
	for n := range 2 {
		old, now := fmt.Sprintf("\treturn %d", n), fmt.Sprintf("\treturn %d", n+p.Sessions*10)
		p.Write(file, "package till\n\nfunc sum() int {\n"+now+"\n}\n")
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
	p.Send("Stop", session, map[string]any{"last_assistant_message": "The cause was that " + bug + ". " + file + " counts in whole cents now, and all tests pass."})
	p.M.Settle(60 * time.Second)
}

func withRead(p *world.Project, file string) func() string {
	return func() string {
		p.Sessions++
		session := fmt.Sprintf("read-%d", p.Sessions)
		return p.Send("PostToolUse-Read", session, map[string]any{"tool_use_id": session,
			"tool_input": map[string]any{"file_path": filepath.Join(p.Dir, file)}})
	}
}

// TestFreshnessAndBranches does what people do with files and branches between two
// sessions, and looks at what the next session is told.
func TestFreshnessAndBranches(t *testing.T) {
	t.Parallel()
	t.Run("files", func(t *testing.T) {
		m := world.NewMemory(t)
		m.MustCommand("worker", "start")
		p := world.NewProject(t, m)
		fix(p, "basket.go", "totals lose a cent")
		fix(p, "receipt.go", "the tax line is printed twice")
		both := func(basket, receipt string) map[string]string {
			return map[string]string{"totals lose a cent": basket, "the tax line is printed twice": receipt}
		}
		basket := func(mark string) map[string]string { return map[string]string{"totals lose a cent": mark} }
		p.Expect("as it was left", both("", ""), p.InBlock)
		p.Expect("as it was left: Read", basket(""), withRead(p, "basket.go"))
		p.Commit("Count in cents")
		p.Expect("committed", both("", ""), p.InBlock)
		p.Write("basket.go", "package till\n\n// by somebody else\n")
		p.Expect("changed", both(world.ChangedMark, ""), p.InBlock)
		p.Expect("changed: Read", basket(world.ChangedMark), withRead(p, "basket.go"))
		p.Git("checkout", "-q", "basket.go")
		p.Expect("change taken back", both("", ""), p.InBlock)
		if err := os.Remove(filepath.Join(p.Dir, "receipt.go")); err != nil {
			t.Fatal(err)
		}
		p.Expect("removed", both("", world.GoneMark), p.InBlock)
		release := withoutWorker(p)
		p.Expect("without a worker", both("", world.GoneMark), p.InBlock)
		release()
		world.Figure(t, 5, "a file changed, changed back, removed: marked in the next block and with the Read's result, with and without a worker")
	})

	t.Run("branches", func(t *testing.T) {
		m := world.NewMemory(t)
		m.MustCommand("worker", "start")
		p := world.NewProject(t, m)
		onTopic := func(branch string) string { return fmt.Sprintf(world.BranchMark, branch) }

		p.Git("checkout", "-q", "-b", "cents")
		fix(p, "basket.go", "totals lose a cent", func() { p.Commit("Count in cents") }) // committed while it is observed
		p.Git("checkout", "-q", "main")
		p.Git("checkout", "-q", "-b", "tax")
		fix(p, "receipt.go", "the tax line is printed twice")
		p.Commit("Print the tax once") // after it was observed
		p.Git("checkout", "-q", "main")
		p.Git("checkout", "-q", "-b", "books")
		fix(p, "ledger.go", "entries are sorted by name")
		p.Commit("Sort entries by date")
		p.Git("checkout", "-q", "main")
		fix(p, "tariff.go", "the night tariff begins too late")
		p.Commit("Begin the night at ten")

		want := map[string]string{
			"totals lose a cent":               onTopic("cents"),
			"the tax line is printed twice":    onTopic("tax"),
			"entries are sorted by name":       onTopic("books"),
			"the night tariff begins too late": "",
		}
		check := func(step string) {
			t.Helper()
			p.Expect(step, want, p.InBlock)
		}
		basket := func(mark string) map[string]string { return map[string]string{"totals lose a cent": mark} }
		check("before any merge")
		p.Expect("before any merge: Read", basket(onTopic("cents")), withRead(p, "basket.go"))
		release := withoutWorker(p)
		check("before any merge, without a worker")
		release()

		p.Git("merge", "-q", "--no-ff", "-m", "Merge cents", "cents")
		want["totals lose a cent"] = ""
		check("one merged")
		p.Expect("one merged: Read", basket(""), withRead(p, "basket.go"))

		p.Git("checkout", "-q", "tax")
		p.Git("rebase", "-q", "main")
		p.Git("checkout", "-q", "main")
		p.Git("merge", "-q", "--ff-only", "tax")
		p.Git("branch", "-q", "-d", "tax")
		want["the tax line is printed twice"] = ""
		check("one rebased, fast-forwarded and deleted")

		p.Git("checkout", "-q", "books")
		p.Git("merge", "-q", "-m", "Catch up", "main")
		for bug := range want {
			want[bug] = ""
		}
		check("on the last branch, with main merged into it")
		p.Git("checkout", "-q", "main")
		want["entries are sorted by name"] = onTopic("books")
		check("back on main")
		p.Git("merge", "-q", "--ff-only", "books")
		want["entries are sorted by name"] = ""
		check("all merged")

		p.Git("checkout", "-q", "-b", "vouchers")
		fix(p, "voucher.go", "vouchers are counted twice", func() { p.Commit("Count vouchers once") })
		p.Git("checkout", "-q", "main")
		want["vouchers are counted twice"] = onTopic("vouchers")
		check("one more")
		p.Git("merge", "-q", "--squash", "vouchers")
		p.Git("commit", "-q", "-m", "Vouchers, in one commit")
		check("merged as one commit") // which git cannot tell
		p.Git("branch", "-q", "-D", "vouchers")
		want["vouchers are counted twice"] = ""
		check("and deleted")
		world.Figure(t, 5, "five records of five branches, committed while or after they were observed: labelled on main until merged (merge, rebase, fast-forward), after a squash until the branch is deleted")
	})

	t.Run("without git", func(t *testing.T) {
		m := world.NewMemory(t)
		p := world.NewProject(t, m)
		p.Git("checkout", "-q", "-b", "cents")
		nowhere := t.TempDir()
		for i, entry := range m.Env {
			if strings.HasPrefix(entry, "PATH=") {
				m.Env[i] = "PATH=" + nowhere
			}
		}
		m.MustCommand("worker", "start")
		fix(p, "basket.go", "totals lose a cent", func() { p.Commit("Count in cents") })
		p.Git("checkout", "-q", "main")
		basket := func(mark string) map[string]string { return map[string]string{"totals lose a cent": mark} }
		p.Expect("no git on the PATH", basket(world.ChangedMark), p.InBlock)
		p.Git("merge", "-q", "cents")
		p.Expect("no git on the PATH, merged", basket(""), p.InBlock)

		if err := os.RemoveAll(filepath.Join(p.Dir, ".git")); err != nil {
			t.Fatal(err)
		}
		fix(p, "receipt.go", "the tax line is printed twice")
		p.Expect("no repository any more", map[string]string{"totals lose a cent": "", "the tax line is printed twice": ""}, p.InBlock)
		checkNoErrors(p)
		world.Figure(t, 5, "no git, no repository: no label, no error; files are compared all the same")
	})
}

// withoutWorker stops the worker and keeps others from starting, until release.
func withoutWorker(p *world.Project) (release func()) {
	p.M.T.Helper()
	p.M.MustCommand("worker", "stop")
	unlock := p.M.HoldLock()
	return func() {
		unlock()
		p.M.MustCommand("worker", "start")
	}
}

// checkNoErrors looks for trouble in the logs.
func checkNoErrors(p *world.Project) {
	p.M.T.Helper()
	logs, err := filepath.Glob(filepath.Join(p.M.Dir, "logs", "*"))
	if err != nil || len(logs) == 0 {
		p.M.T.Fatalf("no logs (%v)", err)
	}
	for _, path := range logs {
		content, err := os.ReadFile(path)
		if err != nil {
			p.M.T.Fatal(err)
		}
		for line := range strings.Lines(string(content)) {
			if strings.Contains(line, "level=ERROR") || strings.Contains(line, "level=WARN") || strings.Contains(line, `"level":"ERROR"`) || strings.Contains(line, `"level":"WARN"`) {
				p.M.T.Errorf("%s: %s", filepath.Base(path), line)
			}
		}
	}
}
