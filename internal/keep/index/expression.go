package index

import (
	"context"
	"slices"

	sqlite3 "modernc.org/sqlite/lib"

	"claudemem/internal/keep/index/rank"
	"claudemem/internal/keep/index/words"
	"claudemem/internal/keep/sqlite"
	"claudemem/internal/leaf/collect"
)

const (
	// syntaxScored bounds the matches of an expression that are scored, syntaxRows those
	// that are read: of more only the newest.
	syntaxScored = 2000
	syntaxRows   = 20_000
	// leastKeyword is the keyword score of a match without a scored word, as that of a beginning
	// ("web*") is: a score of 0 would say that the record only passes the filter.
	leastKeyword = 0.01
)

// Syntax returns the records that match a full-text expression (see syntax.go),
// the best first. Of very many it looks at the newest only; there may be more than limit in the
// answer.
//
// The codes of its errors: CodeInvalid when the text is no such expression, for
// instance plain words; CodeUnavailable, CodeStorage.
func (ix *Index) Syntax(ctx context.Context, text string, f Filter, limit int) (Answer, error) {
	const what = "match expression"
	e, err := parseExpression(text)
	if err != nil {
		return Answer{}, fault(what, err)
	}
	b, done, err := ix.current()
	if err != nil {
		return Answer{}, fault(what, err)
	}
	defer done()
	answer, err := b.matchExpression(ctx, e, f, limit)
	if sqlite.Code(err) == sqlite3.SQLITE_ERROR {
		// The parser should have refused it.
		ix.log.Warn("an expression was not understood", "err", err)
		err = errSyntax("it is not understood")
	}
	return answer, fault(what, ix.sound(ctx, b, err))
}

// matchExpression returns the records that pass f and match e, scored by the words of e.
// limit raises the bounds on the records that are looked at; it does not cut the answer.
func (b *base) matchExpression(ctx context.Context, e *expression, f Filter, limit int) (Answer, error) {
	c := b.cat
	answer := Answer{Behind: b.behind()}
	eligible, n := c.eligible(f)
	if n == 0 {
		return answer, nil
	}
	found, err := column[uint32](ctx, b.read, "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rowid DESC LIMIT ?", both(e.match(allFields), c.scope(f)), max(syntaxRows, limit))
	if err != nil {
		return Answer{}, err
	}
	documents := collect.Keep(found, func(d uint32) bool { return c.has(d) && (eligible == nil || eligible.Has(d)) })
	if !e.exact(allFields) {
		if documents, err = b.matching(ctx, e.clause, documents); err != nil {
			return Answer{}, err
		}
	}
	// The documents are in the order of their numbers, the newest first.
	list := collect.Map(documents[:min(len(documents), max(syntaxScored, limit))], func(d uint32) candidate { return candidate{document: d} })
	q, err := b.wordsQuery(ctx, e, f)
	if err != nil {
		return Answer{}, err
	}
	if err := b.score(ctx, q, list); err != nil {
		return Answer{}, err
	}
	b.combine(list)
	answer.Matches = b.matches(q, list)
	for i := range answer.Matches {
		m := &answer.Matches[i]
		m.Lexical, m.Keyword = true, max(m.Keyword, leastKeyword)
	}
	return answer, nil
}

// wordsQuery makes a query of an expression's words, which orders its matches.
func (b *base) wordsQuery(ctx context.Context, e *expression, f Filter) (*query, error) {
	c := b.cat
	projects := c.projectNumbers(f)
	q := &query{collection: c.collection(projects)}
	hashes := collect.Map(e.words, func(w words.QueryWord) uint32 { return hash(w.Text) })
	frequencies, err := b.frequencies(ctx, hashes, projects)
	if err != nil {
		return nil, err
	}
	for i, w := range e.words {
		if slices.Contains(hashes[:i], hashes[i]) {
			continue
		}
		q.terms = append(q.terms, term{
			Term: rank.Term{Hash: hashes[i], Position: i, Documents: frequencies[hashes[i]], Weight: 1}, raw: w.Raw,
		})
	}
	return q, nil
}

// collection sums up projects, each named once, or all of them for nil; one without documents
// counts 0. mu is held.
func (c *catalogue) collection(projects []uint32) rank.Collection {
	sum := c.all
	if projects != nil {
		sum = total{}
		for _, p := range projects {
			sum.documents += c.totals[p].documents
			sum.words += c.totals[p].words
		}
	}
	r := rank.Collection{Documents: sum.documents}
	if sum.documents > 0 {
		r.MeanLength = float64(sum.words) / float64(sum.documents)
	}
	return r
}
