package symbols_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/internal/capture/symbols"
	"claudemem/internal/memory"
)

// git runs git in the project.
func (p *project) git(args ...string) {
	p.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = p.root
	cmd.Env = []string{"HOME=" + p.root, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@localhost", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@localhost"}
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// run runs a shell line in the project and returns its event.
func (p *project) run(line string) memory.PendingEvent {
	p.t.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = p.root
	cmd.Env = []string{"HOME=" + p.root, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@localhost", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@localhost"}
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("%s: %v\n%s", line, err, out)
	}
	input, err := json.Marshal(map[string]any{"command": line})
	if err != nil {
		p.t.Fatal(err)
	}
	return memory.PendingEvent{Event: memory.Event{
		Kind: memory.KindTool, ToolName: "Bash", ToolInput: input, ToolResponse: json.RawMessage(`{"stdout":"","stderr":""}`),
		WorktreeRoot: p.root, ProjectPath: p.root, Cwd: p.root, OccurredAt: 2000,
	}}
}

// TestUndone edits two files, runs a command and says what remains of the changes, once
// with both in one batch and once with the edits in a batch before.
func TestUndone(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	const all = "new New, modified Limiter.refill, new Trial"
	for _, tt := range []struct{ name, command, want string }{
		{"no undoing", "git --version", all},
		{"a file is checked out", "git checkout -q -- a.go", "new Trial"},
		{"a file is restored", "git restore a.go", "new Trial"},
		{"everything is thrown away", "git reset -q --hard && rm -f trial.go", ""},
		{"stash", "git stash -q", "new Trial"},
		{"a file is removed", "rm trial.go", "new New, modified Limiter.refill"},
		{"an old file is removed", "rm a.go", "deleted Limiter.refill, new Trial"},
		{"committed and reverted", "git commit -q -a -m x && git revert --no-edit HEAD", "new Trial"},
		{"committed", "git commit -q -a -m x && git checkout -q HEAD -- a.go", all},
		{"another file is restored", "git checkout -q -- other.go", all},
		{"a file is moved", "git mv a.go b.go", "new Trial, new b.go:New, modified b.go:Limiter.refill"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, together := range []bool{true, false} {
				p := newProject(t)
				p.put("a.go", goFile)
				p.put("other.go", goFile)
				p.git("init", "-q")
				p.git("add", "-A")
				p.git("commit", "-q", "-m", "begin")
				events := []memory.PendingEvent{
					p.edit("a.go", "func (l *Limiter) refill(n int) {\n\tl.tokens += n", "func New() *Limiter { return nil }\n\nfunc (l *Limiter) refill(n int) {\n\tl.tokens = n", true),
					p.write("trial.go", "package limit\n\nfunc Trial() {}\n", true),
				}
				for i := range events {
					events[i].Symbols, _ = symbols.AtOnce(&events[i].Event, events[i].Files[0])
				}
				events = append(events, p.run(tt.command))
				session := &memory.Session{ProjectPath: p.root}
				var before []memory.SymbolChange
				if !together {
					before, events = net(nil, events[:2]), events[2:]
				}
				err := symbols.Undone(t.Context(), session, events, func(context.Context) ([]memory.SymbolChange, error) { return before, nil })
				if err != nil {
					t.Fatal(err)
				}
				changes := net(before, events)
				for i := range changes {
					if f := changes[i].FilePath; f == "b.go" {
						changes[i].QualifiedName = f + ":" + changes[i].QualifiedName
					}
				}
				if got := told(changes); got != tt.want && (tt.want != "" || len(changes) > 0) {
					t.Errorf("together %t: got %q, want %q", together, got, tt.want)
				}
			}
		})
	}
}

// net adds the changes of events to those before.
func net(before []memory.SymbolChange, events []memory.PendingEvent) []memory.SymbolChange {
	for i := range events {
		before = memory.FoldSymbols(before, events[i].Symbols...)
	}
	return before
}

// TestUndoneKeepsOtherBranches: after a switch to another branch the file has its old code,
// and the work is where it was.
func TestUndoneKeepsOtherBranches(t *testing.T) {
	p := newProject(t)
	p.put("a.go", goFile)
	e := p.edit("a.go", "l.tokens += n", "l.tokens = n", true)
	e.Symbols, _ = symbols.AtOnce(&e.Event, e.Files[0])
	e.Event.Branch = "topic"
	p.put("a.go", goFile)
	away := p.run("mv a.go a.go.bak && mv a.go.bak a.go")
	away.Event.Branch = "main"
	for _, branch := range []string{"main", "topic"} {
		away.Event.Branch = branch
		events := []memory.PendingEvent{e, away}
		if err := symbols.Undone(t.Context(), &memory.Session{ProjectPath: filepath.Clean(p.root)}, events, func(context.Context) ([]memory.SymbolChange, error) { return nil, nil }); err != nil {
			t.Fatal(err)
		}
		if got, want := len(net(nil, events)), map[string]int{"main": 1, "topic": 0}[branch]; got != want {
			t.Errorf("on %s %d changes remain, want %d", branch, got, want)
		}
	}
}
