package offline

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

const (
	// maxRule is the longest content of a rule, in characters.
	maxRule = 160
	// maxRules bounds the rules that are taken from one prompt.
	maxRules = 5
	// ruleScore is what a sentence has to reach to be a rule, pastedScore in a prompt of
	// more than maxTyped bytes: that was rather pasted than typed.
	ruleScore, pastedScore = 3, 5
	maxTyped               = 3000
	// maxStated: a rule that is put into more words has to say more plainly that it is one.
	maxStated = 24
	// ruleConfidence is that of a rule in the user's own words. It is below that of a
	// learning that a person wrote as such.
	ruleConfidence = 0.9
)

// rule is a standing wish of the user: a learning that holds beyond its session.
type rule struct{ category, content string }

// ruleCues are the words by which one language states a standing rule, and those that speak
// against one.
type ruleCues struct{ *lang.Table }

// learnings returns the rules that the turn's prompt states, once the turn is over: it has stopped,
// a later prompt came, or the session is completed. Before that it returns nil.
func (t *turn) learnings(session *memory.Session) []memory.Learning {
	if !t.stopped && t.number >= session.PromptCount && session.CompletedAt == 0 {
		return nil // its end comes in a later batch
	}
	return collect.Map(t.request.rules, func(r rule) memory.Learning {
		return memory.Learning{
			ProjectPath: session.ProjectPath, Category: r.category, Content: r.content, Confidence: ruleConfidence, Provenance: memory.FromUser, CreatedAt: t.last.Event.OccurredAt,
		}
	})
}

// rulesOf returns the standing rules that a prompt states, at most maxRules. What is
// quoted is nobody's rule: code, logs, blocks between tags.
func rulesOf(prompt string) []rule {
	least := points(ruleScore)
	if len(prompt) > maxTyped {
		least = pastedScore
	}
	var out []rule
	said := typed(prompt)
	for _, table := range lang.Tables() {
		cues := ruleCues{table}
		announced := false
		for _, u := range said {
			listed := announced && (u.item || !u.begins)
			head, tail := cues.leadIn(u.text)
			announced = listed || head != ""
			foreign := !cues.Has(u.text, "rule-tongue") && (cues.Code != "en" || lang.Has(u.text, "rule-tongue")) // in no known language it counts as English
			if len(out) == maxRules || !tells(tail) || foreign || cues.score(u, listed) < least {
				continue
			}
			content := ruleContent(tail)
			if cues.Front(content, "leaning") > 0 && !hasCode(content) && !cues.Has(content, "rule-here", "rule-place") {
				continue // nobody knows later what "that" was
			}
			if !slices.ContainsFunc(out, func(r rule) bool { return r.content == content }) {
				out = append(out, rule{category(content), content})
			}
		}
	}
	return out
}

// ruleContent returns a rule as it is kept, without the words that link it to what was
// said before it, and without an order of its own in front.
func ruleContent(s string) string {
	s, _ = lang.Cut(withoutOpening(s), "rule-link")
	s = withoutNotice(s)
	if head, tail, ok := strings.Cut(s, ", "); ok && intentOf(firstWord(head)) != 0 && len(words(tail)) >= 5 && !beginsRule(head) && lang.Has(tail, "rule-norm") {
		s = tail
	}
	return shown(capital(strings.TrimRight(s, ".!?。！？ ")), maxRule)
}

// withoutNotice drops what only draws attention to a rule and words of courtesy: "Before
// anything else: please never …".
func withoutNotice(s string) string {
	for _, sep := range []string{": ", "："} {
		if head, tail, ok := strings.Cut(s, sep); ok && !hasCode(head) && len(words(head)) <= 7 && tells(tail) && beginsRule(tail) {
			s = tail
			break
		}
	}
	for n := 1; n > 0; {
		n = lang.Front(s, "courtesy")
		s = strings.TrimLeft(s[n:], " ,:")
	}
	for _, c := range lang.Phrases("courtesy") {
		if head, ok := strings.CutSuffix(s, " "+c); ok {
			return strings.TrimRight(head, " ,")
		}
	}
	return s
}

// utterance is a piece of a prompt that may be a rule: a sentence or a part of one.
type utterance struct {
	text string
	// item: it is an item of a list. begins: it begins a paragraph or an item.
	item, begins bool
}

