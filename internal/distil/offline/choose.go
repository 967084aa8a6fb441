package offline

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

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
	// said: the agent's message has candidates.
	said bool
	// asked are the rare words of the prompt, work the names of what was edited, failed
	// those of tests and commands that failed.
	asked  map[string]bool
	work   []string
	failed []string
}

// maxCandidates bounds them for one turn, maxCandidate what is looked at of one, in bytes.
const (
	maxCandidates = 160
	maxCandidate  = 800
)

// newChooser gathers the candidates of an episode: sentences of the closing message, their
// clauses, outlines of its lists, bodies of commits, answers of subagents, and the part of
// the prompt that says what to do.
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
	for _, k := range slices.Concat(e.open, e.fixed) {
		c.failed = text.Add(c.failed, k.failure.Tests...)
	}
	c.open = len(e.blocking()) > 0
	c.work, c.failed = c.work[:min(len(c.work), 30)], c.failed[:min(len(c.failed), 10)]
	said := slices.Concat(t.message, t.outlines)
	for i, s := range said {
		if !e.only && e.relevance(s) <= 0 {
			continue
		}
		late := 0.0
		if len(t.message) > 1 {
			late = min(1, float64(i)/float64(len(t.message)-1))
		}
		c.add(s, fromMessage, late)
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

// add adds a sentence and its clauses, unless it says nothing that is worth showing.
func (c *chooser) add(s sentence, from source, late float64) {
	s.text = text.FirstBytes(s.text, maxCandidate)
	whole := s.text
	s.text = strings.TrimRight(label.ReplaceAllString(withoutOpening(s.text), ""), ". 。")
	if !s.code {
		s.text = afterLeadIn(s.text)
	}
	if !strings.HasPrefix(whole, s.text) {
		s.text = capitalWord(s.text)
	}
	if offer.MatchString(s.text) || testPasses.MatchString(s.text) || isFluff(s.text) || reportsTests(s.text) || reportsCommit(s.text) || asks(s.text) || len(c.list) >= maxCandidates || retracts(s.text) || looksOnly(s.text) || len(words(s.text)) < 3 && isASCII(s.text) || c.open && claimsDone(s.text) {
		return
	}
	c.list = append(c.list, candidate{sentence: s, source: from, at: len(c.list), late: late})
	if s.outline || s.code {
		return
	}
	if parts := clauses(s.text); len(parts) > 1 {
		for _, p := range parts {
			if rest, ok := cutFold(p, "and ", "so ", "und ", "y "); ok {
				p = rest
			}
			if len(words(p)) < 4 || isFluff(p) || reportsTests(p) || reportsCommit(p) {
				continue
			}
			part := s
			part.text, part.first = capitalWord(p), false
			c.list = append(c.list, candidate{sentence: part, source: from, at: len(c.list), late: late, part: true})
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

// claimsDone reports whether a sentence says that all is well, which a failure at the end
// contradicts.
func claimsDone(s string) bool {
	return holds(strings.ToLower(s), "fixed", "works now", "work now", "resolved", "passes", "pass now", "is green", "everything works", "behoben", "läuft jetzt", "funktioniert jetzt", "arreglado", "corregido", "funciona ahora", "修正しました", "直しました", "解決しました", "corrigé")
}

// asks reports whether a sentence is a question or an offer.
func asks(s string) bool {
	return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？")
}

// retracts reports whether a sentence takes something back that was said before.
func retracts(s string) bool {
	return holds(strings.ToLower(s), "forget what", "i was wrong", "scratch that", "ich lag falsch", "me equivoqué", "間違っていました")
}

var (
	// looking tells what the agent looked at; cleared says of something that nothing is
	// wrong with it.
	looking = regexp.MustCompile(`(?i)^(?:first,? )?(?:i|we)(?:['’]ve| have)? (?:also )?(?:looked (?:at|into|through)|read|checked|went through|reviewed|inspected|examined|searched|opened)\b|` +
		`^(?:ich habe|wir haben|habe) .*(?:angesehen|angeschaut|gelesen|durchgesehen|geprüft|durchsucht)$|^(?:he |hemos )?(?:mirado|revisado|leído|examinado|miré|revisé|leí|examiné) |` +
		`^(?:j['’]ai|nous avons) (?:regardé|lu|relu|examiné|parcouru|vérifié) |^(?:olhei|li|revisei|verifiquei) |を(?:確認し|見|読み|調べ)ました$|^我?(?:查看|看|阅读|检查)了`)
	cleared = regexp.MustCompile("(?i)^`?[\\w.()]+`? (?:is|are|was|were|looks?) (?:fine|ok|okay|innocent|unaffected)$")
	// beyond matches words and signs by which a sentence tells a finding besides what was
	// looked at ("found", "that", a colon, a number).
	beyond = regexp.MustCompile(`(?i)\b(?:found|saw|see|which|that|it|they|dass|und es|que|qui)\b|[:;→]| [–—-] |\d`)
)

// looksOnly reports whether a sentence says no more than what the agent looked at, or that
// a part of the program is not at fault.
func looksOnly(s string) bool {
	if cleared.MatchString(s) {
		return true
	}
	low := strings.ToLower(s)
	return looking.MatchString(s) && !beyond.MatchString(s) && !holds(low, cues[tellsWhy]...) && !holds(low, cues[tellsContrast]...) && !holds(low, cues[negates]...)
}

// clauses splits a long sentence where a statement ends that can stand alone: at a
// semicolon or a dash. A guess is not split: its parts sound certain.
func clauses(s string) []string {
	if holds(strings.ToLower(s), cues[tellsGuess]...) {
		return nil
	}
	var out []string
	rest := s
	for {
		i, size := breakOf(rest)
		if i < 0 {
			break
		}
		out = append(out, strings.TrimSpace(rest[:i]))
		rest = rest[i+size:]
	}
	if len(out) == 0 {
		return nil
	}
	return append(out, strings.TrimSpace(rest))
}

// breakOf returns where the first clause of s ends, and the length of the mark there; -1
// for none.
func breakOf(s string) (at, size int) {
	at = -1
	for _, mark := range []string{"; ", " – ", " — ", ": "} {
		for from := 0; ; {
			i := strings.Index(s[from:], mark)
			if i < 0 {
				break
			}
			i += from
			if balanced(s[:i]) && (at < 0 || i < at) && len(words(s[:i])) >= 4 && len(words(s[i+len(mark):])) >= 4 {
				at, size = i, len(mark)
				break
			}
			from = i + len(mark)
		}
	}
	return at, size
}

var (
	// opening is an answer, an agreement or an apology in front of a statement: "Yes –
	// added …", "You were right, …".
	opening = regexp.MustCompile(`(?i)^(?:yes|no|right|agreed|sure|done|fixed|ok|okay|found it|correct|exactly|understood|implemented|sorry|my bad|apologies|you(?:'re| are| were)(?: absolutely| quite)? right|good (?:catch|point|question)|` +
		`ja|nein|genau|stimmt|erledigt|fertig|behoben|du hast recht|entschuldigung|sí|si|listo|hecho|claro|cierto|tienes razón|perdón|oui|non|c'est (?:fait|corrigé)|désolée?|pronto|feito|sim|desculpe|готово|да|はい|いいえ|完了|すみません|好的|已修复)` +
		`(?: ?[–—-] |[,:!.] |[、。，：]\s*)`)
	// label heads a statement by its kind.
	label = regexp.MustCompile(`(?i)^(?:(?:the |la |el |die |der |o |a |le )?(?:root cause|cause|reason|problem|culprit|fix|change|result|summary|note|one thing i noticed|ursache|grund|lösung|ergebnis|causa|motivo|problema|resultado|problème|raison|причина)|原因|理由|结果|結果|修正|対応)(?: was| is)? ?[:：]\s*`)
	// testPasses is a report of a test by its name.
	testPasses = regexp.MustCompile("^`?[\\w./:-]*[Tt]est\\w*`? (?:now )?pass(?:es|ed)?\\b")
	// offer is what the agent would do if asked.
	offer = regexp.MustCompile(`(?i)\b(?:if you(?:'d)? (?:want|like|need|prefer)|let me know|happy to|shall i|want me to|wenn du (?:willst|möchtest)|sag bescheid|si quieres|si prefieres|se quiser|si tu veux)\b|必要(?:なら|であれば)|如果需要`)
)

// withoutOpening drops the answer or apology in front of a statement.
func withoutOpening(s string) string {
	if rest := s[len(opening.FindString(s)):]; len(rest) < len(s) && (len(words(rest)) >= 3 || !isASCII(rest)) {
		return capital(rest)
	}
	return s
}

// pick is what was chosen: a title, a subtitle, and the candidates that they say.
type pick struct {
	title, subtitle string
	used            []int
	// before is what another record of the turn says already.
	before string
}

// choose returns the best title and what goes best with it. A title that is given stays.
// ok is false when the agent said nothing usable.
func (c *chooser) choose(given string) (out pick, ok bool) {
	if !c.said && len(c.episode.answers) == 0 {
		return pick{title: given}, false
	}
	out.title = given
	apart := c.decisions()
	if given == "" {
		i, title := c.bestTitle(apart)
		if i < 0 {
			i, title = c.bestTitle(nil)
		}
		if i < 0 {
			return out, false
		}
		out.title, out.used = title, []int{i}
		c.addRest(i, title)
	}
	for i := range c.list {
		if given != "" && titleOf(c.list[i].text) == given {
			out.used = []int{i}
			c.addRest(i, given)
			break
		}
	}
	chosen := out.used
	out.used = slices.Concat(chosen, apart)
	out.subtitle = c.subtitle(&out)
	out.used = slices.DeleteFunc(out.used, func(i int) bool { return slices.Contains(apart, i) && !slices.Contains(chosen, i) })
	if trace := c.episode.turn.choosing.trace; trace != nil {
		trace(c.trainingExample(&out, given == ""))
	}
	return out, true
}

// decisions returns the candidates that tell a decision: beside work it is a second
// thing, and not what the work was.
func (c *chooser) decisions() []int {
	var out []int
	for i := range c.list {
		if len(c.episode.edits) > 0 && tellsDecision(c.list[i].text, false) {
			out = append(out, i)
		}
	}
	return out
}

// second returns a second thing worth remembering beside the first: a decision with what
// was rejected, a limit that stays. decided tells which of the two it is.
func (c *chooser) second(out *pick) (also pick, decided, ok bool) {
	taken := slices.Clone(out.used)
	said := out.title + " " + out.subtitle
	saidWords := rareWords(said)
	for i := range c.list {
		x := &c.list[i]
		if x.source != fromMessage || x.part || x.row || x.outline || looksAhead(x.sentence) || leavesOpen(x.sentence) || shareOf(rareWords(x.text), saidWords) > 0.5 ||
			!decides(x.text) && !limits(x.text) && !compares(x.text) || len(words(x.text)) < 6 && isASCII(x.text) {
			taken = append(taken, i)
		}
	}
	i, title := c.bestTitle(taken)
	if i < 0 {
		return also, false, false
	}
	also = pick{title: title, used: append(slices.Clone(out.used), i), before: said + " "}
	c.addRest(i, title)
	also.subtitle = c.subtitle(&also)
	return also, decides(c.list[i].text), true
}

// decides reports whether a sentence tells a decision, or an alternative that was not
// taken.
func decides(s string) bool {
	return tellsDecision(s, false) || holds(strings.ToLower(s), cues[tellsReject]...) && explains(s)
}

// limits reports whether a sentence tells a limit of something named.
func limits(s string) bool {
	return holds(strings.ToLower(s), cues[tellsLimit]...) && hasCode(s)
}

// compares reports whether a sentence gives a value before and after.
func compares(s string) bool { return strings.Contains(s, "→") && measured.MatchString(s) }

// addRest adds what a title that ends with a clause leaves of its sentence.
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
	rest = strings.TrimLeft(rest, ",;:–—. ")
	if lead, ok := cutFold(rest, "and ", "so ", "und ", "y "); ok {
		rest = lead
	}
	if len(words(rest)) < 4 || holds(strings.ToLower(x.text), cues[tellsGuess]...) {
		return
	}
	x.text, x.first, x.part = rest, false, true
	x.values = nil
	c.list = append(c.list, x)
}

// bestTitle returns the candidate with the highest score as a title; -1 for none. taken
// are candidates that are told already.
func (c *chooser) bestTitle(taken []int) (at int, title string) {
	at, best := -1, 0.0
	for i := range c.list {
		x := &c.list[i]
		if slices.Contains(taken, i) {
			continue
		}
		s := titleOf(x.text)
		if s == "" || (x.source == fromAgent || x.source == fromCommit) && c.said {
			continue
		}
		f := c.featuresOf(x, maxTitle)
		if score := c.weights.title.score(&f); at < 0 || score > best {
			at, best, title = i, score, s
		}
	}
	return at, title
}

// titleOf returns a sentence as a title; "" when cutting it would say something else.
func titleOf(s string) string {
	s = imperative(withoutReports(withoutCausePhrase(strings.TrimRight(s, ". 。"))))
	short := shown(s, maxTitle)
	if cutsContrast(plain(s), short) || isASCII(short) && len(words(short)) < 4 {
		return ""
	}
	return strings.TrimRight(short, ". ")
}

// cutsContrast reports whether what a cut dropped takes back, restricts or doubts what it
// left.
func cutsContrast(whole, short string) bool {
	short = strings.TrimSuffix(short, "…")
	if len(short) >= len(whole) || !strings.HasPrefix(whole, short) {
		return false
	}
	dropped := whole[len(short):]
	switch firstWord(dropped) {
	case "but", "except", "unless", "though", "however", "aber", "außer", "sondern", "pero", "salvo", "excepto", "sino", "mais", "sauf":
		return true
	}
	return holds(strings.ToLower(dropped), cues[tellsGuess]...) && !holds(strings.ToLower(short), cues[tellsGuess]...)
}

// subtitle returns the statements that go best with the title, in their order, as far as
// they fit.
func (c *chooser) subtitle(out *pick) string {
	var picked []int
	room := maxSubtitle
	said := rareWords(out.before + out.title)
	for len(picked) < 3 && room > 40 {
		at, best := -1, 0.0
		for i := range c.list {
			x := &c.list[i]
			if slices.Contains(out.used, i) || slices.Contains(picked, i) || x.source == fromPrompt || startsNext(x.text) {
				continue
			}
			s := fitting(x.text, room)
			if s == "" {
				continue
			}
			f := c.featuresOf(x, room)
			f[repeatsTitle] = shareOf(rareWords(s), said)
			if f[repeatsTitle] > 0.7 {
				continue
			}
			if score := c.weights.subtitle.score(&f); at < 0 || score > best {
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
	var parts []string
	for _, i := range picked {
		parts = append(parts, fitting(c.list[i].text, room))
	}
	out.used = append(out.used, picked...)
	return shown(sentencesOf(parts), maxSubtitle)
}

// startsNext reports whether a sentence announces the next step, which the summary keeps.
func startsNext(s string) bool {
	low := strings.ToLower(s)
	return slices.ContainsFunc(nextStarts, func(p string) bool { return strings.HasPrefix(low, p) })
}

// fitting returns a sentence cut to room characters, "" when too little is left of it.
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
	return float64(shared(said, words)) / float64(len(words))
}
