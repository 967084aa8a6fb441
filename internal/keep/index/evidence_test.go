package index

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/internal/keep/index/rank"
	"claudemem/internal/memory"
)

// thousand is a collection of a thousand documents.
func thousand(terms ...rank.Term) *query {
	q := &query{collection: rank.Collection{Documents: 1000, MeanLength: 50}}
	for i, t := range terms {
		q.terms = append(q.terms, term{Term: t, text: fmt.Sprint(i), raw: fmt.Sprint(i), everywhere: t.Documents})
	}
	return q
}

func TestWitness(t *testing.T) {
	weight := func(documents int) float64 { return rank.InverseFrequency(documents, 1000) }
	rare, common, unknown := weight(5), weight(300), weight(2)
	// A rare word, a frequent one, an identifier that no record has with a part that
	// some have, two words joined, and a word that was guessed.
	q := thousand(
		rank.Term{Hash: 1, Position: 0, Documents: 5, Weight: 1},
		rank.Term{Hash: 2, Position: 1, Documents: 300, Weight: 1},
		rank.Term{Hash: 3, Position: 2, Documents: 0, Weight: 1},
		rank.Term{Hash: 4, Position: 2, Documents: 5, Weight: 1},
		rank.Term{Hash: 5, Position: 2, Documents: 9, Weight: 1, Alone: true},
		rank.Term{Hash: 6, Position: 3, Documents: 0, Weight: 1},
		rank.Term{Hash: 7, Position: 3, Documents: 300, Weight: guessedWeight},
	)
	q.terms[6].guessed = true
	whole := rare + common + 2*unknown
	for _, tt := range []struct {
		name    string
		matched uint64
		words   int
		mass    float64
		rarest  float64
	}{
		{"nothing", 0, 0, 0, 0},
		{"a rare word", 1, 1, rare, rare},
		{"two words", 1 | 2, 2, rare + common, rare},
		{"the part of an identifier", 8, 1, rare, rare},
		{"whole and part are one word", 4 | 8, 1, unknown, unknown},
		{"a joined word is none of its own", 16, 0, 0, 0},
		{"a guess counts less", 64, 1, guessedWeight * common, guessedWeight * common},
		{"all", 127, 4, whole, unknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWitness(q, nil)
			e := w.evidence(&candidate{matched: tt.matched, sum: 3, sumNear: 1, likeness: -.5}, memory.Evidence{Of: w.of})
			want := memory.Evidence{Words: tt.words, Of: 4, Coverage: tt.mass / whole, Mass: tt.mass, Rarest: tt.rarest, Keyword: 3, Proximity: 1}
			for _, x := range []struct {
				name      string
				got, want float64
			}{
				{"words", float64(e.Words), float64(want.Words)}, {"of", float64(e.Of), float64(want.Of)},
				{"coverage", e.Coverage, want.Coverage}, {"mass", e.Mass, want.Mass}, {"rarest", e.Rarest, want.Rarest},
				{"keyword", e.Keyword, want.Keyword}, {"proximity", e.Proximity, want.Proximity}, {"likeness", e.Likeness, 0},
			} {
				if math.Abs(x.got-x.want) > 1e-9 {
					t.Errorf("%s: got %v, want %v", x.name, x.got, x.want)
				}
			}
			if again := w.evidence(&candidate{matched: tt.matched, sum: 3, sumNear: 1, likeness: -.5}, memory.Evidence{Of: w.of}); again != e {
				t.Errorf("the second time %+v, the first %+v", again, e)
			}
		})
	}
}

func TestShorten(t *testing.T) {
	var terms []rank.Term
	for i := range 200 {
		terms = append(terms, rank.Term{Hash: uint32(i + 1), Position: i, Documents: 400 - i, Weight: 1})
	}
	terms[3].Documents = 0 // nothing is found by it
	terms[5].Documents, terms[5].Weight = 399, 80
	q := thousand(terms...)
	w := newWitness(q, nil)
	q.shorten()
	if len(q.terms) != maxProseWords {
		t.Fatalf("%d terms, want %d", len(q.terms), maxProseWords)
	}
	for i, x := range q.terms {
		if x.Position == 3 || x.Position < 200-maxProseWords && x.Position != 5 {
			t.Errorf("the word %d of %d documents is kept", x.Position, x.Documents)
		}
		if i > 0 && x.Position <= q.terms[i-1].Position {
			t.Error("not in the order of the text")
		}
		if x.text != fmt.Sprint(x.Position) || x.place != x.Position {
			t.Errorf("what belongs to word %d is of word %s, %d", x.Position, x.text, x.place)
		}
		if x.Weight > maxProseWeight {
			t.Errorf("a word that comes often weighs %v", x.Weight)
		}
	}
	if w.of != 200 {
		t.Errorf("evidence is of %d words, want all 200", w.of)
	}
	if e := w.weigh(1<<0 | 1<<31); e.Words != 2 {
		t.Errorf("%d words, want 2", e.Words)
	}
}

// TestEvidenceOfProse ranks a real memory: evidence tells a text that is about a
// record from one that only shares a word, whatever else is found.
func TestEvidenceOfProse(t *testing.T) {
	feed := newMemoryFeed()
	for i := range 40 {
		feed.put(observation(int64(i+1), fmt.Sprintf("Step %d of the release", i), "The build was tagged and pushed"))
	}
	feed.put(observation(100, "Walrus migrations ran twice", "The lock on schema_version was released too early"))
	ix := openIndex(t, filepath.Join(t.TempDir(), "index.db"), feed, Options{})
	catchUp(t, ix)
	ask := func(text string) Answer {
		t.Helper()
		a, err := ix.Rank(t.Context(), Request{Text: text, Prose: true})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	about := ask("the walrus migrations ran twice again")
	if len(about.Matches) == 0 || about.Matches[0].ID != 100 {
		t.Fatal("the record is not the first")
	}
	e := about.Matches[0].Evidence
	if e.Words != 4 || e.Of != 4 || e.Coverage < .99 || e.Known < .99 || e.Likeness <= e.Typical || e.Telling < 4 || e.Records != 41 {
		t.Errorf("evidence %+v of a text that has every word", e)
	}
	// The misspelt word is taken for what it is: one that no record has.
	other := ask("walrus feedng at noon in zanzibar")
	if len(other.Corrected) > 0 {
		t.Errorf("corrected %v", other.Corrected)
	}
	for _, m := range other.Matches {
		if m.Evidence.Coverage > .5 || m.Evidence.Known > .5 || m.Evidence.Of != 4 {
			t.Errorf("#%d: evidence %+v of a text that shares a word of four", m.ID, m.Evidence)
		}
	}
	// The same record and words have the same evidence whatever else the text finds.
	long := ask("the walrus migrations ran twice again " + strings.Repeat("zebra ", 300))
	if got := long.Matches[0].Evidence; got.Mass != e.Mass || got.Rarest != e.Rarest {
		t.Errorf("evidence %+v, without the rest %+v", got, e)
	}
}
