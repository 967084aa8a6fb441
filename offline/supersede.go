package offline

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"claudemem"
	"claudemem/text"
)

// supersede marks, in the observations of a batch, the earlier records that they reverse.
// A false mark hides something true, so each rule wants evidence that cannot mean another
// thing: a commit that was reverted, symbols that have their old code again, a value that
// was put back, the other answer to the same question, a finding that is taken back in
// words that name it.
func supersede(batch *claudemem.Batch, turns []*turn, episodes []*episode, observations []claudemem.Observation) {
	if len(batch.Nearby) == 0 || len(observations) == 0 {
		return
	}
	for _, t := range turns {
		var own []*claudemem.Observation
		for i := range observations {
			if observations[i].PromptNumber == t.number {
				own = append(own, &observations[i])
			}
		}
		if len(own) == 0 {
			continue
		}
		r := t.reversals(episodes, batch)
		for i := range batch.Nearby {
			if by := r.by(&batch.Nearby[i], own); by != nil && !repeats(*by, batch.Nearby[i:i+1]) {
				by.Supersedes = append(by.Supersedes, batch.Nearby[i].ID)
			}
		}
	}
}

// reversals is what a turn shows of taking earlier work back.
type reversals struct {
	session claudemem.SessionID
	// commits are the subjects or hashes of the commits that it reverted.
	commits []string
	// undone are the records whose symbols all have the code again that they had before.
	undone map[claudemem.ObservationID]bool
	values []newValue
	// putBack: the user or the agent says that something was put back.
	putBack bool
	// choices are what the turn says of one thing in place of another, said its sentences.
	choices []choicePair
	said    []string
	// number is the turn's; corrected: the user said no to what the turn before found, and
	// the agent agrees.
	number    int
	corrected bool
	// otherwise are the choices of which the user says that they were decided differently.
	otherwise []choicePair
}

// reversals collects the evidence of the turn.
func (t *turn) reversals(episodes []*episode, batch *claudemem.Batch) reversals {
	r := reversals{session: batch.Session.ID, undone: t.undoneRecords(batch), values: t.newValues(), number: t.number, corrected: t.corrected()}
	for _, e := range episodes {
		if e.turn == t {
			r.commits = append(r.commits, e.reverts...)
		}
	}
	for _, s := range sentences(t.request.text) {
		r.said = append(r.said, s.text)
		if holds(strings.ToLower(s.text), otherwiseCues...) {
			r.otherwise = append(r.otherwise, choicePairs(s.text)...)
		}
	}
	for _, s := range t.message {
		r.said = append(r.said, s.text)
	}
	for _, s := range r.said {
		r.putBack = r.putBack || holds(strings.ToLower(s), putBackCues...)
		r.choices = append(r.choices, choicePairs(s)...)
	}
	return r
}

// by returns the one of the turn's observations that reverses an earlier record, nil if
// none does.
func (r *reversals) by(old *claudemem.Observation, own []*claudemem.Observation) *claudemem.Observation {
	switch {
	case r.revertedCommits(old):
		return firstWith(own, func(o *claudemem.Observation) bool {
			return slices.ContainsFunc(o.Facts, func(fact string) bool { return strings.HasPrefix(fact, revertedFact) })
		})
	case r.undone[old.ID], r.replaced(old, own):
		return firstWith(own, func(o *claudemem.Observation) bool { return shareModified(o, old) })
	case r.tookBack(old), r.disproved(old), r.choseOther(old, own), r.decidedOtherwise(old, own):
		return own[0]
	}
	for _, o := range own {
		if otherAnswer(o, old) {
			return o
		}
	}
	return nil
}

// firstWith returns the first of the observations for which fits is true, else the first.
func firstWith(own []*claudemem.Observation, fits func(*claudemem.Observation) bool) *claudemem.Observation {
	if i := slices.IndexFunc(own, fits); i >= 0 {
		return own[i]
	}
	return own[0]
}

// shareModified reports whether two observations modified a file in common.
func shareModified(a, b *claudemem.Observation) bool {
	files := b.FilesIn(claudemem.FileModified)
	return slices.ContainsFunc(a.FilesIn(claudemem.FileModified), func(f string) bool { return slices.Contains(files, f) })
}

