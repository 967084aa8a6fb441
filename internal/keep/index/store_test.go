package index_test

import (
	"path/filepath"
	"testing"

	"claudemem/internal/keep/index"
	"claudemem/internal/keep/store"
	"claudemem/internal/memory"
)

// TestFollowsTheStore runs the index on the real feed.
func TestFollowsTheStore(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(t.Context(), filepath.Join(dir, "memory.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	ix, err := index.Open(t.Context(), filepath.Join(dir, "index.db"), s, index.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ix.Close() }()
	add := func(title, narrative string, files ...memory.FileRef) memory.Observation {
		t.Helper()
		o, err := s.AddObservation(t.Context(), memory.NewObservation{
			ProjectPath: "/home/ada/shop", Type: memory.TypeBugfix, Title: title, Narrative: narrative, Files: files, Origin: memory.OriginUser,
		})
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	find := func(text string) []int64 {
		t.Helper()
		if err := ix.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		a, err := ix.Rank(t.Context(), index.Request{Text: text, Limit: 5, Filter: index.Filter{Projects: []string{"/home/ada/shop"}}})
		if err != nil {
			t.Fatal(err)
		}
		var ids []int64
		for _, m := range a.Matches {
			if m.Lexical {
				ids = append(ids, m.ID)
			}
		}
		return ids
	}
	first := add("Cart total rounds twice", "Per line and at the end.", memory.FileRef{Path: "src/cart/total.ts", Role: memory.FileModified})
	second := add("Retry queue for webhooks", "They are tried again after an hour.")
	for text, want := range map[string]int64{"cart total": int64(first.ID), "total.ts": int64(first.ID), "retrying webhook": int64(second.ID)} {
		if got := find(text); len(got) != 1 || got[0] != want {
			t.Errorf("%q: found %v, want %d", text, got, want)
		}
	}
	title := "Invoice sums"
	if _, err := s.EditObservation(t.Context(), first.ID, memory.ObservationEdit{Title: &title}); err != nil {
		t.Fatal(err)
	}
	if got := find("invoice sum"); len(got) != 1 || got[0] != int64(first.ID) {
		t.Errorf("after an edit: found %v", got)
	}
	if _, err := s.HideObservation(t.Context(), second.ID, true); err != nil {
		t.Fatal(err)
	}
	if got := find("webhooks"); len(got) != 0 {
		t.Errorf("what is hidden is found: %v", got)
	}
	if err := ix.Reindex(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if got := find("invoice"); len(got) != 1 {
		t.Errorf("after a rebuild: found %v", got)
	}
	if status := ix.Status(); status.Documents != 1 || status.Behind != 0 {
		t.Errorf("status %+v", status)
	}
}
