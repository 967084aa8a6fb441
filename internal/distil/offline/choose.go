package offline

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
)

// source says whose words a candidate is.
type source int

const (
	fromMessage source = iota
	fromPrompt
	fromAgent
	fromCommit
)

// candidate is a statement of the turn that can be shown as title or in a subtitle.
type candidate struct {
	sentence
	source source
	// at orders candidates; the parts of a sentence follow it.
	at   int
	late float64
	part bool
	// apart: a decision in an episode with edits: it is title or subtitle of the work only if
	// nothing else makes a title, but can be a record of its own (second).
	apart bool
	// values are its features, told once; what depends on the place is added to a copy.
	values *features
}

// chooser chooses among what was said of an episode.
type chooser struct {
	episode *episode
	weights *Weights
	list    []candidate
	// open: something fails at the end.
	open bool
	// said: the agent's message has candidates. also: candidates that are apart may be chosen.
	said, also bool
	// asked are the rare words of the prompt, work the names of files and symbols that were
	// edited, failed the names of tests that failed.
	asked  map[string]bool
	work   []string
	failed []string
}

// maxCandidates bounds them for one episode, maxCandidate what is looked at of one, in bytes.
const (
	maxCandidates = 160
	maxCandidate  = 800
)

// newChooser gathers the candidates of an episode: sentences of the closing message, their
// clauses, outlines of its lists, bodies of commits, answers of subagents, and the part of
// the prompt that says what to do. The turn's choosing must be set; e itself is not changed.
func newChooser(e *episode) *chooser {
	t := e.turn
	c := &chooser{episode: e, weights: t.choosing.weights, asked: rareWords(t.request.text[:min(len(t.request.text), 2000)]), failed: e.failedTests()}
	for _, f := range e.files() {
		c.work = text.Add(c.work, nameOf(f))
	}
	for _, n := range e.touched() {
		if n = text.AfterLast(text.AfterLast(n, "::"), "."); len(n) >= 3 {
			c.work = text.Add(c.work, n)
		}
	}
	c.failed = text.Add(c.failed, collect.Flat(slices.Concat(e.open, e.fixed), func(k *check) []string { return k.failure.Tests })...)
	c.open = len(e.blocking()) > 0
	c.work, c.failed = c.work[:min(len(c.work), 30)], c.failed[:min(len(c.failed), 10)]
	said := slices.Concat(t.message, t.outlines)
	for i, s := range said {
		if e.only || e.relevance(s) > 0 {
			c.add(s, fromMessage, min(1, float64(i)/float64(max(1, len(t.message)-1))))
		}
	}
	c.said = slices.ContainsFunc(c.list, func(x candidate) bool { return titleOf(x.text) != "" })
	for _, body := range e.bodies[:min(len(e.bodies), 3)] {
		for _, s := range sentences(body) {
			s.first = false
			c.add(s, fromCommit, 1)
		}
	}
	for _, a := range e.answers[:min(len(e.answers), 2)] {
		for _, s := range sentences(a.Answer) {
			c.add(s, fromAgent, 0.5)
		}
	}
	if e.only && t.request.clause != "" {
		c.add(sentence{text: t.request.clause}, fromPrompt, 0)
	}
	return c
}