// The beginnings of facts by which later batches recognise commits and reverts.
const (
	committedFact = "Committed: “"
	revertedFact  = "Reverted: "
)

// revertedCommits reports whether the turn reverted all commits of a record, or the revert
// that the record tells of.
func (r *reversals) revertedCommits(old *claudemem.Observation) bool {
	if len(r.commits) == 0 {
		return false
	}
	commits, taken := 0, 0
	for _, fact := range old.Facts {
		if subject, ok := strings.CutPrefix(fact, committedFact); ok {
			commits++
			if subject = strings.TrimSuffix(subject, "”"); slices.ContainsFunc(r.commits, func(name string) bool { return sameSubject(name, subject) }) {
				taken++
			}
		}
		if said, ok := strings.CutPrefix(fact, revertedFact); ok && slices.ContainsFunc(r.commits, func(name string) bool {
			inner, ok := strings.CutPrefix(name, `Revert "`)
			return ok && sameSubject(strings.TrimSuffix(inner, `"`), strings.Trim(said, "“”"))
		}) {
			return true
		}
	}
	if commits == 1 && taken == 0 {
		return slices.ContainsFunc(r.commits, func(name string) bool {
			return len(name) >= 7 && isHash(name) && strings.HasPrefix(old.HeadCommit, name)
		})
	}
	return commits > 0 && taken == commits
}

// sameSubject reports whether two subjects are of one commit: a forge appends " (#12)" to
// what it squashes.
func sameSubject(a, b string) bool {
	bare := func(s string) string {
		if i := strings.LastIndex(s, " (#"); i > 0 && strings.HasSuffix(s, ")") {
			s = s[:i]
		}
		return strings.TrimRight(s, "…. ")
	}
	a, b = bare(a), bare(b)
	return len(a) >= 4 && a == b
}

// isHash reports whether a name may be the hash of a commit.
func isHash(name string) bool {
	return strings.Trim(name, "0123456789abcdef") == ""
}

// undoneRecords returns the records of which the turn took back all changes of functions
// and types: each has the code that it had before, or is gone again.
func (t *turn) undoneRecords(batch *claudemem.Batch) map[claudemem.ObservationID]bool {
	type name struct{ file, symbol string }
	changes := map[name]claudemem.SymbolChange{}
	for i := range batch.Events {
		if batch.Events[i].PromptNumber != t.number {
			continue
		}
		for _, c := range batch.Events[i].Symbols {
			n := name{c.FilePath, c.QualifiedName}
			if first, ok := changes[n]; ok {
				c.BeforeHash = first.BeforeHash
			}
			changes[n] = c
		}
	}
	if len(changes) == 0 {
		return nil
	}
	bySession := map[claudemem.SessionID][]claudemem.SymbolChange{}
	for _, c := range batch.NearbySymbols {
		bySession[c.Session] = append(bySession[c.Session], c)
	}
	undone := map[claudemem.ObservationID]bool{}
	for i := range batch.Nearby {
		old := &batch.Nearby[i]
		about := map[name]bool{}
		for _, f := range old.Files {
			for _, s := range f.Symbols {
				if f.Role == claudemem.FileModified {
					about[name{f.Path, s.Name}] = true
				}
			}
		}
		all, some := true, false
		for _, c := range bySession[old.Session] {
			n := name{c.FilePath, c.QualifiedName}
			if !about[n] && c.ChangeType != claudemem.SymbolDeleted {
				continue
			}
			now, touched := changes[n]
			all = all && touched && now.BeforeHash == c.BodyHash && now.BodyHash == c.BeforeHash && now.RenamedFrom == ""
			some = true
		}
		undone[old.ID] = all && some
	}
	return undone
}

// newValue is a value that an edit replaced in a line that is the same otherwise.
type newValue struct {
	file string
	// key is the name before it in the line, "" for none.
	key      string
	was, now string
}

// maxValues bounds the replaced values of a turn, maxPairs the lines of an edit that are
// compared.
const (
	maxValues = 40
	maxPairs  = 200
)

