//go:build unix

package code

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"
)

// codeProject is a project whose files a session edits as Claude Code does and reports it.
type codeProject struct {
	*world.Memory
	root, session string
	prompts       int // of the session; 0 stands for one that nothing was told of
	calls         int
}

func newCodeProject(t *testing.T) *codeProject {
	t.Helper()
	m := world.NewMemory(t)
	home, err := filepath.EvalSymlinks(m.Home)
	if err != nil {
		t.Fatal(err)
	}
	p := &codeProject{Memory: m, root: filepath.Join(home, "till")}
	if err := os.MkdirAll(filepath.Join(p.root, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.put(".git/HEAD", "ref: refs/heads/main\n")
	return p
}

func (p *codeProject) put(name, content string) {
	p.T.Helper()
	path := filepath.Join(p.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.T.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		p.T.Fatal(err)
	}
}

// tell sends an event of the session.
func (p *codeProject) tell(event string, more map[string]any) world.HookResult {
	p.T.Helper()
	payload := map[string]any{"hook_event_name": event, "session_id": p.session, "cwd": p.root}
	for k, v := range more {
		payload[k] = v
	}
	return p.Send("", payload)
}

func (p *codeProject) used(tool string, input, response map[string]any) {
	p.T.Helper()
	p.calls++
	p.tell("PostToolUse", map[string]any{"prompt_id": p.promptID(), "tool_name": tool, "tool_use_id": fmt.Sprint(p.session, p.calls), "tool_input": input, "tool_response": response})
}

// promptID returns the host's name of the prompt that is being answered.
func (p *codeProject) promptID() string { return fmt.Sprint("p", max(p.prompts, 1)) }

// edit replaces a text in a file.
func (p *codeProject) edit(name, old, text string) {
	p.T.Helper()
	path := filepath.Join(p.root, name)
	raw, err := os.ReadFile(path)
	if err != nil || strings.Count(string(raw), old) != 1 {
		p.T.Fatalf("%v: %q is in %s %d times", err, old, name, strings.Count(string(raw), old))
	}
	before := string(raw)
	after := strings.Replace(before, old, text, 1)
	p.put(name, after)
	p.used("Edit", map[string]any{"file_path": path, "old_string": old, "new_string": text, "replace_all": false},
		map[string]any{"filePath": path, "oldString": old, "newString": text, "originalFile": before, "structuredPatch": []any{hunk(before, after)},
			"userModified": false, "replaceAll": false})
}

// create writes a new file.
func (p *codeProject) create(name, content string) {
	p.T.Helper()
	path := filepath.Join(p.root, name)
	p.put(name, content)
	p.used("Write", map[string]any{"file_path": path, "content": content},
		map[string]any{"type": "create", "filePath": path, "content": content, "originalFile": nil, "structuredPatch": []any{}})
}

// hunk returns the lines that differ between two texts, with up to three around them.
func hunk(before, after string) map[string]any {
	a, b := strings.Split(strings.TrimSuffix(before, "\n"), "\n"), strings.Split(strings.TrimSuffix(after, "\n"), "\n")
	head, tail := 0, 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	from, around := max(head-3, 0), min(tail, 3)
	var lines []string
	for _, part := range []struct {
		sign  string
		lines []string
	}{{" ", a[from:head]}, {"-", a[head : len(a)-tail]}, {"+", b[head : len(b)-tail]}, {" ", a[len(a)-tail : len(a)-tail+around]}} {
		for _, l := range part.lines {
			lines = append(lines, part.sign+l)
		}
	}
	return map[string]any{"oldStart": from + 1, "oldLines": len(a) - tail + around - from, "newStart": from + 1, "newLines": len(b) - tail + around - from, "lines": lines}
}

// symbolSection returns the lines about changed code of a context block.
func symbolSection(block string) string {
	_, section, _ := strings.Cut(block, "## Recently Changed Code\n")
	section, _, _ = strings.Cut(section, "\n\n")
	return section
}

// generated is a source file of so many functions of 160 bytes.
func generated(functions int) string {
	var b strings.Builder
	b.WriteString("package gen\n")
	for i := range functions {
		fmt.Fprintf(&b, "\n// Table%d returns an entry; this comment only makes the file long, as generated ones are.\nfunc Table%d(i int) int {\n\treturn i + %d // the entry of a generated table\n}\n", i, i, i)
	}
	return b.String()
}

// work is the session of TestCodeBlock: three languages, functions that are added, changed,
// renamed and deleted, and edits that change none.
func (p *codeProject) work() {
	p.put("store.go", `package till

func Open(path string) error {
	return check(path)
}

func check(path string) error {
	return nil
}

func legacy() int { return 1 }
`)
	p.put("util.py", `class Ledger:
    def total(self, lines):
        result = 0
        for line in lines:
            result += line.amount
        return result

    def close(self):
        return True
`)
	p.put("gen/table.go", generated(700))
	p.put("notes.md", "# Notes\n")

	p.tell("SessionStart", map[string]any{"source": "startup"})
	p.tell("UserPromptSubmit", map[string]any{"prompt_id": "p1", "prompt": "Let the till add up in cents"})
	p.edit("gen/table.go", "return i + 345 //", "return i + 345000 //")
	p.edit("store.go", "\nfunc legacy() int { return 1 }\n", "\n// Close closes the till.\nfunc Close() error {\n\treturn nil\n}\n\nfunc trial() {}\n")
	p.edit("store.go", "\treturn check(path)\n", "\tif path == \"\" {\n\t\treturn nil\n\t}\n\treturn check(path)\n")
	p.edit("store.go", "\nfunc trial() {}\n", "")                                                                     // came and went
	p.edit("store.go", "func check(path string) error {", "// check looks at path.\nfunc check(path string) error {") // a comment
	p.edit("util.py", "def total(self, lines):", "def sum_up(self, lines):")
	p.create("src/cart.ts", "export class Cart {\n  private items: number[] = [];\n\n  add(n: number): void {\n    this.items.push(n);\n  }\n\n  cents(): number {\n    return 100;\n  }\n}\n\nexport function open(): Cart {\n  return new Cart();\n}\n")
	p.create("src/cart.test.ts", "import { open } from './cart';\n\ntest('adds up', () => {\n  expect(open().cents()).toBe(100);\n});\n")
	p.edit("notes.md", "# Notes\n", "# Notes\n\nThe till adds up in cents.\n")
	p.tell("Stop", map[string]any{"prompt_id": "p1", "last_assistant_message": "The till adds up in cents."})
	p.tell("SessionEnd", map[string]any{"reason": "other"})
}

// codeLines are what the next session is told of work. The large file was compared when the
// turn was distilled.
const codeLines = `src/cart.ts
  export class Cart  [NEW] with 2 methods
  export function open(): Cart  [NEW]
util.py
  Ledger: def sum_up(self, lines)  [NEW, was Ledger.total]
store.go
  func Open(path string) error  [MODIFIED]
  func Close() error  [NEW]
  func legacy() int  [DELETED]
gen/table.go
  func Table345(i int) int  [MODIFIED]
src/cart.test.ts
  test('adds up')  [NEW]`

// TestCodeBlock: what a session added, changed, renamed and deleted in three languages is in
// the next session's block, in its books, and the same by the command and by the API.
func TestCodeBlock(t *testing.T) {
	t.Parallel()
	p := newCodeProject(t)
	p.session = "first"
	p.work()
	p.Settle(60 * time.Second)

	given := func(source string) string {
		return symbolSection(world.InjectedText(t, p.tell("SessionStart", map[string]any{"source": source})))
	}
	whole := func(section string) bool { return section == codeLines }
	next := world.InTime(func(n int) string {
		p.session = fmt.Sprint("second-", n)
		return given("startup")
	}, whole)
	if !whole(next) {
		t.Errorf("the next session's block has\n%s\nwant\n%s", next, codeLines)
	}
	p.checkBooked()
	p.session = "first"
	if text := world.InjectedText(t, p.tell("SessionStart", map[string]any{"source": "resume"})); strings.Contains(text, "Recently Changed Code") {
		t.Errorf("the session that made the changes is told of them when it goes on:\n%s", text)
	}
	if got := world.InTime(func(int) string { return given("compact") }, whole); !whole(got) {
		t.Errorf("after its compaction it is told\n%s", got)
	}

	listed := p.changes()
	want := []string{"deleted Ledger.total", "deleted legacy", "modified Open", "modified Table345", "new Cart", "new Cart.add", "new Cart.cents", "new Close",
		"new Ledger.sum_up was Ledger.total", "new adds up", "new open"}
	if !slices.Equal(listed, want) {
		t.Errorf("changes lists\n%q, want\n%q", listed, want)
	}
	p.MustCommand("worker", "stop")
	if without := p.changes(); !slices.Equal(without, want) {
		t.Errorf("without a worker changes lists\n%q", without)
	}
	var preview struct {
		Context string `json:"context"`
	}
	if err := json.Unmarshal(p.MustCommand("context", "--preview", "--json", "--project", p.root), &preview); err != nil || symbolSection(preview.Context) != codeLines {
		t.Errorf("without a worker the block has\n%s (%v)", symbolSection(preview.Context), err)
	}
	if !t.Failed() {
		world.Figure(t, 2, "%d changes in Go, Python and TypeScript in the next session's block, by command and API; 3 edits that change nothing are in none", len(want))
	}
}

// checkBooked checks that the books name the layer among those that a session was given.
func (p *codeProject) checkBooked() {
	p.T.Helper()
	booked := ""
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(booked, `{"name":"symbols","tokens":`); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			p.T.Fatalf("the last block that was booked: %q", booked)
		}
		p.Query(func(r *sql.Rows) error { return r.Scan(&booked) },
			"SELECT data FROM event_log WHERE event_type = 'hook.context_inject' ORDER BY id DESC LIMIT 1")
	}
}

