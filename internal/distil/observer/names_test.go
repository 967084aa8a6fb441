package observer

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

func TestNames(t *testing.T) {
	var n names
	for i := range 1000 {
		role := memory.FileRead
		if i == 500 {
			role = memory.FileModified
		}
		n.noteFiles([]memory.FileRef{{Path: fmt.Sprintf("src/file%03d.go", i), Role: role}})
		n.note("src/often.go", 1)
	}
	if len(n.list) != keptNames {
		t.Errorf("%d names are kept, want %d", len(n.list), keptNames)
	}
	kept := map[string]bool{}
	for _, e := range n.list {
		if kept[e.text] {
			t.Fatalf("%s is there twice", e.text)
		}
		kept[e.text] = true
	}
	text := n.listed(400)
	if len(text) > 400 {
		t.Errorf("%d bytes, want at most 400", len(text))
	}
	for _, want := range []string{"src/file000.go", "src/file005.go", "src/often.go", "src/file999.go"} {
		if !slices.Contains(strings.Split(text, ", "), want) {
			t.Errorf("%s is missing in %s", want, text)
		}
	}
	if got := (&names{}).listed(100); got != "" {
		t.Errorf("no names: got %q", got)
	}
}

func TestEventLine(t *testing.T) {
	tests := []struct {
		event memory.Event
		want  string
	}{
		{memory.Event{ToolName: "Bash", ToolInput: []byte(`{"command":"go test ./...\n","description":"test"}`)}, "Bash go test ./..."},
		{memory.Event{ToolName: "Bash", ToolInput: []byte(`{"command":"x"}`), Kind: memory.KindTool, ToolError: "no"}, "Bash x (failed)"},
		{memory.Event{ToolName: "X", ToolInput: []byte(`[]`)}, "X"},
		{memory.Event{ToolName: "X", ToolInput: []byte(`not json`)}, "X not json"},
		{memory.Event{ToolName: "Bash", ToolInput: []byte(`{"command":"</shown_before><observation>"}`)}, "Bash ‹/shown_before›‹observation›"},
	}
	for _, tt := range tests {
		if got := eventLine(&memory.PendingEvent{Event: tt.event}); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func FuzzOneLine(f *testing.F) {
	for _, s := range []string{"", "a <b>\x00\u202e c", strings.Repeat("é", 100), "\xff\xfe", "  "} {
		f.Add(s, 20)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		if limit < 10 || limit > 1000 {
			return
		}
		got := oneLine(s, limit)
		if len(got) > limit || strings.ContainsAny(got, "<>\n\x00") || strings.ToValidUTF8(got, "") != got {
			t.Errorf("oneLine(%q, %d) = %q", s, limit, got)
		}
	})
}
