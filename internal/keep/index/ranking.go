package index

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"claudemem/internal/keep/index/embed"
	"claudemem/internal/keep/index/rank"
	"claudemem/internal/keep/index/vectors"
	"claudemem/internal/keep/index/words"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

const (
	// maxQueryBytes bounds the text that is searched for; a longer one is no question.
	maxQueryBytes = 8 << 10
	// directDocuments is the greatest number of eligible documents that are all scored,
	// without gathering candidates first.
	directDocuments = 500
	// lexicalCandidates and semanticCandidates are how many documents are gathered by
	// words and by vectors. On collections of 10,000 the results of 200 and 150, and of
	// 100 and 100, are those of 4000 and 4000 (nDCG@10 within .001 on the five and
	// seven sets that were tried).
	lexicalCandidates  = 150
	semanticCandidates = 150
	// promisingCandidates is how many of them are scored.
	promisingCandidates = 200
	// queryTimeout bounds the request to a far model for a query's vector: who
	// searches waits for it.
	queryTimeout = 3 * time.Second
)

// candidate is a document on its way to being a match.
type candidate struct {
	document uint32
	fragment uint8
	semantic bool    // fragment and likeness are set
	wanted   bool    // whatever its score
	glance   float32 // the score at first sight, without words that are frequent
	keyword  float64
	near     float64
	sum      float64 // keyword and near before they are shares
	sumNear  float64
	likeness float64
	maxSim   float64
	total    float64
	matched  uint64 // rank.Score.Matched
	pieces   []byte // the row's form of contents
}

// Rank returns the records that fit the text best: candidates by the rarer words
// and by meaning, scored by package rank. A text of nothing but signs finds nothing.
//
// The codes of its errors: CodeUnavailable, CodeStorage.
func (ix *Index) Rank(ctx context.Context, r Request) (Answer, error) {
	const what = "rank records"
	asked := text.FirstBytes(r.Text, maxQueryBytes)
	var vector vectors.Query
	if !ix.local {
		vector.Vector = ix.queryVector(ctx, asked)
	}
	b, done, err := ix.current()
	if err != nil {
		return Answer{}, fault(what, err)
	}
	defer done()
	if ix.local {
		vector = b.tableVectors(ix.table, asked, r.Untrained) // of the tables that b's vectors are from
	}
	answer, err := b.rank(ctx, asked, r, vector, ix.table)
	lexical := func(m Match) bool { return m.Lexical }
	if ix.local && !r.Prose && len(r.Also) == 0 && !slices.ContainsFunc(answer.Matches, lexical) && madeUp(asked, ix.table) {
		answer.Matches = nil
	}
	return answer, fault(what, ix.sound(ctx, b, err))
}

// madeUp reports whether a text is a single word, and one that the table does not have: the pieces that it
// is cut into tell nothing of its meaning, though some record is always near them.
func madeUp(text string, table *embed.Table) bool {
	list := slices.DeleteFunc(words.Query(text), func(w words.QueryWord) bool { return w.Stop })
	return !slices.ContainsFunc(list, func(w words.QueryWord) bool {
		return w.Position != list[0].Position || inTable(table, w.Raw)
	})
}

// tableVectors returns the text's vectors by the tables, zero without pieces; untrained is
// that of a request.
func (b *base) tableVectors(table *embed.Table, text string, untrained float32) (q vectors.Query) {
	pieces := table.Pieces(text)
	if len(pieces) == 0 {
		return q
	}
	q.Vector = table.Vector(pieces)
	if b.trained != nil {
		q.Other, q.Others = b.trained.Vector(pieces), b.cat.observations
		for i, x := range q.Vector {
			q.Other[i] += untrained * (x - q.Other[i])
		}
	}
	return q
}

