//go:build unix

package store_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/text/unicode/norm"

	"claudemem/internal/memory"
)

// TestNamesAlike: a project whose directory is reached by another letter case or Unicode form, as
// on macOS, is one project; two directories are two. A link stands in for such a file system.
func TestNamesAlike(t *testing.T) {
	m, dir := newMemory(t), t.TempDir()
	composed, decomposed := filepath.Join(dir, norm.NFC.String("pröjekt")), filepath.Join(dir, norm.NFD.String("pröjekt"))
	upper, other := filepath.Join(dir, "PRÖJEKT"), filepath.Join(dir, "Prójekt")
	if err := os.Mkdir(decomposed, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, link := range []string{composed, upper} {
		if err := os.Symlink(decomposed, link); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	for i, project := range []string{decomposed, composed, upper, other} {
		if _, err := m.Enqueue(t.Context(), event(memory.KindPrompt, project, string(rune('a'+i)), memory.Millis(i), func(a *memory.Arrival) { a.Event.ProjectPath = project })); err != nil {
			t.Fatal(err)
		}
	}
	if got := rawRows(t, m.path, "SELECT DISTINCT project FROM sessions ORDER BY project"); len(got) != 2 {
		t.Errorf("the projects are %q, want two", got)
	}
	for name, want := range map[string]string{
		norm.NFC.String("pröjekt"): decomposed, "PRÖJEKT": decomposed, composed: decomposed, upper: decomposed, "prójekt": other, decomposed: decomposed,
	} {
		if got, err := m.ProjectsNamed(t.Context(), name); err != nil || !slices.Equal(got, []string{want}) {
			t.Errorf("%q means %q, %v; want %q", name, got, err, want)
		}
	}
	m.add(t, note("the width of letters", func(n *memory.NewObservation) {
		n.ProjectPath, n.Files = decomposed, []memory.FileRef{{Path: "a.go", Role: memory.FileRead}}
	}))
	for _, path := range []string{composed, upper} {
		if got, err := m.ProjectOf(t.Context(), path); err != nil || got != decomposed {
			t.Errorf("what is done in %q belongs to %q, %v", path, got, err)
		}
		if found, err := m.ObservationsOfFile(t.Context(), path, "a.go", 5); err != nil || len(found) != 1 {
			t.Errorf("%d records of a file in %q, %v", len(found), path, err)
		}
	}
	if got, err := m.ProjectsNamed(t.Context(), filepath.Join(dir, "prÓjekt")); err != nil || slices.Contains(got, other) {
		t.Errorf("a path that is not there means %q, %v", got, err)
	}
}

// TestFileRecallInBothForms: what was remembered of a file is found by its name in either form.
func TestFileRecallInBothForms(t *testing.T) {
	m := newMemory(t)
	for _, form := range []norm.Form{norm.NFC, norm.NFD} {
		m.add(t, note([]string{"the width of letters", "a table of runes"}[form], func(n *memory.NewObservation) {
			n.ProjectPath, n.Files = "/home/dev/shop", []memory.FileRef{{Path: form.String("src/한글.go"), Role: memory.FileRead}}
		}))
	}
	for _, form := range []norm.Form{norm.NFC, norm.NFD} {
		if found, err := m.ObservationsOfFile(t.Context(), "/home/dev/shop", form.String("src/한글.go"), 5); err != nil || len(found) != 2 {
			t.Errorf("%d records, %v; want those of both forms", len(found), err)
		}
	}
}
