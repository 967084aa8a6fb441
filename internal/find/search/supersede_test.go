package search

import (
	"slices"
	"testing"
	"time"

	"claudemem/internal/keep/index"
	"claudemem/internal/memory"
)

// by says that an observation is superseded by another.
func by(id memory.ObservationID) func(*memory.Observation) {
	return func(o *memory.Observation) { o.SupersededBy = id }
}

// TestSupersededRanksBelow checks that what a later record reverses is found below it,
// however much better it fits, and that records about a text leave it out.
func TestSupersededRanksBelow(t *testing.T) {
	m := &fakeMemory{}
	first := m.observe(1, noon.Add(-3*time.Hour), title("walrus port 8080"), by(2))
	second := m.observe(2, noon.Add(-2*time.Hour), title("walrus socket"), by(3))
	third := m.observe(3, noon.Add(-1*time.Hour), title("walrus proxy"))
	alone := m.observe(4, noon.Add(-4*time.Hour), title("walrus port 9999"), by(5))
	m.observe(5, noon.Add(-4*time.Hour), title("an otter"))
	ix := &ranking{memory: m, answer: func(index.Request) (index.Answer, error) {
		var a index.Answer
		for i, ref := range []memory.RecordRef{first, alone, second, third} {
			a.Matches = append(a.Matches, index.Match{RecordRef: ref, ProjectPath: "/src/shop", Lexical: true, Keyword: 0.9 - 0.2*float64(i),
				CreatedAt: memory.MillisOf(noon)})
		}
		a.Semantic = true
		return a, nil
	}}
	s := New(m, ix, Options{Clock: func() time.Time { return noon }})
	got, err := s.Search(t.Context(), memory.SearchRequest{Text: "walrus port", Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for _, h := range got.Hits {
		ids = append(ids, h.ID)
		if h.Why.Score() != h.Score {
			t.Errorf("#%d: the explanation adds up to %v, the score is %v", h.ID, h.Why.Score(), h.Score)
		}
	}
	if want := []int64{4, 3, 2, 1}; !slices.Equal(ids, want) {
		t.Errorf("got %v, want %v", ids, want)
	}
	related, err := s.Related(t.Context(), memory.RelatedRequest{Text: "walrus port"})
	if err != nil {
		t.Fatal(err)
	}
	ids = nil
	for _, h := range related {
		ids = append(ids, h.ID)
	}
	if want := []int64{3, 5}; !slices.Equal(ids, want) {
		t.Errorf("related: got %v, want %v", ids, want)
	}
	// An order by time shows all of them.
	newest, err := s.Search(t.Context(), memory.SearchRequest{Text: "walrus port", Order: memory.OrderNewest})
	if err != nil || len(newest.Hits) < 2 {
		t.Errorf("by time: got %+v, %v", newest.Hits, err)
	}
}
