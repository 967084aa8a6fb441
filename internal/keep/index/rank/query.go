package rank

import "math"

// The keyword score is BM25 as FTS5 computes it, with the defaults of k1 and b.
const (
	k1 = 1.2
	b  = 0.75
)

// fieldWeights say how much a word counts by the field it stands in
// (docs/how-search-ranks.md).
var fieldWeights = [NumFields]float64{Title: 2, Text: 1, Files: 1, Concepts: 1, Parts: 1, Neighbours: 0.5}

// proximityWeight is the weight of a pair of neighbouring words, in parts of its mean
// inverse frequency; proximityWindow the greatest distance of neighbours, in words;
// turnedWeight the factor for a place with the words in reverse order
// (docs/how-search-ranks.md).
const (
	proximityWeight = 1.0
	proximityWindow = 3
	turnedWeight    = 0.5
)

// RepeatWeight is the weight of each repetition of a word in the query: a long query
// repeats its subject (docs/how-search-ranks.md).
const RepeatWeight = 0.5

// JoinedWeight is the weight of the joined form of two words of the query (user
// service for userservice), in addition to the two: with 1, records that name one of
// them otherwise rank too low (docs/how-search-ranks.md).
const JoinedWeight = 0.4

// Term is a word of a query that shall be looked for; stop words are none.
type Term struct {
	// Hash is the word's hash as documents have it; not 0.
	Hash uint32
	// Position counts the query's terms; terms of the same position are forms of one
	// word (an identifier, its parts, a correction).
	Position int
	// Documents counts the documents of the collection that have the word.
	Documents int
	// Weight is 1 for a word as it was typed, less for what was guessed.
	Weight float64
	// Alone says that the term makes no pairs with its neighbours: it stands for two
	// words of the query.
	Alone bool
	// Instead says that the term is another form of the word at its position: it counts where
	// a document has the word in no other way.
	Instead bool
}

// Collection is the set of documents to choose from: a project, or all.
type Collection struct {
	Documents int
	// MeanLength is the mean of Document.Length.
	MeanLength float64
}

// Query is a query ready to score documents. It is not safe for concurrent use:
// Score uses memory of it.
type Query struct {
	terms []term
	pairs []pair
	mean  float64
	// numbers has the numbers of the terms by their hashes.
	numbers map[uint32]int
	// filter has a bit for the low bits of each term's hash: most words of a document
	// are none of the query's, and this rules out nearly all of them at once.
	filter [filterBits / 64]uint64
	// last is the last position of each term in the current field.
	last []int32
}

const filterBits = 4096

type term struct {
	Term
	idf      float64
	partners []partner
	count    float64 // of the document that is being scored
}

// partner is the other term of a pair.
type partner struct {
	term   int
	pair   int
	before bool // in the query it stands before
}

type pair struct {
	idf   float64
	count float64 // of the document that is being scored
}

// Score is the score of a document's words for a query.
type Score struct {
	// Keyword is without proximity, Proximity what is to be added; both at least 0.
	Keyword, Proximity float64
	// Matched has bit i set when the document has the query's term i, of the first 64.
	Matched uint64
}

// NewQuery makes terms, the first maxTerms of them, ready for scoring documents of a collection. No
// two terms should have the same hash: only the first of them is found.
func NewQuery(terms []Term, c Collection) *Query {
	terms = terms[:min(len(terms), maxTerms)]
	q := &Query{terms: make([]term, len(terms)), numbers: make(map[uint32]int, len(terms)), last: make([]int32, len(terms)), mean: max(c.MeanLength, 1)}
	for n, t := range terms {
		q.terms[n] = term{Term: t, idf: InverseFrequency(t.Documents, c.Documents)}
		q.terms[n].Weight = max(t.Weight, 0)
		if _, ok := q.numbers[t.Hash]; ok || t.Hash == 0 {
			continue
		}
		q.numbers[t.Hash] = n
		q.filter[t.Hash%filterBits/64] |= 1 << (t.Hash % 64)
	}
	q.pair()
	return q
}

// pair fills in q.pairs: each two terms at neighbouring positions of the query.
func (q *Query) pair() {
	for i := range q.terms {
		for j := range q.terms {
			x, y := &q.terms[i], &q.terms[j]
			if y.Position != x.Position+1 || x.Alone || y.Alone {
				continue
			}
			x.partners = append(x.partners, partner{term: j, pair: len(q.pairs)})
			y.partners = append(y.partners, partner{term: i, pair: len(q.pairs), before: true})
			q.pairs = append(q.pairs, pair{idf: (x.idf*x.Weight + y.idf*y.Weight) / 2})
		}
	}
}

// maxTerms bounds the work that a query can ask for; longer queries are no questions.
const maxTerms = 256

// InverseFrequency returns the weight of a word that so many of all documents have,
// in nats: the inverse document frequency in the form of Lucene, which is above 0
// for the most frequent words too.
func InverseFrequency(documents, all int) float64 {
	documents = max(documents, 0)
	all = max(all, documents)
	return math.Log(1 + (float64(all-documents)+0.5)/(float64(documents)+0.5))
}

// Score scores a document. It counts in q: only one goroutine at a time may call it.
func (q *Query) Score(d *Document) Score {
	for i := range q.terms {
		q.terms[i].count = 0
	}
	for i := range q.pairs {
		q.pairs[i].count = 0
	}
	for f := range d.Words {
		q.count(Field(f), d.Words[f])
	}
	var s Score
	norm := k1 * (1 - b + b*float64(d.Length())/q.mean)
	for i := range q.terms {
		t := &q.terms[i]
		if t.count == 0 || t.Instead && q.has(t.Position) {
			continue
		}
		s.Keyword += t.Weight * t.idf * t.count * (k1 + 1) / (t.count + norm)
		if i < 64 {
			s.Matched |= 1 << i
		}
	}
	for i := range q.pairs {
		p := &q.pairs[i]
		s.Proximity += proximityWeight * p.idf * p.count / (p.count + 1)
	}
	return s
}

// has reports whether the document being scored has the word of a position itself: a term that is
// no other form, and no joined one, which stands for two words.
func (q *Query) has(position int) bool {
	for i := range q.terms {
		if t := &q.terms[i]; t.Position == position && t.count > 0 && !t.Instead && !t.Alone {
			return true
		}
	}
	return false
}

// count adds the terms and pairs that occur in list, the words of field f, to the counts
// of the document being scored. A 0 in list is a gap, which keeps words apart. A field's
// weight is of its terms, not of its pairs.
func (q *Query) count(f Field, list []uint32) {
	together := f == Title || f == Text // paths and parts stand in no sentence
	if together {
		for i := range q.last {
			q.last[i] = -proximityWindow - 1
		}
	}
	for at, w := range list {
		if q.filter[w%filterBits/64]>>(w%64)&1 == 0 || w == 0 {
			continue
		}
		i, ok := q.numbers[w]
		if !ok {
			continue
		}
		t := &q.terms[i]
		t.count += fieldWeights[f]
		if !together {
			continue
		}
		q.last[i] = int32(at) //nolint:gosec // a field has far fewer words
		for _, p := range t.partners {
			if at-int(q.last[p.term]) > proximityWindow {
				continue
			}
			if p.before {
				q.pairs[p.pair].count++
			} else {
				q.pairs[p.pair].count += turnedWeight
			}
		}
	}
}