// newValues returns the values that the turn's edits replaced, the old one being nowhere in
// what they wrote.
func (t *turn) newValues() []newValue {
	var out []newValue
	for _, s := range t.steps {
		for _, e := range s.edits {
			if len(e.minus) != len(e.plus) || len(e.minus) > maxPairs {
				continue
			}
			for i, line := range e.minus {
				was, now, key := replacedValue(line, e.plus[i])
				if was == "" || len(out) == maxValues || slices.ContainsFunc(e.plus, func(p string) bool { return hasToken(p, was) }) {
					continue
				}
				out = append(out, newValue{e.path, key, was, now})
			}
		}
	}
	return out
}

// replacedValue compares two lines that differ in one value, and returns it before and
// after, with the name before it. All are "" for other lines.
func replacedValue(a, b string) (was, now, key string) {
	const longest = 400
	if a == b || len(a) > longest || len(b) > longest {
		return "", "", ""
	}
	from := 0
	for from < min(len(a), len(b)) && a[from] == b[from] {
		from++
	}
	toA, toB := len(a), len(b)
	for toA > from && toB > from && a[toA-1] == b[toB-1] {
		toA--
		toB--
	}
	for from > 0 && inValue(a[from-1]) {
		from--
	}
	for toA < len(a) && inValue(a[toA]) {
		toA++
		toB++
	}
	was, now = strings.Trim(a[from:toA], ".:-/"), strings.Trim(b[from:toB], ".:-/")
	if !isValue(was) || !isValue(now) {
		return "", "", ""
	}
	names := strings.FieldsFunc(a[:from], func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' && r != '.'
	})
	for _, name := range slices.Backward(names) {
		if len(name) > 2 {
			key = name
			break
		}
	}
	return was, now, key
}

// inValue reports whether a byte may stand in a value: an address, a version, a number with
// its unit.
func inValue(c byte) bool { return text.IsIdent(c) || strings.IndexByte(".:/@~^+%-", c) >= 0 }

// isValue reports whether s is one value that text can name: with a digit or a sign of a
// name, and without blanks.
func isValue(s string) bool {
	if len(s) < 2 || len(s) > 80 {
		return false
	}
	for i := range len(s) {
		if !inValue(s[i]) {
			return false
		}
	}
	return strings.ContainsAny(s, "0123456789:/@") || strings.Trim(s, "-._") != "" && strings.ContainsAny(s[1:], "-._")
}

// hasToken reports whether s has a value as a whole.
func hasToken(s, value string) bool {
	for from := 0; ; {
		i := strings.Index(s[from:], value)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(value)
		before := i == 0 || !text.IsIdent(s[i-1]) && (i < 2 || s[i-1] != '.' || !text.IsIdent(s[i-2]))
		after := end == len(s) || !text.IsIdent(s[end]) && (end+1 == len(s) || s[end] != '.' || !text.IsIdent(s[end+1]))
		if before && after {
			return true
		}
		from = i + 1
	}
}

// putBackCues say that something is as it was before.
var putBackCues = []string{"roll back", "rolled back", "rolls back", "rollback", "revert", "reverted", "back to", "put back", "take back", "taken back", "undo", "undone",
	"went back", "go back", "switched back", "again", "zurück", "zurückgerollt", "rückgängig", "wieder", "de nuevo", "revertido", "deshacer", "volver", "vuelve", "元に戻", "戻し",
	"annulé", "rétabli", "de volta", "desfeito", "回退", "恢复"}

// replaced reports whether the turn replaced a value that an earlier record of the same
// file introduced: by the one that the record names as the rejected or former one, or by
// another one where the record's title is about the value.
func (r *reversals) replaced(old *claudemem.Observation, own []*claudemem.Observation) bool {
	if len(r.values) == 0 {
		return false
	}
	modified := old.FilesIn(claudemem.FileModified)
	front := old.Title + "\n" + old.Subtitle
	for _, v := range r.values {
		if !slices.Contains(modified, v.file) || !hasToken(front, v.was) {
			continue
		}
		told := front + "\n" + old.Narrative + "\n" + strings.Join(old.Facts, "\n")
		about := len(v.key) > 2 && mentions(told, v.key)
		switch {
		case hasToken(told, v.now):
			if introduces(front, v.was, v.now) && (about || r.putBack) {
				return true
			}
		case about && hasToken(old.Title, v.was) && old.Type != claudemem.TypeBugfix && old.Type != claudemem.TypeDiscovery:
			if slices.ContainsFunc(own, func(o *claudemem.Observation) bool {
				said := o.Title + "\n" + o.Subtitle + "\n" + strings.Join(o.Facts, "\n")
				return hasToken(said, v.now) && shareModified(o, old)
			}) {
				return true
			}
		}
	}
	return false
}

