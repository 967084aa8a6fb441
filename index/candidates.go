package index

import (
	"context"
	"database/sql"
	"math"
	"strings"
	"sync"

	"claudemem"
	"claudemem/index/vectors"
	"claudemem/sqlite"
)

const (
	// gatherDocuments is how many documents the lists may have that are read for the words of a
	// query: the full-text index returns a document's number in 0.16 µs, so that all take a
	// millisecond; its own bm25 takes 4 µs for each. The lists of words in titles come on top,
	// a twentieth as much.
	gatherDocuments = 6000
	// gatherMost is the same while fewer than lexicalCandidates documents were found, as when a
	// filter passes only few of those that have the rarer words.
	gatherMost = 3 * gatherDocuments
	// gatherWords bounds the number of words that are looked up.
	gatherWords = 32
	// headingShare is how many documents have a word for each that has it in the title: 12 to 36
	// with 800 words at 175,000 documents.
	headingShare = 20
)

// The first look at a document knows which of the gathered words it has, which of
// them in the title, and its length. It is BM25 with that: k1 and b as in
// package rank, one occurrence, or three with one in the title at weight 2.
const (
	firstK1     = 1.2
	firstB      = 0.75
	titleCounts = 3
)

// tally adds up the first look's scores by document; it is used again.
type tally struct {
	scores  []float32 // by document
	touched []uint32
}

var tallies = sync.Pool{New: func() any { return new(tally) }}

// gather lists the documents that are best at first sight, by the rarer words, with their
// scores.
func (b *base) gather(ctx context.Context, q *query, f Filter, eligible vectors.Documents, limit int) ([]candidate, error) {
	c := b.cat
	narrow := c.scope(f)
	t := tallies.Get().(*tally)
	defer tallies.Put(t)
	if len(t.scores) < len(c.entries) {
		t.scores = make([]float32, len(c.entries)+len(c.entries)/8)
	}
	defer func() {
		for _, d := range t.touched {
			t.scores[d] = 0
		}
		t.touched = t.touched[:0]
	}()
	mean := float32(max(q.collection.MeanLength, 1))
	// add adds the weight of a word to the scores of the documents that have the token, the
	// shorter the document the more. documents is how many have it, about.
	add := func(term term, token string, documents int, score func(norm float32) float32) error {
		all := float64(max(q.collection.Documents, term.Documents))
		idf := float32(term.Weight * max(math.Log((all-float64(term.Documents)+.5)/(float64(term.Documents)+.5)), 1e-3))
		return b.documentsWith(ctx, narrow.matchToken(quote(token), documents), func(d uint32) {
			length, ok := c.lengths.of(d)
			if !ok || eligible != nil && !eligible.Has(d) {
				return
			}
			if t.scores[d] == 0 {
				t.touched = append(t.touched, d)
			}
			t.scores[d] += idf * score(firstK1*(1-firstB+firstB*float32(length)/mean))
		})
	}
	once := func(norm float32) float32 { return (firstK1 + 1) / (1 + norm) }
	var gathered []term
	spent := 0
	for _, term := range q.rarestFirst() {
		if len(gathered) == gatherWords {
			break
		}
		most := gatherMost
		if len(t.touched) >= lexicalCandidates {
			most = gatherDocuments
		}
		// A word that is rare in the scope may be frequent elsewhere. A later one may cost less.
		cost := narrow.cost(term.everywhere)
		if len(gathered) > 0 && spent+cost > most {
			continue
		}
		if err := add(term, term.text, term.everywhere, once); err != nil {
			return nil, err
		}
		gathered, spent = append(gathered, term), spent+cost
	}
	if len(t.touched) <= limit {
		return t.candidates(len(t.touched)), nil
	}
	for _, term := range gathered {
		err := add(term, headingToken(term.text), term.everywhere/headingShare, func(norm float32) float32 {
			return titleCounts*(firstK1+1)/(titleCounts+norm) - once(norm)
		})
		if err != nil {
			return nil, err
		}
	}
	best(t.touched, limit, func(x, y uint32) bool {
		if t.scores[x] != t.scores[y] {
			return t.scores[x] > t.scores[y]
		}
		return c.compareAge(x, y) < 0
	})
	return t.candidates(limit), nil
}

