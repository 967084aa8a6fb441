package index

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"

	"claudemem/internal/keep/index/postings"
	"claudemem/internal/keep/index/vectors"
	"claudemem/internal/keep/sqlite"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

const (
	// gatherDocuments is how many documents the lists may have that are read for the words of a
	// query: each takes 20 ns. The lists of words in titles come on top, a twentieth as much. Of
	// 1,500 queries at 100,000 observations so many found their target among the first 20 hits:
	//
	//	documents    6,000   20,000   30,000   40,000   60,000   150,000
	//	target         784      962    1,014    1,039    1,054     1,067
	gatherDocuments = 40_000
	// gatherMost is the same while fewer than lexicalCandidates documents were found, as when a
	// filter passes only few of those that have the rarer words.
	gatherMost = 5 * gatherDocuments
	// matchDocuments is in place of gatherDocuments where MATCH returns the documents: each takes
	// 0.16 µs.
	matchDocuments = 6000
	// gatherWords bounds the number of words that are looked up.
	gatherWords = 32
)

// The first look at a document knows which of the gathered words it has, which of
// them in the title, and its length. It is BM25 with that: k1 and b as in
// package rank, one occurrence, or three with one in the title at weight 2.
const (
	firstK1     = 1.2
	firstB      = 0.75
	titleCounts = 3
	// mostOfWord is the most that a word of weight 1 can add to a score: in the title of the
	// shortest document.
	mostOfWord = titleCounts * (firstK1 + 1) / (titleCounts + firstK1*(1-firstB))
)

// tally adds up the first look's scores by document; it is used again.
type tally struct {
	scores  []float32 // by document
	touched []uint32

	touchedScores []float32
	best          []uint32
}

var tallies = sync.Pool{New: func() any { return new(tally) }}

// gather lists the documents that are best at first sight, by the rarer words, with their
// scores: at most limit of the eligible ones, of all for nil. cat.mu is held.
func (b *base) gather(ctx context.Context, q *query, eligible vectors.Documents, limit int) ([]candidate, error) {
	t := tallies.Get().(*tally)
	defer tallies.Put(t)
	if len(t.scores) < len(b.cat.entries) {
		t.scores = make([]float32, len(b.cat.entries)+len(b.cat.entries)/8)
	}
	defer func() {
		for _, d := range t.touched {
			t.scores[d] = 0
		}
		t.touched = t.touched[:0]
	}()
	terms := q.rarestFirst()
	most, more := gatherDocuments, gatherMost
	if b.unknownLayout.Load() {
		most, more = matchDocuments, 3*matchDocuments
	}
	if len(terms) > 0 {
		most = max(most, terms[0].everywhere) // the rarest whatever it costs
	}
	words, others := affordable(terms, most)
	if err := b.count(ctx, t, q, words, eligible, limit); err != nil {
		return nil, err
	}
	if len(t.touched) < lexicalCandidates {
		words, _ = affordable(others, more)
		if err := b.count(ctx, t, q, words, eligible, limit); err != nil {
			return nil, err
		}
	}
	documents := t.highest(limit)
	slices.SortFunc(documents, func(x, y uint32) int {
		return cmp.Or(cmp.Compare(t.scores[y], t.scores[x]), b.cat.compareAge(x, y))
	})
	list := make([]candidate, min(limit, len(documents)))
	for i := range list {
		list[i] = candidate{document: documents[i], glance: t.scores[documents[i]]}
	}
	return list, nil
}

// affordable returns those of the terms, at most gatherWords, whose lists together have at most
// most documents, and the others.
func affordable(terms []term, most int) (list, others []term) {
	for _, t := range terms {
		// They are the rarest first, but a word that is rare in a project may be frequent elsewhere, and
		// a later one may cost less.
		if len(list) == gatherWords || t.everywhere > most {
			others = append(others, t)
			continue
		}
		list, most = append(list, t), most-t.everywhere
	}
	return list, others
}

