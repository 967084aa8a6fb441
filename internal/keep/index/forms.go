package index

import (
	"slices"

	"claudemem/internal/keep/index/embed"
	"claudemem/internal/keep/index/rank"
	"claudemem/internal/keep/index/words"
)

// The weights of other forms of a word, beside 1 for the word itself. They count only in
// documents that do not have the word (docs/how-search-ranks.md).
const (
	listedWeight = 0.6 // config for configuration
	formedWeight = 0.3 // handler for handle
	// formedLikeness is the least likeness of two forms of a word by the table: parse and
	// parser have .57, order and orderly .27.
	formedLikeness = 0.35
)

// form is another form of a word of a query.
type form struct {
	words.QueryWord
	weight float64
}

// otherForms returns for each of the words other forms of it that are none of the words:
// abbreviations, and those by an ending or a prefix that the table has and finds alike.
// Without a table there are only abbreviations. A form may stand with two words; readQuery takes it
// once.
func otherForms(list []words.QueryWord, table *embed.Table) [][]form {
	all := make([][]form, len(list))
	var known func(string) bool
	if table != nil {
		known = func(word string) bool { return inTable(table, word) }
	}
	for i, w := range list {
		if w.Joined || w.Identifier { // a name has no other form
			continue
		}
		for _, f := range words.Forms(w.Raw, known) {
			weight := listedWeight
			if !f.Listed {
				weight = formedWeight
			}
			if slices.ContainsFunc(list, func(x words.QueryWord) bool { return x.Text == f.Text }) ||
				slices.ContainsFunc(all[i], func(x form) bool { return x.Text == f.Text }) ||
				!f.Listed && wordLikeness(table, f.Of, f.Raw) < formedLikeness {
				continue
			}
			all[i] = append(all[i], form{words.QueryWord{Text: f.Text, Raw: f.Raw}, weight})
		}
	}
	return all
}

// weightBeside returns the weight of a form beside its word: documents is the number of documents
// that have the form, of that of those that have the word, all that of all. It is lowered for a
// form that is rarer than its word, so that it adds no more than f.weight times the word does.
func (f form) weightBeside(of, documents, all int) float64 {
	if of == 0 || documents == 0 {
		return f.weight
	}
	return f.weight * min(1, rank.InverseFrequency(of, all)/rank.InverseFrequency(documents, all))
}

// inTable reports whether the table has a word as a whole.
func inTable(table *embed.Table, word string) bool {
	if table == nil {
		return false
	}
	_, ok := table.Word(word)
	return ok
}

// wordLikeness returns the cosine of two words, 0 unless the table has both as a whole.
func wordLikeness(table *embed.Table, a, b string) float64 {
	if table == nil {
		return 0
	}
	x, ok := table.Word(a)
	y, and := table.Word(b)
	if !ok || !and {
		return 0
	}
	return float64(table.Cosine(x, y))
}
