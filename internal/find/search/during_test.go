package search_test

import (
	"math"
	"testing"
	"time"

	"claudemem/internal/memory"
)

// TestDuring: for an agent at work, what is new and what its files are about stands higher; a
// person's search stays as it is.
func TestDuring(t *testing.T) {
	s, mem, ix := real(t)
	const day = 24 * time.Hour
	old := write(t, mem, 20*day, memory.NewObservation{Title: "Walrus migrations hold a lock"})
	fresh := write(t, mem, day, memory.NewObservation{Title: "Walrus pictures"})
	filed := write(t, mem, 20*day, memory.NewObservation{Title: "Otter cache is keyed by tenant",
		Files: []memory.FileRef{{Path: "cache/otter.go", Role: memory.FileModified}, {Path: "cache/otter.go", Role: memory.FileRead}}})
	other := write(t, mem, day, memory.NewObservation{ProjectPath: "/src/blog", Title: "Seals",
		Files: []memory.FileRef{{Path: "cache/otter.go", Role: memory.FileModified}}})
	if err := ix.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	ask := func(text string, during *memory.During) map[memory.ObservationID]memory.Hit {
		t.Helper()
		found, err := s.Search(t.Context(), memory.SearchRequest{Text: text, Query: memory.Query{Project: "/src/shop"}, Explain: true, During: during})
		if err != nil {
			t.Fatal(err)
		}
		hits := map[memory.ObservationID]memory.Hit{}
		for _, h := range found.Hits {
			hits[h.Observation.ID] = h
		}
		return hits
	}
	person, agent := ask("walrus", nil), ask("walrus", &memory.During{})
	gain := func(id memory.ObservationID) float64 { return agent[id].Score / person[id].Score }
	if !(gain(fresh.ID) > 1.1) || gain(fresh.ID) <= gain(old.ID) {
		t.Errorf("an agent's question lifts a day by %.3f and twenty days by %.3f", gain(fresh.ID), gain(old.ID))
	}
	atWork := ask("walrus", &memory.During{Files: []string{"cache/otter.go", "nowhere.go"}})
	h := atWork[filed.ID]
	if h.Why == nil || h.Score == 0 {
		t.Fatalf("the record of the session's file: %+v", h)
	}
	if got := part(h.Why, "files"); math.Abs(got-.33) > .01 {
		t.Errorf("the only record of the only known file gets %.3f, want .33", got)
	}
	if got := part(atWork[fresh.ID].Why, "files"); got != 0 {
		t.Errorf("a record without the file gets %.3f", got)
	}
	if _, ok := atWork[other.ID]; ok {
		t.Error("a record of another project came along")
	}
	if part(agent[filed.ID].Why, "files") != 0 || part(person[filed.ID].Why, "files") != 0 {
		t.Error("files count without a session that has some")
	}
}

// part returns the value of a part of a score, 0 without it.
func part(e *memory.Explanation, name string) float64 {
	if e == nil {
		return 0
	}
	for _, p := range e.Parts {
		if p.Name == name {
			return p.Value
		}
	}
	return 0
}
