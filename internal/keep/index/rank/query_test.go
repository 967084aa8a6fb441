package rank

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Among 100 documents a word that one has counts ln(1 + 99.5/1.5).
var (
	hundred = Collection{Documents: 100, MeanLength: 4}
	rare    = math.Log(1 + 99.5/1.5)
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestKeyword(t *testing.T) {
	const word, other, filler = 7, 8, 9
	// saturated is BM25's share of the idf for a weighted count in a text of so many
	// times the mean length.
	saturated := func(count, length float64) float64 { return count * 2.2 / (count + 1.2*(0.25+0.75*length)) }
	for name, tt := range map[string]struct {
		terms    []Term
		document [NumFields][]uint32
		want     float64
	}{
		"once in a text of mean length":      {[]Term{{Hash: word, Documents: 1, Weight: 1}}, [NumFields][]uint32{Text: {word, filler, filler, filler}}, rare},
		"in the title it counts more":        {[]Term{{Hash: word, Documents: 1, Weight: 1}}, [NumFields][]uint32{Title: {word, filler, filler, filler}}, rare * saturated(2, 0)},
		"counts of the fields add up":        {[]Term{{Hash: word, Documents: 1, Weight: 1}}, [NumFields][]uint32{Text: {word, filler}, Files: {word, filler}}, rare * saturated(2, 0.5)},
		"gaps are no words":                  {[]Term{{Hash: word, Documents: 1, Weight: 1}}, [NumFields][]uint32{Text: {0, word, 0, filler, filler, filler, 0}}, rare},
		"half the weight, half the score":    {[]Term{{Hash: word, Documents: 1, Weight: 0.5}}, [NumFields][]uint32{Text: {word, filler, filler, filler}}, rare / 2},
		"a term twice counts once":           {[]Term{{Hash: word, Documents: 1, Weight: 1}, {Hash: word, Documents: 1, Weight: 1}}, [NumFields][]uint32{Text: {word, filler, filler, filler}}, rare},
		"a word of most documents":           {[]Term{{Hash: word, Documents: 90, Weight: 1}}, [NumFields][]uint32{Text: {word, filler, filler, filler}}, math.Log(1 + 10.5/90.5)},
		"more documents than there are":      {[]Term{{Hash: word, Documents: 200, Weight: 1}}, [NumFields][]uint32{Text: {word, filler, filler, filler}}, math.Log(1 + 0.5/200.5)},
		"a word that it has not":             {[]Term{{Hash: other, Documents: 1, Weight: 1}}, [NumFields][]uint32{Text: {word, filler, filler, filler}}, 0},
		"the gap is no word to look for":     {[]Term{{Hash: 0, Documents: 1, Weight: 1}}, [NumFields][]uint32{Text: {word, 0, 0, 0, filler}}, 0},
		"no terms":                           {nil, [NumFields][]uint32{Text: {word}}, 0},
		"an empty document":                  {[]Term{{Hash: word, Documents: 1, Weight: 1}}, [NumFields][]uint32{}, 0},
		"a weight below zero is none":        {[]Term{{Hash: word, Documents: 1, Weight: -1}}, [NumFields][]uint32{Text: {word}}, 0},
		"two words of which it has only one": {[]Term{{Hash: word, Documents: 1, Weight: 1}, {Hash: other, Position: 1, Documents: 1, Weight: 1}}, [NumFields][]uint32{Text: {word, filler, filler, filler}}, rare},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewQuery(tt.terms, hundred).Score(&Document{Words: tt.document})
			if !near(s.Keyword, tt.want) || s.Proximity != 0 {
				t.Errorf("got %v and proximity %v, want %v and none", s.Keyword, s.Proximity, tt.want)
			}
		})
	}
}

func TestLongerDocumentsCountLess(t *testing.T) {
	q := NewQuery([]Term{{Hash: 7, Documents: 1, Weight: 1}}, hundred)
	last := math.Inf(1)
	for n := 1; n < 100; n *= 2 {
		text := make([]uint32, n)
		for i := range text {
			text[i] = 9
		}
		text[0] = 7
		s := q.Score(&Document{Words: [NumFields][]uint32{Text: text}})
		if s.Keyword >= last {
			t.Errorf("%d words: %v, as much as with half of them", n, s.Keyword)
		}
		last = s.Keyword
	}
}

