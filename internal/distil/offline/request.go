package offline

import (
	"slices"
	"strings"

	"claudemem/internal/capture/toolcall"
	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
)

// intent is what a user wants, as far as the wording tells.
type intent uint

const (
	wantFix intent = 1 << iota
	wantFeature
	wantRefactor
	wantDocs
	wantTests
	wantChange
	wantFindOut
	wantDecision
	wantBetter // faster, smaller
)

// verbs are the cues of the verbs for each intent.
var verbs = map[string]intent{
	"verb-fix": wantFix, "verb-feature": wantFeature, "verb-refactor": wantRefactor, "verb-docs": wantDocs, "verb-tests": wantTests,
	"verb-change": wantChange, "verb-find-out": wantFindOut, "verb-decide": wantDecision,
}

// intentOf returns what a verb asks for, 0 for another word.
func intentOf(word string) intent {
	var wants intent
	for cue, want := range verbs {
		if lang.Is(word, cue) {
			wants |= want
		}
	}
	return wants
}

// request is a parsed prompt: what the user wants and a short form of it.
type request struct {
	text  string // plain
	wants intent
	// pasted: it shows the output of something that failed.
	pasted bool
	// clause is the part of the prompt that says what to do, as an imperative, ""
	// when the prompt alone would tell nobody what was done.
	clause string
	// said are the sentences that the user typed, none of a prompt that was rather pasted.
	said []utterance
	// rules are the standing rules that the prompt states.
	rules []rule
	// later is what the prompt puts off, "" for nothing.
	later string
}

// parseRequest returns what a user's prompt asks for (a fix, a feature, an answer …), by
// its words, and the clause that says it best. It looks for wants in the first 2000 bytes only.
func parseRequest(prompt string) request {
	r := request{text: plain(prompt)}
	trace := toolcall.ParseOutput(prompt, "")
	r.pasted = trace.Failed || trace.Named || len(trace.Places) > 0
	if len(prompt) <= maxTyped {
		r.said = typed(prompt)
	}
	head := r.text[:min(len(r.text), 2000)]
	ws := words(head)
	for i, w := range ws {
		want := intentOf(w)
		denied := slices.ContainsFunc(ws[max(0, i-3):i], func(w string) bool { return lang.Is(w, "not-word") }) // one of the three words before it is a "not"
		if want == 0 || denied || isName(head, w) {
			continue
		}
		if want == wantFix || want == wantFeature || want == wantRefactor || want == wantDocs || want == wantTests || want == wantDecision || i < 12 {
			r.wants |= want
		}
	}
	asks := strings.Contains(head, "?")
	for want, is := range map[intent]bool{
		wantFix:      complains(head) && !lang.Has(head, "leave-alone"),
		wantDocs:     lang.Has(head, "docs"),
		wantTests:    lang.Has(head, "tests"),
		wantDecision: lang.Has(head, "decide") || asks && lang.Has(head, "decide-asked"),
		wantFeature:  lang.Has(head, "wish", "feature"),
		wantFindOut:  asks || lang.Has(head, "find-out"),
		wantRefactor: lang.Has(head, "refactor"),
		wantBetter:   lang.Has(head, "better"),
	} {
		if is {
			r.wants |= want
		}
	}
	r.clause = bestClause(r.text)
	if r.clause == "" && r.wants&(wantFeature|wantRefactor|wantDocs|wantTests|wantDecision|wantBetter) == 0 && lang.Has(head, "unexpected") {
		r.wants |= wantFix
	}
	r.rules, r.later = rulesOf(prompt), putOff(prompt)
	return r
}

// complains reports whether a prompt, or a sentence of one, says that something is broken.
func complains(prompt string) bool {
	return lang.Has(prompt, "complaint", "trouble") || slices.ContainsFunc(words(prompt), func(w string) bool { return lang.Is(w, "complaint-word") && !isName(prompt, w) })
}

// is reports whether the prompt wants one of what want names.
func (r *request) is(want intent) bool { return r.wants&want != 0 }

