package offline

import (
	"slices"
	"strings"

	"claudemem/internal/leaf/lang"
)

// minAnswer is how many words an answer has at least, where words are parted by blanks.
const minAnswer = 14

// leavesOpen reports whether a sentence of the agent names a next step, or says what was
// left undone.
func leavesOpen(s sentence) bool {
	return !asks(s.text) && !rejects(s) && // the first is an offer
		(s.is == isOpen || lang.Begins(s.text, "next-start") || lang.Has(s.text, "left-open") && !lang.Has(s.text, "on-purpose"))
}

// rejects reports whether a sentence of the agent is about an alternative that was not
// taken, by its heading or by what speaks against it: it is no next step.
func rejects(s sentence) bool {
	return s.is == isRejected || lang.Has(s.text, "left-out") && lang.Has(s.text, "disadvantage")
}

// offers reports whether a sentence of the agent only says what it could do if the user
// wished: no fact, and nothing that was left open.
func offers(s string) bool {
	s = strings.ReplaceAll(s, "’", "'")
	return lang.Begins(s, "offer-whole") ||
		lang.Begins(s, "if-wanted") && lang.Has(s, "would-do") && !lang.Has(s, "cannot") ||
		lang.Begins(s, "would-do") && lang.Has(s, "if-wanted")
}

// withoutOffers returns the sentences that are no offers. One that says as well what is
// still open stays.
func withoutOffers(list []sentence) []sentence {
	return slices.DeleteFunc(list, func(s sentence) bool { return offers(s.text) && !looksAhead(s) && !leavesOpen(s) })
}

// putOff returns what the user puts off in the prompt ("we try again after the
// release"), "" for nothing.
func putOff(prompt string) string {
	for _, u := range typed(prompt) {
		for _, part := range strings.Split(u.text, ", ") {
			if lang.Has(part, "resume") && lang.Has(part, "later") && !strings.HasSuffix(part, "?") && tells(part) && (lang.Has(part, "ourselves") || !lang.IsASCII(part)) {
				return shown(capital(part), maxField)
			}
		}
	}
	return ""
}

// answered reports whether the turn answered a question or found something out: its
// message says something of the program.
func (t *turn) answered() bool {
	return (t.request.is(wantFindOut|wantDecision) || t.investigates()) && t.answer() != ""
}

// answer returns the sentences of the agent's message that say something of the program.
func (t *turn) answer() string {
	all := sentencesOf(t.excerpt(maxField, func(s sentence) bool {
		return !isFluff(s.text) && !reportsTests(s.text) && !lang.Has(s.text, "committed") && !strings.HasSuffix(s.text, "?") && tells(s.text) && (hasCode(s.text) || len(t.steps) > 0)
	}))
	if len(words(all)) < minAnswer && !tellsUnspaced(all) || !hasCode(all) || !lang.Has(all, "explain") && codeWords(all, 3) < 3 {
		return "" // an inventory
	}
	return shown(all, maxField)
}
