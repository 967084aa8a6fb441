//go:build unix

package acceptance

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
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
func (p *project) edit(session, file, before, old, now string) string {
	p.m.t.Helper()
	if strings.Count(before, old) != 1 {
		p.m.t.Fatalf("%q stands %d times in %s", old, strings.Count(before, old), file)
	}
	after := strings.Replace(before, old, now, 1)
	p.write(file, after)
	path := filepath.Join(p.dir, file)
	p.sessions++
	p.send("PostToolUse-Edit", session, map[string]any{"tool_use_id": fmt.Sprint(session, p.sessions),
		"tool_input":    map[string]any{"file_path": path, "old_string": old, "new_string": now},
		"tool_response": map[string]any{"filePath": path, "oldString": old, "newString": now, "originalFile": before},
	})
	return after
}

// TestFreshBySymbol lets a session change one function and looks at what the next session
// is told after the file was changed there and elsewhere, with real git.
func TestFreshBySymbol(t *testing.T) {
	t.Parallel()
	m := newMemory(t)
	m.mustCommand("worker", "start")
	p := newProject(t, m)
	p.write("limiter.go", limiterSource)
	p.commit("Add a limiter")

	const session, bug = "fix-refill", "refill overfills the bucket"
	p.send("SessionStart-startup", session, nil)
	p.send("UserPromptSubmit", session, map[string]any{"prompt": "Fix this in limiter.go: " + bug + "."})
	fixed := p.edit(session, "limiter.go", limiterSource, "l.tokens += n", "l.tokens = min(l.tokens+n, 10)")
	p.send("Stop", session, map[string]any{"last_assistant_message": "The cause was that " + bug + ". It stops at ten tokens now."})
	m.settle(60 * time.Second)
	p.commit("Stop at ten tokens")

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
		{"the function", change("min(l.tokens+n, 10)", "min(l.tokens+n, 20)"), changedMark},
		{"its signature", change("refill(n int)", "refill(n int64)"), changedMark},
		{"its name", change("refill(", "fill("), changedMark},
	} {
		for _, committed := range []bool{false, true} {
			p.write("limiter.go", tt.content)
			if committed && tt.content != fixed {
				p.commit("Change " + tt.name)
			}
			p.expect(fmt.Sprintf("%s, committed %t", tt.name, committed), map[string]string{bug: tt.mark}, p.inBlock)
		}
		if tt.content != fixed {
			p.git("reset", "-q", "--hard", "HEAD~1")
		}
	}
	figure(t, 3, "a formatter, an import, a comment and another function mark nothing; the function, its signature and its name do; 9 changes, in the work tree and committed")
}

// TestSearchBySymbol: the name of a function finds the records of the session that changed
// it, though neither the user nor the agent wrote it.
func TestSearchBySymbol(t *testing.T) {
	t.Parallel()
	m := newMemory(t)
	m.mustCommand("worker", "start")
	p := newProject(t, m)
	p.write("limiter.go", limiterSource)
	const session = "change-take"
	p.send("UserPromptSubmit", session, map[string]any{"prompt": "Make it stricter, please."})
	p.edit(session, "limiter.go", limiterSource, "return l.tokens >= 0", "return l.tokens > 0")
	p.send("Stop", session, map[string]any{"last_assistant_message": "It is stricter now."})
	m.settle(60 * time.Second)
	for _, query := range []string{"Limiter.take", "limiter take"} {
		out := m.mustCommand("search", query, "--project", p.dir, "--json")
		if !strings.Contains(string(out), `"id"`) {
			t.Errorf("%q finds nothing: %s", query, out)
		}
	}
}
