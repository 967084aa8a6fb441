package block

import (
	"strings"

	"claudemem/internal/find/recall"
	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
)

// proofChars bounds the proof of a line, in UTF-16 units: two commands and what became of
// them.
const proofChars = 160

// proofIn returns the first statement in parts that names a command or test which failed
// before and passes now: that is how the work was proven. Edits that the same sentence
// lists are not part of it; "" for none, or one that is too long to be put short.
func proofIn(parts ...string) string {
	for _, part := range parts {
		for _, s := range text.Sentences(part, nil) {
			clauses := strings.Split(text.Unstopped(s), "; ")
			for i, c := range clauses {
				if i+1 < len(clauses) && !overcomes(c) {
					c += "; " + clauses[i+1]
				}
				if overcomes(c) && lang.Has(clauses[i], "fail-sign") && text.Width(c) <= proofChars && (strings.Contains(c, "`") || len(recall.CodeWords(c)) > 0) {
					return c
				}
			}
		}
	}
	return ""
}

// overcomes reports whether a text says that something failed and passes now.
func overcomes(s string) bool { return lang.Follows(s, "fail-sign", "passes-sign") }

// prove adds to the newest work of the block how it was proven, in at most room units: to
// the line of the latest session, else to that of an observation of it. What the block
// says of it already is enough.
func (w *writer) prove(room int) {
	var lines []*part
	for i := range w.parts {
		p := &w.parts[i]
		if p.line == nil || p.layer != layerSessions && p.layer != layerObservations || len(lines) > 0 && p.line.session != lines[0].line.session {
			continue
		}
		if overcomes(p.text) {
			return
		}
		lines = append(lines, p)
	}
	for _, p := range lines {
		for _, proof := range p.proofs {
			if proof == nil || !p.whole {
				continue
			}
			if s := proof(); s != "" {
				p.rest = []recall.Statement{{Text: s, Words: recall.WordsOf(s)}}
				if w.add(p, room) > 0 {
					return
				}
			}
		}
	}
}
