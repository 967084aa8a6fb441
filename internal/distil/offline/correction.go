package offline

import (
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"unicode"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

const (
	// maxBack is how many turns back a no reaches: past two others.
	maxBack = 3
	// enoughUndone: after a no at least one in so many changed lines has to be undone. Fewer are a
	// detail of work that holds.
	enoughUndone = 20
	// enoughFaulted: so it is after a fault found with what was done, which is no no in so many words.
	enoughFaulted = 8
	// asBefore: without a no at most one in so many changed lines may be left, and no more than that
	// may be changed besides.
	asBefore = 5
	// maxLineChanges bounds the changed lines of a turn that are kept for later ones.
	maxLineChanges = 2000
)

// lineSeed keeps lines from being guessed by their hashes.
var lineSeed = maphash.MakeSeed()

// follow compares the turn with what its session changed before it. A no of the user is about the
// newest near turn of which a line is undone (corrects).
func (t *turn) follow(before []memory.TurnLines) {
	t.before = before
	t.no, t.faults = t.denies()
	t.lines = memory.TurnLines{Session: t.session, PromptNumber: t.number, Net: map[memory.FileLine]int{}}
	for _, s := range t.steps {
		if s.event != nil && !s.event.Provenance.Foreign() {
			t.count(s)
		}
	}
	for _, was := range before {
		if !t.no && !t.faults || !t.isNear(was.PromptNumber) {
			continue
		}
		for line, n := range was.Net {
			if t.undoes(line, n) > 0 {
				t.corrects = max(t.corrects, was.PromptNumber)
			}
		}
	}
}

// count adds the lines that a step changed to t.lines. A restored file takes back what earlier turns
// changed in it since the last commit, a deleted one all of it.
func (t *turn) count(s *step) {
	add := func(path string, lines []string, n int) {
		for _, line := range lines {
			if line = strings.TrimSpace(line); len(line) > 3 && len(words(line)) > 0 && len(t.lines.Net) < maxLineChanges {
				t.lines.Net[memory.FileLine{Path: path, Hash: maphash.String(lineSeed, line)}] += n
			}
		}
	}
	restored, deleted := s.Undone, []string(nil)
	for _, e := range s.edits {
		add(e.path, e.plus, 1)
		add(e.path, e.minus, -1)
		if e.deleted {
			deleted = append(deleted, e.path)
		}
	}
	for i := len(t.before) - 1; i >= 0 && len(restored)+len(deleted) > 0; i-- {
		if t.before[i].Committed {
			restored = nil
		}
		gone := slices.Concat(restored, deleted)
		for line, n := range t.before[i].Net {
			if slices.ContainsFunc(gone, func(path string) bool { return within(line.Path, path) }) {
				t.lines.Net[line] -= n
			}
		}
	}
	t.lines.Committed = t.lines.Committed || len(s.Commits) > 0
}

// undoes returns how many of n changes of a line the turn takes back; n is below 0 where the line was
// removed.
func (t *turn) undoes(line memory.FileLine, n int) int {
	now := t.lines.Net[line]
	return max(min(n, -now), min(-n, now), 0)
}

// isNear reports whether a no may be about the turn of that number.
func (t *turn) isNear(number int) bool { return number < t.number && number >= t.number-maxBack }

// denies reports whether the user begins with a no to what was done or told before, in so many words
// or by the name of what the edits remove: "cents, not floats"; and whether the user finds fault with
// what the edits change: "why axios?", "five minutes is too much" where a number is changed.
func (t *turn) denies() (no, faults bool) {
	said := t.request.said
	if len(said) == 0 {
		return false, false
	}
	first, second := said[0].text, said[min(1, len(said)-1)].text
	both := text.FirstBytes(first+" "+second, maxCandidate)
	if lang.Denies(both) || lang.Denies(second) {
		return true, false
	}
	edits := editsOf(t.steps)
	plus := strings.Join(collect.Flat(edits, func(e *edit) []string { return e.plus }), "\n")
	minus := strings.Join(collect.Flat(edits, func(e *edit) []string { return e.minus }), "\n")
	taken, other := namesAround(first, "rejects")
	for _, name := range []string{taken, other} {
		no = no || mentions(minus, name) && !mentions(plus, name)
	}
	asksOut, faulty := lang.Has(both, "oust"), lang.Has(both, "fault")
	if no || !asksOut && !faulty || lang.Begins(first, "goes-on") {
		return no, false
	}
	gone, come := namesOnlyIn(minus, plus), namesOnlyIn(plus, minus)
	named := func(of []string) bool {
		return slices.ContainsFunc(of, func(w string) bool { return len(w) > 1 && mentions(both, w) })
	}
	number := slices.ContainsFunc(slices.Concat(gone, come), func(w string) bool { return text.IsDigit(w[0]) })
	return false, asksOut && (named(gone) || named(words(strings.Join(gone, " ")))) ||
		faulty && (named(gone) || named(come) || number && lang.Has(both, "quantity"))
}

// namesOnlyIn returns the names and numbers of some code that other code does not have, each once, in
// lower case.
func namesOnlyIn(code, other string) []string {
	names := func(code string) []string {
		return strings.FieldsFunc(strings.ToLower(code), func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	}
	only := collect.Set(names(code))
	for _, w := range names(other) {
		delete(only, w)
	}
	return slices.Sorted(maps.Keys(only))
}

// takesBack reports whether the turn takes back the work on files that a record of an earlier turn of
// its session tells of: the user says no to it and a part is undone, or the turn undoes it and does
// nothing else.
func (t *turn) takesBack(old *memory.Observation) bool {
	if old.PromptNumber >= t.number || old.Session != t.session || len(t.lines.Net) == 0 {
		return false
	}
	modified := old.FilesIn(memory.FileModified)
	changed, undone, now, all := 0, 0, 0, len(t.lines.Net) < maxLineChanges // all: no change is unknown
	for _, was := range t.before {
		if was.PromptNumber != old.PromptNumber {
			continue
		}
		all = all && len(was.Net) < maxLineChanges
		for line, n := range was.Net {
			if slices.Contains(modified, line.Path) {
				changed += max(n, -n)
				undone += t.undoes(line, n)
			}
		}
	}
	for _, n := range t.lines.Net {
		now += max(n, -n)
	}
	enough := enoughUndone
	if !t.no {
		enough = enoughFaulted
	}
	return undone > 0 && (t.corrects == old.PromptNumber && enough*undone >= changed || all && asBefore*max(changed-undone, now-undone) <= changed)
}

// tookBack returns a record of what the turn took back, for a turn without any other; nil if it took
// nothing back.
func (t *turn) tookBack(earlier []memory.Observation) []memory.Observation {
	i := slices.IndexFunc(earlier, func(old memory.Observation) bool { return t.takesBack(&old) })
	if i < 0 {
		return nil
	}
	o := newEpisode(t, t.steps).observation(memory.TypeChange, cut("Taken back: "+earlier[i].Title, maxTitle))
	o.Session, o.ProjectPath = t.session, earlier[i].ProjectPath
	o.Files = append(o.Files, collect.Map(earlier[i].FilesIn(memory.FileModified), func(path string) memory.FileRef { return memory.FileRef{Path: path, Role: memory.FileModified} })...)
	return []memory.Observation{o}
}

// retracts reports whether the turn takes back a finding or an assumed cause that its own
// session stored earlier: in a sentence that says so and has the names of its title.
func (r *reversals) retracts(old *memory.Observation) bool {
	return old.Session == r.turn.session && (old.Type == memory.TypeDiscovery || old.Type == memory.TypeDecision) &&
		slices.ContainsFunc(r.said, func(s string) bool { return lang.Has(s, "disprove") && namesOf(old.Title, s) })
}

// disproves reports whether an earlier record is the finding of the turn before, to which the user
// says no, and the agent agrees and says in so many words what it is not.
func (t *turn) disproves(old *memory.Observation) bool {
	if old.Session != t.session || old.PromptNumber != t.number-1 || old.Type != memory.TypeDiscovery || len(old.FilesIn(memory.FileModified)) > 0 || !t.no {
		return false
	}
	says := func(n int, cue string) bool {
		return slices.ContainsFunc(t.message[:min(n, len(t.message))], func(s sentence) bool { return lang.Has(s.text, cue) })
	}
	return says(2, "concede") && says(3, "is-not")
}

// withoutReversed leaves out what a later turn of the batch takes back: work, findings that it
// disproves, and decisions in whose place it puts another. If a turn loses all its observations, its
// summary loses what was completed and learned.
func withoutReversed(turns []*turn, out *memory.Outcome) {
	all := out.Observations
	out.Observations = slices.DeleteFunc(slices.Clone(all), func(old memory.Observation) bool {
		return slices.ContainsFunc(all, func(by memory.Observation) bool {
			return by.PromptNumber > old.PromptNumber && slices.ContainsFunc(turns, func(t *turn) bool {
				return t.number == by.PromptNumber && (t.overtakes(&old, &by) || t.takesBack(&old) || t.disproves(&old))
			})
		})
	})
	for i := range out.Summaries {
		s := &out.Summaries[i]
		isOf := func(o memory.Observation) bool { return o.PromptNumber == s.PromptNumber }
		if slices.ContainsFunc(all, isOf) && !slices.ContainsFunc(out.Observations, isOf) {
			s.Completed, s.Learned = "", ""
		}
	}
}

// namesOf reports whether a sentence has the names of a title: half of its words of code,
// at least one, or where it has none half of its other words, at least two.
func namesOf(title, sentence string) bool {
	var code, plain []string
	for _, w := range strings.Fields(title) {
		if w = strings.Trim(w, "`'\"“”()[],.;:!?*"); looksLikeCode(w) || isPathLike(w) {
			code = append(code, w)
		} else if len(w) > 3 && !lang.Is(strings.ToLower(w), "filler") {
			plain = append(plain, w)
		}
	}
	names, least := code, 1
	if len(code) == 0 {
		names, least = plain, 2
	}
	named := len(slices.DeleteFunc(slices.Clone(names), func(w string) bool { return !mentions(sentence, w) }))
	return named >= least && 2*named >= len(names)
}
