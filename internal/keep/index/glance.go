package index

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"claudemem/internal/keep/index/rank"
	"claudemem/internal/keep/index/vectors"
	"claudemem/internal/keep/sqlite"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

const (
	// glanceDocuments bounds the documents that a glance goes through, by the sum of
	// the words' frequencies, glanceLookups the best of them that it looks up, and
	// glanceCandidates those that pass the filter and are scored. Together they
	// take some 10 ms at 100,000 records, where opening the index takes half a second.
	glanceDocuments  = 2000
	glanceLookups    = 120
	glanceCandidates = 60
)

// Glance is an index that is asked once and left again, by a process that can't
// wait until all of it is in memory: a hook whose worker is away. It finds by words
// alone, without vectors and MaxSim, and only by project and kind. It never writes.
// Its methods may be called from any goroutine.
type Glance struct {
	// mu guards the base, whose catalogue has only the records that were looked up.
	mu   sync.Mutex
	base *base
}

// OpenGlance opens the index at path as it is at this moment.
//
// The codes of its errors are those of OpenReadOnly.
func OpenGlance(ctx context.Context, path string) (*Glance, error) {
	b, err := openBaseReadOnly(ctx, path, nil)
	if err != nil {
		return nil, fault("open index", err)
	}
	return &Glance{base: b}, nil
}

// Close closes the files. It may be called more than once.
func (g *Glance) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.base == nil {
		return nil
	}
	err := fault("close index", g.base.close())
	g.base = nil
	return err
}

// Rank returns the records that fit the text best by its words, at most glanceCandidates. Of the
// filter it knows projects and kinds; with another part of it, it finds nothing.
//
// The codes of its errors: CodeUnavailable, CodeStorage.
func (g *Glance) Rank(ctx context.Context, r Request) (Answer, error) {
	const what = "rank records"
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.base == nil {
		return Answer{}, fault(what, errClosed)
	}
	f := r.Filter
	if len(f.Types) > 0 || f.Session != 0 || f.Since != 0 || f.Until != 0 || f.Only != nil {
		return Answer{}, nil
	}
	// A glance has no time for mistyped words either.
	r.Prose = true
	matches, err := g.base.glance(ctx, r)
	return Answer{Matches: matches}, fault(what, err)
}

// Syntax returns no matches: a Glance is never asked for an expression.
func (g *Glance) Syntax(context.Context, string, Filter, int) (Answer, error) {
	return Answer{}, nil
}

// mostDocuments is the greatest number of a document, 60 million: no memory has more.
const mostDocuments = 1 << 26

// glance returns the records of the filter that share words with the request's text,
// scored without vectors, at most glanceCandidates of them.
func (b *base) glance(ctx context.Context, r Request) ([]Match, error) {
	q, err := b.readQuery(ctx, text.FirstBytes(r.Text, maxQueryBytes), r, nil)
	if err != nil {
		return nil, err
	}
	w := newWitness(q, nil) // of all terms
	q.shorten()
	documents, err := b.glanceAt(ctx, q, r.Filter)
	if err != nil || len(documents) == 0 {
		return nil, err
	}
	if err := b.lookUp(ctx, documents); err != nil {
		return nil, err
	}
	list := make([]candidate, 0, len(documents))
	eligible := b.cat.predicate(r.Filter)
	for _, d := range documents {
		// A document that was deleted meanwhile has no row any more.
		if len(list) < glanceCandidates && b.cat.has(d) && (eligible == nil || eligible(&b.cat.entries[d])) {
			list = append(list, candidate{document: d})
		}
	}
	return b.weigh(ctx, q, w, list, nil, memory.Evidence{})
}

// glanceAt lists the documents with the most weight of the rarer words, as gather
// does, but without their lengths. Of the filter only projects narrow it, and only
// where they leave out most records: walking the list of all observations would take
// longer than looking up the documents that are found.
func (b *base) glanceAt(ctx context.Context, q *query, f Filter) ([]uint32, error) {
	if len(f.Projects) > 0 && q.collection.Documents == 0 {
		return nil, nil
	}
	var words []term
	var tokens []string
	sum := 0
	for i, t := range q.rarestFirst() {
		if sum += t.Documents; i > 0 && sum > glanceDocuments {
			break
		}
		words, tokens = append(words, t), append(tokens, t.text)
	}
	projects, n := b.cat.projectTokens(f)
	if !b.cat.narrow(n) {
		projects = nil
	}
	var within vectors.Documents
	scores := map[uint32]float64{}
	err := b.documentsWith(ctx, append(projects, tokens...), func(token int, documents []uint32) {
		if token < len(projects) {
			for _, d := range documents {
				if d <= mostDocuments {
					within.Add(d)
				}
			}
			return
		}
		t := words[token-len(projects)]
		worth := t.Weight * rank.InverseFrequency(t.Documents, q.collection.Documents)
		for _, d := range documents {
			if projects == nil || within.Has(d) {
				scores[d] += worth
			}
		}
	})
	if err != nil {
		return nil, err
	}
	documents := slices.SortedFunc(maps.Keys(scores), func(x, y uint32) int {
		return cmp.Or(cmp.Compare(scores[y], scores[x]), cmp.Compare(y, x)) // of equal ones the newest
	})
	return documents[:min(len(documents), glanceLookups)], nil
}

// lookUp loads the catalogue's entries of some documents, at least one, which a glance does not
// have from the start; one that is gone gets none.
func (b *base) lookUp(ctx context.Context, documents []uint32) error {
	c := b.cat
	most := slices.Max(documents)
	if most > mostDocuments {
		return sqlite.ErrDamaged
	}
	if int(most) >= len(c.entries) {
		// All at once: pages of it that are never touched take no memory.
		entries := make([]entry, most+1)
		copy(entries, c.entries)
		c.entries = entries
	}
	only := make(map[uint32]bool, len(documents))
	numbers := make([]uint32, 0, len(documents))
	for _, d := range documents {
		number, _ := blockOf(d)
		only[d], numbers = true, append(numbers, number)
	}
	return b.loadEntries(ctx, b.reader, only, "SELECT number, entries FROM blocks WHERE number IN (SELECT value FROM json_each(?))", jsonList(numbers))
}
