package search

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"claudemem/internal/keep/index"
	"claudemem/internal/keep/index/words"
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
	asked := words.Query(p.text)
	asked = slices.DeleteFunc(asked, func(w words.QueryWord) bool { return w.Stop || w.Joined })
	places := map[string]int{}
	for _, w := range asked[:min(len(asked), scannedWords)] {
		if _, ok := places[w.Text]; !ok {
			places[w.Text] = len(places)
		}
	}
	raw := make([]string, len(places))
	for _, w := range asked {
		if place, ok := places[w.Text]; ok {
			raw[place] = w.Raw
		}
	}
	type hit struct {
		index.Match
		has, inTitle uint64 // a bit for each word
	}
	var hits []hit
	counts := make([]int, len(places))
	for part := range slices.Chunk(refs, scannedTogether) {
		documents, err := s.records.Documents(ctx, part...)
		if err != nil {
			return index.Answer{}, err
		}
		for _, d := range documents {
			h := hit{Match: index.Match{RecordRef: d.RecordRef, ProjectPath: d.ProjectPath, Session: d.Session, CreatedAt: d.CreatedAt, Type: d.Type, Lexical: true}}
			h.inTitle = wordsIn(d.Title, places)
			h.has = h.inTitle | wordsIn(strings.Join(slices.Concat([]string{d.Text}, d.Facts, d.Concepts, d.Files, d.Symbols), "\n"), places)
			if h.has == 0 {
				continue
			}
			for place := range counts {
				counts[place] += int(h.has >> place & 1) //nolint:gosec // a bit
			}
			hits = append(hits, h)
		}
	}
	matches := make([]index.Match, len(hits))
	largest := 0.0
	for i, h := range hits {
		for place, n := range counts {
			if h.has>>place&1 == 1 {
				h.Keyword += math.Log(1+float64(len(refs))/float64(n)) * float64(1+h.inTitle>>place&1)
				h.Words = append(h.Words, raw[place])
			}
		}
		largest = max(largest, h.Keyword)
		matches[i] = h.Match
	}
	for i := range matches {
		matches[i].Keyword /= largest
	}
	s.opts.Logger.Warn("a search was answered without the index", "error", cause)
	p.note(fmt.Sprintf("the index is not available (%v; `claude-mem doctor` tells more): the words were looked for in the %s", cause, text.Count(len(refs), "newest record")))
	return index.Answer{Matches: matches}, nil
}

// wordsIn returns a bit for each of the words that a text has.
func wordsIn(s string, places map[string]int) (has uint64) {
	for _, w := range words.Text(s) {
		if place, ok := places[w.Text]; ok {
			has |= 1 << place
		}
	}
	return has
}