// changes returns what the command and, while a worker runs, the API list, each sorted.
func (p *codeProject) changes() []string {
	p.T.Helper()
	type page struct {
		Total   int
		Results []struct {
			File, Name, Kind, Signature, Project string
			Type                                 string `json:"change_type"`
			RenamedFrom                          string `json:"renamed_from"`
			Session                              int    `json:"session_db_id"`
			Start                                int    `json:"line_start"`
		}
	}
	var byCommand page
	if err := json.Unmarshal(p.MustCommand("changes", "--json", "--project", p.root, "-n", "50"), &byCommand); err != nil {
		p.T.Fatal(err)
	}
	if p.WorkerPID() != 0 {
		var byAPI page
		p.API().Get(p.T, "/api/symbols", url.Values{"project": {p.root}, "limit": {"50"}}, &byAPI)
		if fmt.Sprint(byAPI) != fmt.Sprint(byCommand) {
			p.T.Errorf("the API lists\n%+v\nthe command\n%+v", byAPI, byCommand)
		}
	}
	var told []string
	for _, c := range byCommand.Results {
		if c.Session != 1 || c.Project != "till" || c.Signature == "" || c.Start == 0 {
			p.T.Errorf("a change is not whole: %+v", c)
		}
		told = append(told, strings.TrimSuffix(fmt.Sprintf("%s %s was %s", c.Type, c.Name, c.RenamedFrom), " was "))
	}
	slices.Sort(told)
	return told
}
