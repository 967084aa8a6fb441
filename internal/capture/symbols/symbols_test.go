package symbols_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/internal/capture/redact"
	"claudemem/internal/capture/symbols"
	"claudemem/internal/memory"
)

const goFile = `package limit

type Limiter struct{ tokens int }

func (l *Limiter) refill(n int) {
	l.tokens += n
}

func (l *Limiter) take() bool {
	if l.tokens == 0 {
		return false
	}
	l.tokens--
	return true
}
`

// project is a work tree in which edits are made, as Claude Code makes and reports them.
type project struct {
	t    *testing.T
	root string
}

func newProject(t *testing.T) *project { return &project{t, t.TempDir()} }

func (p *project) read(name string) string {
	content, err := os.ReadFile(filepath.Join(p.root, name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(content)
}

func (p *project) put(name, content string) {
	if err := os.WriteFile(filepath.Join(p.root, name), []byte(content), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// event returns the event of a tool call that has changed the file, with its hash.
func (p *project) event(tool, name string, input, response map[string]any) memory.PendingEvent {
	input["file_path"] = filepath.Join(p.root, name)
	in, err := json.Marshal(input)
	if err != nil {
		p.t.Fatal(err)
	}
	out, err := json.Marshal(response)
	if err != nil {
		p.t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(p.read(name)))
	return memory.PendingEvent{
		Event: memory.Event{
			Kind: memory.KindTool, ToolName: tool, ToolInput: in, ToolResponse: out,
			WorktreeRoot: p.root, ProjectPath: p.root, Cwd: p.root, OccurredAt: 1000,
		},
		Files: []memory.FileRef{{Path: name, Role: memory.FileModified, Hash: hex.EncodeToString(sum[:])}},
	}
}

// edit replaces text in a file.
func (p *project) edit(name, old, text string, original bool) memory.PendingEvent {
	before := p.read(name)
	if strings.Count(before, old) != 1 {
		p.t.Fatalf("%q stands %d times in %s", old, strings.Count(before, old), name)
	}
	after := strings.Replace(before, old, text, 1)
	p.put(name, after)
	response := map[string]any{"structuredPatch": patch(before, after), "originalFile": ""} // as intake stores it
	if original {
		response["originalFile"] = before
	}
	return p.event("Edit", name, map[string]any{"old_string": old, "new_string": text}, response)
}

// write replaces or creates a file.
func (p *project) write(name, content string, original bool) memory.PendingEvent {
	response := map[string]any{"type": "create", "originalFile": nil, "structuredPatch": []any{}}
	if before, err := os.ReadFile(filepath.Join(p.root, name)); err == nil {
		response = map[string]any{"type": "update", "structuredPatch": patch(string(before), content), "originalFile": ""}
		if original {
			response["originalFile"] = string(before)
		}
	}
	p.put(name, content)
	return p.event("Write", name, map[string]any{"content": content}, response)
}

// patch returns one hunk with three lines around what differs, in which leading tabs are
// two spaces each, as Claude Code shows them.
func patch(before, after string) []map[string]any {
	a, b := strings.Split(strings.TrimSuffix(before, "\n"), "\n"), strings.Split(strings.TrimSuffix(after, "\n"), "\n")
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	from, after1 := max(head-3, 0), min(tail, 3)
	var lines []string
	add := func(sign string, from []string) {
		for _, l := range from {
			rest := strings.TrimLeft(l, "\t")
			lines = append(lines, sign+strings.Repeat("  ", len(l)-len(rest))+strings.TrimSuffix(rest, "\r"))
		}
	}
	add(" ", a[from:head])
	add("-", a[head:len(a)-tail])
	add("+", b[head:len(b)-tail])
	add(" ", a[len(a)-tail:len(a)-tail+after1])
	return []map[string]any{{
		"oldStart": from + 1, "oldLines": len(a) - tail + after1 - from,
		"newStart": from + 1, "newLines": len(b) - tail + after1 - from, "lines": lines,
	}}
}

// told writes changes as text; "?" for an edit that was not compared.
func told(changes []memory.SymbolChange) string {
	if changes == nil {
		return "?"
	}
	parts := make([]string, len(changes))
	for i, c := range changes {
		parts[i] = fmt.Sprintf("%s %s", c.ChangeType, c.QualifiedName)
		if c.RenamedFrom != "" {
			parts[i] += " from " + c.RenamedFrom
		}
	}
	return strings.Join(parts, ", ")
}

// TestEdits makes edits one after the other and compares what each is said to have
// changed: at once when the host sends the text before, later with the file on disk alone.
func TestEdits(t *testing.T) {
	const python = "class Cart:\n    def add(self, item):\n        if item:\n            self.items.append(item)\n\n    def total(self):\n        return sum(self.items)\n"
	type edits = func(p *project, original bool) []memory.PendingEvent
	one := func(name, content, old, text string) edits {
		return func(p *project, original bool) []memory.PendingEvent {
			p.put(name, content)
			return []memory.PendingEvent{p.edit(name, old, text, original)}
		}
	}
	tests := []struct {
		name  string
		edits edits
		// want is what each edit changed, by "; "; atOnce where it differs: "?" for an
		// edit that can only be understood together with others.
		want, atOnce string
	}{
		{"a body", one("a.go", goFile, "l.tokens += n", "l.tokens = n"), "modified Limiter.refill", ""},
		{"a function is added", one("a.go", goFile, "func (l *Limiter) take", "func New() *Limiter { return &Limiter{} }\n\nfunc (l *Limiter) take"), "new New", ""},
		{"a function goes", one("a.go", goFile, "func (l *Limiter) refill(n int) {\n\tl.tokens += n\n}\n\n", ""), "deleted Limiter.refill", ""},
		{"a function gets another name", one("a.go", goFile, "take()", "Take()"), "new Limiter.Take from Limiter.take, deleted Limiter.take", ""},
		{"a comment", one("a.go", goFile, "l.tokens--", "l.tokens-- // one less"), "", ""},
		{"formatting", one("a.go", goFile, "{ tokens int }", "{\n\ttokens int\n}"), "", ""},
		{"an import", one("a.go", goFile, "package limit\n", "package limit\n\nimport _ \"embed\"\n"), "", ""},
		{"a constant outside of functions", one("a.go", goFile, "package limit\n", "package limit\n\nconst most = 3\n"), "", ""},
		{"line ends of Windows", one("a.go", strings.ReplaceAll(goFile, "\n", "\r\n"), "l.tokens += n", "l.tokens = n"), "modified Limiter.refill", ""},
		{"tabs in Python", one("a.py", strings.ReplaceAll(python, "    ", "\t"), "\t\tif item:\n\t\t\tself.items.append(item)", "\t\tself.items.append(item)"), "modified Cart.add", ""},
		{"spaces in Python", one("a.py", python, "        if item:\n            self.items.append(item)", "        self.items.append(item)"), "modified Cart.add", ""},
		{"another language", one("a.txt", goFile, "l.tokens += n", "l.tokens = n"), "?", ""},
		{"a file is created", func(p *project, original bool) []memory.PendingEvent {
			return []memory.PendingEvent{p.write("b.py", python, original)}
		}, "new Cart, new Cart.add, new Cart.total", ""},
		{"a file of Go is created", func(p *project, original bool) []memory.PendingEvent {
			return []memory.PendingEvent{p.write("b.go", goFile, original)}
		}, "new Limiter, new Limiter.refill, new Limiter.take", ""},
		{"a file is written anew", func(p *project, original bool) []memory.PendingEvent {
			p.put("a.go", goFile)
			return []memory.PendingEvent{p.write("a.go", strings.Replace(goFile, "l.tokens--", "l.tokens -= 1", 1), original)}
		}, "modified Limiter.take", ""},
		{"one edit after the other", func(p *project, original bool) []memory.PendingEvent {
			p.put("a.go", goFile)
			return []memory.PendingEvent{
				p.edit("a.go", "l.tokens += n", "l.tokens = n", original),
				p.edit("a.go", "l.tokens--", "l.tokens -= 1", original),
				p.edit("a.go", "l.tokens = n", "l.tokens = n + 1", original),
			}
		}, "modified Limiter.refill; modified Limiter.take; modified Limiter.refill", ""},
		{"broken half-way", func(p *project, original bool) []memory.PendingEvent {
			p.put("a.go", goFile)
			return []memory.PendingEvent{
				p.edit("a.go", "\tif l.tokens == 0 {\n", "\tif l.tokens == 0 {\n\t\tif true {\n", original),
				p.edit("a.go", "\t\treturn false\n", "\t\t}\n\t\treturn false\n", original),
			}
		}, "?; modified Limiter.take", "?; ?"},
		{"broken to the end", func(p *project, original bool) []memory.PendingEvent {
			p.put("a.go", goFile)
			return []memory.PendingEvent{p.edit("a.go", "\treturn true\n}\n", "\treturn true\n", original)}
		}, "?", ""},
		{"several replacements", func(p *project, original bool) []memory.PendingEvent {
			p.put("a.go", goFile)
			after := strings.NewReplacer("l.tokens += n", "l.tokens = n", "l.tokens--", "l.tokens -= 1").Replace(goFile)
			p.put("a.go", after)
			response := map[string]any{"structuredPatch": patch(goFile, after)}
			if original {
				response["originalFileContents"] = goFile
			}
			return []memory.PendingEvent{p.event("MultiEdit", "a.go", map[string]any{"edits": []map[string]any{
				{"old_string": "l.tokens += n", "new_string": "l.tokens = n"}, {"old_string": "l.tokens--", "new_string": "l.tokens -= 1"},
			}}, response)}
		}, "modified Limiter.refill, modified Limiter.take", ""},
		{"a replacement in all places", func(p *project, original bool) []memory.PendingEvent {
			p.put("a.go", goFile)
			after := strings.ReplaceAll(goFile, "l.tokens", "l.left")
			p.put("a.go", after)
			response := map[string]any{"structuredPatch": patch(goFile, after)}
			if original {
				response["originalFile"] = goFile
			}
			return []memory.PendingEvent{p.event("Edit", "a.go", map[string]any{"old_string": "l.tokens", "new_string": "l.left", "replace_all": true}, response)}
		}, "modified Limiter.refill, modified Limiter.take", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t)
			var parts []string
			for _, e := range tt.edits(p, true) {
				changes, _ := symbols.AtOnce(&e.Event, e.Files[0])
				parts = append(parts, told(changes))
			}
			want := tt.want
			if tt.atOnce != "" {
				want = tt.atOnce
			}
			if got := strings.Join(parts, "; "); got != want {
				t.Errorf("at once %q, want %q", got, want)
			}
			p = newProject(t)
			events := tt.edits(p, false)
			symbols.Later(t.Context(), events)
			parts = nil
			for _, e := range events {
				parts = append(parts, told(e.Symbols))
			}
			if got := strings.Join(parts, "; "); got != tt.want {
				t.Errorf("later %q, want %q", got, tt.want)
			}
		})
	}
}

// TestAddedToABrokenFile: of a file that does not parse, only what stands as a whole in the
// added lines is told, and what was there before by that name is not.
func TestAddedToABrokenFile(t *testing.T) {
	const excerpt = "\treturn total\n}\n\nfunc scan(rows []row) int {\n\tfor range rows {\n"
	for _, tt := range []struct{ name, file, before, old, text, want string }{
		{"a function", "a.go", excerpt, "func scan(", "func exact(n int) int {\n\treturn n\n}\n\nfunc scan(", "new exact"},
		{"a function and a type of TypeScript", "a.ts", excerpt, "func scan(", "export function exact(n: number) {\n  return n\n}\n\nclass Row {\n  get() { return 1 }\n}\n\nfunc scan(", "new exact, new Row, new Row.get"},
		{"a line inside", "a.go", excerpt, "\tfor range rows {", "\tn := 1\n\tfor range rows {", "?"},
		{"half of a function", "a.go", excerpt, "func scan(", "func exact(n int) int {\n\treturn n\n\nfunc scan(", "?"},
		{"a name that was there", "a.go", excerpt + "// exact\n", "func scan(", "func exact(n int) int {\n\treturn n\n}\n\nfunc scan(", "?"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t)
			p.put(tt.file, tt.before)
			e := p.edit(tt.file, tt.old, tt.text, true)
			if got, _ := symbols.AtOnce(&e.Event, e.Files[0]); told(got) != tt.want {
				t.Errorf("got %q, want %q", told(got), tt.want)
			}
		})
	}
}

