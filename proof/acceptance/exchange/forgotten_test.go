//go:build unix

package exchange

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"
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

// TestImportForgotten: an export from before a forget does not bring back what was forgotten,
// neither here nor in a memory that has imported an export from after it.
func TestImportForgotten(t *testing.T) {
	t.Parallel()
	m := world.NewMemory(t)
	project := filepath.Join(m.Home, "shop")
	if err := os.MkdirAll(project, 0o700); err != nil {
		t.Fatal(err)
	}
	m.MustCommand("worker", "start")
	m.PlayNeedle(project, 3)
	m.Settle(30 * time.Second)
	before, after := filepath.Join(m.Home, "before.jsonl"), filepath.Join(m.Home, "after.jsonl")
	m.MustCommand("export", before)
	if !bytes.Contains(m.ReadFile(before), []byte(world.Needle)) {
		t.Fatal("the export does not have it")
	}
	if out, err := m.Command("forget", "--query", world.Needle, "--yes"); err == nil {
		t.Errorf("forget does not name the export that has it: %s", out)
	}
	m.MustCommand("export", after)
	other := world.NewMemory(t)
	other.Answering("import", "--mine", after)
	for _, memory := range []*world.Memory{m, other} {
		var done struct{ Forgotten, Refused int }
		if err := json.Unmarshal(memory.MustCommand("import", "--yes", before, "--json"), &done); err != nil || done.Forgotten == 0 || done.Refused != 0 {
			t.Errorf("%+v, %v", done, err)
		}
		if left := memory.Needles(); len(left) > 0 {
			t.Errorf("%v have it again", left)
		}
		if got, want := withoutHeader(t, memory.MustCommand("export")), withoutHeader(t, m.ReadFile(after)); memory == other && !bytes.Equal(got, want) {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
	world.Figure(t, 5, "re-import of an export from before a forget brings nothing back, here and elsewhere")
}