// add adds a sentence and its clauses, unless it is not worth showing: an offer, a question, a
// report that tests pass or that something was committed, what was merely looked at, fewer than
// three words, or "done" while something fails. late is how far down it stands, 0 to 1.
func (c *chooser) add(s sentence, from source, late float64) {
	s.text = text.FirstBytes(s.text, maxCandidate)
	whole := s.text
	if s.is == isSo {
		s.text = withoutOpening(s.text)
		s.text = s.text[lang.Front(s.text, "label"):]
	}
	s.text = strings.TrimRight(s.text, ". 。")
	s.label = min(s.label, len(s.text)) // nothing may stand behind a label
	if !strings.HasPrefix(whole, s.text) {
		s.text = capitalWord(s.text)
	}
	if lang.Has(s.text, "offer", "test-passes", "retract", "committed") || isFluff(s.text) || reportsTests(s.text) || asks(s.text) || len(c.list) >= maxCandidates || looksOnly(s.text) || len(words(s.text)) < 3 && lang.IsASCII(s.text) || c.open && lang.Has(s.text, "done") {
		return
	}
	apart := len(c.episode.edits) > 0 && tellsDecision(s.text, false)
	c.list = append(c.list, candidate{sentence: s, source: from, at: len(c.list), late: late, apart: apart})
	if s.outline || s.code || s.is != isSo {
		return
	}
	parts := clauses(s.text)
	if len(parts) < 2 {
		return
	}
	for _, p := range parts {
		if _, is := labelOf(p); is != isSo {
			continue
		}
		if p, _ = lang.Cut(p, "link"); len(words(p)) >= 4 && !isFluff(p) && !reportsTests(p) && !lang.Has(p, "committed") {
			s.text, s.first = capitalWord(p), false
			c.list = append(c.list, candidate{sentence: s, source: from, at: len(c.list), late: late, part: true, apart: apart})
		}
	}
}

// capitalWord returns what stood in the middle of a sentence as one of its own: with a
// capital, unless it begins with a name.
func capitalWord(s string) string {
	if w := text.Before(s, " "); strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsLower(r) }) {
		return s
	}
	return capital(s)
}

// asks reports whether a sentence ends with a question mark.
func asks(s string) bool {
	return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？")
}

// besides matches signs by which a sentence tells more than what was looked at.
var besides = regexp.MustCompile(`[:;→]| [–—-] |\d`)

// looksOnly reports whether a sentence says no more than what the agent looked at, or that
// a part of the program is not at fault.
func looksOnly(s string) bool {
	return lang.Has(s, "cleared") || lang.Has(s, "looked") && !besides.MatchString(s) && !lang.Has(s, "beyond", "why", "contrast", "negation")
}

// clauseBreak matches where a clause may end.
var clauseBreak = regexp.MustCompile(`; |: | [–—] `)

// clauses splits a long sentence where a statement ends that can stand alone: at a
// semicolon or a dash. A sentence without such a place is returned alone. For a guess it returns
// nil: its parts would sound certain.
func clauses(s string) (out []string) {
	if lang.Has(s, "guess") {
		return nil
	}
	from := 0
	for _, at := range clauseBreak.FindAllStringIndex(s, -1) {
		if clause := s[from:at[0]]; balanced(clause) && len(words(clause)) >= 4 && len(words(s[at[1]:])) >= 4 {
			out, from = append(out, strings.TrimSpace(clause)), at[1]
		}
	}
	return append(out, strings.TrimSpace(s[from:]))
}

// openingEnd separates an answer, an agreement or an apology from the statement behind it:
// "Yes – added …", "You were right, …".
var openingEnd = regexp.MustCompile(`^(?: ?[–—-] |[,:!.] |[、。，：]\s*)`)

// withoutOpening drops the answer or apology in front of a statement of at least three
// words: "Done, thanks." stays.
func withoutOpening(s string) string {
	behind := s[lang.Front(s, "opening"):]
	rest := behind[len(openingEnd.FindString(behind)):]
	if len(rest) < len(behind) && len(behind) < len(s) && (len(words(rest)) >= 3 || !lang.IsASCII(rest)) {
		return withoutOpening(capitalWord(rest))
	}
	return s
}

// pick is what was chosen: a title, a subtitle, and the indexes of the candidates that they say.
type pick struct {
	title, subtitle string
	used            []int
	// before is what another record of the turn says already.
	before string
}

// choose returns the best title and what goes best with it; "" as given has it choose the title,
// another one stays. ok is false when the agent said nothing usable: then out has the given title
// alone. It calls the distiller's trace with a choice that it made.
func (c *chooser) choose(given string) (out pick, ok bool) {
	if !c.said && len(c.episode.answers) == 0 {
		return pick{title: given}, false
	}
	out.title = given
	c.also = false
	if given == "" {
		i, title := c.bestTitle(nil)
		if i < 0 {
			c.also = true
			i, title = c.bestTitle(nil)
		}
		if i < 0 {
			return out, false
		}
		out.title, out.used = title, []int{i}
		c.addRest(i, title)
	} else if i := slices.IndexFunc(c.list, func(x candidate) bool { return titleOf(x.text[x.label:]) == given }); i >= 0 {
		out.used = []int{i}
		c.addRest(i, given)
	}
	out.subtitle = c.subtitle(&out)
	if trace := c.episode.turn.choosing.trace; trace != nil {
		trace(c.trainingExample(&out, given == ""))
	}
	return out, true
}

