package corpus_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/internal/memory"
	"claudemem/proof/corpus"
)

var end = memory.MillisOf(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))

func TestSameSeedSameCorpus(t *testing.T) {
	a, b, other := corpus.New(7, 5000, end), corpus.New(7, 5000, end), corpus.New(8, 5000, end)
	for _, n := range []int{0, 1, 17, 4999} {
		if got, want := a.Observation(n), b.Observation(n); !reflect.DeepEqual(got, want) {
			t.Errorf("observation %d: got %v, then %v", n, want, got)
		}
		if a.Observation(n).Narrative == other.Observation(n).Narrative {
			t.Errorf("observation %d is that of another seed", n)
		}
		if got, want := a.Query(n), b.Query(n); got != want {
			t.Errorf("query %d: got %v, then %v", n, want, got)
		}
		if got, want := a.Prompt(n/3), b.Prompt(n/3); got != want {
			t.Errorf("prompt %d: got %v, then %v", n, want, got)
		}
		if got, want := a.Summary(n/3), b.Summary(n/3); !reflect.DeepEqual(got, want) {
			t.Errorf("summary %d: got %v, then %v", n, want, got)
		}
	}
}

func TestObservationsAreWhole(t *testing.T) {
	c := corpus.New(1, 2000, end)
	projects := c.Projects()
	before := memory.Millis(0)
	for n := range c.Observations() {
		o := c.Observation(n)
		words := len(strings.Fields(o.Narrative))
		if words < 60 || words > 200 || o.Title == "" || len(o.Facts) < 2 || len(o.Concepts) == 0 || len(o.Files) == 0 {
			t.Fatalf("observation %d: got %+v", n, o)
		}
		if !slices.Contains(projects, o.ProjectPath) || o.ProjectPath != c.SessionProject(int(o.Session)-1) {
			t.Fatalf("observation %d: got project %q", n, o.ProjectPath)
		}
		if o.CreatedAt > end || n%8 == 0 && o.CreatedAt < before {
			t.Fatalf("observation %d: got time %v", n, o.CreatedAt.Time())
		}
		before = o.CreatedAt - 3600_000
	}
}

// TestWordsComeLikeInText looks at what the speed of a search depends on: some words
// in most observations, most words in few.
func TestWordsComeLikeInText(t *testing.T) {
	c := corpus.New(1, 4000, end)
	documents := map[string]int{}
	for n := range c.Observations() {
		o := c.Observation(n)
		seen := map[string]bool{}
		for _, w := range strings.FieldsFunc(strings.ToLower(o.Title+" "+o.Narrative), func(r rune) bool { return r == ' ' || r == '.' || r == ',' }) {
			if !seen[w] {
				seen[w] = true
				documents[w]++
			}
		}
	}
	frequent, middle, rare := 0, 0, 0
	for _, n := range documents {
		switch share := float64(n) / 4000; {
		case share > .1:
			frequent++
		case share > .001:
			middle++
		default:
			rare++
		}
	}
	t.Logf("%d words: %d in over 10 %% of the observations, %d in over 0.1 %%, %d in fewer", len(documents), frequent, middle, rare)
	if frequent < 40 || frequent > 400 || middle < 1000 || rare < 2*middle {
		t.Error("the frequencies are not those of a text")
	}
}

func TestQueries(t *testing.T) {
	c := corpus.New(1, 4000, end)
	shapes := map[string]int{}
	for n := range 1000 {
		q := c.Query(n)
		o := c.Observation(q.Target)
		shapes[q.Shape]++
		if strings.TrimSpace(q.Text) == "" || q.Project != o.ProjectPath || q.File == "" {
			t.Fatalf("query %d: got %+v", n, q)
		}
		if q.Shape == "identifier" && !strings.Contains(o.Title+" "+o.Narrative, strings.Fields(q.Text)[0]) {
			t.Errorf("query %d: %q is not in %q", n, q.Text, o.Narrative)
		}
	}
	for _, shape := range []string{"words", "paraphrase", "identifier", "path", "error", "typo"} {
		if shapes[shape] < 20 {
			t.Errorf("%s: got %d of 1000", shape, shapes[shape])
		}
	}
}

func BenchmarkObservation(b *testing.B) {
	c := corpus.New(1, 100_000, end)
	for n := 0; b.Loop(); n++ {
		c.Observation(n % 100_000)
	}
}