// typed returns the sentences of a prompt that the user has typed, apart from blocks of
// code, quotations, blocks between tags and lines of logs. It returns at most maxSentences, of the
// first maxText bytes.
func typed(prompt string) []utterance {
	prompt = withoutTagged(prompt[:min(len(prompt), maxText)])
	var out []utterance
	var fenced text.Fence
	open := false // the line goes on in the paragraph above
	for line := range strings.Lines(prompt) {
		s := strings.TrimSpace(line)
		if fenced.Holds(s) {
			open = false
			continue
		}
		item, _, isItem := text.ListItem(s)
		if s == "" || s[0] == '>' || !isItem && (strings.HasPrefix(line, "    ") || line[0] == '\t') || isLogLine(s) {
			open = false
			continue
		}
		if isItem {
			s, open = item, false
		}
		s = strings.TrimLeft(s, "# ")
		for _, sentence := range text.Sentences(plain(text.Unmark(s)), nil) {
			for i, part := range parts(sentence) {
				if open && lang.Begins(part, "rule-reach") { // how far the sentence before it holds
					out[len(out)-1].text += " " + part
					continue
				}
				out = append(out, utterance{text: part, item: isItem, begins: !open && i == 0})
				open = true
			}
		}
		if len(out) > maxSentences {
			return out[:maxSentences]
		}
	}
	return out
}

// openTag matches the beginning of a tag, up to its name.
var openTag = regexp.MustCompile(`<([\w-]+)`)

// withoutTagged removes the blocks between a tag and the one that closes it.
func withoutTagged(s string) string {
	var b strings.Builder
	for {
		at := openTag.FindStringSubmatchIndex(s)
		if at == nil {
			return b.String() + s
		}
		b.WriteString(s[:at[0]])
		_, behind, closed := strings.Cut(s[at[1]:], "</"+s[at[2]:at[3]]+">")
		if !closed {
			b.WriteByte('<')
			behind = s[at[0]+1:]
		}
		s = behind
	}
}

// isLogLine reports whether a line was printed by a program rather than typed.
func isLogLine(s string) bool {
	return lang.Begins(s, "log-line") || slices.ContainsFunc(strings.Fields(s), func(w string) bool {
		w = strings.Trim(w, "[]():")
		return w == strings.ToUpper(w) && lang.Is(w, "log-level")
	})
}

// parts splits a sentence before each "and" or the like after which a rule begins, "fix it, and from now
// on never …", or a ban behind an errand.
func parts(sentence string) []string {
	var out []string
	from := 0
	for i := 0; i < len(sentence); i++ {
		if sentence[i] != ' ' && sentence[i] != ';' {
			continue
		}
		rest := strings.TrimLeft(sentence[i+1:], " ")
		word, after, _ := strings.Cut(rest, " ")
		switch {
		case lang.Is(word, "conjunction"):
			rest = after
		case sentence[i] != ';':
			continue
		}
		if beginsRule(rest) && !lang.Is(word, "contrast-word") || (beginsRule(rest) || lang.Begins(rest, "rule-forbid", "rule-hold")) && standsAlone(sentence[from:i], rest) {
			out = append(out, strings.Trim(sentence[from:i], " ,;"))
			from = len(sentence) - len(rest)
			i = from
		}
	}
	return append(out, strings.TrimSpace(sentence[from:]))
}

// standsAlone reports whether what "but" links to a clause, or a ban, is a rule without it: behind an errand
// or an answer ("fix it, but never …"), or where it says since when. Elsewhere it restricts the
// clause: "restart the workers, but never on Fridays".
func standsAlone(clause, rest string) bool {
	return len(words(clause)) < 3 || intentOf(firstWord(clause)) != 0 || lang.Begins(rest, "rule-lasting", "rule-onward", "rule-label")
}

// beginsRule reports whether a text begins with a word that makes a rule.
func beginsRule(s string) bool {
	return lang.Is(text.Before(s, " "), "rule-adverb") || lang.Begins(s, "rule-lasting", "rule-onward", "rule-label", "rule-polite")
}

// tells reports whether a text is long enough to be a rule that stands alone, and not far longer.
func tells(s string) bool {
	n := len(words(s))
	return len(s) <= 1000 && (n >= 3 && n <= 60 || utf8.RuneCountInString(s) >= 8 && !lang.IsASCII(s))
}

