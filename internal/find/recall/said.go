package recall

import (
	"hash/fnv"
	"io"
	"slices"
	"strings"

	"claudemem/internal/memory"
)

// key identifies what a statement says in the books, which have none of its words: a hash
// of those that carry its meaning. It is compared with others of the same record only.
func (s statement) key() uint32 {
	h := fnv.New32a()
	for _, w := range s.words {
		_, _ = io.WriteString(h, w+" ")
	}
	return h.Sum32()
}

// heading returns the title of a record as a line has it.
func heading(o *memory.Observation, plain func(string) string) string {
	return strings.TrimRight(plain(o.Title), ". ")
}

// besideTitle returns what a record says beside its title, in its order.
func besideTitle(o *memory.Observation, plain func(string) string) []statement {
	return beyond(heading(o, plain), statements(o, plain))
}

// keysSaid returns the keys of the statements that the lines, in lower case, say: word for
// word, or nearly all of their words. It is never nil.
func keysSaid(all []statement, lines []saying) []uint32 {
	keys := []uint32{}
	for _, s := range all {
		low := strings.ToLower(s.text)
		if slices.ContainsFunc(lines, func(l saying) bool { return strings.Contains(l.text, low) || echoes(s.words, l.words) }) {
			keys = append(keys, s.key())
		}
	}
	return keys
}

// unsaid filters the statements of a record that the session was shown down to those that
// it was not told; none where nobody knows what it was told.
func (r *reminding) unsaid(o *memory.Observation, all []statement) []statement {
	said, known := r.shown.Said[o.ID]
	if !known || r.isOwn(o) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(all), func(s statement) bool { return slices.Contains(said, s.key()) })
}

// rest returns the statements of an answer that the session was not told yet, from a record
// that it was shown; none if no statement of these answers the prompt by itself. Statements
// beyond the room of the first line are not part of the answer, so that asking again does
// not bring the record bit by bit.
func (r *reminding) rest(o *memory.Observation, title string, details []statement, asked question) []statement {
	rest := r.unsaid(o, chosen(title, details, leadChars))
	if !slices.ContainsFunc(rest, func(s statement) bool { return s.answers || asked.wants(s) }) {
		return nil
	}
	return rest
}

// reasons returns the causes and choices that the session was not told, from a record that
// it was shown. Those that the record's line would not have room for are left out.
func (r *reminding) reasons(o *memory.Observation) []statement {
	title := heading(o, r.plain)
	ranked := question{}.rank(besideTitle(o, r.plain), title)
	return slices.DeleteFunc(r.unsaid(o, chosen(title, ranked, momentChars)), func(s statement) bool {
		return s.worth < 0 || !s.signs[0] && !s.signs[1]
	})
}

// tellsCure reports whether a session that was shown the record of a failure has yet to be
// told what made it go away.
func (r *reminding) tellsCure(p *precedent) bool {
	fix := strings.TrimRight(r.plain(p.fix), ". ")
	return slices.ContainsFunc(r.unsaid(p.Observation, besideTitle(p.Observation, r.plain)), func(s statement) bool {
		return containsFold(s.text, fix) || containsFold(fix, s.text)
	})
}