// introduces reports whether a text tells of a value as the new one in place of another:
// "8080 instead of 9090", "9090 → 8080", "from 9090 to 8080"; alone it is the new one, too.
func introduces(front, value, other string) bool {
	for line := range strings.Lines(front) {
		i, j := strings.Index(line, value), strings.Index(line, other)
		switch {
		case i < 0:
		case j < 0:
			return true
		case i < j:
			if holds(strings.ToLower(line[i:j]), insteadCues...) {
				return true
			}
		case strings.Contains(line[j:i], "→") || strings.Contains(line[j:i], "->") || holds(strings.ToLower(line[j:i]), "to", "auf", "a", "à", "para"):
			return true
		}
	}
	return false
}

// insteadCues stand between what was chosen and what it was chosen over.
var insteadCues = []string{"instead of", "rather than", "in place of", "over", "statt", "anstatt", "anstelle von", "en lugar de", "en vez de", "au lieu de", "plutôt que", "em vez de", "invece di"}

// choicePair is a thing that was chosen over another, both as words in lower case.
type choicePair struct{ chosen, rejected string }

// choicePairs returns what a sentence says of one thing in place of another.
func choicePairs(s string) []choicePair {
	low := strings.ToLower(s)
	var out []choicePair
	for _, cue := range insteadCues {
		if cue == "over" { // "over 20 files" chooses nothing
			continue
		}
		before, after, ok := strings.Cut(low, " "+cue+" ")
		if !ok {
			continue
		}
		chosen, rejected := lastName(before), firstName(after)
		if chosen != "" && rejected != "" && chosen != rejected {
			out = append(out, choicePair{chosen, rejected})
		}
	}
	return out
}

// fillers are words that name nothing.
var fillers = text.Set(`the a an our its their plain just using use uses with that this it them one ones now der die das den dem ein eine el la los las un una le les
	for in of on to and or again after all be is are was were been being have has had do does did not no we i you`)

func lastName(s string) string {
	for _, w := range slices.Backward(strings.Fields(s)) {
		if w = strings.Trim(w, "`'\"“”‘’()[],.;:!?*"); w != "" {
			if fillers[w] || len(w) < 2 {
				return ""
			}
			return w
		}
	}
	return ""
}

func firstName(s string) string {
	for _, w := range strings.Fields(s) {
		if w = strings.Trim(w, "`'\"“”‘’()[],.;:!?*"); w != "" && !fillers[w] {
			return w
		}
	}
	return ""
}

// choseOther reports whether the turn chose what an earlier record rejected over what it
// chose, of the same subject: in a file that both modified or, where one modified none,
// with another word of the titles in common.
func (r *reversals) choseOther(old *claudemem.Observation, own []*claudemem.Observation) bool {
	if len(r.choices) == 0 {
		return false
	}
	for _, was := range append(choicePairs(old.Title), choicePairs(old.Subtitle)...) {
		for _, now := range r.choices {
			if now.chosen != was.rejected || now.rejected != was.chosen {
				continue
			}
			if slices.ContainsFunc(own, func(o *claudemem.Observation) bool {
				if len(o.FilesIn(claudemem.FileModified)) > 0 && len(old.FilesIn(claudemem.FileModified)) > 0 {
					return shareModified(o, old)
				}
				return shareSubject(o, old, was)
			}) {
				return true
			}
		}
	}
	return false
}

// otherwiseCues say that something had been decided differently before.
var otherwiseCues = []string{"decided otherwise", "decided differently", "changed our mind", "changed our minds", "changed my mind", "on second thought", "after all", "anders entschieden", "umentschieden", "nun doch", "jetzt doch",
	"cambiamos de opinión", "hemos cambiado de idea", "al final", "finalement", "mudamos de ideia", "やっぱり", "やはり", "方針を変え", "改为"}

