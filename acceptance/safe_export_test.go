//go:build unix

package acceptance

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// withoutHeader returns the lines of an export but the first.
func withoutHeader(t testing.TB, file []byte) []byte {
	t.Helper()
	_, rest, found := bytes.Cut(file, []byte("\n"))
	if !found {
		t.Fatalf("no header in %.200q", file)
	}
	return rest
}

func (m *memory) readFile(path string) []byte {
	m.t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		m.t.Fatal(err)
	}
	return b
}

// TestImportForgotten: an export from before a forget does not bring back what was forgotten,
// neither here nor in a memory that has imported an export from after it.
func TestImportForgotten(t *testing.T) {
	t.Parallel()
	m := newMemory(t)
	project := filepath.Join(m.home, "shop")
	if err := os.MkdirAll(project, 0o700); err != nil {
		t.Fatal(err)
	}
	m.mustCommand("worker", "start")
	m.playNeedle(project, 3)
	m.settle(30 * time.Second)
	before, after := filepath.Join(m.home, "before.jsonl"), filepath.Join(m.home, "after.jsonl")
	m.mustCommand("export", before)
	if !bytes.Contains(m.readFile(before), []byte(needle)) {
		t.Fatal("the export does not have it")
	}
	if out, err := m.command("forget", "--query", needle, "--yes"); err == nil {
		t.Errorf("forget does not name the export that has it: %s", out)
	}
	m.mustCommand("export", after)
	other := newMemory(t)
	other.answering("import", "--mine", after)
	for _, memory := range []*memory{m, other} {
		var done struct{ Forgotten, Refused int }
		if err := json.Unmarshal(memory.mustCommand("import", before, "--json"), &done); err != nil || done.Forgotten == 0 || done.Refused != 0 {
			t.Errorf("%+v, %v", done, err)
		}
		if left := memory.needles(); len(left) > 0 {
			t.Errorf("%v have it again", left)
		}
		if got, want := withoutHeader(t, memory.mustCommand("export")), withoutHeader(t, m.readFile(after)); memory == other && !bytes.Equal(got, want) {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
	figure(t, 5, "re-import of an export from before a forget brings nothing back, here and elsewhere")
}
