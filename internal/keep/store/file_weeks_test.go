package store_test

import (
	"testing"
	"time"

	"claudemem/internal/memory"
)

// TestFileWeeks: observations are counted in the week of the reader's zone, those that are hidden or older
// are not, a project has its own, and a new one is counted at once.
func TestFileWeeks(t *testing.T) {
	m := newMemory(t)
	zone := time.FixedZone("", -5*3600)
	now := time.Date(2026, 3, 4, 23, 0, 0, 0, zone) // a Wednesday
	add := func(project string, at time.Time, paths ...string) memory.ObservationID {
		n := memory.NewObservation{ProjectPath: project, Title: at.String() + project, Narrative: at.String() + paths[0], Type: "bugfix", CreatedAt: memory.MillisOf(at)}
		for _, path := range paths {
			n.Files = append(n.Files, memory.FileRef{Path: path, Role: memory.FileModified})
		}
		o, err := m.AddObservation(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		return o.ID
	}
	monday := time.Date(2026, 3, 2, 0, 0, 0, 0, zone)
	add("/p/tally", monday.AddDate(0, 0, -25*7).Add(-time.Second), "a.go") // too old
	add("/p/tally", monday.AddDate(0, 0, -25*7), "a.go", "b.go")
	add("/p/tally", monday.Add(-time.Second), "b.go")
	add("/p/other", monday, "b.go")
	if _, err := m.HideObservation(t.Context(), add("/p/tally", now, "b.go"), true); err != nil {
		t.Fatal(err)
	}
	check := func(project string, want map[string][3]int) {
		t.Helper()
		got, err := m.FileWeeks(t.Context(), project, now)
		if err != nil || len(got.Weeks) != 26 || got.Weeks[25] != "2026-03-02" || got.Weeks[0] != "2025-09-08" || len(got.Files) != len(want) {
			t.Fatalf("%v %+v", err, got)
		}
		for i, f := range got.Files {
			if counts := [3]int{f.Weeks[0], f.Weeks[24], f.Weeks[25]}; counts != want[f.Path] || f.Observations != counts[0]+counts[1]+counts[2] ||
				i > 0 && f.Observations > got.Files[i-1].Observations {
				t.Errorf("%s in place %d: %+v, want %v", f.Path, i, f, want[f.Path])
			}
		}
	}
	check("", map[string][3]int{"b.go": {1, 1, 1}, "a.go": {1, 0, 0}})
	check("tally", map[string][3]int{"b.go": {1, 1, 0}, "a.go": {1, 0, 0}})
	check("nowhere", nil)
	add("/p/tally", now, "a.go")
	check("tally", map[string][3]int{"b.go": {1, 1, 0}, "a.go": {1, 0, 1}})
}