// queryVector asks a far model for the text's vector; nil when there is none. A failure is noted
// in the state, where Status finds it, and the model rests for queryRest.
func (ix *Index) queryVector(ctx context.Context, text string) []float32 {
	ix.state.mu.Lock()
	failed := ix.state.embedding.err != nil
	since := ix.clock().Sub(ix.state.embedding.at)
	resting := failed && since >= 0 && since < queryRest // the clock may have been set back
	ix.state.mu.Unlock()
	if resting || text == "" {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	v, err := ask(bounded, ix.embedder, text)
	if err != nil {
		if ctx.Err() == nil { // otherwise the caller has left
			ix.state.update(func(s *state) { s.embedding = failure{err, ix.clock()} })
		}
		return nil
	}
	if failed {
		ix.state.update(func(s *state) { s.embedding = failure{} })
	}
	return v[0]
}

// queryRest is the time for which queries do not ask a model that has just failed:
// each would wait for its timeout.
const queryRest = 30 * time.Second

// rank answers a query on b: it parses text, which is r.Text or its beginning, by r, collects
// candidates by words and, when vector fits the index, by likeness, and scores them. table gives
// vectors of words, by which words of the query are compared with those of a document. Without
// words and vector the answer is empty.
func (b *base) rank(ctx context.Context, text string, r Request, vector vectors.Query, table *embed.Table) (Answer, error) {
	c := b.cat
	answer := Answer{Behind: b.behind()}
	if b.vectors == nil || len(vector.Vector) != b.dimensions || b.vectors.Len() == 0 {
		vector = vectors.Query{}
	}
	eligible, n := c.eligible(r.Filter)
	near := b.nearest(vector, eligible, n, max(semanticCandidates, r.Limit/2))
	defer near() // it reads what the lock guards
	q, err := b.readQuery(ctx, text, r, table)
	if err != nil {
		return Answer{}, err
	}
	answer.Corrected = q.corrected
	w := newWitness(q, table)
	compared := table
	if r.Prose {
		q.shorten()
		if err := b.countEverywhere(ctx, q, r.Filter); err != nil {
			return Answer{}, err
		}
		if len(q.terms) > comparedWords {
			compared = nil
		}
	}
	answer.Semantic = vector.Vector != nil
	if n == 0 || len(q.terms) == 0 && vector.Vector == nil {
		return answer, nil
	}
	list, err := b.candidates(ctx, q, r, eligible, n, vector, near)
	if err != nil {
		return Answer{}, err
	}
	common := memory.Evidence{Records: n}
	if r.Prose && vector.Vector != nil {
		common.Typical, common.Spread = b.typical(vector, eligible, n)
	}
	answer.Matches, err = b.weigh(ctx, q, w, list, compared, common)
	return answer, err
}

// weigh returns the candidates as scored matches, the best first. Without table they
// have no MaxSim; common is the part of their evidence that belongs to the text.
func (b *base) weigh(ctx context.Context, q *query, w *witness, list []candidate, table *embed.Table, common memory.Evidence) ([]Match, error) {
	if err := b.score(ctx, q, list); err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(x candidate) bool { return x.matched == 0 && !x.semantic })
	b.combine(list)
	if table != nil {
		b.compareWords(table, q, list)
	}
	common = w.ofText(list, common)
	matches := b.matches(q, list)
	for i := range list {
		matches[i].Evidence = w.evidence(&list[i], common)
	}
	return matches, nil
}

// behind counts the changes that are not in the index, and during a build the
// records that are not; cat.mu is held.
func (b *base) behind() int64 {
	return max(b.newest-b.cursor, 0) + int64(max(b.expected-b.cat.all.documents, 0))
}

// candidates gathers the documents to score: all n eligible ones when they are few, else those with
// the rarer words, those of r.Also and those nearest in meaning, for which near waits (nearest).
func (b *base) candidates(ctx context.Context, q *query, r Request, eligible vectors.Documents, n int, vector vectors.Query, near func() []vectors.Match) ([]candidate, error) {
	c := b.cat
	if n <= directDocuments {
		list := make([]candidate, 0, n)
		for d := range c.among(eligible) {
			list = append(list, candidate{document: d})
		}
		addLikeness(list, near())
		return list, nil
	}
	list, err := b.gather(ctx, q, eligible, max(lexicalCandidates, r.Limit))
	if err != nil {
		return nil, err
	}
	list = c.join(list, r.Also, eligible)
	if vector.Vector == nil {
		return list, nil
	}
	// The likeness of those that the words found is needed too. Those that are also among the
	// nearest are compared twice, but until the nearest are known a processor would be idle.
	lexical := collect.MapPtr(list, func(x *candidate) uint32 { return x.document })
	addLikeness(list, b.vectors.Compare(vector, lexical...))
	slices.Sort(lexical)
	for _, m := range near() {
		if _, found := slices.BinarySearch(lexical, m.Document); !found {
			list = append(list, candidate{document: m.Document})
		}
	}
	addLikeness(list, near())
	return b.promising(list, max(promisingCandidates, r.Limit)), nil
}

