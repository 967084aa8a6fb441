package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claudemem/internal/capture/symbols"
	"claudemem/internal/memory"
)

// story builds a batch event by event, in the shapes that Claude Code sends.
type story struct {
	batch  memory.Batch
	number int
}

const root = "/home/dev/project"

func tell() *story {
	return &story{batch: memory.Batch{Session: memory.Session{ID: 7, ProjectPath: root}}}
}

func (s *story) add(e memory.Event, files ...memory.FileRef) *story {
	n := len(s.batch.Events)
	e.OccurredAt = memory.Millis(1_700_000_000_000 + int64(n)*1000)
	e.Host, e.WorktreeRoot, e.ProjectPath = memory.HostClaudeCode, root, root
	if e.Cwd == "" {
		e.Cwd = root
	}
	e.Branch, e.HeadCommit = "main", "abc1234"
	s.batch.Events = append(s.batch.Events, memory.PendingEvent{Key: fmt.Sprint(n), PromptNumber: s.number, Event: e, Files: files})
	return s
}

func (s *story) ask(prompt string) *story {
	s.number++
	s.batch.Prompts = append(s.batch.Prompts, memory.Prompt{Number: s.number, Text: prompt})
	return s
}

func object(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

type fields map[string]any

func (s *story) run(command, stdout string) *story {
	return s.add(memory.Event{Kind: memory.KindTool, ToolName: "Bash", ToolInput: object(fields{"command": command}),
		ToolResponse: object(fields{"stdout": stdout, "stderr": "", "interrupted": false, "isImage": false})})
}

func (s *story) fail(command string, code int, output string) *story {
	return s.add(memory.Event{Kind: memory.KindTool, ToolName: "Bash", ToolInput: object(fields{"command": command}),
		ToolError: fmt.Sprintf("Exit code %d\n%s", code, output)})
}

func (s *story) read(file, content string) *story {
	return s.add(memory.Event{Kind: memory.KindTool, ToolName: "Read", ToolInput: object(fields{"file_path": root + "/" + file}),
		ToolResponse: object(fields{"type": "text", "file": fields{"filePath": root + "/" + file, "content": content, "startLine": 1}})},
		memory.FileRef{Path: file, Role: memory.FileRead, Hash: "h-" + file})
}

func (s *story) write(file, content string) *story {
	return s.add(memory.Event{Kind: memory.KindTool, ToolName: "Write", ToolInput: object(fields{"file_path": root + "/" + file, "content": content}),
		ToolResponse: object(fields{"type": "create", "filePath": root + "/" + file, "content": content, "structuredPatch": []int{}})},
		memory.FileRef{Path: file, Role: memory.FileModified, Hash: "h-" + file}).compare()
}

// replace replaces text once in a file that held before, which the host sends along.
func (s *story) replace(file, before, old, text string) *story {
	return s.add(memory.Event{Kind: memory.KindTool, ToolName: "Edit", ToolInput: object(fields{"file_path": root + "/" + file, "old_string": old, "new_string": text}),
		ToolResponse: object(fields{"filePath": root + "/" + file, "originalFile": before})},
		memory.FileRef{Path: file, Role: memory.FileModified, Hash: "h2-" + file}).compare()
}

// compare adds to the last event what it changed, as intake does.
func (s *story) compare() *story {
	e := &s.batch.Events[len(s.batch.Events)-1]
	e.Symbols, _ = symbols.AtOnce(&e.Event, e.Files[0])
	return s
}

// edit takes the hunk's lines with their signs; start is its first line. Nothing else of
// the file is known.
func (s *story) edit(file string, start int, lines ...string) *story {
	oldLines, newLines := 0, 0
	for _, l := range lines {
		if l[0] != '+' {
			oldLines++
		}
		if l[0] != '-' {
			newLines++
		}
	}
	return s.add(memory.Event{Kind: memory.KindTool, ToolName: "Edit", ToolInput: object(fields{"file_path": root + "/" + file, "old_string": "x", "new_string": "y"}),
		ToolResponse: object(fields{"filePath": root + "/" + file, "structuredPatch": []fields{{"oldStart": start, "oldLines": oldLines, "newStart": start, "newLines": newLines, "lines": lines}}})},
		memory.FileRef{Path: file, Role: memory.FileModified, Hash: "h2-" + file})
}

func (s *story) stop(message string) *story {
	return s.add(memory.Event{Kind: memory.KindStop, LastAssistantMessage: message})
}

func (s *story) distil(t testing.TB) memory.Outcome {
	t.Helper()
	out, err := New().Distil(context.Background(), s.batch)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// titles are the observations as a list would show them.
func titles(out memory.Outcome) []string {
	list := []string{}
	for i := range out.Observations {
		list = append(list, string(out.Observations[i].Type)+": "+out.Observations[i].Title)
	}
	return list
}

const goWindow = `package window

// Window is a ring of numbers.
type Window struct {
	size  int
	items []int
}

// Slide adds an item and drops the oldest.
func (w *Window) Slide(n int) {
	w.items = append(w.items, n)
	if len(w.items) >= w.size {
		w.items = w.items[1:]
	}
}
`

const goFailure = `--- FAIL: TestSlide (0.00s)
    window_test.go:12: got 2 items, want 3
FAIL
FAIL	example.com/window	0.003s
FAIL`

func goFix(s *story) *story {
	return s.fail("cd window && go test ./... 2>&1 | tail -20; exit 1", 1, goFailure).
		read("window/window.go", goWindow).
		replace("window/window.go", goWindow, ">=", ">").
		run("go test ./...", "ok  \texample.com/window\t0.003s")
}

func TestStories(t *testing.T) {
	tests := []struct {
		name  string
		story *story
		want  []string
	}{
		{"a fix, named by the request",
			goFix(tell().ask("Please fix the off-by-one in Window.Slide.")).stop("Done! All tests pass now. Let me know if you need anything else."),
			[]string{"bugfix: Fix the off-by-one in Window.Slide: TestSlide passes again"}},
		{"a fix whose check passes by other words",
			tell().ask("Please fix the off-by-one in Window.Slide.").
				fail("make check", 1, "exit status 2").
				read("window/window.go", goWindow).
				replace("window/window.go", goWindow, ">=", ">").
				run("CI=1 make check", "ok").stop("Done."),
			[]string{"bugfix: Fix the off-by-one in Window.Slide: `CI=1 make check` passes again"}},
		{"a fix whose request says nothing and whose answer neither",
			goFix(tell().ask("the tests fail, please fix")).stop("Done."),
			[]string{"bugfix: Fix TestSlide in Window.Slide (window.go)"}},
		{"a fix without any words",
			goFix(tell()),
			[]string{"bugfix: Fix TestSlide in Window.Slide (window.go)"}},
		{"a fix, told in Markdown with fanfare",
			goFix(tell().ask("fix the failing test")).stop("## Summary\n\nPerfect! I've fixed the issue. 🎉\n\n### Root Cause\n\nThe problem was that `Slide` dropped an item **one too early**, because it compared with `>=`.\n\n### Changes\n\n- **window/window.go**: use `>`\n\n```go\nif len(w.items) > w.size {\n```\n\nAll tests pass! ✅ Would you like me to commit this?"),
			[]string{"bugfix: `Slide` dropped an item one too early, because it compared with `>=`"}},
		{"an intermediate failure while building something is no bug",
			tell().ask("Add a Peek method to Window").
				read("window/window.go", goWindow).
				edit("window/window.go", 15, " }", "+", "+// Peek is the oldest item.", "+func (w *Window) Peek() int {", "+\treturn w.item[0]", "+}").
				fail("go test ./...", 1, "# example.com/window\nwindow/window.go:19:11: w.item undefined (type *Window has no field or method item)\nFAIL\texample.com/window [build failed]\nFAIL").
				edit("window/window.go", 18, " func (w *Window) Peek() int {", "-\treturn w.item[0]", "+\treturn w.items[0]", " }").
				run("go test ./...", "ok  \texample.com/window\t0.003s").
				stop("`Peek` returns the oldest item without removing it."),
			[]string{"feature: `Peek` returns the oldest item without removing it"}},
		{"a feature nobody described",
			tell().ask("go on").
				write("src/duration.ts", "export function parseDuration(s: string): number {\n  return 0;\n}\n\nexport class Clock {\n  tick(n: number) {\n  }\n}\n").
				run("npm test", "Tests:       12 passed, 12 total").
				stop("ok"),
			[]string{"feature: Add parseDuration, Clock, Clock.tick in duration.ts"}},
		{"a rename",
			tell().ask("Rename it to something better").
				replace("app/user.py", "def get(uid):\n    user = db[uid]\n    if user is None:\n        raise KeyError(uid)\n    return user\n", "get(", "find_user(").
				run("pytest -q", "3 passed in 0.02s").
				stop("Done."),
			[]string{"refactor: Rename get to find_user (user.py)"}},
		{"documentation",
			tell().ask("update the docs").edit("README.md", 3, " # Tool", " ", "+## Installing", "+", "+Run `make install`.").stop("Updated."),
			[]string{"change: Write in README.md: Installing"}},
		{"tests only",
			tell().ask("more tests").
				replace("src/cart.test.js", "import { total } from './cart'\n", "'./cart'\n", "'./cart'\n\ntest(\"an empty cart costs nothing\", () => {\n  expect(total([])).toBe(0);\n});\n").
				run("npx jest", "Tests:       4 passed, 4 total").stop("Added."),
			[]string{"change: Add an empty cart costs nothing in cart.test.js"}},
		{"a failure that stays",
			tell().ask("make the build work").
				fail("cargo build", 101, "error[E0308]: mismatched types\n --> src/lib.rs:10:5\n  |\n").
				edit("src/lib.rs", 9, " fn area() -> u32 {", "-    1", "+    \"1\"", " }").
				fail("cargo build", 101, "error[E0308]: mismatched types\n --> src/lib.rs:10:5\n  |\n").
				stop("I ran out of ideas."),
			[]string{"discovery: `cargo build` still fails: error[E0308]: mismatched types after editing lib.rs"}},
		{"a failure nobody touched",
			tell().ask("run the tests").
				fail("pytest", 1, "FAILED tests/test_user.py::test_login - AssertionError: 401 != 200\n1 failed, 3 passed in 0.10s").
				stop("One test fails."),
			[]string{"discovery: test_login fails (tests/test_user.py)"}},
		{"what fails in one turn and passes in a later one is one story",
			tell().ask("Write a test that shows the bug").
				replace("window/window_test.go", "package window\n", "window\n", "window\n\nfunc TestSlide(t *testing.T) {\n}\n").
				fail("go test ./...", 1, goFailure).stop("TestSlide shows it.").
				ask("now fix it").
				read("window/window.go", goWindow).
				replace("window/window.go", goWindow, ">=", ">").
				run("go test ./window", "ok  \texample.com/window\t0.003s").
				stop("Fixed."),
			[]string{"change: Add TestSlide in window_test.go", "bugfix: Fix TestSlide in Window.Slide (window.go)"}},
		{"two troubles in one turn",
			tell().ask("Fix both bugs").
				fail("go test ./a", 1, "--- FAIL: TestA (0.00s)\n    a_test.go:3: no\nFAIL\texample.com/a\t0.003s").
				replace("a/a.go", "package a\n\nfunc A() int {\n\treturn 1\n}\n", "1", "2").
				run("go test ./a", "ok  \texample.com/a\t0.003s").
				fail("go test ./b", 1, "--- FAIL: TestB (0.00s)\n    b_test.go:3: no\nFAIL\texample.com/b\t0.003s").
				replace("b/b.go", "package b\n\nfunc B() int {\n\treturn 1\n}\n", "1", "2").
				run("go test ./b", "ok  \texample.com/b\t0.003s").
				stop("Both are fixed."),
			[]string{"bugfix: Fix TestA in A (a.go)", "bugfix: Fix TestB in B (b.go)"}},
		{"two commits in one turn",
			tell().ask("Clean up and commit in two steps").
				edit("a.go", 4, " func A() int {", "-\treturn 1", "+\treturn 2", " }").
				run("git commit -qam 'a: return two'", "").
				edit("b.go", 4, " func B() int {", "-\treturn 1", "+\treturn 2", " }").
				run("git commit -qam 'feat(b): return two as well'", "").
				stop("Done."),
			[]string{"change: a: return two", "change: Return two as well"}},
		{"an edit that was thrown away leaves nothing",
			tell().ask("try it with a map").edit("a.go", 4, " func A() int {", "-\treturn 1", "+\treturn 2", " }").run("git checkout -- a.go", "").stop("Back to where it was."),
			nil},
		{"a scratch file that came and went leaves nothing",
			tell().ask("is it fast?").write("scratch_bench.go", "package x\n").run("rm scratch_bench.go", "").stop("Yes."),
			nil},
		{"a dependency",
			tell().ask("we use zap from now on").run("go get go.uber.org/zap@v1.27.0", "go: added go.uber.org/zap v1.27.0").stop("Done."),
			[]string{"change: Added dependency go.uber.org/zap@v1.27.0 (go)"}},
		{"something that had to be installed",
			tell().ask("run the tests").
				fail("npm test", 1, "Error: Cannot find module 'express'\nRequire stack:\n- /home/dev/project/app.js").
				run("npm install express", "added 1 package").
				run("npm test", "Tests: 3 passed, 3 total").stop("They pass."),
			[]string{"discovery: `npm test` needed: added dependency express (npm)"}},
		{"a decision of the user's",
			tell().ask("Let's go with Postgres instead of SQLite for the job table.").stop("Understood."),
			[]string{"decision: Go with Postgres instead of SQLite for the job table"}},
		{"a decision of the agent's beside its work",
			tell().ask("Add a queue").write("queue.go", "package q\n\ntype Queue struct{}\n\nfunc (q *Queue) Push() {}\n").run("go test ./...", "ok").
				stop("`Queue` is in queue.go. I chose a ring buffer over a channel because the length must be known."),
			[]string{"feature: `Queue` is in queue.go", "decision: Chose a ring buffer over a channel because the length must be known"}},
		{"an investigation",
			tell().ask("why is startup slow?").read("cmd/main.go", "package main\n").
				stop("Startup is slow because `loadConfig` in cmd/main.go reads every file of the data directory, although only the newest is used. Nothing caches it."),
			[]string{"discovery: Startup is slow because `loadConfig` in cmd/main.go reads every file of the data directory"}},
		{"a subagent's findings",
			tell().ask("explore").
				add(memory.Event{Kind: memory.KindTool, ToolName: "Agent", ToolInput: object(fields{"description": "Find the retry logic"}),
					ToolResponse: object(fields{"status": "completed", "content": []fields{{"type": "text", "text": "Retries are done in `client.go`: `Do` calls itself on a 429, because the transport cannot replay a body. There is no limit, so a server that always answers 429 keeps it busy forever."}}})}).
				stop("See above."),
			[]string{"discovery: Retries are done in `client.go`: `Do` calls itself on a 429"}},
		{"a tool that is not there",
			tell().ask("run the tests").fail("pytest", 127, "bash: line 1: pytest: command not found").run("python -m pytest", "3 passed in 0.1s").stop("They pass."),
			nil},
		{"looking around",
			tell().ask("what's in here?").run("ls -la", "a\nb").run("git status", "clean").run("cat README.md", "# x").read("README.md", "# x").fail("grep -rn foo .", 1, "").stop("A small Go project with a README."),
			nil},
		{"only talk", tell().ask("thanks!").stop("You're welcome!"), nil},
		{"nothing at all", tell(), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.want
			if want == nil {
				want = []string{}
			}
			if diff := cmp.Diff(want, titles(tt.story.distil(t))); diff != "" {
				t.Errorf("observations (-want +got):\n%s", diff)
			}
		})
	}
}