func TestProximity(t *testing.T) {
	const a, b, c, x = 1, 2, 3, 9
	two := []Term{{Hash: a, Documents: 1, Weight: 1}, {Hash: b, Position: 1, Documents: 1, Weight: 1}}
	once := proximityWeight * rare / 2 // one place: n/(n+1)
	for name, tt := range map[string]struct {
		terms []Term
		words [NumFields][]uint32
		want  float64
	}{
		"next to each other":           {two, [NumFields][]uint32{Text: {a, b}}, once},
		"the other way round":          {two, [NumFields][]uint32{Text: {b, a}}, proximityWeight * rare * turnedWeight / (turnedWeight + 1)},
		"three words apart":            {two, [NumFields][]uint32{Text: {a, x, x, b}}, once},
		"four words apart":             {two, [NumFields][]uint32{Text: {a, x, x, x, b}}, 0},
		"a gap between":                {two, [NumFields][]uint32{Text: {a, 0, 0, 0, b}}, 0},
		"in two fields":                {two, [NumFields][]uint32{Title: {a}, Text: {b}}, 0},
		"in the title":                 {two, [NumFields][]uint32{Title: {a, b}}, once},
		"in a path":                    {two, [NumFields][]uint32{Files: {a, b}}, 0},
		"in two places":                {two, [NumFields][]uint32{Title: {a, b}, Text: {a, b}}, proximityWeight * rare * 2 / 3},
		"neighbours of the query only": {append(two, Term{Hash: c, Position: 2, Documents: 1, Weight: 1}), [NumFields][]uint32{Text: {a, c}}, 0},
		"forms of one word":            {[]Term{{Hash: a, Documents: 1, Weight: 1}, {Hash: b, Documents: 1, Weight: 1}}, [NumFields][]uint32{Text: {a, b}}, 0},
		"one that makes no pairs":      {[]Term{{Hash: a, Documents: 1, Weight: 1}, {Hash: b, Position: 1, Documents: 1, Weight: 1, Alone: true}}, [NumFields][]uint32{Text: {a, b}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if s := NewQuery(tt.terms, hundred).Score(&Document{Words: tt.words}); !near(s.Proximity, tt.want) {
				t.Errorf("got %v, want %v", s.Proximity, tt.want)
			}
		})
	}
}

func TestMatched(t *testing.T) {
	terms := make([]Term, 100)
	for i := range terms {
		terms[i] = Term{Hash: uint32(i + 1), Position: i, Documents: 1, Weight: 1}
	}
	s := NewQuery(terms, hundred).Score(&Document{Words: [NumFields][]uint32{Title: {1, 64}, Parts: {3}, Neighbours: {4, 70}}})
	if want := uint64(1<<0 | 1<<63 | 1<<2 | 1<<3); s.Matched != want {
		t.Errorf("matched %b, want %b", s.Matched, want)
	}
}

// A score is a property of query and document: it does not depend on what was
// scored before, and is never negative or not a number.
func TestScoreOnItsOwn(t *testing.T) {
	q := benchmarkQuery()
	for seed := range uint64(200) {
		d := benchmarkDocument(seed)
		first, again := benchmarkQuery().Score(&d), q.Score(&d)
		if first != again {
			t.Fatalf("document %d: %+v by a new query, %+v by one that was used", seed, first, again)
		}
		if !(first.Keyword >= 0 && first.Proximity >= 0) {
			t.Fatalf("document %d: %+v", seed, first)
		}
	}
}

func TestMostTerms(t *testing.T) {
	var terms []Term
	for i := range 10_000 {
		terms = append(terms, Term{Hash: uint32(i + 1), Position: i, Documents: 1, Weight: 1})
	}
	q := NewQuery(terms, hundred)
	if len(q.terms) != maxTerms {
		t.Errorf("%d terms, want at most %d", len(q.terms), maxTerms)
	}
	q.Score(&Document{Words: [NumFields][]uint32{Text: {1, 2, 10_000}}})
}

// benchmarkDocument has about 150 words, as an observation has, of a vocabulary
// in which a few words are frequent.
func benchmarkDocument(seed uint64) Document {
	r := rand.New(rand.NewPCG(seed, 1))
	var d Document
	for f, n := range map[Field]int{Title: 8, Text: 110, Files: 12, Concepts: 3, Parts: 17} {
		for range n {
			d.Words[f] = append(d.Words[f], 1+uint32(math.Pow(r.Float64(), 4)*20_000))
		}
	}
	return d
}

func benchmarkQuery() *Query {
	var terms []Term
	for i := range 8 {
		terms = append(terms, Term{Hash: uint32(1 + i*i*20), Position: i, Documents: 10 + 5000/(1+i*i), Weight: 1})
	}
	return NewQuery(terms, Collection{Documents: 100_000, MeanLength: 150})
}

// BenchmarkScore scores the 600 candidates of a search.
func BenchmarkScore(b *testing.B) {
	var documents []Document
	for i := range uint64(600) {
		documents = append(documents, benchmarkDocument(i))
	}
	q := benchmarkQuery()
	for b.Loop() {
		for i := range documents {
			q.Score(&documents[i])
		}
	}
}

// TestInstead: another form of a word counts in a document that does not have the word.
func TestInstead(t *testing.T) {
	const word, other = 7, 8
	q := NewQuery([]Term{{Hash: word, Documents: 1, Weight: 1}, {Hash: other, Documents: 1, Weight: 0.3, Instead: true, Alone: true}}, hundred)
	for name, tt := range map[string]struct {
		text []uint32
		want float64
	}{
		"the word":  {[]uint32{word, 9, 9, 9}, rare},
		"the form":  {[]uint32{other, 9, 9, 9}, 0.3 * rare},
		"both":      {[]uint32{word, other, 9, 9}, rare},
		"neither":   {[]uint32{9, 9, 9, 9}, 0},
		"and again": {[]uint32{other, 9, 9, 9}, 0.3 * rare},
	} {
		if s := q.Score(&Document{Words: [NumFields][]uint32{Text: tt.text}}); !near(s.Keyword, tt.want) || s.Proximity != 0 {
			t.Errorf("%s: got %v and proximity %v, want %v", name, s.Keyword, s.Proximity, tt.want)
		}
	}
}