// isName reports whether a word, in lower case, occurs in the prompt only as a name, capitalised in
// mid-sentence or inside code: Allow, `add`. It returns true for one that does not occur.
func isName(prompt, word string) bool {
	for i := range text.Indexes(text.LowerASCII(prompt), word) {
		end := i + len(word)
		inside := i > 0 && (text.IsIdent(prompt[i-1]) || strings.IndexByte("`.#/", prompt[i-1]) >= 0) || end < len(prompt) && (text.IsIdent(prompt[end]) || prompt[end] == '(' || prompt[end] == '`')
		lower := prompt[i] >= 'a' && prompt[i] <= 'z'
		start := i == 0 || i >= 2 && strings.IndexByte(".!?:\n", prompt[i-2]) >= 0 || strings.IndexByte("\n", prompt[i-1]) >= 0
		if !inside && (lower || start) {
			return false
		}
	}
	return true
}

// bestClause returns the clause of a prompt that says best what to do, "" if none has a score of 3.
func bestClause(prompt string) string {
	best, bestScore := "", points(2)
	for _, s := range sentences(prompt) {
		_, tail, _ := strings.Cut(s.text, ": ")
		for _, c := range []string{s.text, tail} {
			c = trimClause(c)
			if score := clauseScore(c); score > bestScore {
				best, bestScore = c, score
			}
		}
	}
	return best
}

// trimClause strips what surrounds the order itself.
func trimClause(c string) string {
	for again := true; again; {
		c, again = lang.Cut(c, "lead")
	}
	if rest, ok := lang.Cut(c, "need"); ok {
		c = "Add " + rest
	}
	c = strings.TrimRight(c, ".!?… ")
	if i, _ := lang.Find(c, "order-end"); i > 12 {
		c = strings.TrimRight(c[:i], ", ")
	}
	for {
		i, _ := lang.Find(c, "order-tail")
		if i == 0 {
			return capital(c)
		}
		c = c[:i]
	}
}

// clauseScore returns how well a clause alone says what was done; 3 is enough.
func clauseScore(c string) points {
	ws := words(c)
	if len(ws) < 2 || len(ws) > 30 {
		return 0
	}
	score, telling := points(0), 0
	want := intentOf(ws[0])
	change := want != 0 && want != wantFindOut && want != wantDecision
	score.add(3, change)
	score.add(1, want != 0 && !change)
	score.add(2, want == 0 && lang.Is(ws[0], "verb-write"))
	for i, w := range ws {
		pronoun := lang.Is(w, "pronoun")
		score.add(-3, pronoun && i < 4)
		if !pronoun && !lang.Is(w, "generic") && intentOf(w) == 0 {
			telling++
		}
	}
	if telling == 0 {
		return 0
	}
	score.add(1, hasCode(c))
	score.add(-2, strings.HasSuffix(c, "?"))
	return score
}

// wants reports whether a check that failed had to: the user asked for it, the agent says so, or
// the agent shows the error that is given now in place of another one. A refusal that was asked
// for, or told, explains a failing command, not a failing test.
func (t *turn) wants(c *check) bool {
	refuses := c.Kind != toolcall.KindTest
	for _, s := range text.Sentences(t.request.text, beginsSentence) {
		if (lang.Has(s, "asks-failure") || refuses && lang.Has(s, "asks-refusal")) && !lang.Has(s, "no-failure") {
			return !t.admits()
		}
	}
	for _, s := range t.message {
		if lang.Has(s.text, "as-wanted") && lang.Has(s.text, "fail-word", "refuses") || refuses && lang.Has(s.text, "refuses") && !t.request.is(wantFix) {
			return !t.admits()
		}
	}
	if c.Kind.IsProof() || len(c.failure.Message) < 12 || !strings.Contains(t.raw, c.failure.Message) {
		return false
	}
	return slices.ContainsFunc(checksOf(t.steps[:c.step.at]), func(old *check) bool {
		return !old.passed && old.text == c.text && old.failure.Message != c.failure.Message
	})
}