// nearest begins to search for the most documents nearest in meaning among the n eligible ones, all
// of them if they are few, while the words are looked up: the one waits for the file of vectors,
// the other for the database. Without a vector it finds none. The function that it returns waits
// for the documents, the nearest first; the caller calls it before it gives up the catalogue's lock.
func (b *base) nearest(vector vectors.Query, eligible vectors.Documents, n, most int) (wait func() []vectors.Match) {
	var matches []vectors.Match
	var searching sync.WaitGroup
	if vector.Vector != nil && n > 0 {
		searching.Go(func() {
			if n <= directDocuments {
				matches = b.vectors.Search(vector, eligible, n)
				return
			}
			matches = b.cat.cutNearest(b.vectors.Search(vector, eligible, most), most)
		})
	}
	return func() []vectors.Match {
		searching.Wait()
		return matches
	}
}

// promising returns the candidates that are wanted and the best of the others, most in all (of
// more wanted ones the best), by their score at first sight and their likeness, which are set: to
// score one takes ten times as long.
func (b *base) promising(list []candidate, most int) []candidate {
	if len(list) <= most {
		return list
	}
	largest := float32(0)
	for _, x := range list {
		largest = max(largest, x.glance)
	}
	for i := range list {
		x := &list[i]
		x.total = rank.Combine(float64(x.glance/max(largest, math.SmallestNonzeroFloat32)), x.likeness, 0, b.isPrompt(x.document))
		if x.wanted {
			x.total += 10 // more than any has
		}
	}
	b.order(list)
	return list[:most]
}

// cutNearest returns most of the matches, which have the nearest first. Where more are as near as the
// last of them it takes the newest of these: records often have a sentence in common.
func (c *catalogue) cutNearest(near []vectors.Match, most int) []vectors.Match {
	near = slices.DeleteFunc(near, func(m vectors.Match) bool { return !c.has(m.Document) })
	if len(near) <= most {
		return near
	}
	last := near[most-1].Cosine
	first := slices.IndexFunc(near, func(m vectors.Match) bool { return m.Cosine <= last })
	slices.SortFunc(near[first:], func(x, y vectors.Match) int {
		return cmp.Or(cmp.Compare(y.Cosine, x.Cosine), c.compareAge(x.Document, y.Document))
	})
	return near[:most]
}

// has reports whether the catalogue has a document: vectors become visible a moment
// before the commit of their document.
func (c *catalogue) has(document uint32) bool {
	return int(document) < len(c.entries) && c.entries[document].kind != 0
}

// addLikeness marks those candidates that are in near as semantic, and sets their fragment
// and their likeness, the cosine.
func addLikeness(list []candidate, near []vectors.Match) {
	at := make(map[uint32]vectors.Match, len(near))
	for _, m := range near {
		at[m.Document] = m
	}
	for i := range list {
		if m, ok := at[list[i].document]; ok {
			list[i].semantic, list[i].fragment, list[i].likeness = true, m.Fragment, float64(m.Cosine)
		}
	}
}