// count adds the weights of words, which are the rarest first, to the scores of the eligible
// documents (all for nil) that have them, the shorter the document the more. Documents that cannot
// be among the wanted with the highest scores any more need not get one.
func (b *base) count(ctx context.Context, t *tally, q *query, words []term, eligible vectors.Documents, wanted int) error {
	if len(words) == 0 {
		return nil
	}
	tokens := collect.Map(words, func(term term) string { return term.text })
	tokens = append(tokens, collect.Map(words, func(term term) string { return headingToken(term.text) })...)
	weights := make([]float32, len(words))
	rest := float32(0) // the most that the words not counted yet add to a score
	for i, term := range words {
		all := float64(max(q.collection.Documents, term.Documents))
		weights[i] = float32(term.Weight * max(math.Log((all-float64(term.Documents)+.5)/(float64(term.Documents)+.5)), 1e-3))
		rest += weights[i] * mostOfWord
	}
	mean := float32(max(q.collection.MeanLength, 1))
	others := true // documents without any of the words so far may be among the wanted
	return b.documentsWith(ctx, tokens, func(token int, documents []uint32) {
		weight := weights[token%len(words)]
		inTitle := token >= len(words)
		if others && len(t.touched) >= wanted && len(documents) > len(t.touched)/2 { // or it is not worth the time
			others = t.reached(wanted) <= rest
		}
		if !inTitle {
			rest -= weight * mostOfWord
		}
		for _, d := range documents {
			if int(d) >= len(t.scores) || t.scores[d] == 0 && (!others || eligible != nil && !eligible.Has(d)) {
				continue
			}
			length, ok := b.cat.lengths.of(d)
			if !ok {
				continue
			}
			norm := firstK1 * (1 - firstB + firstB*float32(length)/mean)
			score := (firstK1 + 1) / (1 + norm)
			if inTitle {
				score = titleCounts*(firstK1+1)/(titleCounts+norm) - score
			}
			if t.scores[d] == 0 {
				t.touched = append(t.touched, d)
			}
			t.scores[d] += weight * score
		}
	})
}

// highest returns the documents with the n highest scores and some with lower ones: to put all in
// order would take longer than to find them.
func (t *tally) highest(n int) []uint32 {
	if len(t.touched) <= n {
		return t.touched
	}
	least := t.reached(n)
	t.best = t.best[:0]
	for i, x := range t.touchedScores {
		if x >= least {
			t.best = append(t.best, t.touched[i])
		}
	}
	return t.best
}

// reached returns a score that n of the touched documents reach, and few more. There are at least
// n. It leaves the scores in touchedScores.
func (t *tally) reached(n int) float32 {
	const steps = 1 << 10
	t.touchedScores = t.touchedScores[:0] // by touched: they lie scattered in scores
	highest := float32(0)
	for _, d := range t.touched {
		t.touchedScores = append(t.touchedScores, t.scores[d])
		highest = max(highest, t.scores[d])
	}
	var counts [steps + 1]int // of the scores that reach so many steps
	step := highest / steps
	for _, x := range t.touchedScores {
		counts[min(int(x/step), steps)]++
	}
	at := steps
	for enough := counts[at]; enough < n && at > 0; enough += counts[at] {
		at--
	}
	// A score that rounding put into this step from a hair below reaches it all the same.
	return float32(at) * step * (1 - 1e-6)
}

// documentsWith calls fn for each of the tokens, by its place in the list, with the documents that
// have it. Documents that were deleted, or have it no longer, can be among them. The list of
// documents is valid until fn returns, which must not use the database.
//
// Pages that package postings does not understand, as a later SQLite may write them, are no damage:
// MATCH, which is slower, finds the documents from then on.
func (b *base) documentsWith(ctx context.Context, tokens []string, fn func(token int, documents []uint32)) error {
	ctx = sqlite.Brief(ctx)
	if !b.unknownLayout.Load() {
		err := b.atOneMoment(ctx, texts.Queries(), func(query postings.Query) error { return texts.Read(ctx, query, tokens, fn) })
		if !errors.Is(err, sqlite.ErrDamaged) {
			return err
		}
		b.unknownLayout.Store(true)
	}
	for i, token := range tokens {
		documents, err := column[uint32](ctx, b.read, "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rowid", quote(token))
		if err != nil {
			return err
		}
		fn(i, documents)
	}
	return nil
}

