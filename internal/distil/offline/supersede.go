package offline

import (
	"slices"
	"strings"
	"unicode"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// supersede marks, in the observations made of a batch, the records of batch.Nearby that they
// reverse: it adds to Supersedes, in place. What a turn reverses is marked in an observation of that turn.
// A false mark hides something true, so each rule wants evidence that cannot mean another
// thing: a commit that was reverted, symbols that have their old code again, a value that
// was put back, the other answer to the same question, a finding that is taken back in
// words that name it.
func supersede(batch *memory.Batch, turns []*turn, observations []memory.Observation) {
	if len(batch.Nearby) == 0 || len(observations) == 0 {
		return
	}
	for _, t := range turns {
		own := collect.Keep(collect.Pointers(observations), func(o *memory.Observation) bool { return o.PromptNumber == t.number })
		if len(own) == 0 {
			continue
		}
		r := t.reversals(batch)
		for i := range batch.Nearby {
			if by := r.by(&batch.Nearby[i], own); by != nil && (t.takesBack(&batch.Nearby[i]) || !repeats(*by, batch.Nearby[i:i+1])) {
				by.Supersedes = append(by.Supersedes, batch.Nearby[i].ID)
				if by.Narrative == "" && t.amends() {
					by.Narrative = "In place of: " + batch.Nearby[i].Title // its subject, which an amendment may leave out
				}
			}
		}
	}
}

// reversals is what a turn shows of taking earlier work back.
type reversals struct {
	turn *turn
	// commits are the subjects or hashes of the commits that it reverted.
	commits []string
	// symbols are the net changes of functions and types by the turn, earlier those before it.
	symbols map[symbolName]memory.SymbolChange
	earlier []memory.SymbolChange
	values  []newValue
	// putBack: the user or the agent says that something was put back.
	putBack bool
	// choices are what the turn says of one thing in place of another, said its sentences.
	choices []choicePair
	said    []string
	// otherwise are the choices of which the user says that they were decided differently.
	otherwise []choicePair
}

// reversals collects the evidence of the turn.
func (t *turn) reversals(batch *memory.Batch) reversals {
	r := reversals{turn: t, symbols: map[symbolName]memory.SymbolChange{}, earlier: batch.NearbySymbols, values: t.newValues()}
	for i := range batch.Events {
		for _, c := range batch.Events[i].Symbols {
			if batch.Events[i].PromptNumber == t.number {
				n := symbolName{c.FilePath, c.QualifiedName}
				if first, ok := r.symbols[n]; ok {
					c.BeforeHash = first.BeforeHash
				}
				r.symbols[n] = c
			}
		}
	}
	r.commits = collect.Flat(t.episodes, func(e *episode) []string { return e.reverts })
	asked := sentences(t.request.text)
	for i, s := range slices.Concat(asked, t.message) {
		pairs := choicePairs(s.text)
		r.said, r.choices = append(r.said, s.text), append(r.choices, pairs...)
		r.putBack = r.putBack || lang.Has(s.text, "put-back")
		if i < len(asked) && lang.Has(s.text, "otherwise") {
			r.otherwise = append(r.otherwise, pairs...)
		}
	}
	return r
}

// by returns the one of own, the turn's observations, that is to tell of the reversal of an earlier
// record; nil if the turn does not reverse it. own must not be empty.
func (r *reversals) by(old *memory.Observation, own []*memory.Observation) *memory.Observation {
	switch {
	case r.revertedCommits(old):
		return firstWith(own, func(o *memory.Observation) bool {
			return slices.ContainsFunc(o.Facts, func(fact string) bool { return strings.HasPrefix(fact, revertedFact) })
		})
	case r.undid(old), r.turn.takesBack(old), r.replaced(old, own):
		return firstWith(own, func(o *memory.Observation) bool { return shareModified(o, old) })
	case r.retracts(old), r.turn.disproves(old), r.choseOther(old, own):
		return own[0]
	}
	for _, o := range own {
		if otherAnswer(o, old) || r.turn.overtakes(old, o) {
			return o
		}
	}
	return nil
}

// firstWith returns the first of the observations for which fits is true, else the first of all.
// There must be one.
func firstWith(own []*memory.Observation, fits func(*memory.Observation) bool) *memory.Observation {
	if i := slices.IndexFunc(own, fits); i >= 0 {
		return own[i]
	}
	return own[0]
}

// shareModified reports whether two observations modified a file in common.
func shareModified(a, b *memory.Observation) bool {
	files := b.FilesIn(memory.FileModified)
	return slices.ContainsFunc(a.FilesIn(memory.FileModified), func(f string) bool { return slices.Contains(files, f) })
}

// The beginnings of facts by which later batches recognise commits, reverts and answers.
const (
	committedFact = "Committed: “"
	revertedFact  = "Reverted: "
	rejectedFact  = "Rejected: "
	offeredFact   = "Offered: "
)

// revertedCommits reports whether the turn reverted all commits of a record, or the revert
// that the record tells of.
func (r *reversals) revertedCommits(old *memory.Observation) bool {
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
			return len(name) >= 7 && strings.Trim(name, "0123456789abcdef") == "" && strings.HasPrefix(old.HeadCommit, name)
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

// symbolName names a function or type in a file.
type symbolName struct{ file, name string }

// undid reports whether the turn took back all changes of functions and types that an earlier
// record tells of: each has the code that it had before, or is gone again. If the lines that the
// earlier turn changed are not known any more, one of these that changed behind a no is enough.
func (r *reversals) undid(old *memory.Observation) bool {
	var about []symbolName
	for _, f := range old.Files {
		for _, s := range f.Symbols {
			if f.Role == memory.FileModified {
				about = append(about, symbolName{f.Path, s.Name})
			}
		}
	}
	all, some, part := true, false, false
	for _, c := range r.earlier {
		n := symbolName{c.FilePath, c.QualifiedName}
		isAbout := slices.Contains(about, n)
		if c.Session != old.Session || !isAbout && c.ChangeType != memory.SymbolDeleted {
			continue
		}
		now := r.symbols[n] // a zero value has none of the hashes
		all = all && now.BeforeHash == c.BodyHash && now.BodyHash == c.BeforeHash && now.RenamedFrom == ""
		some = some || now.QualifiedName != ""
		part = part || isAbout && now.BeforeHash == c.BodyHash && now.BodyHash != c.BodyHash
	}
	known := slices.ContainsFunc(r.turn.before, func(f memory.TurnLines) bool { return f.PromptNumber == old.PromptNumber })
	return all && some || part && !known && r.turn.no && old.Session == r.turn.session && r.turn.isNear(old.PromptNumber)
}

// choicePair is a thing that was chosen over another, both as words in lower case.
type choicePair struct{ chosen, rejected string }

// choicePairs returns what a sentence says of one thing in place of another: the words around
// "instead of" and the like; nil for none.
func choicePairs(s string) []choicePair {
	chosen, rejected := namesAround(strings.ToLower(s), "instead")
	if chosen == "" || rejected == "" || chosen == rejected {
		return nil
	}
	return []choicePair{{chosen, rejected}}
}

// namesAround returns the word before the first phrase of a cue and the first word behind it that may be
// a name, without the marks around them; "" where there is none.
func namesAround(s, cue string) (before, behind string) {
	from, to := lang.Find(s, cue)
	name := func(w string) string {
		if w = strings.Trim(w, "`'\"“”‘’()[],.;:!?*"); len(w) < 2 || lang.Is(w, "filler") {
			return ""
		}
		return w
	}
	if all := strings.Fields(s[:from]); len(all) > 0 {
		before = name(all[len(all)-1])
	}
	if i := slices.IndexFunc(strings.Fields(s[to:]), func(w string) bool { return to > 0 && name(w) != "" }); i >= 0 {
		behind = name(strings.Fields(s[to:])[i])
	}
	return before, behind
}

// choseOther reports whether the turn reversed a choice that an earlier record tells of: what it
// rejected was chosen now, in a file that both modified or, where one modified none, with another
// word of their titles in common. So it does if the user says that it was decided otherwise, and
// the title of earlier work on the same file names only what is rejected now.
func (r *reversals) choseOther(old *memory.Observation, own []*memory.Observation) bool {
	title, was := strings.ToLower(old.Title), append(choicePairs(old.Title), choicePairs(old.Subtitle)...)
	work := old.Type != memory.TypeBugfix && old.Type != memory.TypeDiscovery
	return slices.ContainsFunc(r.choices, func(now choicePair) bool {
		reversed := slices.Contains(was, choicePair{now.rejected, now.chosen})
		otherwise := work && slices.Contains(r.otherwise, now) && hasToken(title, now.rejected) && !hasToken(title, now.chosen)
		return (reversed || otherwise) && slices.ContainsFunc(own, func(o *memory.Observation) bool {
			if len(o.FilesIn(memory.FileModified)) > 0 && len(old.FilesIn(memory.FileModified)) > 0 {
				return shareModified(o, old) && (reversed || hasToken(strings.ToLower(o.Title+"\n"+o.Subtitle), now.chosen))
			}
			return reversed && shareSubject(o, old, now)
		})
	})
}

// shareSubject reports whether the titles of two observations have a word of weight in
// common, besides those of a choice.
func shareSubject(a, b *memory.Observation, but choicePair) bool {
	known := words(a.Title)
	return slices.ContainsFunc(words(b.Title), func(w string) bool {
		return len(w) > 3 && slices.Contains(known, w) && !lang.Is(w, "filler", "instead-word") && w != but.chosen && w != but.rejected && !strings.Contains(but.chosen+" "+but.rejected, w)
	})
}

// The beginnings of the sentences in which a decision of a dialog is told.
const (
	askedStory   = "The user was asked: "
	decidedStory = "The user decided: "
	optionsStory = "The options were: "
)

// otherAnswer reports whether a decision gives another answer to the question of an earlier
// one, which was among the options and was not chosen this time.
func otherAnswer(o, old *memory.Observation) bool {
	if o.Type != memory.TypeDecision || old.Type != memory.TypeDecision {
		return false
	}
	question, answer := dialogOf(o.Narrative)
	oldQuestion, oldAnswer := dialogOf(old.Narrative)
	if question == "" || oldAnswer == "" || !slices.Equal(words(question), words(oldQuestion)) || slices.Equal(words(answer), words(oldAnswer)) {
		return false
	}
	return slices.ContainsFunc(o.Facts, func(fact string) bool {
		rest, ok := cutPrefixes(fact, rejectedFact, offeredFact)
		return ok && (rest == oldAnswer || strings.HasPrefix(rest, oldAnswer+" ("))
	})
}

// dialogOf returns the question and the answer of a decision's narrative, as decisionStory wrote it;
// "" for another one.
func dialogOf(narrative string) (question, answer string) {
	rest, ok := strings.CutPrefix(narrative, askedStory)
	if !ok {
		return "", ""
	}
	question, answer, ok = strings.Cut(rest, decidedStory)
	if !ok {
		return "", ""
	}
	answer = text.Before(answer, " "+optionsStory)
	return strings.TrimSpace(question), strings.TrimRight(strings.TrimSpace(answer), ".")
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
	for _, e := range editsOf(t.steps) {
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
	for i := range text.Indexes(s, value) {
		end := i + len(value)
		before := i == 0 || !text.IsIdent(s[i-1]) && (i < 2 || s[i-1] != '.' || !text.IsIdent(s[i-2]))
		after := end == len(s) || !text.IsIdent(s[end]) && (end+1 == len(s) || s[end] != '.' || !text.IsIdent(s[end+1]))
		if before && after {
			return true
		}
	}
	return false
}

// replaced reports whether the turn replaced a value that an earlier record of the same
// file introduced: by the one that the record names as the rejected or former one, or by
// another one where the record's title is about the value.
func (r *reversals) replaced(old *memory.Observation, own []*memory.Observation) bool {
	modified, front := old.FilesIn(memory.FileModified), old.Title+"\n"+old.Subtitle
	return slices.ContainsFunc(r.values, func(v newValue) bool {
		if !slices.Contains(modified, v.file) || !hasToken(front, v.was) {
			return false
		}
		told := toldBy(old) + "\n" + old.Narrative
		about := mentions(told, v.key)
		if hasToken(told, v.now) {
			return introduces(front, v.was, v.now) && (about || r.putBack)
		}
		return about && hasToken(old.Title, v.was) && old.Type != memory.TypeBugfix && old.Type != memory.TypeDiscovery &&
			slices.ContainsFunc(own, func(o *memory.Observation) bool { return hasToken(toldBy(o), v.now) && shareModified(o, old) })
	})
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
			if lang.Has(line[i:j], "instead", "over-alone") {
				return true
			}
		case strings.Contains(line[j:i], "→") || strings.Contains(line[j:i], "->") || lang.Has(line[j:i], "to"):
			return true
		}
	}
	return false
}
