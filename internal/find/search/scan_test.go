package search

import (
	"strings"
	"testing"
	"time"

	"claudemem/internal/keep/index"
	"claudemem/internal/memory"
)

// TestWithoutIndex: a text is looked for in the records when there is no index, or it fails.
func TestWithoutIndex(t *testing.T) {
	m := &fakeMemory{}
	titled := func(title, narrative string) func(*memory.Observation) {
		return func(o *memory.Observation) { o.Title, o.Narrative = title, narrative }
	}
	m.observe(1, noon.Add(-3*time.Hour), titled("The refund queue stalls", "a lock is kept"))
	m.observe(2, noon.Add(-2*time.Hour), titled("Retries", "the queue of refunds waits"))
	m.observe(3, noon.Add(-1*time.Hour), titled("The header is green", "as the designer wants it"))
	failing, r := searcher(m, 0)
	r.answer = func(index.Request) (index.Answer, error) {
		return index.Answer{}, memory.Errorf(memory.CodeStorage, "index.db is damaged")
	}
	for name, s := range map[string]*Searcher{"failing": failing, "missing": New(m, nil, Options{Clock: func() time.Time { return noon }})} {
		for text, want := range map[string]string{
			"refund queue":     "o1 o2",
			"refund AND queue": "o1 o2",
			"green headers":    "o3",
			"zebra":            "",
		} {
			got, err := s.Search(t.Context(), memory.SearchRequest{Text: text})
			if err != nil {
				t.Fatalf("%s: %q: %v", name, text, err)
			}
			if names(got.Hits) != want {
				t.Errorf("%s: %q finds %s, want %s", name, text, names(got.Hits), want)
			}
			if notes := strings.Join(got.Understood.Notes, "\n"); !strings.Contains(notes, "the index is not available") {
				t.Errorf("%s: the notes are %q", name, notes)
			}
		}
	}
}
