package offline

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// maxDecision is how many words a decision made in talk has at most, maxLaid one with what the agent
// laid down for it, maxStep one that a later recap may replace, and maxBrief a prompt that only
// agrees or answers.
const (
	maxDecision = 110
	maxLaid     = 74
	maxStep     = 27
	maxBrief    = 8
)

// settled returns what was decided or answered in a turn without tools: what the agent's recap
// says, else what the user ordered or agreed to, with what the agent laid down for it. What was
// only asked, weighed or explained is nothing, and so is what the user has only pasted. It returns one
// observation or nil, and sets t.recapped.
func (t *turn) settled() []memory.Observation {
	parts, most, of := t.recap(), maxDecision, memory.TypeDecision
	if t.recapped = parts != nil; !t.recapped {
		orders := t.orders()
		laid := t.laidDown(orders != nil)
		switch {
		case laid != nil && orders != nil:
			parts, most = append(orders, laid...), maxLaid
		case laid != nil && t.request.is(wantFindOut|wantFix):
			parts, most, of = laid, maxLaid, memory.TypeDiscovery
		default:
			if parts, most = t.closing(orders != nil), maxStep; parts != nil || len(orders) > 0 && intentOf(firstWord(orders[0]))&^wantChange == 0 {
				parts = append(parts, orders...) // an errand alone decides nothing
			}
		}
	}
	pasted := rareWords(t.request.text)
	typed := rareWords(strings.Join(collect.Map(t.request.said, func(u utterance) string { return u.text }), " "))
	maps.DeleteFunc(pasted, func(w string, _ bool) bool { return typed[w] })
	ruled := strings.Join(collect.Map(t.request.rules, func(r rule) string { return r.content }), " ")
	said := sentencesOf(withoutRepeats(parts, ruled))
	if said == "" || shareOf(rareWords(said), pasted) > 0.5 || repeated(said, ruled) > 0.9 {
		return nil
	}
	title, rest := splitClause(said, maxTitle)
	o := newEpisode(t, nil).observation(of, capitalWord(title))
	o.Narrative = ""
	o.Subtitle, rest = splitClause(rest, maxSubtitle)
	if n := lengthOf(rest, most-len(strings.Fields(toldBy(&o)))); n > 0 {
		fact, _ := splitClause(rest, n)
		o.Facts = []string{fact}
	}
	return []memory.Observation{o}
}

// recap returns the statements that the agent sums up what holds with: those behind a label
// that says so, to the end of its message; nil for none.
func (t *turn) recap() (parts []string) {
	for _, s := range t.message {
		said, ok := recapOf(s.text)
		switch {
		case parts == nil && !ok:
		case asks(s.text), s.is != isSo, isFluff(s.text):
			return parts
		case parts == nil:
			parts = []string{said}
		default:
			parts = append(parts, s.text)
		}
	}
	return parts
}

// recapOf returns a statement of what holds, with its subject in place of the label; ok is
// false for another one.
func recapOf(s string) (said string, ok bool) {
	s = withoutOpening(s)
	at := clauseBreak.FindStringIndex(s)
	if at == nil || len(words(s[:at[0]])) > 12 || !lang.Has(s[:at[0]], "recap") {
		return s, lang.Has(s, "settles")
	}
	head, rest, named := s[:at[0]], s[at[1]:], false // named: it says what it is about
	for n := 1; n > 0; head = strings.TrimLeft(head[n:], " ,") {
		named = named || lang.Begins(head, "recap-link")
		n = lang.Front(head, "recap", "recap-link")
	}
	if head == "" || len(words(head)) < 2 && !named && !hasCode(head) {
		return capitalWord(rest), true
	}
	return capitalWord(head) + ": " + rest, true
}

// orders returns what the user decides in the prompt, from the first sentence that does, to an
// aside; nil for nothing.
func (t *turn) orders() (parts []string) {
	denies := false
	for _, u := range t.request.said {
		s := withoutOpening(u.text)
		denies = denies || lang.Begins(u.text, "dissent")
		switch {
		case lang.Begins(u.text, "aside"):
			return parts
		case asks(u.text), !tells(s), parts == nil && lang.Has(s, "rule-hedge", "guess"):
		case parts != nil:
			parts = append(parts, capitalWord(s))
		case isOrder(s), denies && lang.Has(s, "norm"), lang.Begins(u.text, "opening") && lang.Has(s, "rule-norm", "rule-adverb"):
			s, _ = lang.Cut(s, "lead")
			parts = []string{capitalWord(s)}
		}
	}
	return parts
}

// isOrder reports whether a sentence of the user says what is to be, at its beginning or behind
// the clause that says where, or announces what was chosen: "sessions then", "we go with Redis".
func isOrder(s string) bool {
	chooses := func(s string) bool {
		return lang.Begins(s, "chooses") && !lang.Is(firstWord(s), "opening", "interjection")
	}
	_, behind, _ := strings.Cut(s, ", ")
	_, named, _ := strings.Cut(s, ": ")
	return tellsUnspaced(s) && lang.Has(s, "rule-form") || chooses(s) || slices.ContainsFunc([]string{s, behind, named}, func(s string) bool {
		for again := true; again && !lang.Begins(s, "order"); {
			s, again = lang.Cut(s, "order-lead", "rule-opening", "rule-please", "rule-also")
		}
		return chooses(s) || lang.Begins(s, "order")
	})
}