// second returns one more record beside out: of a sentence of the message that has, in ASCII, six
// words or more, that names code or explains, limits, contrasts or denies something, names no new
// test, and of whose rare words out says at most half. decided: it tells a decision or a rejected
// alternative.
func (c *chooser) second(out *pick) (also pick, decided, ok bool) {
	taken, tests := slices.Clone(out.used), c.episode.newTests()
	said := out.title + " " + out.subtitle
	saidWords := rareWords(said)
	for i := range c.list {
		x := &c.list[i]
		if x.source != fromMessage || x.part || x.row || x.outline || looksAhead(x.sentence) || leavesOpen(x.sentence) || shareOf(rareWords(x.text), saidWords) > 0.5 ||
			len(words(x.text)) < 6 && lang.IsASCII(x.text) || !hasCode(x.text) && !lang.Has(x.text, "explain", "limit", "contrast", "negation") || slices.ContainsFunc(tests, func(n string) bool { return mentions(x.text, n) }) {
			taken = append(taken, i)
		}
	}
	c.also = true
	i, title := c.bestTitle(taken)
	if i < 0 {
		return also, false, false
	}
	also = pick{title: title, used: append(slices.Clone(out.used), i), before: said + " "}
	c.addRest(i, title)
	also.subtitle = c.subtitle(&also)
	s := c.list[i].text // that it decides something, or rejects an alternative with a reason
	return also, tellsDecision(s, false) || lang.Has(s, "reject") && lang.Has(s, "explain"), true
}

// addRest adds, as a candidate for the subtitle, what a title made of candidate i leaves of its
// sentence, if that is four words or more.
func (c *chooser) addRest(i int, title string) {
	x := c.list[i]
	_, rest, ok := strings.Cut(plain(x.text), strings.TrimLeft(title, " "))
	if !ok || title == "" {
		// The title has lost its subject: "I added …".
		from := strings.LastIndex(x.text, text.AfterLast(title, " "))
		if strings.HasSuffix(title, "…") || from < 0 {
			return
		}
		rest = x.text[from+len(text.AfterLast(title, " ")):]
	}
	rest, _ = lang.Cut(strings.TrimLeft(rest, ",;:–—. "), "link")
	if len(words(rest)) < 4 || lang.Has(x.text, "guess") {
		return
	}
	x.text, x.first, x.part, x.apart, x.is, x.label = rest, false, true, false, isSo, 0
	x.values = nil
	c.list = append(c.list, x)
}

// bestTitle returns the candidate with the highest score and the title made of it; -1 for none.
// taken are candidates that are told already.
func (c *chooser) bestTitle(taken []int) (at int, title string) {
	at, best := -1, 0.0
	for i := range c.list {
		x := &c.list[i]
		s := c.titleOf(x)
		if s == "" || slices.Contains(taken, i) {
			continue
		}
		f := c.featuresOf(x, maxTitle)
		if score := c.weights.title.score(&f); at < 0 || score > best {
			at, best, title = i, score, s
		}
	}
	return at, title
}

// titleOf returns the title that a candidate makes, "" for none. Words of subagents and commits count
// only where the agent's message has none that make a title.
func (c *chooser) titleOf(x *candidate) string {
	if x.apart && !c.also || x.is != isSo || leans(x.text) || (x.source == fromAgent || x.source == fromCommit) && c.said {
		return ""
	}
	return titleOf(x.text)
}

