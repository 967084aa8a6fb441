package index

import (
	"context"
	"slices"
	"strings"

	"claudemem/internal/keep/index/rank"
	"claudemem/internal/leaf/collect"
)

// The full-text index knows which words a document has, and which its title has, not where
// they stand, which would take three times the space: the rows of contents know. So the
// expression for FTS5 finds the documents that have all words of a phrase, in whatever field,
// and matches then looks at each.

// clause is an expression or a part of one.
type clause struct {
	op clauseOp
	// parts of clauseOr, clauseAnd and clauseIn.
	parts []*clause
	// without are the parts of clauseAnd that must not match.
	without []*clause
	// fields are those of clauseIn.
	fields fieldSet
	// phrases are near each other in clauseNear: at most distance words lie between the end
	// of one and the beginning of another. A single one has any place.
	phrases  []phrase
	distance int
}

type clauseOp int

const (
	clauseOr clauseOp = iota
	clauseAnd
	clauseIn
	clauseNear
)

// phrase is a list of words that stand together.
type phrase struct {
	words  []string
	hashes []uint32 // of words
	// begins says that the last word need only begin so; beginnings are the hashes of the
	// words that do, once they have been looked up.
	begins     bool
	beginnings map[uint32]bool
}

// newPhrase returns a phrase of stems; if begins is set, the last word is as it was typed.
func newPhrase(words []string, begins bool) phrase {
	return phrase{words: words, hashes: collect.Map(words, hash), begins: begins}
}

// fieldSet has a bit for each field of rank.Document.
type fieldSet uint8

const (
	allFields  fieldSet = 1<<rank.NumFields - 1
	onlyTitles fieldSet = 1 << rank.Title
)

// exact reports whether the expression for FTS5 (match) matches what c does in the fields: it has
// single words only, in any field or the title, since FTS5 knows no other places.
func (c *clause) exact(in fieldSet) bool {
	if c.op == clauseNear {
		return len(c.phrases) == 1 && len(c.phrases[0].words) == 1 && (in == allFields || in == onlyTitles)
	}
	if c.op == clauseIn {
		in &= c.fields
	}
	inexact := func(part *clause) bool { return !part.exact(in) }
	return !slices.ContainsFunc(c.parts, inexact) && !slices.ContainsFunc(c.without, inexact)
}

// match returns the expression for FTS5, which matches every document that c does in the
// fields, and others unless c is exact.
func (c *clause) match(in fieldSet) string {
	if c.op == clauseIn {
		in &= c.fields
	}
	parts := collect.Map(c.parts, func(p *clause) string { return p.match(in) })
	switch c.op {
	case clauseOr:
		return joined(parts, " OR ")
	case clauseIn:
		return joined(parts, " AND ")
	case clauseAnd:
		var without []string
		for _, p := range c.without {
			if p.exact(in) { // what only looks alike must not be taken away
				without = append(without, p.match(in))
			}
		}
		if len(without) > 0 {
			return "(" + joined(parts, " AND ") + " NOT " + joined(without, " OR ") + ")"
		}
		return joined(parts, " AND ")
	}
	for _, p := range c.phrases {
		for i, word := range p.words {
			if in == onlyTitles {
				word = headingToken(word)
			}
			if p.begins && i == len(p.words)-1 {
				parts = append(parts, quote(word)+" *")
			} else {
				parts = append(parts, quote(word))
			}
		}
	}
	return joined(parts, " AND ")
}

// joined returns parts with operator between them, in parentheses if there are several.
func joined(parts []string, operator string) string {
	switch len(parts) {
	case 0:
		return ""
	case 1:
		return parts[0]
	}
	return "(" + strings.Join(parts, operator) + ")"
}

// matches reports whether c matches a document, whose words have no gaps, in some fields.
// lookUpBeginnings must have been called for c.
func (c *clause) matches(d *rank.Document, in fieldSet) bool {
	matches := func(p *clause) bool { return p.matches(d, in) }
	switch c.op {
	case clauseOr:
		return slices.ContainsFunc(c.parts, matches)
	case clauseAnd:
		return !slices.ContainsFunc(c.parts, func(p *clause) bool { return !matches(p) }) && !slices.ContainsFunc(c.without, matches)
	case clauseIn:
		in &= c.fields
		return !slices.ContainsFunc(c.parts, func(p *clause) bool { return !matches(p) })
	}
	for f := range d.Words {
		if in>>f&1 == 1 && c.near(d.Words[f]) {
			return true
		}
	}
	return false
}

// near reports whether the phrases of c are near each other in a field.
func (c *clause) near(field []uint32) bool {
	places := make([][]int, len(c.phrases))
	for i := range c.phrases {
		if places[i] = c.phrases[i].places(field); len(places[i]) == 0 {
			return false
		}
	}
	// last is where the phrase begins that begins last.
	for _, list := range places {
		for _, last := range list {
			if c.allNear(places, last) {
				return true
			}
		}
	}
	return false
}

// allNear reports whether each phrase has a place, of places, that ends at most distance before last.
func (c *clause) allNear(places [][]int, last int) bool {
	for i, list := range places {
		length := len(c.phrases[i].words)
		if !slices.ContainsFunc(list, func(place int) bool { return place <= last && last-place-length <= c.distance }) {
			return false
		}
	}
	return true
}

// places lists where the phrase begins in a field.
func (p *phrase) places(field []uint32) (places []int) {
	for at := range len(field) - len(p.words) + 1 {
		whole := true
		for i, wanted := range p.hashes {
			has := field[at+i]
			if p.begins && i == len(p.hashes)-1 {
				whole = p.beginnings[has]
			} else {
				whole = has == wanted
			}
			if !whole {
				break
			}
		}
		if whole {
			places = append(places, at)
		}
	}
	return places
}

// lookUpBeginnings sets the beginnings of c's phrases: it looks up the words of the index that begin
// as the last words of phrases do.
func (b *base) lookUpBeginnings(ctx context.Context, c *clause) (err error) {
	for _, list := range [][]*clause{c.parts, c.without} {
		for _, part := range list {
			if err := b.lookUpBeginnings(ctx, part); err != nil {
				return err
			}
		}
	}
	for i := range c.phrases {
		p := &c.phrases[i]
		if !p.begins {
			continue
		}
		p.beginnings = map[uint32]bool{}
		start := p.words[len(p.words)-1]
		var term string
		for range selected(ctx, b.read, &err, "SELECT term FROM words WHERE term >= ? AND term < ?", start, start+"\U0010FFFF").Into(&term) {
			p.beginnings[hash(term)] = true
		}
	}
	return err
}

// matching returns those of documents, in their order, that a clause matches. It writes the result
// over documents.
func (b *base) matching(ctx context.Context, c *clause, documents []uint32) ([]uint32, error) {
	if err := b.lookUpBeginnings(ctx, c); err != nil {
		return nil, err
	}
	matched := map[uint32]bool{}
	var d rank.Document
	err := b.readContents(ctx, documents, func(document uint32, row content) error {
		if err := b.cat.vocabulary.decodeWords(row.words, &d); err != nil {
			return err
		}
		for f, field := range d.Words {
			d.Words[f] = slices.DeleteFunc(field, func(hash uint32) bool { return hash == 0 })
		}
		matched[document] = c.matches(&d, allFields)
		return nil
	})
	return slices.DeleteFunc(documents, func(d uint32) bool { return !matched[d] }), err
}
