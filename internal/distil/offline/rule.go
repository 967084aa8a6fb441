package offline

import (
	"slices"
	"strings"
	"unicode/utf8"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

const (
	// maxRule is the longest content of a rule, in characters.
	maxRule = 200
	// maxRules bounds the rules that are taken from one prompt.
	maxRules = 5
	// ruleScore is what a sentence has to reach to be a rule, pastedScore in a prompt of
	// more than maxTyped bytes: that was rather pasted than typed.
	ruleScore, pastedScore = 3, 5
	maxTyped               = 3000
	// ruleConfidence is that of a rule in the user's own words. It is below that of a
	// learning that a person wrote as such.
	ruleConfidence = 0.9
)

// rule is a standing wish of the user: a learning that holds beyond its session.
type rule struct{ category, content string }

// learnings returns the rules that the turn's prompt states, once the turn is over.
func (t *turn) learnings(session *memory.Session) []memory.Learning {
	if !t.stopped && t.number >= session.PromptCount && session.CompletedAt == 0 {
		return nil // its end comes in a later batch
	}
	var out []memory.Learning
	for _, r := range t.request.rules {
		out = append(out, memory.Learning{
			ProjectPath: session.ProjectPath, Category: r.category, Content: r.content, Confidence: ruleConfidence, Provenance: memory.FromUser, CreatedAt: t.last.Event.OccurredAt,
		})
	}
	return out
}

// rulesOf returns the standing rules that a prompt states, at most maxRules. What is
// quoted is nobody's rule: code, logs, blocks between tags.
func rulesOf(prompt string) []rule {
	least := ruleScore
	if len(prompt) > maxTyped {
		least = pastedScore
	}
	var out []rule
	said := typed(prompt)
	for _, cues := range ruleLanguages {
		announced := false
		for _, u := range said {
			if u.begins {
				announced = announced && u.item
			}
			score := cues.score(u, announced)
			head, tail := cues.leadIn(u.text)
			announced = announced || head != ""
			if score < least || len(out) == maxRules || !tells(tail) {
				continue
			}
			content := ruleContent(tail)
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
	for _, lead := range []string{"and ", "but ", "also ", "so ", "und ", "aber ", "y ", "pero ", "et ", "mais ", "e ", "mas ", "ma "} {
		if rest, ok := cutFold(s, lead); ok {
			s = rest
			break
		}
	}
	s = withoutNotice(s)
	if head, tail, ok := strings.Cut(s, ", "); ok && verbs[firstWord(head)] != 0 && len(words(tail)) >= 5 && !beginsRule(strings.ToLower(head)) && norms(tail) {
		s = tail
	}
	return shown(capital(strings.TrimRight(s, ".!。！ ")), maxRule)
}

// withoutNotice drops what only draws attention to a rule and words of courtesy: "Before
// anything else: please never …".
func withoutNotice(s string) string {
	for _, sep := range []string{": ", "："} {
		if head, tail, ok := strings.Cut(s, sep); ok && !hasCode(head) && len(words(head)) <= 7 && tells(tail) && beginsRule(strings.ToLower(tail)) {
			s = tail
			break
		}
	}
	for again := true; again; {
		s, again = cutFold(s, courtesies...)
	}
	for _, c := range courtesies {
		if head, ok := strings.CutSuffix(s, " "+strings.TrimRight(c, " ,")); ok {
			return strings.TrimRight(head, " ,")
		}
	}
	return s
}

// courtesies are no part of a rule, neither in front of it nor behind it.
var courtesies = []string{"please, ", "please ", "bitte ", "por favor, ", "por favor ", "s'il te plaît, ", "s'il te plaît ", "s'il vous plaît, ", "s'il vous plaît ", "merci de ", "per favore, ", "per favore ", "per piacere ", "请"}

// norms reports whether an English clause says by itself what has to be.
func norms(s string) bool { return holds(text.LowerASCII(s), english.norm...) }

// utterance is a piece of a prompt that may be a rule: a sentence or a part of one.
type utterance struct {
	text string
	// item: it is an item of a list. begins: it begins a paragraph or an item.
	item, begins bool
}

// typed returns the sentences of a prompt that the user has typed, apart from blocks of
// code, quotations, blocks between tags and lines of logs.
func typed(prompt string) []utterance {
	prompt = withoutTagged(prompt[:min(len(prompt), maxText)])
	var out []utterance
	fenced := ""
	open := false // the line goes on in the paragraph above
	for line := range strings.Lines(prompt) {
		s := strings.TrimSpace(line)
		switch {
		case fenced != "":
			if strings.HasPrefix(s, fenced) {
				fenced = ""
			}
			continue
		case strings.HasPrefix(s, "```"), strings.HasPrefix(s, "~~~"):
			fenced, open = s[:3], false
			continue
		case s == "":
			open = false
			continue
		}
		item, isItem := text.ListItem(s)
		if s[0] == '>' || !isItem && (strings.HasPrefix(line, "    ") || line[0] == '\t') || isLogLine(s) {
			open = false
			continue
		}
		if isItem {
			s, open = item, false
		}
		s = strings.TrimLeft(s, "# ")
		for _, sentence := range text.Sentences(plain(text.Unmark(s)), func(string) bool { return true }) {
			for i, part := range parts(sentence) {
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

// withoutTagged removes the blocks between a tag and the one that closes it.
func withoutTagged(s string) string {
	var b strings.Builder
	for from := 0; ; {
		i := strings.IndexByte(s[from:], '<')
		if i < 0 {
			b.WriteString(s[from:])
			return b.String()
		}
		i += from
		name := i + 1
		for name < len(s) && (text.IsIdent(s[name]) || s[name] == '-') {
			name++
		}
		end := -1
		if name > i+1 {
			end = strings.Index(s[name:], "</"+s[i+1:name]+">")
		}
		if end < 0 {
			b.WriteString(s[from : i+1])
			from = i + 1
			continue
		}
		b.WriteString(s[from:i])
		from = name + end + len("</>") + name - i - 1
	}
}

// isLogLine reports whether a line was printed by a program rather than typed.
func isLogLine(s string) bool {
	low := text.LowerASCII(s)
	for _, p := range []string{"$ ", "at ", "traceback", "error:", "warning:", "warn:", "fatal:", "panic:", "+ ", "--- "} {
		if strings.HasPrefix(low, p) {
			return true
		}
	}
	if len(s) > 10 && text.IsDigit(s[0]) && text.IsDigit(s[1]) && text.IsDigit(s[2]) && strings.ContainsAny(s[:10], "-/:") {
		return true
	}
	return slices.ContainsFunc(strings.Fields(s), func(w string) bool {
		w = strings.Trim(w, "[]():")
		return w == "ERROR" || w == "WARN" || w == "INFO" || w == "DEBUG" || w == "FATAL" || w == "WARNING"
	})
}

// parts splits a sentence before each "and" or the like after which a rule begins:
// "fix it, and from now on never …".
func parts(sentence string) []string {
	var out []string
	from := 0
	for i := 0; i < len(sentence); i++ {
		if sentence[i] != ' ' && sentence[i] != ';' {
			continue
		}
		rest := strings.TrimLeft(sentence[i+1:], " ")
		word, after, _ := strings.Cut(rest, " ")
		switch text.LowerASCII(word) {
		case "and", "but", "und", "aber", "y", "pero", "et", "mais", "e", "mas", "ma":
			rest = after
		default:
			if sentence[i] != ';' {
				continue
			}
		}
		if beginsRule(strings.ToLower(rest)) {
			out = append(out, strings.Trim(sentence[from:i], " ,;"))
			from = len(sentence) - len(rest)
			i = from
		}
	}
	return append(out, strings.TrimSpace(sentence[from:]))
}

// politeRules begin a rule after a word of politeness.
var politeRules = phrases("please never | please always | don't ever | bitte nie | bitte niemals | bitte immer | ne jamais | s'il te plaît ne | por favor nunca | por favor sempre | per favore mai")

// beginsRule reports whether a text in lower case begins with a word that makes a rule.
func beginsRule(low string) bool {
	for _, c := range ruleLanguages {
		first := text.Before(low, " ")
		if c.adverbs[first] || startsWith(low, c.lasting) || startsWith(low, c.label) || startsWith(low, politeRules) {
			return true
		}
	}
	return false
}

// startsWith reports whether a text begins with one of phrases, as whole words.
func startsWith(low string, phrases []string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool {
		rest, ok := strings.CutPrefix(low, p)
		return ok && (rest == "" || !text.IsIdent(rest[0]) && rest[0] != '\'')
	})
}

// tells reports whether a text is long enough to be a rule that stands alone.
func tells(s string) bool {
	n := len(words(s))
	return n >= 3 && n <= 60 || utf8.RuneCountInString(s) >= 8 && !isASCII(s)
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// leadIn splits off what only announces a rule ("General rule for this project: …"), ""
// for none.
func (c *ruleCues) leadIn(s string) (head, tail string) {
	for _, sep := range []string{": ", "：", " – ", " — ", ":"} {
		head, tail, ok := strings.Cut(s, sep)
		if ok && (sep != ":" || tail == "") && !hasCode(head) && len(words(head)) <= 14 && c.announces(head) {
			return head, tail
		}
	}
	return "", s
}

// announces reports whether a text in front of a colon says that rules follow.
func (c *ruleCues) announces(s string) bool {
	low := strings.ToLower(s) + ":" // a label may end in one
	return holds(low, c.label...) || holds(low, c.lasting...) || holds(low, c.place...)
}

// score returns how much speaks for a standing rule; ruleScore is enough. announced says
// that a text before it began a list of rules.
func (c *ruleCues) score(u utterance, announced bool) int {
	said := strings.ToLower(unquoted(u.text))
	label := holds(said, c.label...)
	if c.isQuestion(said, label) {
		return 0
	}
	score := 0
	add := func(weight int, is bool) {
		if is {
			score += weight
		}
	}
	clauses := c.clauses(said)
	lasting, place := holds(said, c.lasting...), holds(said, c.place...)
	if !label && !lasting && specifies(said) {
		return 0
	}
	orders, describes := c.adverb(clauses, place && !holds(said, c.broken...))
	norm := holds(said, c.norm...)
	form := orders || norm || c.begins(clauses, c.form) || c.adverbs == nil && holds(said, c.form...) || c == english && beginsWithVerb(clauses)
	verb := c == english && !norm && !c.begins(clauses, c.form) && !orders // the order is one of any kind
	bans := c.begins(clauses, c.forbids) || holds(said, c.please...) && holds(said, c.forbids...)

	add(3, label)
	add(3, orders)
	add(3, holds(said, c.keeps...))
	add(2, lasting)
	add(2, place)
	add(1, form && !orders && (!verb || !place))
	add(1, place && !form && c.begins(clauses, c.habits) && !holds(said, c.lacks...))
	add(2, norm && forbidsAll(said))
	add(1, holds(said, "here") && c.begins(clauses, c.habits) && c.begins(clauses, c.form) && !holds(said, c.lacks...))
	add(1, form && !orders && !place && c.begins(clauses, c.form) && holds(said, c.scope...))
	add(2, c.grantsAll(said, clauses))
	add(1, form && holds(said, c.contrast...))
	add(2, norm && strings.Contains(u.text, "MUST"))
	add(3, c.begins(clauses, c.all) && holds(said, c.needs...))
	add(2, bans && !orders && !lasting && holds(said, c.again...))
	add(2, bans && !orders && holds(said, c.because...) && hasCode(u.text))
	add(2, c == english && bansHabit(clauses))
	add(3, announced && u.item)
	add(2, announced && !u.item && startsWith(said, c.also))
	add(1, announced && !u.item && !form && holds(said, c.contrast...))

	add(-1, lasting && !form && !label)
	add(-2, holds(said, c.hedge...))
	add(-3, c.isOnce(said))
	add(-3, !orders && !label && (describes || holds(said, c.broken...)))
	add(-3, !label && holds(said, c.quotes...))
	add(-3, c.pointsBack(clauses, holds(said, c.onward...)))
	return score
}

// specifies reports whether a text in lower case says what something is to be like that
// is to be made now: "add a check: the name must never be empty".
func specifies(low string) bool {
	head, _, ok := strings.Cut(low, ": ")
	switch text.Before(head, " ") {
	case "add", "write", "implement", "create", "build", "make":
		return ok
	}
	return false
}

// isQuestion reports whether a text in lower case asks something.
func (c *ruleCues) isQuestion(low string, label bool) bool {
	trimmed := strings.TrimRight(low, " \")")
	return strings.HasSuffix(trimmed, "?") || strings.HasSuffix(trimmed, "？") || strings.Contains(low, "ですか") || strings.Contains(low, "でしょうか") || strings.HasSuffix(trimmed, "吗") ||
		!label && startsWith(low, c.asks)
}

// isOnce reports whether an order in lower case is only for now: "from now on" is not.
func (c *ruleCues) isOnce(low string) bool {
	onward := holds(low, c.onward...)
	for _, p := range c.lasting {
		low = strings.ReplaceAll(low, p, "")
	}
	return holds(low, c.once...) || !onward && holds(low, c.nothing...)
}

// grantsAll reports whether a text in lower case says what every one of a kind of code
// gets from now on: "from now on every public function gets a comment". A number in it
// reports what was seen: "from now on every test gets a 500".
func (c *ruleCues) grantsAll(low string, clauses [][]string) bool {
	if !holds(low, c.onward...) || !holds(low, c.grants...) || holds(low, c.broken...) || strings.ContainsAny(low, "0123456789%") || holds(low, troubles...) {
		return false
	}
	return slices.ContainsFunc(clauses, func(ws []string) bool {
		every := slices.IndexFunc(ws[:min(len(ws), 3)], func(w string) bool { return slices.Contains(c.all, w) })
		return every >= 0 && slices.ContainsFunc(ws[every+1:min(len(ws), every+5)], isArtefact)
	})
}

// troubles are what something gets that is no wish.
var troubles = phrases("timeout | timeouts | null | nil | undefined | warning | warnings | twice | doppelt | dos veces | duas vezes | deux fois | due volte")

// isArtefact reports whether a word in lower case names what programmers make.
func isArtefact(word string) bool {
	return slices.ContainsFunc(artefacts, func(p string) bool { return word == p || len(p) > 3 && strings.HasPrefix(word, p) })
}

// clauses splits a text in lower case at its punctuation into lists of words, each
// without the words that only introduce it.
func (c *ruleCues) clauses(low string) [][]string {
	var out [][]string
	for _, part := range strings.FieldsFunc(low, func(r rune) bool { return strings.ContainsRune(",;:–—、，；：", r) }) {
		part = strings.TrimSpace(part)
		for again := true; again; {
			again = false
			for _, leads := range [][]string{c.please, c.also, c.lasting, c.place, {"but", "so", "then", "aber", "pero", "ok", "no that's fine", "i want you to", "you", "du"}} {
				for _, lead := range leads {
					if rest, ok := strings.CutPrefix(part, lead+" "); ok {
						part, again = strings.TrimSpace(rest), true
					}
				}
			}
		}
		if ws := strings.Fields(part); len(ws) > 0 {
			ws[len(ws)-1] = strings.TrimRight(ws[len(ws)-1], ".!")
			out = append(out, ws)
		}
	}
	return out
}

// begins reports whether a clause begins with one of phrases and goes on.
func (c *ruleCues) begins(clauses [][]string, phrases []string) bool {
	return slices.ContainsFunc(clauses, func(ws []string) bool {
		s := strings.Join(ws, " ")
		return slices.ContainsFunc(phrases, func(p string) bool { return strings.HasPrefix(s, p+" ") })
	})
}

// beginsWithVerb reports whether a clause is an English order: "bump the version".
func beginsWithVerb(clauses [][]string) bool {
	return slices.ContainsFunc(clauses, func(ws []string) bool { return len(ws) > 1 && verbs[ws[0]]&^wantFindOut != 0 })
}

// bansHabit reports whether a clause ends a habit: "stop adding comments".
func bansHabit(clauses [][]string) bool {
	return slices.ContainsFunc(clauses, func(ws []string) bool {
		return len(ws) > 2 && (ws[0] == "stop" || ws[0] == "quit") && strings.HasSuffix(ws[1], "ing")
	})
}

// forbidsAll reports whether an English text in lower case bans something for everyone:
// "must not be edited".
func forbidsAll(low string) bool {
	if holds(low, "you must not", "not to be", "never to be") {
		return true
	}
	_, rest, ok := strings.Cut(low, "must not be ")
	verb := text.Before(rest, " ")
	return ok && (strings.HasSuffix(verb, "ed") || strings.HasSuffix(verb, "en"))
}

// adverb reports whether an "always" or "never" orders something, and whether one only
// describes what is: "it never returns". placed says that the text names the place where
// it holds: then "tests never hit the network" orders, too.
func (c *ruleCues) adverb(clauses [][]string, placed bool) (orders, describes bool) {
	for _, ws := range clauses {
		for i, w := range ws {
			if !c.adverbs[w] {
				continue
			}
			next := ""
			if i+1 < len(ws) {
				next = ws[i+1]
			}
			if next == "ever" && i+2 < len(ws) {
				next = ws[i+2]
			}
			states := next == "" || c.states[next] || c.describes(next)
			if c.elliptic[next] { // "always in UTC", and not "always in red"
				states = i+2 < len(ws) && c.states[ws[i+2]] || holds(strings.Join(ws, " "), c.broken...) || i > 0 && slices.ContainsFunc(ws[:i], isNegation)
			}
			switch {
			case (i == 1 || i == 2 && isNegation(ws[0])) && c.imperatives[ws[i-1]] && next != "" && !c.states[next]:
				orders = true
			case !states && (i == 0 || c.leaders[ws[i-1]] || c.leaders[ws[0]]):
				orders = true
			case !states && c.elliptic[next] && !holds(strings.Join(ws, " "), "is", "are", "was", "were", "it's", "ist", "sind", "steht", "es", "está", "están", "son", "est", "sont", "reste", "são", "fica", "è", "sono"):
				orders = true
			case !states && placed:
				orders = true
			case next != "" && c.infinitive != nil && c.infinitive(ws[len(ws)-1]) && !c.states[next] && !holds(strings.Join(ws, " "), c.broken...):
				orders = true
			default:
				describes = true
			}
		}
	}
	return orders, describes
}

// isNegation reports whether a word denies the verb behind it: "non risponde mai".
func isNegation(word string) bool {
	switch word {
	case "not", "nicht", "no", "ne", "não", "non":
		return true
	}
	return false
}

// pointsBack reports whether what is ordered is a mere pronoun: "never do that". From now
// on, "nothing" is none.
func (c *ruleCues) pointsBack(clauses [][]string, onward bool) bool {
	for _, ws := range clauses {
		if !c.adverbs[ws[0]] && !c.begins([][]string{ws}, c.form) {
			continue
		}
		if slices.ContainsFunc(ws[1:min(len(ws), 4)], func(w string) bool { return c.pronouns[w] && (!onward || !slices.Contains(c.nothing, w)) }) {
			return true
		}
	}
	return false
}

// unquoted replaces what stands in quotation marks or backquotes by a word without
// meaning.
func unquoted(s string) string {
	for _, q := range [][2]string{{"`", "`"}, {`"`, `"`}, {"“", "”"}, {"„", "“"}, {"«", "»"}, {"「", "」"}, {" '", "'"}} {
		for from := 0; from < len(s); {
			i := strings.Index(s[from:], q[0])
			if i < 0 {
				break
			}
			i += from
			end := strings.Index(s[i+len(q[0]):], q[1])
			if end < 0 {
				break
			}
			s = s[:i] + " code" + s[i+len(q[0])+end+len(q[1]):]
			from = i + len(" code")
		}
	}
	return s
}

// workflowWords speak of how work is done and delivered, tasteWords of how the user
// wants to be answered.
var (
	workflowWords = phrases("commit | commits | committing | push | pushen | branch | branches | pr | prs | pull request | pull requests | merge | mergen | rebase | release | deploy | review | ci | changelog | test run | run the tests | before you | make lint | make test | rama | ramas | zweig | コミット | ブランチ | プッシュ | マージ | リリース | デプロイ")
	tasteWords    = phrases("i prefer | i want | i like | i don't like | i hate | answer | answers | reply | explain | explanations | summary | summaries | emoji | emojis | ich bevorzuge | ich möchte | ich will | antworte | antworten | prefiero | quiero | responde | 答え | 返答 | 説明")
)

// category returns which kind of learning a rule is.
func category(rule string) string {
	low := strings.ToLower(rule)
	switch {
	case holds(low, tasteWords...):
		return "preference"
	case holds(low, workflowWords...):
		return "workflow"
	}
	return "convention"
}
