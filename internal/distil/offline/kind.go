package offline

import (
	"slices"
	"strings"

	"claudemem/internal/capture/toolcall"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// typeOf decides what sort of work an episode was: first by what happened, then by
// what was asked for. Edits that end with a blocking failure are a discovery. It never returns a
// decision: observe finds those.
func (e *episode) typeOf() memory.ObservationType {
	r := &e.turn.request
	newCode, moved := e.newCode(), e.movesOnly()
	code := e.any(func(x *edit) bool { return x.kind == toolcall.FileCode && !x.importOnly })
	tests := e.any(func(x *edit) bool { return x.kind == toolcall.FileTest })
	switch {
	case len(e.edits)+len(e.fixed) == 0 && len(e.commits)+len(e.deps)+len(e.reverts) > 0:
		return memory.TypeChange
	case len(e.edits) == 0, len(e.blocking()) > 0: // installing or starting something may have been the cure
		return memory.TypeDiscovery
	case e.all(func(x *edit) bool { return x.kind == toolcall.FileDoc || x.commentOnly }), e.integrates():
		return memory.TypeChange
	case e.reproduces() && e.any(func(x *edit) bool { return x.kind != toolcall.FileTest && x.kind != toolcall.FileDoc }):
		return memory.TypeBugfix
	case !code:
		why := func(s sentence) bool { return !isFluff(s.text) && lang.Has(s.text, "why") }
		if r.is(wantFix) && !r.is(wantFeature) && (len(e.fixed) > 0 || !tests && slices.ContainsFunc(e.turn.message, why)) {
			return memory.TypeBugfix
		}
		return memory.TypeChange
	case e.only && r.is(wantRefactor) && (moved || !r.is(wantFix|wantFeature) && (len(newCode) == 0 || !e.failedFirst)):
		return memory.TypeRefactor
	case r.pasted:
		return memory.TypeBugfix
	case lang.Begins(r.text, "dissent"):
		return memory.TypeChange
	case r.is(wantFix) && !r.is(wantFeature) && len(newCode) == 0:
		return memory.TypeBugfix
	case moved:
		return memory.TypeRefactor
	case e.only && r.clause == "" && r.wants&(wantFeature|wantBetter) == 0 && e.tellsBug():
		return memory.TypeBugfix
	case r.is(wantFeature) || !r.is(wantBetter) && (len(newCode) > 0 || !r.is(wantFindOut) && e.grows()):
		return memory.TypeFeature
	}
	return memory.TypeChange
}

// grows reports whether the program got six lines or more, three times as many as it lost.
func (e *episode) grows() bool {
	plus, minus := 0, 0
	for _, x := range e.edits {
		if x.kind == toolcall.FileCode {
			plus, minus = plus+len(x.plus), minus+len(x.minus)
		}
	}
	return plus >= 6 && plus >= 3*minus
}

// reproduces reports whether a test passes that failed before the program was edited, or that is
// new and failed, and did not only lack a new file or symbol. Where no symbol is new, another
// command counts as well.
func (e *episode) reproduces() bool {
	newTests, newCode := e.newTests(), e.newCode()
	names := func(s string, list []string) bool {
		return slices.ContainsFunc(list, func(n string) bool { return mentions(s, text.AfterLast(text.AfterLast(n, "::"), ".")) })
	}
	return slices.ContainsFunc(e.fixed, func(c *check) bool {
		return (c.Kind == toolcall.KindTest || len(newCode) == 0) && (c.early || names(strings.Join(c.failure.Tests, " "), newTests)) &&
			!names(c.failure.Message, newCode) && !e.any(func(x *edit) bool { return x.created && mentions(c.failure.Message, nameOf(x.path)) })
	})
}

// integrates reports whether the episode brought two lines of work together: what it
// edited then are conflicts.
func (e *episode) integrates() bool {
	return slices.ContainsFunc(e.steps, func(s *step) bool {
		return slices.ContainsFunc(s.Commands, func(c toolcall.Command) bool {
			return c.Program() == "git" && slices.Contains([]string{"rebase", "merge", "cherry-pick"}, c.Verb())
		})
	})
}

// tellsBug reports whether the agent tells what was wrong, and why, and what is right now.
func (e *episode) tellsBug() bool {
	was, is := false, false
	for _, s := range e.turn.message {
		if isFluff(s.text) || reportsTests(s.text) {
			continue
		}
		was = was || lang.Has(s.text, "was-wrong") && lang.Has(s.text, "why") || lang.Has(s.text, "bug")
		is = is || lang.Has(s.text, "is-right")
	}
	return was && is
}

// blocking returns the open failures that keep the work from being done: a measure that
// fails after the last edit, or anything that the agent itself calls open.
func (e *episode) blocking() []*check {
	return collect.Keep(e.open, func(c *check) bool {
		holdsUp := c.Kind.IsProof() || len(e.edits) > 0 && e.turn.admits()
		return holdsUp && !e.turn.excuses(c) && !e.outlived(c)
	})
}

// outlived reports whether a check of the same kind passes at the end, behind an edit that came after
// the failure, and the agent admits nothing.
func (e *episode) outlived(c *check) bool {
	return e.turn.stopped && !e.turn.admits() && slices.ContainsFunc(e.passes, func(p *check) bool { return p.Kind == c.Kind && p.step.changes > c.step.changes })
}

// excuses reports whether the agent says of all tests that failed in c that it is not the
// work's fault; false if no test is known.
func (t *turn) excuses(c *check) bool {
	blames := func(name string) bool {
		for i, s := range t.message {
			near := t.message[i:min(i+2, len(t.message))]
			if mentions(s.text, name) && slices.ContainsFunc(near, func(s sentence) bool { return lang.Has(s.text, "excuse") }) {
				return false
			}
		}
		return true
	}
	return len(c.failure.Tests) > 0 && !slices.ContainsFunc(c.failure.Tests, blames)
}

// failing returns the verb for an open failure: a record that is made while the turn goes
// on cannot say how it ends.
func (e *episode) failing() string {
	switch {
	case !e.turn.stopped:
		return "failed, and work went on"
	case len(e.edits) == 0:
		return "fails"
	}
	return "still fails"
}

// admits reports whether the agent says that something is left undone or broken.
func (t *turn) admits() bool {
	return slices.ContainsFunc(t.message, func(s sentence) bool { return lang.Has(s.text, "admit") })
}

// any reports whether is holds for one of the edits.
func (e *episode) any(is func(*edit) bool) bool {
	return slices.ContainsFunc(e.edits, is)
}

// all reports whether is holds for each of the edits; false if there are none.
func (e *episode) all(is func(*edit) bool) bool {
	return len(e.edits) > 0 && !e.any(func(x *edit) bool { return !is(x) })
}

// files returns the paths that the episode edited, each once, those of code first. Lock files are
// left out, so it may be empty although there are edits.
func (e *episode) files() []string {
	var code, rest []string
	for _, x := range e.edits {
		switch x.kind {
		case toolcall.FileLock:
		case toolcall.FileCode:
			code = text.Add(code, x.path)
		default:
			rest = text.Add(rest, x.path)
		}
	}
	return text.Add(code, rest...)
}

// worked says what became of the episode's files, of which it names at most most of each kind:
// "edited a.go; deleted b.go"; "" for none.
func (e *episode) worked(most int) string {
	left := map[string]bool{}
	for _, x := range e.edits {
		left[x.path] = !x.deleted
	}
	var parts []string
	if edited := slices.DeleteFunc(e.files(), func(f string) bool { return !left[f] }); len(edited) > 0 {
		parts = append(parts, "edited "+list(edited, most))
	}
	if deleted := slices.DeleteFunc(e.files(), func(f string) bool { return left[f] }); len(deleted) > 0 {
		parts = append(parts, "deleted "+list(deleted, most))
	}
	return strings.Join(parts, "; ")
}

// failedTests returns the names of the tests that failed before the program was edited
// and pass now. A test that failed on the way may have held what was wrong.
func (e *episode) failedTests() []string {
	early := collect.Keep(e.fixed, func(c *check) bool { return c.early })
	return text.Add(nil, collect.Flat(early, func(c *check) []string { return c.failure.Tests })...)
}