// TestUncertain: where the text before or after is not known for certain, nothing is said.
func TestUncertain(t *testing.T) {
	for name, change := range map[string]func(p *project, e *memory.PendingEvent){
		"the file was changed since": func(p *project, e *memory.PendingEvent) { p.put("a.go", p.read("a.go")+"\n// more\n") },
		"the file is gone":           func(p *project, e *memory.PendingEvent) { _ = os.Remove(filepath.Join(p.root, "a.go")) },
		"no hash was taken":          func(p *project, e *memory.PendingEvent) { e.Files[0].Hash = "" },
		"the patch does not fit": func(p *project, e *memory.PendingEvent) {
			e.Event.ToolResponse = json.RawMessage(strings.Replace(string(e.Event.ToolResponse), "l.tokens = n", "l.tokens = m", 1))
		},
		"the patch is elsewhere": func(p *project, e *memory.PendingEvent) {
			e.Event.ToolResponse = json.RawMessage(strings.Replace(string(e.Event.ToolResponse), `"newStart":3`, `"newStart":5`, 1))
		},
		"the tool failed": func(p *project, e *memory.PendingEvent) { e.Event.ToolError = "no" },
		"it is a link out of the tree": func(p *project, e *memory.PendingEvent) {
			outside := filepath.Join(p.t.TempDir(), "a.go")
			if err := os.Rename(filepath.Join(p.root, "a.go"), outside); err != nil {
				p.t.Fatal(err)
			}
			if err := os.Symlink(outside, filepath.Join(p.root, "a.go")); err != nil {
				p.t.Skip(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			p.put("a.go", goFile)
			e := p.edit("a.go", "l.tokens += n", "l.tokens = n", false)
			if got, _ := symbols.AtOnce(&e.Event, e.Files[0]); told(got) != "modified Limiter.refill" {
				t.Fatalf("got %q before anything happened", told(got))
			}
			change(p, &e)
			events := []memory.PendingEvent{e}
			symbols.Later(t.Context(), events)
			if got := told(events[0].Symbols); got != "?" {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestLargeFile: a file above the limit is compared later.
func TestLargeFile(t *testing.T) {
	p := newProject(t)
	p.put("a.go", goFile+strings.Repeat("\n// a line of a comment that makes the file large\n", 8000))
	e := p.edit("a.go", "l.tokens += n", "l.tokens = n", false)
	if got, ok := symbols.AtOnce(&e.Event, e.Files[0]); ok {
		t.Errorf("compared at once: %q", told(got))
	}
	events := []memory.PendingEvent{e}
	symbols.Later(t.Context(), events)
	if got := told(events[0].Symbols); got != "modified Limiter.refill" {
		t.Errorf("got %q", got)
	}
}

// TestTruncatedContent: a text that was shortened on its way is not the file.
func TestTruncatedContent(t *testing.T) {
	p := newProject(t)
	long := goFile + strings.Repeat("\n// a long comment\n", 10000)
	p.put("a.go", long)
	e := p.write("a.go", redact.TruncateMiddle(long, 64<<10), true)
	if got, ok := symbols.AtOnce(&e.Event, e.Files[0]); ok {
		t.Errorf("got %q", told(got))
	}
}

// TestSecretInSignature: the file on disk is not masked, what is kept of it is.
func TestSecretInSignature(t *testing.T) {
	p := newProject(t)
	secret := "ghp_" + strings.Repeat("aB3dE6gH9", 4)
	p.put("a.py", "def f(token='"+secret+"'):\n    return 1\n")
	e := p.edit("a.py", "return 1", "return 2", false)
	got, _ := symbols.AtOnce(&e.Event, e.Files[0])
	if len(got) != 1 || got[0].QualifiedName != "f" || strings.Contains(got[0].Signature, secret) || !strings.Contains(got[0].Signature, "[redacted:") {
		t.Errorf("got %+v", got)
	}
}

// BenchmarkAtOnce compares an edit of the largest file that is compared while the host waits.
func BenchmarkAtOnce(b *testing.B) {
	p := &project{new(testing.T), b.TempDir()}
	p.put("a.go", goFile+strings.Repeat(strings.ReplaceAll(goFile[len("package limit\n"):], "Limiter", "Other"), 76<<10/len(goFile)))
	before := p.read("a.go")
	after := strings.Replace(before, "l.tokens += n", "l.tokens = n", 1)
	p.put("a.go", after)
	e := p.event("Edit", "a.go", map[string]any{"old_string": "x", "new_string": "y"}, map[string]any{"structuredPatch": patch(before, after)})
	b.SetBytes(int64(2 * len(before)))
	for b.Loop() {
		if got, ok := symbols.AtOnce(&e.Event, e.Files[0]); !ok || len(got) != 1 {
			b.Fatal(got, ok)
		}
	}
}