// decidedOtherwise reports whether the user decided otherwise, for one thing in place of
// another, where the title of an earlier work on the same file tells of the other alone.
func (r *reversals) decidedOtherwise(old *claudemem.Observation, own []*claudemem.Observation) bool {
	if old.Type == claudemem.TypeBugfix || old.Type == claudemem.TypeDiscovery {
		return false
	}
	was := strings.ToLower(old.Title)
	for _, now := range r.otherwise {
		if !hasToken(was, now.rejected) || hasToken(was, now.chosen) {
			continue
		}
		if slices.ContainsFunc(own, func(o *claudemem.Observation) bool {
			return shareModified(o, old) && hasToken(strings.ToLower(o.Title+"\n"+o.Subtitle), now.chosen)
		}) {
			return true
		}
	}
	return false
}

// shareSubject reports whether the titles of two observations have a word of weight in
// common, besides those of a choice.
func shareSubject(a, b *claudemem.Observation, but choicePair) bool {
	known := map[string]bool{}
	for _, w := range words(a.Title) {
		known[w] = true
	}
	return slices.ContainsFunc(words(b.Title), func(w string) bool {
		return len(w) > 3 && known[w] && !fillers[w] && w != but.chosen && w != but.rejected && !strings.Contains(but.chosen+" "+but.rejected, w) && !slices.Contains(insteadWords, w)
	})
}

// insteadWords are the words of the cues themselves.
var insteadWords = []string{"instead", "rather", "than", "statt", "anstatt", "anstelle", "lugar", "lieu", "plutôt", "invece", "place"}

// The beginnings of the sentences in which a decision of a dialog is told.
const (
	askedStory   = "The user was asked: "
	decidedStory = "The user decided: "
)

// otherAnswer reports whether a decision gives another answer to the question of an earlier
// one, which was among the options and was not chosen this time.
func otherAnswer(o, old *claudemem.Observation) bool {
	if o.Type != claudemem.TypeDecision || old.Type != claudemem.TypeDecision {
		return false
	}
	question, answer := dialogOf(o.Narrative)
	oldQuestion, oldAnswer := dialogOf(old.Narrative)
	if question == "" || oldAnswer == "" || !slices.Equal(words(question), words(oldQuestion)) || slices.Equal(words(answer), words(oldAnswer)) {
		return false
	}
	return slices.ContainsFunc(o.Facts, func(fact string) bool {
		rest, ok := cutPrefixes(fact, "Rejected: ", "Offered: ")
		return ok && (rest == oldAnswer || strings.HasPrefix(rest, oldAnswer+" ("))
	})
}

// dialogOf returns the question and the answer of a decision's narrative.
func dialogOf(narrative string) (question, answer string) {
	rest, ok := strings.CutPrefix(narrative, askedStory)
	if !ok {
		return "", ""
	}
	question, answer, ok = strings.Cut(rest, decidedStory)
	if !ok {
		return "", ""
	}
	answer = text.Before(answer, " The options were: ")
	return strings.TrimSpace(question), strings.TrimRight(strings.TrimSpace(answer), ".")
}

// retractions say that something which was held for true is not.
var retractions = []string{"was wrong", "were wrong", "i was mistaken", "turned out to be wrong", "turned out not to be", "turns out not to be", "is not the cause", "was not the cause", "wasn't the cause", "isn't the cause",
	"not the cause after all", "had nothing to do with", "has nothing to do with", "nothing to do with", "disproved", "disproves", "ruled out", "my earlier", "my first guess", "my initial",
	"war falsch", "lag falsch", "hat nichts damit zu tun", "nichts zu tun mit", "ist nicht die ursache", "war nicht die ursache", "lag nicht an", "lag doch nicht",
	"estaba equivocado", "me equivoqué", "no era la causa", "no tiene nada que ver", "n'était pas la cause", "je me suis trompé", "rien à voir", "não era a causa", "me enganei",
	"原因ではありません", "原因ではなかった", "関係ありません", "間違いでした", "不是原因", "无关"}

// tookBack reports whether the turn takes back a finding or an assumed cause that its own
// session stored earlier: in a sentence that says so and has the names of its title.
func (r *reversals) tookBack(old *claudemem.Observation) bool {
	if old.Session != r.session || old.Type != claudemem.TypeDiscovery && old.Type != claudemem.TypeDecision {
		return false
	}
	for _, s := range r.said {
		if holds(strings.ToLower(s), retractions...) && namesOf(old.Title, s) {
			return true
		}
	}
	return false
}

