package search

import (
	"errors"
	"math"
	"testing"
	"time"

	"claudemem/internal/memory"
)

// TestRelatedDuring: the files of a session are looked up, and each record has its share and its
// age in its evidence, the session's own none of them. Where a person waits, no records are added by their files.
func TestRelatedDuring(t *testing.T) {
	m := &fakeMemory{working: map[memory.SessionID][]string{9: {"otter.go", "seal.go"}}}
	named := func(paths ...string) func(*memory.Observation) {
		return func(o *memory.Observation) {
			for _, p := range paths {
				o.Files = append(o.Files, memory.FileRef{Path: p, Role: memory.FileModified})
			}
		}
	}
	both := m.observe(1, noon.Add(-48*time.Hour), title("walrus cache"), named("otter.go", "seal.go"))
	own := m.observe(3, noon.Add(-48*time.Hour), title("walrus seal"), named("otter.go"), func(o *memory.Observation) { o.Session = 9 })
	// A file that the session has often worked on is no commoner for that: seal.go counts as one
	// that two records have, otter.go as one that one has.
	half := m.observe(4, noon.Add(-48*time.Hour), title("walrus tide"), named("seal.go"))
	for id := range int64(5) {
		m.observe(10+id, noon.Add(-48*time.Hour), title("otter"), named("seal.go"), func(o *memory.Observation) { o.Session = 9 })
	}
	none := m.observe(2, noon.Add(-48*time.Hour), title("walrus lock"))
	weight := func(records float64) float64 { return 1 / math.Log2(2+records) }
	want := weight(2) / (weight(2) + weight(1))
	for _, waiting := range []bool{false, true} {
		r := &ranking{memory: m}
		s := New(m, r, Options{Clock: func() time.Time { return noon }})
		found, err := s.Related(t.Context(), memory.RelatedRequest{Text: "walrus", During: memory.During{Session: 9, Waiting: waiting}})
		if err != nil {
			t.Fatal(err)
		}
		shares := map[memory.RecordRef]float64{}
		for _, hit := range found {
			shares[hit.RecordRef] = hit.Evidence.Files
			if hit.Evidence.Days != 2 {
				t.Errorf("waiting %t: #%d is %v days old, want 2", waiting, hit.ID, hit.Evidence.Days)
			}
		}
		if shares[both] != 1 || math.Abs(shares[half]-want) > 1e-9 || shares[none] != 0 || shares[own] != 0 {
			t.Errorf("waiting %t: shares %v, want 1 of #1, %v of #4, and 0 of #2 and of #3, which is the session's own", waiting, shares, want)
		}
		for _, ref := range []memory.RecordRef{both, half, none, own} {
			if _, ok := shares[ref]; !ok {
				t.Errorf("waiting %t: #%d was not found", waiting, ref.ID)
			}
		}
		if added := r.requests[0].Also; waiting == (len(added) > 0) {
			t.Errorf("waiting %t: %v were added by their files", waiting, added)
		}
	}
	// An error of the files is one of the search, wherever they are looked up.
	m.err = errors.New("broken")
	for _, waiting := range []bool{false, true} {
		s := New(m, &ranking{memory: m}, Options{})
		if _, err := s.Related(t.Context(), memory.RelatedRequest{Text: "walrus", During: memory.During{Session: 9, Waiting: waiting}}); err == nil {
			t.Errorf("waiting %t: no error", waiting)
		}
	}
}
