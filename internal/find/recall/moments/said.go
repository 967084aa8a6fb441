package moments

import (
	"slices"

	"claudemem/internal/find/recall"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// unsaid filters the statements of a record that the session was shown down to those that
// it was not told; none where nobody knows what it was told.
func (r *reminding) unsaid(o *memory.Observation, all []recall.Statement) []recall.Statement {
	said, known := r.shown.Said[o.ID]
	if !known || r.isOwn(o) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(all), func(s recall.Statement) bool { return slices.Contains(said, s.Key()) })
}

// rest returns the statements of an answer that the session was not told yet, from a record
// that it was shown; none if no statement of these answers the prompt by itself. Statements
// beyond the room of the first line are not part of the answer, so that asking again does
// not bring the record bit by bit.
func (r *reminding) rest(o *memory.Observation, title string, details []recall.Statement, asked recall.Question) []recall.Statement {
	rest := r.unsaid(o, chosen(title, details, leadChars))
	if !slices.ContainsFunc(rest, func(s recall.Statement) bool { return s.Answers || asked.Wants(s) }) {
		return nil
	}
	return rest
}

// reasons returns the causes and choices that the session was not told, from a record that
// it was shown. Those that the record's line would not have room for are left out.
func (r *reminding) reasons(o *memory.Observation) []recall.Statement {
	title := recall.Heading(o, r.plain)
	ranked := recall.Question{}.Rank(recall.BesideTitle(o, r.plain), title)
	return slices.DeleteFunc(r.unsaid(o, chosen(title, ranked, momentChars)), func(s recall.Statement) bool {
		return s.Worth < 0 || !s.Signs[0] && !s.Signs[1]
	})
}

// tellsCure reports whether a session that was shown the record of a failure has yet to be
// told what made it go away.
func (r *reminding) tellsCure(p *precedent) bool {
	fix := text.Unstopped(r.plain(p.fix))
	return slices.ContainsFunc(r.unsaid(p.Observation, recall.BesideTitle(p.Observation, r.plain)), func(s recall.Statement) bool {
		return recall.ContainsFold(s.Text, fix) || recall.ContainsFold(fix, s.Text)
	})
}
