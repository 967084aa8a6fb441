package search_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/internal/find/search"
	"claudemem/internal/keep/index"
	"claudemem/internal/keep/store"
	"claudemem/internal/memory"
)

var friday = time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)

// real is a Searcher over a store and an index that follows it.
func real(t *testing.T) (*search.Searcher, *store.Store, *index.Index) {
	t.Helper()
	folder := t.TempDir()
	clock := func() time.Time { return friday }
	mem, err := store.Open(t.Context(), filepath.Join(folder, "memory.db"), store.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := mem.Close(); err != nil {
			t.Error(err)
		}
	})
	ix, err := index.Open(t.Context(), filepath.Join(folder, "index.db"), mem, index.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ix.Close(); err != nil {
			t.Error(err)
		}
	})
	s := search.New(mem, ix, search.Options{Clock: clock, Location: time.UTC, RecencyDays: func() int { return 90 }})
	return s, mem, ix
}

func write(t *testing.T, s *store.Store, age time.Duration, n memory.NewObservation) memory.Observation {
	t.Helper()
	n.CreatedAt = memory.MillisOf(friday.Add(-age))
	if n.ProjectPath == "" {
		n.ProjectPath = "/src/shop"
	}
	if n.Type == "" {
		n.Type = memory.TypeDiscovery
	}
	o, err := s.AddObservation(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestStoreAndIndex searches the real thing.
func TestStoreAndIndex(t *testing.T) {
	s, mem, ix := real(t)
	const day = 24 * time.Hour
	write(t, mem, time.Hour, memory.NewObservation{Type: memory.TypeBugfix, Title: "Cart total was rounded twice", Narrative: "roundCents ran in cart.go and again in invoice.go",
		Facts: []string{"The total is rounded once, in the invoice"}, Concepts: []string{"gotcha"}, Files: []memory.FileRef{{Path: "src/cart.go", Role: memory.FileModified}}})
	write(t, mem, 2*day, memory.NewObservation{Type: memory.TypeDecision, Title: "Sessions live in SQLite", Narrative: "A file needs no server; Redis was one more thing to run"})
	write(t, mem, 9*day, memory.NewObservation{Type: memory.TypeRefactor, Title: "getUserByEmail moved into the repository package", Narrative: "The handler no longer speaks SQL",
		Files: []memory.FileRef{{Path: "src/user_service.go", Role: memory.FileModified}}})
	write(t, mem, 200*day, memory.NewObservation{Type: memory.TypeBugfix, Title: "Deadlock when two workers claim the same job", Narrative: "The lock was taken in another order"})
	write(t, mem, 3*day, memory.NewObservation{ProjectPath: "/src/blog", Title: "Markdown tables lose their borders", Narrative: "The sanitizer dropped the class"})
	if err := ix.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		r     memory.SearchRequest
		first string
		all   int // the total, -1 for any
	}{
		{"words", memory.SearchRequest{Text: "why was the cart total rounded"}, "Cart total was rounded twice", -1},
		{"part of an identifier", memory.SearchRequest{Text: "user email"}, "getUserByEmail moved into the repository package", -1},
		{"a file", memory.SearchRequest{Text: "user_service.go"}, "getUserByEmail moved into the repository package", -1},
		{"a misspelt word", memory.SearchRequest{Text: "deadlok"}, "Deadlock when two workers claim the same job", -1},
		{"an expression", memory.SearchRequest{Text: "rounded OR deadlock NOT cart"}, "", -1},
		{"a phrase", memory.SearchRequest{Text: `"another order"`}, "Deadlock when two workers claim the same job", 1},
		{"a prefix", memory.SearchRequest{Text: "sanit*"}, "Markdown tables lose their borders", 1},
		{"a prefix of no word", memory.SearchRequest{Text: "getuser*"}, "getUserByEmail moved into the repository package", 1},
		{"prefixes", memory.SearchRequest{Text: "repos* OR sanit* OR cla*"}, "", 3},
		{"a project by its label", memory.SearchRequest{Text: "cart", Query: memory.Query{Project: "blog"}}, "Markdown tables lose their borders", 1},
		{"files", memory.SearchRequest{Text: "anything", Query: memory.Query{Files: []string{"cart.go"}}}, "Cart total was rounded twice", 1},
		{"concepts alone", memory.SearchRequest{Query: memory.Query{Concepts: []string{"gotcha"}}}, "Cart total was rounded twice", 1},
		{"a type in words", memory.SearchRequest{Text: "what bugs did we fix"}, "Cart total was rounded twice", 2},
		{"a type and a date in words", memory.SearchRequest{Text: "refactorings last week"}, "getUserByEmail moved into the repository package", 1},
		{"a type with a topic", memory.SearchRequest{Text: "decisions about where sessions are kept"}, "Sessions live in SQLite", -1},
		{"a date in words", memory.SearchRequest{Text: "deadlock in 2025"}, "Deadlock when two workers claim the same job", 1},
		{"a date at which nothing was", memory.SearchRequest{Text: "deadlock in March 2020"}, "Deadlock when two workers claim the same job", -1},
		{"a number", memory.SearchRequest{Text: "#2"}, "Sessions live in SQLite", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.r.Explain = true
			got, err := s.Search(t.Context(), tt.r)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Hits) == 0 {
				t.Fatalf("nothing is found; understood %+v", got.Understood)
			}
			if tt.first != "" && got.Hits[0].Observation.Title != tt.first {
				t.Errorf("first is %q, want %q", got.Hits[0].Observation.Title, tt.first)
			}
			if tt.all >= 0 && got.Total != tt.all {
				t.Errorf("%d in all, want %d", got.Total, tt.all)
			}
			for _, h := range got.Hits {
				if h.Why != nil && h.Why.Score() != h.Score {
					t.Errorf("#%d: explanation %v, score %v", h.ID, h.Why.Score(), h.Score)
				}
				if got.Understood.Syntax && h.Score == 0 {
					t.Errorf("#%d: a match has no score", h.ID)
				}
			}
		})
	}
}

