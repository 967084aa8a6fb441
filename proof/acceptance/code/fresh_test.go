//go:build unix

package code

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"
)

const limiterSource = `package till

import "sync"

// Limiter hands out tokens.
type Limiter struct {
	mu     sync.Mutex
	tokens int
}

func (l *Limiter) take() bool {
	l.tokens--
	return l.tokens >= 0
}

func (l *Limiter) refill(n int) {
	l.tokens += n
}
`

// edit replaces text in a file and reports it as Claude Code does.
func edit(p *world.Project, session, file, before, old, now string) string {
	p.M.T.Helper()
	if strings.Count(before, old) != 1 {
		p.M.T.Fatalf("%q stands %d times in %s", old, strings.Count(before, old), file)
	}
	after := strings.Replace(before, old, now, 1)
	p.Write(file, after)
	path := filepath.Join(p.Dir, file)
	p.Sessions++
	p.Send("PostToolUse-Edit", session, map[string]any{"tool_use_id": fmt.Sprint(session, p.Sessions),
		"tool_input":    map[string]any{"file_path": path, "old_string": old, "new_string": now},
		"tool_response": map[string]any{"filePath": path, "oldString": old, "newString": now, "originalFile": before},
	})
	return after
}

// TestFreshBySymbol lets a session change one function and looks at what the next session
// is told after the file was changed there and elsewhere, with real git.
func TestFreshBySymbol(t *testing.T) {
	t.Parallel()
	m := world.NewMemory(t)
	m.MustCommand("worker", "start")
	p := world.NewProject(t, m)
	p.Write("limiter.go", limiterSource)
	p.Commit("Add a limiter")

	const session, bug = "fix-refill", "refill overfills the bucket"
	p.Send("SessionStart-startup", session, nil)
	p.Send("UserPromptSubmit", session, map[string]any{"prompt": "Fix this in limiter.go: " + bug + "."})
	fixed := edit(p, session, "limiter.go", limiterSource, "l.tokens += n", "l.tokens = min(l.tokens+n, 10)")
	p.Send("Stop", session, map[string]any{"last_assistant_message": "The cause was that " + bug + ". It stops at ten tokens now."})
	m.Settle(60 * time.Second)
	p.Commit("Stop at ten tokens")

	change := func(old, now string) string {
		if strings.Count(fixed, old) != 1 {
			t.Fatalf("%q stands %d times", old, strings.Count(fixed, old))
		}
		return strings.Replace(fixed, old, now, 1)
	}
	for _, tt := range []struct{ name, content, mark string }{
		{"nothing", fixed, ""},
		{"a formatter", change("l.tokens = min(l.tokens+n, 10)", "l.tokens = min(\n\t\tl.tokens+n,\n\t\t10,\n\t)"), ""},
		{"an import", change(`import "sync"`, "import (\n\t\"sync\"\n\t_ \"time\"\n)"), ""},
		{"a comment inside", change("l.tokens = min", "// never more than ten\n\tl.tokens = min"), ""},
		{"another function", change("return l.tokens >= 0", "return l.tokens > 0"), ""},
		{"a function above", change("// Limiter hands out tokens.", "func helper() {}\n\n// Limiter hands out tokens."), ""},
		{"the function", change("min(l.tokens+n, 10)", "min(l.tokens+n, 20)"), world.ChangedMark},
		{"its signature", change("refill(n int)", "refill(n int64)"), world.ChangedMark},
		{"its name", change("refill(", "fill("), world.ChangedMark},
	} {
		for _, committed := range []bool{false, true} {
			p.Write("limiter.go", tt.content)
			if committed && tt.content != fixed {
				p.Commit("Change " + tt.name)
			}
			p.Expect(fmt.Sprintf("%s, committed %t", tt.name, committed), map[string]string{bug: tt.mark}, p.InBlock)
		}
		if tt.content != fixed {
			p.Git("reset", "-q", "--hard", "HEAD~1")
		}
	}
	world.Figure(t, 3, "a formatter, an import, a comment and another function mark nothing; the function, its signature and its name do; 9 changes, in the work tree and committed")
}

// TestSearchBySymbol: the name of a function finds the records of the session that changed
// it, though neither the user nor the agent wrote it.
func TestSearchBySymbol(t *testing.T) {
	t.Parallel()
	m := world.NewMemory(t)
	m.MustCommand("worker", "start")
	p := world.NewProject(t, m)
	p.Write("limiter.go", limiterSource)
	const session = "change-take"
	p.Send("UserPromptSubmit", session, map[string]any{"prompt": "Make it stricter, please."})
	edit(p, session, "limiter.go", limiterSource, "return l.tokens >= 0", "return l.tokens > 0")
	p.Send("Stop", session, map[string]any{"last_assistant_message": "It is stricter now."})
	m.Settle(60 * time.Second)
	for _, query := range []string{"Limiter.take", "limiter take"} {
		out := m.MustCommand("search", query, "--project", p.Dir, "--json")
		if !strings.Contains(string(out), `"id"`) {
			t.Errorf("%q finds nothing: %s", query, out)
		}
	}
}