// leadIn splits off what only announces a rule ("General rule for this project: …"), ""
// for none.
func (c ruleCues) leadIn(s string) (head, tail string) {
	for _, sep := range []string{": ", "：", " – ", " — ", ":"} {
		head, tail, ok := strings.Cut(s, sep)
		if ok && (sep != ":" || tail == "") && !hasCode(head) && len(words(head)) <= 14 &&
			c.Has(head+":", "rule-label", "rule-lasting", "rule-onward", "rule-place") && !c.Has(head, "rule-when") { // a label may end in a colon
			return head, tail
		}
	}
	return "", s
}

// score returns how much speaks for a standing rule; ruleScore is enough. A rule says what is wanted (an
// order, a ban, a habit, what has to be, one thing rather than another) and how far that reaches (for good,
// at a place, for a kind of thing, for what work is made of). announced says that a text before it began a
// list of rules.
func (c ruleCues) score(u utterance, announced bool) points {
	said := c.statement(u.text)
	if said == "" {
		return 0
	}
	has := func(cues ...string) bool { return c.Has(said, cues...) }
	label, onward, place, here := has("rule-label"), has("rule-onward"), has("rule-place"), has("rule-here")
	lasting := onward || has("rule-lasting")
	clauses := c.clauses(said)
	head, thing := c.kind(clauses, said)
	kind, about := thing != "", cmp.Or(thing, said)
	habit := c.begins(clauses, "rule-habit", "rule-lack")
	told := about
	if place || habit || kind { // what follows may be the rule's reason
		told = text.Before(about, ",")
	}
	occasion, custom := c.keeps(clauses, said, "rule-occasion", "rule-passing"), c.keeps(clauses, said, "rule-custom", "rule-passing")
	broken := !occasion && c.Has(told, "rule-broken") && !has("rule-proof")
	orders, describes := c.adverb(clauses, (place || here) && !broken)
	norm := has("rule-norm")
	form := norm || c.begins(clauses, "rule-form") || !c.Knows("rule-adverb") && has("rule-form") || lasting && beginsWithVerb(clauses)
	bans := c.begins(clauses, "rule-forbid")
	backed := c.backed(clauses, func(ws []string) bool {
		return len(ws) > 2 && (!bans || c.Front(strings.Join(ws, " "), "rule-form", "rule-forbid") > 0)
	})
	keeps := occasion || c.keeps(clauses, said, "rule-taste", "rule-passing") || c.keeps(clauses, said, "rule-keep", "rule-single") || has("rule-ban") || c.backed(clauses, func(ws []string) bool { return c.Front(strings.Join(ws, " "), "rule-hold") > 0 }) || onward && has("rule-permits") || has("rule-reach") && c.Front(said, "rule-reach", "rule-report") == 0 && intentOf(firstWord(said)) == 0
	work := has("rule-work") && !has("rule-single", "rule-definite")
	needs := c.Has(text.Before(thing, ","), "rule-need") && c.Has(head, "rule-work", "rule-plural") || (lasting || place) && work && has("rule-need")
	contrast := c.Has(about, "rule-contrast") && (form && !bans || kind || habit || custom || place || here)

	score := points(0)
	score.add(3, label)
	score.add(3, orders)
	score.add(3, keeps)
	score.add(2, lasting)
	score.add(2, place)
	score.add(1, here && !place)
	score.add(1, form && !orders)
	says := !keeps && !beginsWithVerb(clauses[:min(len(clauses), 1)]) && (bans || kind || habit || place || here)
	score.add(1, says && (bans || !has("rule-definite") && !strings.Contains(said, "()")) && c.Front(said, "rule-because") == 0 && !strings.Contains(said, ": ") && (backed && (bans || !norm) || has("rule-because")))
	score.add(2, says && has("rule-slip"))
	score.add(2, custom)
	score.add(1, habit)
	score.add(1, needs && !norm)
	score.add(1, contrast)
	score.add(1, kind && (form || orders || needs || contrast || here))
	score.add(1, (habit || bans || c.Has(head, "rule-work")) && work)
	score.add(2, (norm || bans) && c.shouts(u.text))
	score.add(2, bans && !orders && (!lasting && has("rule-again") || has("rule-because") && hasCode(u.text)))
	score.add(3, announced && u.item)

	score.add(-1, !keeps && !label && len(words(said)) > maxStated)
	score.add(-2, has("rule-hedge", "rule-supposed"))
	score.add(-3, !onward && (has("rule-once") || !keeps && has("rule-nothing")))
	score.add(-3, !orders && !label && !announced && (broken || describes && !keeps && !habit && (!kind || !needs && !place && !here)))
	score.add(-6, !label && (!occasion && has("rule-quote") || lang.Has(said, "rule-choice")) || has("rule-bug") || has("rule-errand") && (!keeps || !has("rule-forbid")))
	score.add(-2, !keeps && !orders && !place && !has("rule-when") && len(clauses) > 1 && beginsWithVerb(clauses[1:]))
	score.add(-3, !keeps && !place && c.pointsBack(clauses, onward))
	return score
}