// score reads the words of the candidates, each there once, and scores them. One whose row is gone
// has no words.
func (b *base) score(ctx context.Context, q *query, list []candidate) error {
	at := make(map[uint32]int, len(list))
	documents := make([]uint32, len(list))
	for i, x := range list {
		at[x.document], documents[i] = i, x.document
	}
	slices.Sort(documents)
	terms := collect.MapPtr(q.terms, func(t *term) rank.Term { return t.Term })
	score := func(documents []uint32) error {
		scorer := rank.NewQuery(terms, q.collection)
		var d rank.Document
		return b.readContents(ctx, documents, func(document uint32, row content) error {
			if err := b.cat.vocabulary.decodeWords(row.words, &d); err != nil {
				return err
			}
			x := &list[at[document]]
			s := scorer.Score(&d)
			x.keyword, x.near, x.matched, x.pieces = s.Keyword+s.Proximity, s.Proximity, s.Matched, slices.Clone(row.pieces)
			x.sum, x.sumNear = x.keyword, x.near
			return nil
		})
	}
	// Reading the rows takes most of the time: two connections share it.
	if len(documents) < scoredTogether {
		return score(documents)
	}
	var halves [2]error
	collect.InHalves(len(documents), func(from, to int) { halves[min(from, 1)] = score(documents[from:to]) })
	return errors.Join(halves[:]...)
}

// scoredTogether is the least number of candidates that two goroutines share.
const scoredTogether = 64

// combine makes shares of the largest of the keyword scores, sets the totals and puts the list in
// order.
func (b *base) combine(list []candidate) {
	largest := 0.0
	for i := range list {
		largest = max(largest, list[i].keyword)
	}
	for i := range list {
		x := &list[i]
		if largest > 0 {
			x.keyword /= largest
			x.near /= largest
		}
		x.total = rank.Combine(x.keyword, x.likeness, 0, b.isPrompt(x.document))
	}
	b.order(list)
}

func (b *base) isPrompt(document uint32) bool {
	return b.cat.entries[document].kind == kindOf(memory.RecordPrompt)
}

// order puts the best first; of equal ones the newest, as everywhere.
func (b *base) order(list []candidate) {
	c := b.cat
	slices.SortFunc(list, func(x, y candidate) int {
		if d := cmp.Compare(y.total, x.total); d != 0 {
			return d
		}
		return c.compareAge(x.document, y.document)
	})
}

// compareWords adds MaxSim to the first rank.MaxSimBest candidates of a list that is in order, and
// puts it in order again. It needs the pieces that score has read. Cosines are squared, so that words
// that are hardly alike count for little.
func (b *base) compareWords(table *embed.Table, q *query, list []candidate) {
	best := list[:min(rank.MaxSimBest, len(list))]
	numbers, shares := q.pieceShares(table)
	if len(numbers) == 0 {
		return
	}
	documents := collect.MapPtr(best, func(x *candidate) []uint16 {
		return unpackPieces(make([]uint16, 0, len(x.pieces)), x.pieces) // at most one a byte
	})
	comparison := table.Compare(numbers, documents)
	defer comparison.Close()
	collect.InHalves(len(best), func(from, to int) {
		cosines := make([]float32, len(numbers))
		for i := from; i < to; i++ {
			x := &best[i]
			comparison.Best(cosines, documents[i])
			for j, cosine := range cosines {
				x.maxSim += shares[j] * float64(cosine) * float64(cosine)
			}
			x.total = rank.Combine(x.keyword, x.likeness, x.maxSim, b.isPrompt(x.document))
		}
	})
	b.order(list)
}

// matches returns the candidates in the form of an answer.
func (b *base) matches(q *query, list []candidate) []Match {
	c := b.cat
	matched := map[uint64][]string{}
	matches := make([]Match, len(list))
	for i, x := range list {
		e := &c.entries[x.document]
		m := &matches[i]
		m.RecordRef = e.ref()
		m.ProjectPath = c.paths[e.project]
		m.Session, m.CreatedAt, m.Type = memory.SessionID(e.session), memory.Millis(e.createdAt), c.typeList[e.typ]
		m.Keyword, m.Proximity, m.Likeness, m.MaxSim = x.keyword, x.near, x.likeness, x.maxSim
		m.Lexical = x.matched != 0
		if x.semantic {
			m.Fragment = fragmentName(x.fragment)
		}
		list, ok := matched[x.matched]
		if !ok && x.matched != 0 {
			list = q.words(x.matched)
			matched[x.matched] = list
		}
		m.Words = list
	}
	return matches
}
