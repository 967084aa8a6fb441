package offline

import (
	"cmp"
	"slices"
	"strings"

	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// attempt is an edit that the turn took back.
type attempt struct {
	edit *edit
	// from and to are the indexes, in turn.steps, of the steps that made it and took it back.
	from, to int
	// stashed: it waits in the stash.
	stashed bool
}

// undo takes back the edits of a turn that a later command threw away or a later edit
// reversed, and files that came and went within it: it removes them from the steps and keeps all
// but the last kind in t.attempts. It marks the failures that they caused as undone. resolve must
// have run before.
func undo(t *turn) {
	for i, s := range t.steps {
		if s.Unstashed && !s.Stashed {
			t.unstash()
		}
		for _, e := range slices.Clone(s.edits) {
			switch {
			case !e.deleted:
			case slices.ContainsFunc(editsOf(t.steps[:i]), func(x *edit) bool { return within(x.path, e.path) && x.created }):
				t.forget(i, e.path)
			case !text.HasExtension(e.path): // probably a directory: no edit of a file
				s.edits = slices.DeleteFunc(s.edits, func(x *edit) bool { return x == e })
			}
		}
		for _, gone := range s.Undone {
			for _, x := range t.steps[:i] { // dependencies go with their manifest
				if slices.ContainsFunc(x.Touched, func(p string) bool { return within(p, gone) }) {
					x.deps = nil
				}
			}
			t.takeBack(i, func(x *edit) bool { return within(x.path, gone) }, 0)
		}
		if s.Stashed && s.Unstashed { // it looked at how it is without the edits
			for _, c := range s.checks {
				c.trial = c.trial || !c.passed
			}
		} else if s.Stashed {
			n := len(t.attempts)
			t.takeBack(i, func(*edit) bool { return true }, 0)
			for j := range t.attempts[n:] {
				t.attempts[n+j].stashed = true
			}
		}
		for _, e := range slices.Clone(s.edits) {
			if first := reversed(t.steps[:i], e); first >= 0 {
				t.takeBack(i, func(x *edit) bool { return x.path == e.path }, first)
				s.edits = slices.DeleteFunc(s.edits, func(x *edit) bool { return x == e })
			}
		}
	}
	t.withoutTrials()
	earliest := map[int]attempt{} // by the step that took back: the work stays linear
	for _, a := range t.attempts {
		if first, ok := earliest[a.to]; !ok || a.from < first.from {
			earliest[a.to] = a
		}
	}
	for _, a := range earliest {
		for _, c := range checksOf(t.steps[a.from : a.to+1]) {
			c.undone = c.undone || t.causedBy(c, a)
		}
	}
}

// within reports whether a path is dir or lies in it; "." is the work tree.
func within(path, dir string) bool {
	dir = strings.TrimSuffix(dir, "/")
	return dir == "." || path == dir || strings.HasPrefix(path, dir+"/")
}

// forget removes, up to step i, the edits of a file or directory that the turn made and deleted,
// and marks its failures as those of a trial; if the turn edited nothing else, all failures since
// the first of these edits.
func (t *turn) forget(i int, path string) {
	tried, alone := false, !slices.ContainsFunc(editsOf(t.steps[:i+1]), func(e *edit) bool { return !within(e.path, path) })
	for _, s := range t.steps[:i+1] {
		n := len(s.edits)
		s.edits = slices.DeleteFunc(s.edits, func(e *edit) bool { return within(e.path, path) && (e.created || path != ".") })
		tried = tried || len(s.edits) < n
		for _, c := range s.checks {
			c.trial = c.trial || !c.passed && (within(c.failure.File, path) || strings.Contains(c.text, nameOf(path)) || tried && alone)
		}
	}
}

// takeBack makes attempts of the edits for which is returns true, of the steps from first up to, and
// without, step i, which took them back.
func (t *turn) takeBack(i int, is func(*edit) bool, first int) {
	for j := first; j < i; j++ {
		s := t.steps[j]
		s.edits = slices.DeleteFunc(s.edits, func(e *edit) bool {
			if !is(e) {
				return false
			}
			t.attempts = append(t.attempts, attempt{edit: e, from: j, to: i})
			return true
		})
	}
}

// unstash puts all edits that wait in the stash back into their steps.
func (t *turn) unstash() {
	t.attempts = slices.DeleteFunc(t.attempts, func(a attempt) bool {
		if a.stashed {
			t.steps[a.from].edits = append(t.steps[a.from].edits, a.edit)
		}
		return a.stashed
	})
}

// reversed returns the index of the first of the steps whose edits of e's file e takes
// back line by line, together with those after it; -1 for none.
func reversed(steps []*step, e *edit) int {
	if len(e.plus)+len(e.minus) == 0 {
		return -1
	}
	net := map[string]int{}
	count(net, e)
	for i, s := range slices.Backward(steps) {
		for _, x := range s.edits {
			if x.path != e.path {
				continue
			}
			if len(x.plus)+len(x.minus) == 0 {
				return -1 // what it changed is not known
			}
			count(net, x)
			if len(net) == 0 {
				return i
			}
		}
	}
	return -1
}

// count adds the lines that an edit added and removed to net, and drops those that are
// even.
func count(net map[string]int, e *edit) {
	for n, lines := range map[int][]string{1: e.plus, -1: e.minus} {
		for _, line := range lines {
			if net[line] += n; net[line] == 0 {
				delete(net, line)
			}
		}
	}
}

// causedBy reports whether a failure goes with an attempt: it came after it, nothing
// had failed that way before, and no edit that stayed ended it.
func (t *turn) causedBy(c *check, a attempt) bool {
	if c.passed || c.step.at == a.to && len(c.step.Undone) == 0 {
		return false
	}
	if c.fixedBy != nil && holdsStep(t.steps, c.fixedBy.step) && c.fixedBy.step.at < a.to {
		return false
	}
	if slices.ContainsFunc(checksOf(t.steps[:a.from]), func(old *check) bool { return !old.passed && sameFailure(old, c) }) {
		return false
	}
	return c.fixedBy == nil || len(editsOf(t.steps[:c.step.at+1])) == 0
}

// markTakenOut marks the episodes whose commit a later one reverted, by its subject or
// as HEAD.
func markTakenOut(all []*episode) {
	for i, e := range all {
		for _, r := range e.reverts {
			for _, other := range slices.Backward(all[:i]) {
				if len(other.commits) > 0 && (r == "HEAD" || slices.Contains(other.commits, r)) {
					other.takenOut = true
					break
				}
			}
		}
	}
}

// gaveUp returns the paths of the files whose edits the episode took back, each once. They may have
// been made in an earlier episode of the turn.
func (e *episode) gaveUp() []string {
	var files []string
	for _, a := range e.turn.attempts {
		if a.to < len(e.turn.steps) && e.holds(e.turn.steps[a.to]) {
			files = text.Add(files, a.edit.path)
		}
	}
	return files
}

// attemptFact says what was tried and taken back, with the failure that it caused; ""
// for nothing.
func (e *episode) attemptFact() string {
	files := e.gaveUp()
	if len(files) == 0 {
		return ""
	}
	fact := "Tried and taken back: a change to " + list(files, 3)
	if len(e.undone) > 0 {
		c := lastFailures(e.undone)[0]
		fact += "; with it `" + c.text + "` failed: " + failureText(&c.failure)
	}
	return fact
}

// onlyTried reports whether all that the episode edited was taken back, and it is known
// why.
func (e *episode) onlyTried() bool {
	return len(e.edits) == 0 && len(e.commits) == 0 && len(e.gaveUp()) > 0 && (len(e.undone) > 0 || e.whyGivenUp() >= 0)
}

// whyGivenUp returns the index of the agent's sentence that says best why an attempt was
// given up, -1 for none.
func (e *episode) whyGivenUp() int {
	best, bestScore := -1, points(1)
	for i, s := range e.turn.message {
		if isFluff(s.text) || looksAhead(s) || len(words(s.text)) < 5 {
			continue
		}
		score := points(0)
		score.add(2, lang.Has(s.text, "explain", "downside"))
		score.add(1, hasCode(s.text) || strings.ContainsAny(s.text, "0123456789"))
		if score > bestScore {
			best, bestScore = i, score
		}
	}
	return best
}

// givenUp begins the title of what was tried and taken back.
const givenUp = "Tried and given up: "

// tried returns the record of an episode whose edits were all taken back: what was tried,
// and why it was given up.
func (e *episode) tried() memory.Observation {
	e.deps = nil // installed for the attempt
	title := e.turn.request.clause
	if asked := sentences(e.turn.request.text); title == "" && len(asked) > 0 && len(asked[0].text) < 140 && !strings.HasSuffix(asked[0].text, "?") {
		title = strings.TrimRight(asked[0].text, ".! ")
	}
	title, _ = lang.Cut(title, "try")
	title = cmp.Or(title, "a change to "+list(baseNames(e.gaveUp()), 2))
	o := e.observation(memory.TypeDiscovery, shown(givenUp+uncapital(title), maxTitle))
	if say, ok := newChooser(e).choose(o.Title); ok {
		o.Subtitle = say.subtitle
	}
	if o.Subtitle == "" && len(e.undone) > 0 {
		c := lastFailures(e.undone)[0]
		o.Subtitle = shown("With it `"+c.text+"` failed: "+failureText(&c.failure), maxSubtitle)
	}
	o.Facts = e.facts(o.Title + " " + o.Subtitle)
	return o
}