// statement returns what a text states, in lower case and without what it quotes: of a question
// only what it asks for good, else "".
func (c ruleCues) statement(s string) string {
	said := strings.Join(strings.Fields(strings.ToLower(quotation.ReplaceAllLiteralString(s, " quoted"))), " ") // a word without meaning
	if wish, ok := c.Cut(said, "rule-request"); ok && (c.Front(wish, "rule-adverb") > 0 || c.Has(wish, "rule-label", "rule-lasting", "rule-onward")) {
		said = strings.TrimRight(wish, "? ")
	}
	if asks(strings.TrimRight(said, " \")")) && !c.Has(said, "rule-tag") || lang.Has(said, "rule-question") || !c.Has(said, "rule-label") && c.Front(said, "rule-ask") > 0 {
		return ""
	}
	return said
}

// kind returns how a clause begins that begins with a kind of thing, every one of it or what work is made
// of, and what is said from there on; "" for none.
func (c ruleCues) kind(clauses [][]string, said string) (head, rest string) {
	for _, ws := range clauses {
		head = strings.Join(ws[:min(len(ws), 5)], " ")
		if c.Front(head, "rule-all") > 0 || c.Knows("rule-adverb") && len(ws) > 2 && c.Has(head, "rule-work", "rule-plural") && c.Front(head, "rule-report", "rule-form", "rule-habit", "rule-imperative") == 0 && (intentOf(ws[0]) == 0 || c.Front(head, "rule-work") > len(ws[0])) {
			return head, from(said, ws)
		}
	}
	return "", ""
}

// keeps reports whether a text in lower case has, read from one of its clauses on, a form of the cue and
// none of those that tell of one thing or one time.
func (c ruleCues) keeps(clauses [][]string, low, cue, single string) bool {
	return slices.ContainsFunc(clauses, func(ws []string) bool {
		clause := from(low, ws)
		return c.Has(clause, cue) && !c.Has(clause, single)
	}) || c.Front(low, cue) > 0 && !c.Has(low, single)
}

// from returns a text from the clause on.
func from(low string, clause []string) string {
	return low[max(0, strings.Index(low, strings.Join(clause[:min(2, len(clause))], " "))):]
}

// backed reports whether the first clause that is so is followed by its reason: a clause that orders
// nothing and tells of no past.
func (c ruleCues) backed(clauses [][]string, is func(clause []string) bool) bool {
	i := slices.IndexFunc(clauses, is)
	return i >= 0 && slices.ContainsFunc(clauses[i+1:], func(ws []string) bool {
		clause := strings.Join(ws, " ")
		return len(ws) > 2 && !lang.Is(ws[0], "negation-word", "conjunction", "list-and") && !beginsWithVerb([][]string{ws}) && c.Front(clause, "rule-form", "rule-forbid", "rule-imperative", "rule-ask", "order-lead") == 0 && !c.Has(clause, "rule-past")
	})
}

// shouts reports whether the word that bans or orders is in capitals, and not all of the text.
func (c ruleCues) shouts(s string) bool {
	return s != strings.ToUpper(s) && slices.ContainsFunc(strings.Fields(s), func(w string) bool {
		return len(w) > 2 && w == strings.ToUpper(w) && c.Is(w, "rule-forbid", "rule-norm")
	})
}

