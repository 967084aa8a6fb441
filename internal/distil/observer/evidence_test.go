package observer

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"claudemem/internal/memory"
)

func TestEvidence(t *testing.T) {
	const root = "/home/dev/shop"
	file := func(path string, role memory.FileRole) memory.PendingEvent {
		return memory.PendingEvent{
			Event: memory.Event{Kind: memory.KindTool, WorktreeRoot: root},
			Files: []memory.FileRef{{Path: path, Role: role, Hash: "h" + path}},
		}
	}
	events := []memory.PendingEvent{
		file("src/cart.go", memory.FileRead),
		file("src/cart.go", memory.FileModified),
		file("src/tax.go", memory.FileModified),
		file("README.md", memory.FileRead),
		file("go.mod", memory.FileRead),
		{Event: memory.Event{Kind: memory.KindTool, WorktreeRoot: root, ToolInput: []byte(`{"command":"sed -i s/a/b/ go.mod config/app.yaml"}`)}},
	}
	const m, r = memory.FileModified, memory.FileRead
	tests := []struct {
		claimed string
		as      memory.FileRole
		path    string
		role    memory.FileRole
	}{
		{"src/cart.go", m, "src/cart.go", m},
		{"./src/cart.go", m, "src/cart.go", m},
		{root + "/src/cart.go", m, "src/cart.go", m},
		{"cart.go", m, "src/cart.go", m},
		{"shop/src/cart.go", m, "src/cart.go", m},
		{"src/cart.go", r, "src/cart.go", m},         // the tool says that it was changed
		{"README.md", m, "README.md", r},             // the tool only read it
		{"go.mod", m, "go.mod", m},                   // read by a tool, and a command speaks of it
		{"config/app.yaml", m, "config/app.yaml", m}, // only a command speaks of it
		{"config/app.yaml", r, "config/app.yaml", r},
		{"src/invented.go", m, "", ""},
		{"../../etc/passwd", m, "", ""},
		{"", m, "", ""},
		{"..", r, "", ""},
	}
	e := evidenceOf(events)
	for _, tt := range tests {
		if path, role := e.role(tt.claimed, tt.as); path != tt.path || role != tt.role {
			t.Errorf("role(%q, %s) = %q, %q, want %q, %q", tt.claimed, tt.as, path, role, tt.path, tt.role)
		}
	}

	one := []memory.Observation{{Title: "All of it", Files: []memory.FileRef{{Path: "README.md", Role: m}}}}
	e.correctFiles(one)
	want := []memory.FileRef{
		{Path: "src/cart.go", Role: m, Hash: "hsrc/cart.go"}, {Path: "src/tax.go", Role: m, Hash: "hsrc/tax.go"},
		{Path: "README.md", Role: r, Hash: "hREADME.md"},
	}
	if diff := cmp.Diff(want, one[0].Files); diff != "" {
		t.Errorf("a single observation has all that was modified (-want +got):\n%s", diff)
	}
	two := []memory.Observation{
		{Title: "Cart", Files: []memory.FileRef{{Path: "src/cart.go", Role: m}}},
		{Title: "VAT", Facts: []string{"tax.go rounds up"}},
	}
	e.correctFiles(two)
	if got := two[0].FilesIn(m); len(got) != 1 || got[0] != "src/cart.go" {
		t.Errorf("first of two: got %v", got)
	}
	if got := two[1].FilesIn(m); len(got) != 1 || got[0] != "src/tax.go" {
		t.Errorf("second of two, which names the file: got %v", got)
	}
}

// The last hash of a file counts, also when it could not be taken.
func TestEvidenceOfHashes(t *testing.T) {
	file := func(path string, role memory.FileRole, hash string) memory.PendingEvent {
		return memory.PendingEvent{
			Event: memory.Event{Kind: memory.KindTool, WorktreeRoot: "/p"},
			Files: []memory.FileRef{{Path: path, Role: role, Hash: hash}},
		}
	}
	const m, r = memory.FileModified, memory.FileRead
	e := evidenceOf([]memory.PendingEvent{
		file("read-modified.go", r, "0"), file("read-modified.go", m, "1"),
		file("twice.go", m, "1"), file("twice.go", m, "2"),
		file("modified-read.go", m, "1"), file("modified-read.go", r, "1"),
		file("lost.go", m, "1"), file("lost.go", m, ""),
		file("read.go", r, "1"), file("read.go", r, "2"),
	})
	one := []memory.Observation{{Title: "All of it", Files: []memory.FileRef{{Path: "read.go", Role: r, Hash: "made up"}}}}
	e.correctFiles(one)
	want := []memory.FileRef{
		{Path: "read-modified.go", Role: m, Hash: "1"}, {Path: "twice.go", Role: m, Hash: "2"}, {Path: "modified-read.go", Role: m, Hash: "1"},
		{Path: "lost.go", Role: m}, {Path: "read.go", Role: r, Hash: "2"},
	}
	if diff := cmp.Diff(want, one[0].Files); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestJSONSize(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "a\"b\\\n\t": 10, "é": 2, "\u2028": 6, "\x01": 6} {
		if got := jsonSize(s); got != want {
			t.Errorf("wireSize(%q) = %d, want %d", s, got, want)
		}
	}
}
