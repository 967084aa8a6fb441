package search

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"claudemem/internal/keep/index"
	"claudemem/internal/keep/index/words"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

const (
	// scanned bounds the records that a scan reads, the newest: enough for years of work, and bounded in time.
	scanned = 20_000
	// scannedTogether is the number of them that are in memory at once.
	scannedTogether = 500
	// scannedWords bounds the words of the text that a scan looks for.
	scannedWords = 64
)

// scan answers a text from the records themselves, when the index failed with cause: it looks for
// the text's words in the newest records that pass the filter. A rare word counts more than a
// frequent one, and twice in a title. A note in p says so to the asker. It returns cause when
// ctx is over.
func (s *Searcher) scan(ctx context.Context, p *plan, cause error) (index.Answer, error) {
	if ctx.Err() != nil {
		return index.Answer{}, cause
	}
	q := p.query
	q.Limit, q.Offset = scanned, 0
	refs, err := s.records.FilterRecords(ctx, q, p.kinds, memory.OrderNewest)
	if err != nil {
		return index.Answer{}, err
	}
	var asked []words.QueryWord
	for _, w := range words.Query(p.text) {
		known := slices.ContainsFunc(asked, func(o words.QueryWord) bool { return o.Text == w.Text })
		if !w.Stop && !w.Joined && !known && len(asked) < scannedWords {
			asked = append(asked, w)
		}
	}
	var matches []index.Match
	var found [][]string // in each of them: the words, twice what its title has
	counts := map[string]int{}
	for part := range slices.Chunk(refs, scannedTogether) {
		documents, err := s.records.Documents(ctx, part...)
		if err != nil {
			return index.Answer{}, err
		}
		for _, d := range documents {
			m := index.Match{RecordRef: d.RecordRef, ProjectPath: d.ProjectPath, Session: d.Session, CreatedAt: d.CreatedAt, Type: d.Type, Lexical: true}
			titled, rest := wordSet(d.Title), wordSet(strings.Join(slices.Concat([]string{d.Text}, d.Facts, d.Concepts, d.Files, d.Symbols), "\n"))
			var has []string
			for _, w := range asked {
				if titled[w.Text] || rest[w.Text] {
					has, m.Words = append(has, w.Text), append(m.Words, w.Raw)
					counts[w.Text]++
				}
				if titled[w.Text] {
					has = append(has, w.Text)
				}
			}
			if len(has) > 0 {
				matches, found = append(matches, m), append(found, has)
			}
		}
	}
	largest := 0.0
	for i, has := range found {
		for _, w := range has {
			matches[i].Keyword += math.Log(1 + float64(len(refs))/float64(counts[w]))
		}
		largest = max(largest, matches[i].Keyword)
	}
	for i := range matches {
		matches[i].Keyword /= largest
	}
	s.opts.Logger.Warn("a search was answered without the index", "error", cause)
	p.note(fmt.Sprintf("the index is not available (%v; `claude-mem doctor` tells more): the words were looked for in the %s", cause, text.Count(len(refs), "newest record")))
	return index.Answer{Matches: matches}, nil
}

// wordSet returns the words of a text.
func wordSet(s string) map[string]bool {
	return collect.Set(collect.Map(words.Text(s), func(w words.Word) string { return w.Text }))
}