// clauses splits a text in lower case at its punctuation into lists of words, each
// without the words that only introduce it.
func (c ruleCues) clauses(low string) [][]string {
	var out [][]string
	for _, part := range strings.FieldsFunc(low, func(r rune) bool { return strings.ContainsRune(",;:–—()、，；：（）", r) }) {
		part = strings.TrimSpace(part)
		for own, any := true, true; own || any; {
			part, own = c.Cut(part, "rule-please", "rule-also", "rule-lasting", "rule-onward", "rule-place", "rule-here")
			part, any = lang.Cut(part, "rule-opening")
		}
		if ws := strings.Fields(part); len(ws) > 0 {
			ws[len(ws)-1] = strings.TrimRight(ws[len(ws)-1], ".!")
			out = append(out, ws)
		}
	}
	return out
}

// begins reports whether one of the clauses begins with a phrase of the cue and goes on, and has none of those
// that speak against it.
func (c ruleCues) begins(clauses [][]string, cue string, against ...string) bool {
	return slices.ContainsFunc(clauses, func(ws []string) bool {
		clause := strings.Join(ws, " ")
		_, ok := c.Cut(clause, cue)
		return (ok || !c.Knows("rule-adverb") && c.Front(clause, cue) > 0) && !c.Has(clause, against...)
	})
}

// beginsWithVerb reports whether a clause is an English order: "bump the version".
func beginsWithVerb(clauses [][]string) bool {
	return slices.ContainsFunc(clauses, func(ws []string) bool { return len(ws) > 1 && intentOf(ws[0])&^wantFindOut != 0 })
}

// adverb reports whether an "always" or "never" orders something, and whether one only
// describes what is: "it never returns". placed says that the text names the place where
// it holds: then "tests never hit the network" orders, too.
func (c ruleCues) adverb(clauses [][]string, placed bool) (orders, describes bool) {
	negates := func(word string) bool { return lang.Is(word, "negation-word") } // "non risponde mai"
	for _, ws := range clauses {
		for i, w := range ws {
			if !c.Is(w, "rule-adverb") || len(ws) == 1 && len(clauses) > 1 {
				continue
			}
			whole := strings.Join(ws, " ")
			behind := append(slices.Clone(ws[i+1:]), "", "")
			next := behind[0]
			if lang.Is(next, "rule-ever") && behind[1] != "" {
				next = behind[1]
			}
			state, elliptic, broken := c.Is(next, "rule-state"), c.Is(next, "rule-elliptic"), c.Has(whole, "rule-broken")
			states := next == "" || state || c.Has(next, "rule-describes") && !c.Is(next, "rule-imperative") && !c.Has(next, "rule-verb")
			if elliptic { // "always in UTC", and not "always in red"
				states = c.Is(behind[1], "rule-state") || broken || slices.ContainsFunc(ws[:i], negates)
			}
			switch {
			case (i == 1 || i == 2 && negates(ws[0])) && c.Is(ws[i-1], "rule-imperative") && next != "" && !state,
				!states && (i == 0 || (c.Is(ws[i-1], "rule-leader") || c.Is(ws[0], "rule-leader")) && !c.Is(ws[i-1], "rule-past")),
				!states && elliptic && !lang.Has(whole, "rule-copula"),
				!states && placed,
				next != "" && c.Has(ws[len(ws)-1], "rule-infinitive") && !state && !broken:
				orders = true
			default:
				describes = true
			}
		}
	}
	return orders, describes
}

// pointsBack reports whether what is ordered first is a mere pronoun: "never do that". Beside "from
// now on", "nothing" is no such pronoun.
func (c ruleCues) pointsBack(clauses [][]string, onward bool) bool {
	for _, ws := range clauses {
		if slices.ContainsFunc(ws[:min(len(ws), 2)], func(w string) bool { return c.Is(w, "rule-adverb") }) || c.begins([][]string{ws}, "rule-form") {
			return slices.ContainsFunc(ws[1:min(len(ws), 4)], func(w string) bool { return c.Is(w, "rule-pronoun") && (!onward || !c.Is(w, "rule-nothing")) })
		}
	}
	return false
}

// quotation matches what stands in backquotes or quotation marks.
var quotation = regexp.MustCompile("`[^`]*`" + `|"[^"]*"|“[^”]*”|„[^“]*“|«[^»]*»|「[^」]*」| '[^']*'`)

// category returns which kind of learning a rule is: "preference", "workflow", else "convention".
func category(rule string) string {
	switch {
	case lang.Has(rule, "taste"):
		return "preference"
	case lang.Has(rule, "workflow"):
		return "workflow"
	}
	return "convention"
}
