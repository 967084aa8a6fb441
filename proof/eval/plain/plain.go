// Package plain is BM25 over the words of a text and nothing else: what search is compared
// with. Words are runs of letters and digits in their stems, the query's stop words are left
// out, k1 and b are the usual ones.
package plain

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"claudemem/internal/keep/index/words"
)

// An Index ranks texts. New makes one.
type Index struct {
	ids      []string
	lengths  []float64
	mean     float64
	postings map[string][]posting
}

type posting struct {
	document int
	count    float64
}

// Runs cuts a text into runs of letters and digits, as they are written.
func Runs(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
}

// Words cuts a text into runs of letters and digits and returns their stems; of a query,
// those of its stop words only if it has no other. The stem of a run that package words takes
// for an identifier is that of its whole.
func Words(text string, query bool) []string {
	var list []string
	kept := 0
	runs := Runs(text)
	for pass := range 2 { // the second only for a query of nothing but stop words
		for _, run := range runs {
			for _, w := range words.Text(run) {
				if w.Part {
					continue
				}
				if query && pass == 0 && words.IsStop(strings.ToLower(run)) {
					continue
				}
				list = append(list, w.Text)
				kept++
			}
		}
		if !query || kept > 0 {
			break
		}
	}
	return list
}

// New returns an index of the texts; the id of each is in ids at its place.
func New(ids, texts []string) *Index {
	p := &Index{ids: ids, postings: map[string][]posting{}}
	for i, text := range texts {
		list := Words(text, false)
		p.lengths = append(p.lengths, float64(len(list)))
		p.mean += float64(len(list)) / float64(len(texts))
		counts := map[string]float64{}
		for _, w := range list {
			counts[w]++
		}
		for w, n := range counts {
			p.postings[w] = append(p.postings[w], posting{i, n})
		}
	}
	return p
}

// Search returns the ids of the texts that have a word of the query and that keep accepts,
// the best first, at most limit.
func (p *Index) Search(query string, limit int, keep func(id string) bool) []string {
	const k1, b = 1.2, 0.75
	scores := map[int]float64{}
	list := Words(query, true)
	slices.Sort(list)
	n := float64(len(p.ids))
	for _, w := range slices.Compact(list) {
		found := p.postings[w]
		df := float64(len(found))
		idf := max(1e-6, math.Log((n-df+0.5)/(df+0.5)))
		for _, x := range found {
			scores[x.document] += idf * x.count * (k1 + 1) / (x.count + k1*(1-b+b*p.lengths[x.document]/p.mean))
		}
	}
	order := make([]int, 0, len(scores))
	for d := range scores {
		if keep(p.ids[d]) {
			order = append(order, d)
		}
	}
	slices.SortFunc(order, func(x, y int) int { return cmp.Or(cmp.Compare(scores[y], scores[x]), cmp.Compare(x, y)) })
	ranked := make([]string, 0, min(limit, len(order)))
	for _, d := range order[:min(limit, len(order))] {
		ranked = append(ranked, p.ids[d])
	}
	return ranked
}
