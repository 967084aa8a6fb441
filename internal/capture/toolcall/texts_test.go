package toolcall_test

import (
	"encoding/json"
	"strings"
	"testing"

	"claudemem/internal/capture/toolcall"
	"claudemem/internal/memory"
)

// TestTexts takes edits as Claude Code reported them for a file with Windows line ends
// and tabs, whose last line has no end, with and without the text before.
func TestTexts(t *testing.T) {
	const begin = "package a\n\nfunc A() int {\n\tx := 1\n\treturn x\n}\n\nfunc B() {}"
	for name, tt := range map[string]struct{ old, now, before, after, patch string }{
		"two lines": {
			"\tx := 1\n\treturn x", "\tx := 2\n\treturn x + 1", begin, strings.Replace(begin, "x := 1\n\treturn x", "x := 2\n\treturn x + 1", 1),
			`{"oldStart":1,"oldLines":8,"newStart":1,"newLines":8,"lines":[" package a"," "," func A() int {","-  x := 1","-  return x","+  x := 2","+  return x + 1"," }"," "," func B() {}","\\ No newline at end of file"]}`,
		},
		"at the end": {
			"func B() {}", "func B() {}\n\nfunc C() {}", begin, begin + "\n\nfunc C() {}",
			`{"oldStart":5,"oldLines":4,"newStart":5,"newLines":6,"lines":["   return x"," }"," ","-func B() {}","\\ No newline at end of file","+func B() {}","+","+func C() {}","\\ No newline at end of file"]}`,
		},
		"the last lines go": {
			"func C() {}", "", begin + "\n\nfunc C() {}", begin + "\n\n",
			`{"oldStart":7,"oldLines":4,"newStart":7,"newLines":3,"lines":[" "," func B() {}"," ","-func C() {}","\\ No newline at end of file"]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			input, _ := json.Marshal(map[string]any{"file_path": "/home/dev/a.go", "old_string": tt.old, "new_string": tt.now})
			original, _ := json.Marshal(tt.before)
			for _, response := range []string{
				`{"originalFile":` + string(original) + `,"structuredPatch":[` + tt.patch + `]}`,
				`{"structuredPatch":[` + tt.patch + `]}`,
			} {
				call := toolcall.Parse(&memory.Event{Kind: memory.KindTool, ToolName: "Edit", ToolInput: input, ToolResponse: json.RawMessage(response), Cwd: "/home/dev", WorktreeRoot: "/home/dev", ProjectPath: "/home/dev"})
				if len(call.Edits) != 1 {
					t.Fatalf("got %d edits", len(call.Edits))
				}
				onDisk := strings.ReplaceAll(tt.after, "\n", "\r\n")
				before, after, ok := call.Edits[0].Texts(func() (string, bool) { return onDisk, true })
				same := func(got, want string) bool {
					return strings.TrimRight(strings.ReplaceAll(got, "\r\n", "\n"), "\n") == strings.TrimRight(want, "\n")
				}
				if !ok || !same(before, tt.before) || !same(after, tt.after) {
					t.Errorf("%s:\ngot %t before %q\nafter %q", response, ok, before, after)
				}
			}
		})
	}
}

// FuzzUndo asserts of any patch and text that taking the patch back does not panic, and
// that a text which the patch does not fit is refused.
func FuzzUndo(f *testing.F) {
	f.Add(3, 2, " a\n-b\n+c", "x\ny\na\nc\n")
	f.Add(0, 0, "-b", "")
	f.Add(1, -5, "+[redacted:key] x", "my secret x")
	f.Fuzz(func(t *testing.T, start, lines int, patch, after string) {
		response, err := json.Marshal(map[string]any{"structuredPatch": []toolcall.Hunk{{NewStart: start, NewLines: lines, Lines: strings.Split(patch, "\n")}}})
		if err != nil {
			t.Skip()
		}
		call := toolcall.Parse(&memory.Event{Kind: memory.KindTool, ToolName: "Edit", ToolInput: json.RawMessage(`{"file_path":"a.go"}`), ToolResponse: response, Cwd: "/p", WorktreeRoot: "/p", ProjectPath: "/p"})
		for i := range call.Edits {
			if _, ok := call.Edits[i].Undo(after); ok && strings.Contains(patch, "+@@never@@") && !strings.Contains(after, "@@never@@") {
				t.Error("a line that is not there was taken back")
			}
		}
	})
}
