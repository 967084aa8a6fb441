package index

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"

	"claudemem/internal/keep/index/embed"
	"claudemem/internal/keep/index/rank"
	"claudemem/internal/keep/index/vectors"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

const (
	// maxProseWords bounds the words of a prose text that are searched: those of the
	// highest weight. A question has a dozen; a log of 20 KB has hundreds, and each costs its
	// share of the time that a prompt is kept waiting. No more than a match can tell
	// apart (rank.Score.Matched).
	maxProseWords = 32
	// maxProseWeight bounds the weight of a word of a prose text, however often it
	// occurs: a log repeats the same line, a question its subject.
	maxProseWeight = 2
	// comparedWords bounds the words of a prose text that are compared one by one
	// with those of records (MaxSim): of 48 that took longer than all the rest, and of a
	// long text the vector tells as much.
	comparedWords = 24
	// knownToFew is the least number of records that evidence takes a word to be in.
	// The text itself is often one of them, a prompt that was taken in a moment ago,
	// and whether the index has heard of it is chance.
	knownToFew = 2
	// typicalDocuments is the size of the sample for the mean likeness of the text with
	// any document: enough for a mean to within a tenth of the spread.
	typicalDocuments = 128
)

// witness makes evidence of matches; a query has one.
type witness struct {
	query *query
	// of counts the distinct words of the text, mass is the sum of their weights.
	of   int
	mass float64
	// best and told are the largest worth and telling of each word in the record that
	// is being weighed; weigh uses their memory again.
	best, told []float64
}

// newWitness weighs the words of a query before any of its terms is left out, and sets the place,
// worth and telling of its terms; without a table it does not know what they tell. Terms of one
// position, which follow each other, are one word.
func newWitness(q *query, table *embed.Table) *witness {
	w := &witness{query: q}
	var masses []float64
	last := -1
	for i := range q.terms {
		t := &q.terms[i]
		t.place = -1
		if t.Alone {
			continue // its two words are there too
		}
		if t.Position != last {
			last = t.Position
			masses = append(masses, 0)
		}
		t.place = len(masses) - 1
		t.worth = rank.InverseFrequency(max(t.Documents, knownToFew), q.collection.Documents)
		if table != nil {
			t.telling = tellingOf(table, t.raw)
		}
		if t.guessed { // the mass is that of the word it stands for
			t.worth *= guessedWeight
			t.telling *= guessedWeight
			continue
		}
		masses[t.place] = max(masses[t.place], t.worth)
	}
	w.of = len(masses)
	w.mass += collect.Sum(masses, func(m float64) float64 { return m })
	w.best, w.told = make([]float64, len(masses)), make([]float64, len(masses))
	return w
}

const (
	// maxTelling bounds the telling of a word: a long one of many pieces, such as a
	// file's name, counts as two names at most.
	maxTelling = 2
	// unknownTelling is the weight of a word without a vector (a number, another
	// script): about that of a name.
	unknownTelling = 1.5
)

// tellingOf returns the table's Telling of a word, at most maxTelling; unknownTelling
// for a word that the table lacks.
func tellingOf(table *embed.Table, word string) float64 {
	if t := table.Telling(word); t > 0 {
		return min(t, maxTelling)
	}
	return unknownTelling
}

// weigh returns the evidence of a record whose words are those of the set bits in
// matched, the places of terms in the query (rank.Score.Matched): their number, weight and share of
// the query's weight. Of the terms of one word the heaviest counts.
func (w *witness) weigh(matched uint64) (e memory.Evidence) {
	clear(w.best)
	clear(w.told)
	for m := matched; m != 0; m &= m - 1 {
		t := &w.query.terms[bits.TrailingZeros64(m)]
		if at := t.place; at >= 0 {
			if w.best[at] == 0 {
				e.Words++
			}
			e.Mass += max(t.worth-w.best[at], 0)
			e.Telling += max(t.telling-w.told[at], 0)
			w.best[at], w.told[at] = max(w.best[at], t.worth), max(w.told[at], t.telling)
			e.Rarest = max(e.Rarest, t.worth)
		}
	}
	if w.mass > 0 {
		e.Coverage = min(e.Mass/w.mass, 1)
	}
	return e
}

// evidence returns a candidate's figures that compare between texts; common holds
// those that all candidates of the answer share.
func (w *witness) evidence(x *candidate, common memory.Evidence) memory.Evidence {
	e := w.weigh(x.matched)
	e.Of, e.Records = common.Of, common.Records
	e.Known, e.Typical, e.Spread = common.Known, common.Typical, common.Spread
	e.Keyword, e.Proximity = x.sum, x.sumNear
	e.Likeness, e.MaxSim = max(x.likeness, 0), x.maxSim
	return e
}

// ofText adds to the part of the evidence that belongs to the text and not to a
// record what the witness knows of it.
func (w *witness) ofText(list []candidate, common memory.Evidence) memory.Evidence {
	var all uint64
	for i := range list {
		all |= list[i].matched
	}
	common.Of, common.Known = w.of, w.weigh(all).Coverage
	return common
}

// shorten bounds the weights of a prose text's terms and keeps the maxProseWords that
// weigh most, in their order. A witness keeps what it knows of those left out.
func (q *query) shorten() {
	for i := range q.terms {
		q.terms[i].Weight = min(q.terms[i].Weight, maxProseWeight)
	}
	if len(q.terms) <= maxProseWords {
		return
	}
	weight := func(t term) float64 {
		if t.Documents == 0 {
			return 0 // nothing is found by it
		}
		return t.Weight * rank.InverseFrequency(t.Documents, q.collection.Documents)
	}
	kept := make([]int, len(q.terms))
	for i := range kept {
		kept[i] = i
	}
	slices.SortStableFunc(kept, func(x, y int) int { return cmp.Compare(weight(q.terms[y]), weight(q.terms[x])) })
	kept = kept[:maxProseWords]
	slices.Sort(kept)
	for i, at := range kept {
		q.terms[i] = q.terms[at]
	}
	q.terms = q.terms[:maxProseWords]
}

// countEverywhere sets, for each word of a prose text, how many documents of all
// projects have it. readQuery leaves it out; it tells gather the cost of going through
// them.
func (b *base) countEverywhere(ctx context.Context, q *query, f Filter) error {
	if len(f.Projects) == 0 {
		return nil // readQuery has set it
	}
	hashes := collect.Map(q.terms, func(t term) uint32 { return t.Hash })
	found, err := b.frequencies(ctx, hashes, nil)
	for i, h := range hashes {
		q.terms[i].everywhere = found[h]
	}
	return err
}

// typical returns the mean and the spread of the likeness that the n eligible documents have
// with a text's vectors, by a sample at even distances; 0 if none of it has vectors.
func (b *base) typical(vector vectors.Query, eligible vectors.Documents, n int) (mean, spread float64) {
	step := max(n/typicalDocuments, 1)
	sample := make([]uint32, 0, typicalDocuments)
	at := 0
	for d := range b.cat.among(eligible) {
		if at%step == 0 {
			sample = append(sample, d)
		}
		if at++; len(sample) == typicalDocuments {
			break
		}
	}
	sum, squares, count := 0.0, 0.0, 0.0
	for _, m := range b.vectors.Compare(vector, sample...) {
		c := float64(m.Cosine)
		sum, squares, count = sum+c, squares+c*c, count+1
	}
	if count == 0 {
		return 0, 0
	}
	mean = sum / count
	return mean, math.Sqrt(max(squares/count-mean*mean, 0))
}
