package rank

import "math"

// The keyword score is BM25 as FTS5 computes it, with the defaults of k1 and b.
const (
	k1 = 1.2
	b  = 0.75
)

// fieldWeights say how much a word counts by the field it stands in
// (docs/how-search-ranks.md).
var fieldWeights = [NumFields]float64{Title: 2, Text: 1, Files: 1, Concepts: 1, Parts: 1, Neighbours: 0.3}

// proximityWeight is what a pair of words that stand together counts, in parts of
// its inverse frequency; proximityWindow how far apart, in words, they may stand
// (docs/how-search-ranks.md).
const (
	proximityWeight = 0.3
	proximityWindow = 3
)

// Term is a word of a query that shall be looked for; stop words are none.
type Term struct {
	// Hash is the word's hash as documents have it; not 0.
	Hash uint32
	// Position counts the query's terms; terms of the same position are forms of one
	// word (an identifier, its parts, a correction).
	Position int
	// Documents is how many documents of the collection have the word.
	Documents int
	// Weight is 1 for a word as it was typed, less for what was guessed.
	Weight float64
	// Alone says that the term makes no pairs with its neighbours: one that stands
	// for two words of the query, and what was guessed.
	Alone bool
}

// Collection is what the documents are chosen from: a project, or all.
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
	// slots is a hash table of the terms: index+1 into terms, open addressing.
	slots []uint16
	mask  uint32
	// last is where each term stood last in the field that is being read.
	last []int32
}

type term struct {
	hash     uint32
	position int
	idf      float64
	weight   float64
	alone    bool
	count    float64 // of the document that is being scored
}

type pair struct {
	a, b  uint16
	idf   float64
	count float64 // of the document that is being scored
}

// Score is what the words of a document are worth for a query.
type Score struct {
	// Keyword is without proximity, Proximity what is to be added; both at least 0.
	Keyword, Proximity float64
	// Matched has bit i set when the document has the query's term i, of the first 64.
	Matched uint64
}

// NewQuery makes terms ready for scoring documents of a collection.
func NewQuery(terms []Term, c Collection) *Query {
	q := &Query{mean: c.MeanLength}
	if q.mean < 1 {
		q.mean = 1
	}
	size := uint32(16)
	for int(size) < 4*len(terms) {
		size *= 2
	}
	q.slots, q.mask = make([]uint16, size), size-1
	for _, t := range terms {
		if t.Hash == 0 || t.Weight <= 0 || len(q.terms) == maxTerms || q.find(t.Hash) >= 0 {
			continue
		}
		q.terms = append(q.terms, term{hash: t.Hash, position: t.Position, idf: idf(t.Documents, c.Documents), weight: t.Weight, alone: t.Alone})
		i := t.Hash & q.mask
		for q.slots[i] != 0 {
			i = (i + 1) & q.mask
		}
		q.slots[i] = uint16(len(q.terms)) //nolint:gosec // at most maxTerms
	}
	q.last = make([]int32, len(q.terms))
	for i := range q.terms {
		for j := range q.terms {
			if q.terms[j].position == q.terms[i].position+1 && !q.terms[i].alone && !q.terms[j].alone {
				q.pairs = append(q.pairs, pair{
					a: uint16(i), b: uint16(j), //nolint:gosec // at most maxTerms
					idf: (q.terms[i].idf*q.terms[i].weight + q.terms[j].idf*q.terms[j].weight) / 2,
				})
			}
		}
	}
	return q
}

// maxTerms bounds the work that a query can ask for; longer queries are no questions.
const maxTerms = 256

// idf is FTS5's: words in more than half of the documents count next to nothing.
func idf(documents, all int) float64 {
	if all < documents {
		all = documents
	}
	v := math.Log((float64(all-documents) + 0.5) / (float64(documents) + 0.5))
	if v <= 0 {
		return 1e-6
	}
	return v
}

// find returns the number of the term with a hash, -1 when there is none.
func (q *Query) find(hash uint32) int {
	for i := hash & q.mask; ; i = (i + 1) & q.mask {
		s := q.slots[i]
		if s == 0 {
			return -1
		}
		if q.terms[s-1].hash == hash {
			return int(s) - 1
		}
	}
}

// Score scores a document.
func (q *Query) Score(d *Document) Score {
	for i := range q.terms {
		q.terms[i].count = 0
	}
	for i := range q.pairs {
		q.pairs[i].count = 0
	}
	for f := range d.Words {
		weight := fieldWeights[f]
		near := Field(f) == Title || Field(f) == Text
		for i := range q.last {
			q.last[i] = -1 << 20
		}
		for at, w := range d.Words[f] {
			if w == 0 {
				continue
			}
			i := q.find(w)
			if i < 0 {
				continue
			}
			q.terms[i].count += weight
			if !near {
				continue
			}
			q.last[i] = int32(at) //nolint:gosec // a field has far fewer words
			for p := range q.pairs {
				pr := &q.pairs[p]
				other := -1
				if int(pr.a) == i {
					other = int(pr.b)
				} else if int(pr.b) == i {
					other = int(pr.a)
				}
				if other >= 0 && other != i && int32(at)-q.last[other] <= proximityWindow { //nolint:gosec // as above
					pr.count++
				}
			}
		}
	}
	var s Score
	norm := k1 * (1 - b + b*float64(d.Length())/q.mean)
	for i := range q.terms {
		t := &q.terms[i]
		if t.count == 0 {
			continue
		}
		s.Keyword += t.weight * t.idf * t.count * (k1 + 1) / (t.count + norm)
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