var (
	// denies opens a prompt that says no to what was said before; concedes a message that
	// agrees; isNot takes a thing back.
	denies   = regexp.MustCompile(`(?i)^\W*(?:(?:no|nope|nein|nee|non|não|нет)(?:[,.:!]| [–—-] | (?:it|that|this|das|es|eso) )|(?:that|this|it)(?:['’]s| is| was) (?:wrong|not (?:it|right|true|the))\b|(?:that|this|it) (?:isn|wasn)['’]t (?:it|right|true|the)\b|that can(?:not|['’]t) be|das (?:kann nicht|stimmt nicht|ist falsch)|eso no|ce n'est pas|いいえ|いや|違い|違う|不对|不是)`)
	concedes = regexp.MustCompile(`(?i)^(?:you(?:['’]re| are| were) (?:absolutely |quite )?(?:right|correct)|my mistake|i was wrong|(?:du hast|sie haben) recht|stimmt|tienes razón|tiene razón|me equivoqué|tu as raison|vous avez raison|você tem razão|tem razão|おっしゃる通り|その通り|ご指摘の通り|你说得对|您说得对)`)
	isNot    = regexp.MustCompile(`(?i)\b(?:it|that|this)(?: is| was|['’]s) not\b|\b(?:it|that|this) (?:isn|wasn)['’]t\b|\b(?:is|was) not the\b|\b(?:isn|wasn)['’]t the\b|\b(?:liegt|lag|ist|war)(?: es)?(?: doch)? nicht\b|\bno (?:es|era|fue)\b|\bn['’](?:est|était) pas\b|\bnão (?:é|era|foi) |ではありません|ではなく|ではなかった|不是`)
)

// corrected reports whether the user says no to what was told before, and the agent agrees
// and says in so many words what it is not.
func (t *turn) corrected() bool {
	if !denies.MatchString(t.request.text) {
		return false
	}
	for _, s := range t.message[:min(2, len(t.message))] {
		if concedes.MatchString(s.text) {
			return slices.ContainsFunc(t.message[:min(3, len(t.message))], func(s sentence) bool { return isNot.MatchString(s.text) })
		}
	}
	return false
}

// disproved reports whether an earlier record is the finding of the turn before, which the
// user and the agent agree is wrong.
func (r *reversals) disproved(old *claudemem.Observation) bool {
	return r.corrected && old.Session == r.session && isFindingOf(old, r.number-1)
}

// withoutGuesses leaves out the findings of a batch that a later turn of it disproves.
func withoutGuesses(turns []*turn, observations []claudemem.Observation) []claudemem.Observation {
	for _, t := range turns {
		if !t.corrected() || !slices.ContainsFunc(observations, func(o claudemem.Observation) bool { return o.PromptNumber == t.number }) {
			continue
		}
		observations = slices.DeleteFunc(observations, func(o claudemem.Observation) bool { return isFindingOf(&o, t.number-1) })
	}
	return observations
}

// isFindingOf reports whether an observation tells what the turn of a number found out
// without changing anything.
func isFindingOf(o *claudemem.Observation, number int) bool {
	return o.PromptNumber == number && o.Type == claudemem.TypeDiscovery && len(o.FilesIn(claudemem.FileModified)) == 0
}

// namesOf reports whether a sentence has the names of a title: half of its words of code,
// at least one, or where it has none half of its other words, at least two.
func namesOf(title, sentence string) bool {
	code, has := 0, 0
	for _, w := range strings.Fields(title) {
		if w = strings.Trim(w, "`'\"“”()[],.;:!?*"); looksLikeCode(w) || isPathLike(w) {
			code++
			if hasToken(sentence, w) {
				has++
			}
		}
	}
	if code > 0 {
		return 2*has >= code
	}
	known := words(sentence)
	n := 0
	for _, w := range words(title) {
		if len(w) > 3 && !fillers[w] {
			n++
			if slices.Contains(known, w) {
				has++
			}
		}
	}
	return has >= 2 && 2*has >= n
}