// candidates returns the first n documents as candidates.
func (t *tally) candidates(n int) []candidate {
	list := make([]candidate, n)
	for i, d := range t.touched[:n] {
		list[i] = candidate{document: d, glance: t.scores[d]}
	}
	return list
}

// best moves the n first elements of list in the order of before to its beginning,
// unsorted (quickselect).
func best(list []uint32, n int, before func(x, y uint32) bool) {
	for lo, hi := 0, len(list)-1; lo < hi; {
		pivot := list[lo+(hi-lo)/2]
		i, j := lo, hi
		for i <= j {
			for before(list[i], pivot) {
				i++
			}
			for before(pivot, list[j]) {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i++
				j--
			}
		}
		switch {
		case n <= j:
			hi = j
		case n > i:
			lo = i
		default:
			return
		}
	}
}

// documentsWith calls fn with the number of each document that matches an FTS5
// expression. fn must not use the database.
func (b *base) documentsWith(ctx context.Context, match string, fn func(document uint32)) error {
	var joined sql.RawBytes
	return b.read.each(sqlite.Brief(ctx), "SELECT group_concat(rowid) FROM texts WHERE texts MATCH ?", func(scan sqlite.Scan) error {
		if err := scan(&joined); err != nil {
			return err
		}
		return idList(joined, fn)
	}, match)
}

// scope has those parts of a filter that leave out most documents, as expressions of FTS5. To
// read the lists of their tokens costs less than to read what they leave out.
type scope struct {
	all       string // the parts together, "" for no limit
	narrowest string // the part with the fewest documents
	documents int    // that it has, about
}

// within returns the FTS5 expression for the documents of match in scope; match must not be
// empty.
func (s scope) within(match string) string { return both(match, s.all) }

// matchToken returns the FTS5 expression by which the documents in scope that have a token are
// read fastest. Others may be among them, which the caller drops. documents is how many have
// the token.
func (s scope) matchToken(token string, documents int) string {
	if s.cost(documents) == documents {
		return token // its whole list
	}
	return both(token, s.narrowest)
}

// cost returns what it takes to read the documents in scope that have a token, in documents of
// a whole list. To intersect two lists takes a half of that for each document of the scope and
// a quarter for each that has the token, by the times of 2,000 words at 175,000 documents.
func (s scope) cost(documents int) int {
	if s.all == "" {
		return documents
	}
	return min(documents, s.documents/2+documents/4)
}

// both returns the FTS5 expression for what matches and is in scope; an empty scope is no limit.
func both(match, scope string) string {
	if scope == "" {
		return match
	}
	return "(" + match + ") AND " + scope
}

// scope returns the scope of a filter.
func (c *catalogue) scope(f Filter) scope {
	var parts []string
	var s scope
	add := func(tokens []string, documents int) {
		if len(tokens) == 0 || documents > c.all.documents/2 {
			return
		}
		part := "(" + strings.Join(tokens, " OR ") + ")"
		if len(parts) == 0 || documents < s.documents {
			s.narrowest, s.documents = part, documents
		}
		parts = append(parts, part)
	}
	var tokens []string
	n := 0
	for _, p := range c.projectNumbers(f) {
		tokens = append(tokens, quote(projectToken(p)))
		n += c.totals[p].documents
	}
	add(tokens, n)
	tokens, n = nil, 0
	for _, k := range f.Kinds {
		if kindOf(k) != 0 {
			tokens = append(tokens, quote(kindToken(kindOf(k))))
			n += c.counts[kindOf(k)]
		}
	}
	add(tokens, n)
	tokens, n = nil, 0
	for _, t := range f.Types {
		if number, ok := c.types[t]; ok {
			tokens = append(tokens, quote(typeToken(t)))
			n += c.byType[number]
		}
	}
	add(tokens, n)
	if f.Session != 0 {
		add([]string{quote(sessionToken(int64(f.Session)))}, 0) // hardly any
	}
	s.all = strings.Join(parts, " AND ")
	return s
}

// join returns the candidates with those of the records that are eligible and not among them,
// all of which are to be kept.
func (c *catalogue) join(list []candidate, records []claudemem.RecordRef, eligible vectors.Documents) []candidate {
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