// TestHiddenAtOnce: what is hidden is not found, whether the index knows or not.
func TestHiddenAtOnce(t *testing.T) {
	s, mem, ix := real(t)
	var last memory.Observation
	for i := range 5 {
		last = write(t, mem, time.Hour, memory.NewObservation{Title: fmt.Sprintf("Walrus number %d", i)})
	}
	if err := ix.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := mem.HideObservation(t.Context(), last.ID, true); err != nil {
		t.Fatal(err)
	}
	got, err := s.Search(t.Context(), memory.SearchRequest{Text: "walrus", Query: memory.Query{Project: "shop"}})
	if err != nil || len(got.Hits) != 4 || slices.ContainsFunc(got.Hits, func(h memory.Hit) bool { return h.ID == int64(last.ID) }) {
		t.Errorf("%d hits, %v; want the other 4", len(got.Hits), err)
	}
}

func TestTimelineOfStore(t *testing.T) {
	s, mem, ix := real(t)
	for i := range 9 {
		write(t, mem, time.Duration(9-i)*time.Hour, memory.NewObservation{Title: fmt.Sprintf("Step %d", i+1), Narrative: []string{"otter", "walrus", "lemur"}[i%3]})
	}
	if err := ix.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		anchor string
		want   []int64
	}{
		{"5", []int64{3, 4, 5, 6, 7}},
		{"#1", []int64{1, 2, 3}},
		{"lemur", []int64{7, 8, 9}}, // the newest of three
		{"2026-03-20T06:30:00Z", []int64{3, 4, 0, 5, 6}},
		{"2026-03-21", []int64{8, 9, 0}},
		{"S1", nil},
	} {
		got, err := s.Timeline(t.Context(), memory.TimelineRequest{Anchor: tt.anchor, Before: 2, After: 2, Project: "shop"})
		if err != nil {
			t.Fatalf("%s: %v", tt.anchor, err)
		}
		var ids []int64
		anchors := 0
		for i, item := range got.Items {
			ids = append(ids, item.ID)
			if item.IsAnchor {
				anchors++
			}
			if i > 0 && item.CreatedAt < got.Items[i-1].CreatedAt {
				t.Errorf("%s: not in the order of time", tt.anchor)
			}
		}
		if anchors != 1 || tt.want != nil && !slices.Equal(ids, tt.want) {
			t.Errorf("%s: got %v with %d anchors, want %v", tt.anchor, ids, anchors, tt.want)
		}
	}
}

// TestSearchDeadline: a request that has run out of time ends with that.
func TestSearchDeadline(t *testing.T) {
	s, mem, ix := real(t)
	write(t, mem, time.Hour, memory.NewObservation{Title: "Walrus"})
	if err := ix.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, text := range []string{"", "walrus", "walrus AND fish", "what did we do today"} {
		if _, err := s.Search(ctx, memory.SearchRequest{Text: text}); !errors.Is(err, context.Canceled) {
			t.Errorf("%q: got %v, want %v", text, err, context.Canceled)
		}
	}
}

// The store says that a timeline could not be read; the searcher does not say it again.
func TestErrorsSayTheirContextOnce(t *testing.T) {
	s, mem, _ := real(t)
	if err := mem.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := s.Timeline(t.Context(), memory.TimelineRequest{Anchor: "2026-03-20"})
	if err == nil || strings.Count(err.Error(), "read timeline") != 1 {
		t.Errorf("got %v, want one %q", err, "read timeline")
	}
}