// besideTitle returns what a candidate says in a subtitle with room for so many characters, beside
// what was said, and its features; "" for what is no subtitle, or was mostly said.
func (c *chooser) besideTitle(x *candidate, room int, said map[string]bool) (s string, f features) {
	if x.apart && !c.also || x.source == fromPrompt || x.is == isOpen || lang.Begins(x.text, "next-start") {
		return "", f
	}
	s = fitting(x.text, room)
	repeats := shareOf(rareWords(s), said)
	if s == "" || repeats > 0.7 {
		return "", f
	}
	f = c.featuresOf(x, room)
	f[repeatsTitle] = repeats
	return s, f
}

// titleOf returns a sentence as a title of at most maxTitle characters; "" when the cut would say
// something else or leave fewer than four words.
func titleOf(s string) string {
	s = imperative(withoutReports(withoutCausePhrase(strings.TrimRight(s, ". 。"))))
	short := shown(s, maxTitle)
	if cutsContrast(plain(s), short) || lang.IsASCII(short) && len(words(short)) < 4 {
		return ""
	}
	return strings.TrimRight(short, ". –—")
}

// cutsContrast reports whether what a cut dropped takes back, restricts or doubts what it
// left.
func cutsContrast(whole, short string) bool {
	short = strings.TrimSuffix(short, "…")
	if len(short) >= len(whole) || !strings.HasPrefix(whole, short) {
		return false
	}
	dropped := whole[len(short):]
	return lang.Is(firstWord(dropped), "exception") || lang.Has(dropped, "guess") && !lang.Has(short, "guess")
}

// subtitle returns the statements that go best with the title of out, at most three, in the order
// in which they were said, as far as they fit; "" for none. It adds them to out.used, whose
// candidates it does not choose.
func (c *chooser) subtitle(out *pick) string {
	var picked []int
	room := maxSubtitle
	said := rareWords(out.before + out.title)
	for len(picked) < 3 && room > 40 {
		at, best := -1, 0.0
		for i := range c.list {
			x := &c.list[i]
			if slices.Contains(out.used, i) || slices.Contains(picked, i) || leans(x.text) && !c.follows(i, slices.Concat(out.used, picked)) {
				continue
			}
			s, f := c.besideTitle(x, room, said)
			if score := c.weights.subtitle.score(&f); s != "" && (at < 0 || score > best) {
				at, best = i, score
			}
		}
		if at < 0 {
			break
		}
		picked = append(picked, at)
		s := fitting(c.list[at].text, room)
		maps.Copy(said, rareWords(s))
		room -= utf8.RuneCountInString(s) + 2
	}
	slices.SortFunc(picked, func(a, b int) int { return cmp.Compare(c.list[a].at, c.list[b].at) })
	room = maxSubtitle
	parts := collect.Map(picked, func(i int) string { return fitting(c.list[i].text, room) })
	out.used = append(out.used, picked...)
	return shown(sentencesOf(parts), maxSubtitle)
}

// leans reports whether a sentence cannot stand without the one before it.
func leans(s string) bool { return lang.Begins(s, "leaning") }

// follows reports whether the statement of the message before candidate i, or a clause of it, is
// among those that are shown.
func (c *chooser) follows(i int, shown []int) bool {
	for i--; i >= 0 && c.list[i].source == fromMessage; i-- {
		if slices.Contains(shown, i) {
			return true
		}
		if !c.list[i].part {
			break
		}
	}
	return false
}

// fitting returns a sentence cut to room characters, "" when the cut leaves fewer than 30 or says
// something else.
func fitting(s string, room int) string {
	s = strings.TrimRight(plain(s), ". 。")
	if !strings.Contains(text.Before(s, " "), "-") {
		s = capital(s)
	}
	short := cut(s, room)
	if short != s && (utf8.RuneCountInString(short) < 30 || cutsContrast(s, short)) {
		return ""
	}
	return short
}

// repeated returns the share of the rare words of s that said has, 0 to 1.
func repeated(s, said string) float64 { return shareOf(rareWords(s), rareWords(said)) }

// shareOf returns the share of words that said has; 0 for no words.
func shareOf(words, said map[string]bool) float64 {
	if len(words) == 0 {
		return 0
	}
	return float64(text.SharedWords(words, said)) / float64(len(words))
}