// closing returns how the agent says again what the user has ordered, or what the user only
// agreed to or answered in a word or two; nil for nothing, or if it goes on with a question.
func (t *turn) closing(ordered bool) (parts []string) {
	n := len(words(t.request.text))
	brief := n > 0 && n <= maxBrief && !lang.Has(t.request.text, "thanks")
	if asks(t.request.text) {
		return nil
	}
	for i, s := range t.message {
		rest := withoutOpening(s.text)
		if s.is != isSo || asks(s.text) || isFluff(s.text) || lang.Has(s.text, "guess") {
			continue
		}
		must := lang.Has(rest, "norm")
		again := i < 2 && !strings.ContainsAny(t.raw, "?？") && lang.Begins(t.message[0].text, "acknowledge") && (i == 0 || !lang.Has(s.text, "would-do")) && len(words(rest)) >= 6
		shares := text.SharedWords(rareWords(rest), rareWords(t.request.text)) >= 2 && (ordered || must || lang.Begins(t.request.text, "dissent"))
		if again && (brief || shares) {
			return []string{rest}
		}
		if brief && !ordered && must && len(parts) < 3 {
			parts = append(parts, withoutOpening(s.text))
		}
	}
	return parts
}

// laidDown returns what a message with lists, tables or code says, nil for another one. What is still to do
// it leaves out unless the user has ordered something.
func (t *turn) laidDown(ordered bool) (parts []string) {
	laid := false
	for _, s := range t.message {
		if laid = laid || s.item || s.row || s.code; s.code || !isFluff(s.text) && !reportsTests(s.text) && !looksOnly(s.text) && !asks(s.text) && !lang.Has(s.text, "guess") && (ordered || !looksAhead(s)) {
			parts = append(parts, s.text)
		}
	}
	if !laid {
		return nil
	}
	return parts
}

// withoutRepeats returns the statements of which none before them says most, and behind the first nor ruled.
func withoutRepeats(parts []string, ruled string) (fresh []string) {
	for i, s := range parts {
		if (i == 0 || repeated(s, ruled) < 0.6) && !slices.ContainsFunc(fresh, func(said string) bool { return repeated(s, said) >= 0.6 }) {
			fresh = append(fresh, s)
		}
	}
	return fresh
}

// splitClause splits a text behind the last sentence that fits into n characters, else behind a
// clause, else within one: then an ellipsis stands on both sides.
func splitClause(s string, n int) (head, rest string) {
	head, within := strings.CutSuffix(cut(s, n), "…")
	if i := strings.LastIndex(head, ". "); len(head) < len(s) && i > n/2 {
		head, within = head[:i], false
	}
	if i := strings.LastIndex(head, " ("); i > n/3 && !balanced(head) {
		head, within = head[:i], false
	}
	if !strings.HasPrefix(s, head) {
		head = head[:len(head)-1] // cut has closed a backquote
	}
	within = within && strings.HasPrefix(s[len(head):], " ")
	rest = strings.TrimLeft(s[len(head):], " ,;:–—-")
	if within {
		return head + "…", "…" + rest
	}
	if dot, behind, _ := strings.Cut(rest, " "); dot == "." {
		rest = behind
	}
	return strings.TrimRight(head, ". "), capitalWord(rest)
}

// lengthOf returns how many characters the first n words of s have; 0 for none.
func lengthOf(s string, n int) int {
	words := strings.Fields(s)
	return utf8.RuneCountInString(strings.Join(words[:max(0, min(n, len(words)))], " "))
}

// overtakes reports whether a decision made in talk, by, holds in place of an earlier one, old. If
// the turn recaps, by must say a quarter of the words of old's title, of the same session; if the
// turn amends what was decided, a quarter of all that old says, of any session, and three words at
// least. What was decided in work gives way only to work.
func (t *turn) overtakes(old, by *memory.Observation) bool {
	if old.Type != memory.TypeDecision || by.Type != memory.TypeDecision || len(t.steps) > 0 || len(old.Files) > 0 || strings.HasPrefix(old.Narrative, askedStory) {
		return false // an answer to a dialog is replaced by another answer to its question alone
	}
	says := rareWords(toldBy(by))
	share := func(was string, least int) bool {
		told := rareWords(was)
		for w := range rareWords(strings.Join(append(lang.Phrases("amend"), lang.Phrases("recap")...), " ")) {
			delete(told, w) // they are in other decisions as well
		}
		shared := text.SharedWords(told, says)
		return shared >= least && 4*shared >= len(told)
	}
	return t.recapped && old.Session == by.Session && share(old.Title, 1) || t.amends() && share(toldBy(old), 3)
}

// amends reports whether the user or the agent says that what was decided is changed; that a pasted
// text says so does not count.
func (t *turn) amends() bool {
	return lang.Has(t.raw, "amend") || slices.ContainsFunc(t.request.said, func(u utterance) bool { return lang.Has(u.text, "amend") })
}

// toldBy returns what a record says.
func toldBy(o *memory.Observation) string {
	return strings.Join(append([]string{o.Title, o.Subtitle}, o.Facts...), " ")
}