// atOneMoment calls fn with a function that runs those of the queries, and no others, in one
// transaction, so that all of them see the same state of the index.
func (b *base) atOneMoment(ctx context.Context, queries []string, fn func(query postings.Query) error) error {
	prepared := make(map[string]*sql.Stmt, len(queries))
	for _, q := range queries { // before a connection is taken, since each may need one
		stmt, err := b.read.Prepare(ctx, q) //nolint:sqlclosecheck // close closes it
		if err != nil {
			return err
		}
		prepared[q] = stmt
	}
	tx, err := b.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	return fn(func(ctx context.Context, query string, row func(scan sqlite.Scan) error, args ...any) error {
		return sqlite.Rows(tx.StmtContext(ctx, prepared[query]).QueryContext(ctx, args...)).Each(row) //nolint:rowserrcheck,sqlclosecheck // Each checks it, the transaction closes it
	})
}

// checkLayout reports whether lists of documents can be read from the pages of the full-text index.
// It asks for a token that no document has.
func (b *base) checkLayout(ctx context.Context) (known bool, err error) {
	err = b.documentsWith(ctx, []string{"_"}, func(int, []uint32) {})
	return !b.unknownLayout.Load(), err
}

// texts is the full-text index.
var texts = postings.Of("texts")

// both returns the FTS5 expression for what matches and is in scope; an empty scope is no limit.
func both(match, scope string) string {
	if scope == "" {
		return match
	}
	return "(" + match + ") AND " + scope
}

// scope returns an FTS5 expression for those parts of a filter that leave out most documents, ""
// if there are none. Other parts are left to the catalogue: reading their long lists costs more
// than the documents that they would spare.
func (c *catalogue) scope(f Filter) string {
	var parts []string
	add := func(tokens []string, documents int) {
		if len(tokens) == 0 || !c.narrow(documents) {
			return
		}
		for i := range tokens {
			tokens[i] = quote(tokens[i])
		}
		parts = append(parts, "("+strings.Join(tokens, " OR ")+")")
	}
	add(c.projectTokens(f))
	var tokens []string
	n := 0
	for _, k := range f.Kinds {
		if kindOf(k) != 0 {
			tokens = append(tokens, kindToken(kindOf(k)))
			n += c.counts[kindOf(k)]
		}
	}
	add(tokens, n)
	tokens, n = nil, 0
	for _, t := range f.Types {
		if number, ok := c.types[t]; ok {
			tokens = append(tokens, typeToken(t))
			n += c.byType[number]
		}
	}
	add(tokens, n)
	if f.Session != 0 {
		add([]string{sessionToken(int64(f.Session))}, 0) // hardly any
	}
	return strings.Join(parts, " AND ")
}

// narrow reports whether so many documents are few enough for a part of a scope.
func (c *catalogue) narrow(documents int) bool { return documents <= c.all.documents/2 }

// projectTokens returns the tokens of the projects that a filter chooses, and how many documents
// these have.
func (c *catalogue) projectTokens(f Filter) (tokens []string, documents int) {
	for _, p := range c.projectNumbers(f) {
		tokens = append(tokens, projectToken(p))
		documents += c.totals[p].documents
	}
	return tokens, documents
}

// join returns the candidates with those of the records that are eligible and not among them; all of
// the eligible records are wanted: promising keeps them.
func (c *catalogue) join(list []candidate, records []memory.RecordRef, eligible vectors.Documents) []candidate {
	if len(records) == 0 {
		return list
	}
	at := make(map[uint32]int, len(list))
	for i, x := range list {
		at[x.document] = i
	}
	for _, r := range records {
		d, ok := c.byRecord.get(keyOf(r))
		if !ok || eligible != nil && !eligible.Has(d) {
			continue
		}
		if i, there := at[d]; there {
			list[i].wanted = true
			continue
		}
		at[d] = len(list)
		list = append(list, candidate{document: d, wanted: true})
	}
	return list
}
