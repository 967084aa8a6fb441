package mode

import (
	"fmt"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

// settingLines returns the text of a file with n lines.
func settingLines(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ { // Claude Code shows the tab as two blanks in a patch
		fmt.Fprintf(&b, "\tsetting_%d = %d\n", i, i)
	}
	return b.String()
}

// reading is a Read of a whole file as Claude Code reports it: an empty line after the last line end
// counts.
func reading(path, content string) memory.PendingEvent {
	lines := strings.Count(content, "\n") + 1
	return tool("Read", `{"file_path":"/home/dev/shop/`+path+`"}`,
		fmt.Sprintf(`{"type":"text","file":{"filePath":"/home/dev/shop/%s","content":%s,"numLines":%d,"startLine":1,"totalLines":%d}}`, path, quote(content), lines, lines))
}

// TestLongReading: of a long file that the turn edits later, the lines around the edits are shown, and
// neither its beginning nor its end.
func TestLongReading(t *testing.T) {
	long := settingLines(900)
	edited := func(line int, path string) memory.PendingEvent {
		old := fmt.Sprintf("setting_%d = %d", line, line)
		return tool("Edit", `{"file_path":"/home/dev/shop/`+path+`","old_string":"`+old+`","new_string":"changed"}`,
			fmt.Sprintf(`{"filePath":"/home/dev/shop/%s","structuredPatch":[{"oldStart":%d,"oldLines":1,"newStart":%d,"newLines":1,"lines":["-  %s","+  changed"]}]}`, path, line, line, old))
	}
	for _, path := range []string{"limits.conf", "limits.py"} {
		events := []memory.PendingEvent{reading(path, long), edited(400, path), edited(800, path)}
		text := view.WithFiles(events).Turn(events, memory.Prompt{}, "", true)
		outcome := inside(text, "outcome")
		for _, want := range []string{"setting_396 =", "setting_400 =", "setting_404 =", "setting_796 =", "setting_804 =", "[…]"} {
			if !strings.Contains(outcome, want) {
				t.Errorf("%s: %q is not in\n%s", path, want, outcome)
			}
		}
		for _, not := range []string{"setting_1 =", "setting_395 =", "setting_405 =", "setting_900 =", "left out"} {
			if strings.Contains(outcome, not) {
				t.Errorf("%s: %q is in\n%s", path, not, outcome)
			}
		}
		if strings.Contains(text, "lines 1 to") {
			t.Errorf("%s: the whole file is said to be a part of it:\n%s", path, text)
		}
		checkEvents(t, view.WithFiles(events).renderEvent(&events[0]), 1)
		// An edit of another file is no reason.
		events = []memory.PendingEvent{reading(path, long), edited(400, "other.conf")}
		if text := view.WithFiles(events).Turn(events, memory.Prompt{}, "", true); strings.Contains(inside(text, "outcome"), "setting_400") {
			t.Errorf("%s: shown by the edits of another file", path)
		}
	}
}

// TestMovedFile: a file that is written elsewhere and deleted is shown as moved, with the lines that
// differ. A copy, and a file with another text, are new files.
func TestMovedFile(t *testing.T) {
	text := settingLines(60)
	written := func(content string) memory.PendingEvent {
		return tool("Write", `{"file_path":"/home/dev/shop/lib/new.py","content":`+quote(content)+`}`, `{"type":"create","filePath":"/home/dev/shop/lib/new.py"}`)
	}
	removed := tool("Bash", `{"command":"git rm -q src/old.py"}`, `{"stdout":"","stderr":""}`)
	for _, test := range []struct {
		name   string
		events []memory.PendingEvent
		moved  bool
	}{
		{"moved", []memory.PendingEvent{reading("src/old.py", text), written(strings.Replace(text, "setting_7 = 7", "setting_7 = 70", 1)), removed}, true},
		{"removed first", []memory.PendingEvent{reading("src/old.py", text), removed, written(strings.Replace(text, "setting_7 = 7", "setting_7 = 70", 1))}, true},
		{"copied", []memory.PendingEvent{reading("src/old.py", text), written(strings.Replace(text, "setting_7 = 7", "setting_7 = 70", 1))}, false},
		{"rewritten", []memory.PendingEvent{reading("src/old.py", text), written(strings.ReplaceAll(text, "setting", "option")), removed}, false},
	} {
		shown := view.WithFiles(test.events).Turn(test.events, memory.Prompt{}, "", true)
		moved := strings.Contains(shown, "file: lib/new.py (was src/old.py)\n-\tsetting_7 = 7\n+\tsetting_7 = 70\n</parameters")
		if whole := strings.Contains(shown, "file: lib/new.py (new)\n"); moved != test.moved || whole == test.moved {
			t.Errorf("%s: moved %v, want %v:\n%s", test.name, moved, test.moved, shown)
		}
	}
}

// TestPatch: a hunk is shown with one unchanged line on each side, under the number of the first.
func TestPatch(t *testing.T) {
	e := tool("Edit", `{"file_path":"/home/dev/shop/a.go","old_string":"x","new_string":"y"}`,
		`{"filePath":"/home/dev/shop/a.go","structuredPatch":[{"oldStart":7,"oldLines":7,"newStart":7,"newLines":7,"lines":[" one"," two"," three","-x","+y"," four"," five"," six"]}]}`)
	if got, want := inside(view.renderEvent(&e), "parameters"), "\nfile: a.go\n@@ line 9 @@\n three\n-x\n+y\n four\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
