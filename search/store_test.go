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

	"claudemem"
	"claudemem/index"
	"claudemem/search"
	"claudemem/store"
)

var friday = time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)

// real is a Searcher over a store and an index that follows it.
func real(t *testing.T) (*search.Searcher, *store.Store, *index.Index) {
	t.Helper()
	folder := t.TempDir()
	clock := func() time.Time { return friday }
	memory, err := store.Open(t.Context(), filepath.Join(folder, "memory.db"), store.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := memory.Close(); err != nil {
			t.Error(err)
		}
	})
	ix, err := index.Open(t.Context(), filepath.Join(folder, "index.db"), memory, index.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ix.Close(); err != nil {
			t.Error(err)
		}
	})
	s := search.New(memory, ix, search.Options{Clock: clock, Location: time.UTC, RecencyDays: func() int { return 90 }})
	return s, memory, ix
}

func write(t *testing.T, s *store.Store, age time.Duration, n claudemem.NewObservation) claudemem.Observation {
	t.Helper()
	n.CreatedAt = claudemem.MillisOf(friday.Add(-age))
	if n.ProjectPath == "" {
		n.ProjectPath = "/src/shop"
	}
	if n.Type == "" {
		n.Type = claudemem.TypeDiscovery
	}
	o, err := s.AddObservation(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestStoreAndIndex searches the real thing.
func TestStoreAndIndex(t *testing.T) {
	s, memory, ix := real(t)
	const day = 24 * time.Hour
	write(t, memory, time.Hour, claudemem.NewObservation{Type: claudemem.TypeBugfix, Title: "Cart total was rounded twice", Narrative: "roundCents ran in cart.go and again in invoice.go",
		Facts: []string{"The total is rounded once, in the invoice"}, Concepts: []string{"gotcha"}, Files: []claudemem.FileRef{{Path: "src/cart.go", Role: claudemem.FileModified}}})
	write(t, memory, 2*day, claudemem.NewObservation{Type: claudemem.TypeDecision, Title: "Sessions live in SQLite", Narrative: "A file needs no server; Redis was one more thing to run"})
	write(t, memory, 9*day, claudemem.NewObservation{Type: claudemem.TypeRefactor, Title: "getUserByEmail moved into the repository package", Narrative: "The handler no longer speaks SQL",
		Files: []claudemem.FileRef{{Path: "src/user_service.go", Role: claudemem.FileModified}}})
	write(t, memory, 200*day, claudemem.NewObservation{Type: claudemem.TypeBugfix, Title: "Deadlock when two workers claim the same job", Narrative: "The lock was taken in another order"})
	write(t, memory, 3*day, claudemem.NewObservation{ProjectPath: "/src/blog", Title: "Markdown tables lose their borders", Narrative: "The sanitizer dropped the class"})
	if err := ix.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		r     claudemem.SearchRequest
		first string
		all   int // the total, -1 for any
	}{
		{"words", claudemem.SearchRequest{Text: "why was the cart total rounded"}, "Cart total was rounded twice", -1},
		{"part of an identifier", claudemem.SearchRequest{Text: "user email"}, "getUserByEmail moved into the repository package", -1},
		{"a file", claudemem.SearchRequest{Text: "user_service.go"}, "getUserByEmail moved into the repository package", -1},
		{"a misspelt word", claudemem.SearchRequest{Text: "deadlok"}, "Deadlock when two workers claim the same job", -1},
		{"an expression", claudemem.SearchRequest{Text: "rounded OR deadlock NOT cart"}, "", -1},
		{"a phrase", claudemem.SearchRequest{Text: `"another order"`}, "Deadlock when two workers claim the same job", 1},
		{"a prefix", claudemem.SearchRequest{Text: "sanit*"}, "Markdown tables lose their borders", 1},
		{"a project by its label", claudemem.SearchRequest{Text: "cart", Query: claudemem.Query{Project: "blog"}}, "Markdown tables lose their borders", 1},
		{"files", claudemem.SearchRequest{Text: "anything", Query: claudemem.Query{Files: []string{"cart.go"}}}, "Cart total was rounded twice", 1},
		{"concepts alone", claudemem.SearchRequest{Query: claudemem.Query{Concepts: []string{"gotcha"}}}, "Cart total was rounded twice", 1},
		{"a type in words", claudemem.SearchRequest{Text: "what bugs did we fix"}, "Cart total was rounded twice", 2},
		{"a type and a date in words", claudemem.SearchRequest{Text: "refactorings last week"}, "getUserByEmail moved into the repository package", 1},
		{"a type with a topic", claudemem.SearchRequest{Text: "decisions about where sessions are kept"}, "Sessions live in SQLite", -1},
		{"a date in words", claudemem.SearchRequest{Text: "deadlock in 2025"}, "Deadlock when two workers claim the same job", 1},
		{"a date at which nothing was", claudemem.SearchRequest{Text: "deadlock in March 2020"}, "Deadlock when two workers claim the same job", -1},
		{"a number", claudemem.SearchRequest{Text: "#2"}, "Sessions live in SQLite", 1},
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
			}
		})
	}
}

// TestHiddenAtOnce: what is hidden is not found, whether the index knows or not.
func TestHiddenAtOnce(t *testing.T) {
	s, memory, ix := real(t)
	var last claudemem.Observation
	for i := range 5 {
		last = write(t, memory, time.Hour, claudemem.NewObservation{Title: fmt.Sprintf("Walrus number %d", i)})
	}
	if err := ix.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := memory.HideObservation(t.Context(), last.ID); err != nil {
		t.Fatal(err)
	}
	got, err := s.Search(t.Context(), claudemem.SearchRequest{Text: "walrus", Query: claudemem.Query{Project: "shop"}})
	if err != nil || len(got.Hits) != 4 || slices.ContainsFunc(got.Hits, func(h claudemem.Hit) bool { return h.ID == int64(last.ID) }) {
		t.Errorf("%d hits, %v; want the other 4", len(got.Hits), err)
	}
}

func TestTimelineOfStore(t *testing.T) {
	s, memory, ix := real(t)
	for i := range 9 {
		write(t, memory, time.Duration(9-i)*time.Hour, claudemem.NewObservation{Title: fmt.Sprintf("Step %d", i+1), Narrative: []string{"otter", "walrus", "lemur"}[i%3]})
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
		got, err := s.Timeline(t.Context(), claudemem.TimelineRequest{Anchor: tt.anchor, Before: 2, After: 2, Project: "shop"})
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
	s, memory, ix := real(t)
	write(t, memory, time.Hour, claudemem.NewObservation{Title: "Walrus"})
	if err := ix.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, text := range []string{"", "walrus", "walrus AND fish", "what did we do today"} {
		if _, err := s.Search(ctx, claudemem.SearchRequest{Text: text}); !errors.Is(err, context.Canceled) {
			t.Errorf("%q: got %v, want %v", text, err, context.Canceled)
		}
	}
}

// The store says that a timeline could not be read; the searcher does not say it again.
func TestErrorsSayTheirContextOnce(t *testing.T) {
	s, memory, _ := real(t)
	if err := memory.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := s.Timeline(t.Context(), claudemem.TimelineRequest{Anchor: "2026-03-20"})
	if err == nil || strings.Count(err.Error(), "read timeline") != 1 {
		t.Errorf("got %v, want one %q", err, "read timeline")
	}
}
