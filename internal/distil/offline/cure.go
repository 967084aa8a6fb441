package offline

import (
	"slices"
	"strings"

	"claudemem/internal/capture/toolcall"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
)

// resolve sets fixedBy of each failed check to the later check that proves the fix, and
// last to the last time that it failed before. A pass that a later failure of the same
// thing contradicts, with nothing changed between, proves nothing. It also sets at and without of
// the checks, and changes of the steps. It runs once, over all turns in their order.
func resolve(turns []*turn) {
	var checks []*check
	changes := 0
	for _, t := range turns {
		for _, s := range t.steps {
			if len(s.edits) > 0 || len(s.deps) > 0 {
				changes++
			}
			s.changes = changes
			checks = append(checks, s.checks...)
		}
	}
	// Two failures of a long session are compared with what passed soon after, not
	// with everything: the work stays linear.
	const reach = 200
	for i, c := range checks {
		c.at, c.last = i, c
		if c.passed {
			continue
		}
		for _, p := range checks[i+1 : min(len(checks), i+1+reach)] {
			switch {
			case p.passed:
				if c.fixedBy == nil && covers(p, c) {
					c.fixedBy = p
				}
			case !sameFailure(p, c):
			case c.fixedBy == nil:
				c.last = p
			case p.step.changes != c.fixedBy.step.changes:
			case added(c.fixedBy, p) != "":
				p.without = true
			default:
				c.last, c.fixedBy = p, nil
			}
		}
	}
}

// sameFailure reports whether two failed checks failed of the same thing: a test in common or,
// where one of them names no test, the same message.
func sameFailure(a, b *check) bool {
	if a.text != b.text && !covers(a, b) && !covers(b, a) {
		return false
	}
	if len(a.failure.Tests) > 0 && len(b.failure.Tests) > 0 {
		return slices.ContainsFunc(a.failure.Tests, func(name string) bool { return slices.Contains(b.failure.Tests, name) })
	}
	return a.failure.Message == b.failure.Message
}

// neutral are options that choose what is run, how often or how it is reported. That a
// check passes with one of them more cures nothing.
var neutral = text.Set("-v -vv -q -s -x -k -m -n -t -c -run -count -cpu -parallel -race -timeout -short -cover -bench -benchmem -json -p -j " +
	"--verbose --quiet --silent --tb --filter --grep --testNamePattern --test --lib --bin --bins --tests --nocapture --runInBand --run --watch " +
	"--color --no-color --reporter --coverage --bail --maxfail --lf --no-header --workspace --all --release --jobs --durations --failfast -- -- -o")

// added returns what the command of pass has that fail's had not and that can be why it
// passes: assignments of the environment, options, the directory; "" for none.
func added(pass, fail *check) string {
	parts := collect.Keep(pass.Env, func(v string) bool { return !slices.Contains(fail.Env, v) })
	if pass.Program() == fail.Program() {
		for i, w := range pass.Words {
			if name, _, _ := strings.Cut(w, "="); len(w) < 2 || w[0] != '-' || neutral[name] || slices.Contains(fail.Words, w) {
				continue
			}
			parts = append(parts, w)
			if i+1 < len(pass.Words) && !strings.Contains(w, "=") && !strings.HasPrefix(pass.Words[i+1], "-") && !slices.Contains(fail.Words, pass.Words[i+1]) &&
				!slices.Contains(pass.Targets, pass.Words[i+1]) {
				parts = append(parts, pass.Words[i+1])
			}
		}
	}
	if len(parts) > 0 {
		return shown(strings.Join(parts, " "), 80)
	}
	if pass.Dir != fail.Dir && pass.text != fail.text && pass.Text() == fail.Text() {
		return "in " + shown(pass.place(), 60)
	}
	return ""
}

// place returns the directory that a check was run in, as it is shown.
func (c *check) place() string {
	switch {
	case c.scratch:
		return "a scratch directory"
	case c.Dir == "":
		return "the project's directory"
	}
	return c.Dir
}

// called returns a check's command with the assignments in front of it.
func (c *check) called() string {
	return shown(strings.TrimSpace(strings.Join(c.Env, " ")+" "+c.text), 140)
}

// passedBy returns the command that passed where c failed, as it has to be called. c.fixedBy must
// be set.
func (c *check) passedBy() string {
	if c.fixedBy.text == c.text && added(c.fixedBy, c.last) == "" {
		return c.text
	}
	return c.fixedBy.called()
}

// cures says what lies between the last failure of c and the check that passed.
type cures struct {
	// edited: files were edited.
	edited bool
	// added is what the command itself has more, "" for nothing.
	added string
	// deps are sentences about dependencies.
	deps []string
	// commands are those that installed something, or that the agent tells of.
	commands []string
}

// none reports whether nothing was done that can explain the pass: what passes by itself
// is flaky, not fixed.
func (c *cures) none() bool {
	return !c.edited && c.added == "" && len(c.deps) == 0 && len(c.commands) == 0
}

// curesOf returns what was done in steps, a stretch of a turn, between the last failure
// of c and the pass, which must be known: c.fixedBy is set.
func curesOf(t *turn, steps []*step, c *check) cures {
	out := cures{added: added(c.fixedBy, c.last)}
	in := !holdsStep(steps, c.last.step) // it failed before the stretch
	for _, s := range steps {
		switch {
		case s == c.last.step && s == c.fixedBy.step:
			return out
		case s == c.last.step:
			// The command that failed may have written a file itself; what it wrote
			// came before the failure.
			in = true
			continue
		case !in:
			continue
		}
		out.edited = out.edited || len(s.edits) > 0
		out.deps = text.Add(out.deps, s.deps...)
		for i := range s.Commands {
			k := &s.Commands[i]
			if name := commandText(k); !s.Failed && (k.Kind == toolcall.KindInstall || !k.Kind.IsQuiet() && !k.Kind.IsProof() && k != c.fixedBy.Command && t.says(name)) {
				out.commands = text.Add(out.commands, "`"+name+"`")
			}
		}
		if s == c.fixedBy.step {
			return out
		}
	}
	return out
}

// says reports whether the agent's message has the text, word by word.
func (t *turn) says(what string) bool {
	return what != "" && strings.Contains(strings.Join(strings.Fields(t.raw), " "), strings.Join(strings.Fields(what), " "))
}

// replaceFailing pairs what fails, in a turn without edits, with a command of the same
// kind that works in its place and that the agent tells the user: it sets fixedBy and replaced. It
// goes backwards, since an earlier failure takes over what its last one was paired with.
func replaceFailing(steps []*step, t *turn) {
	for i, s := range slices.Backward(steps) {
		for _, c := range s.checks {
			if c.passed || c.fixedBy != nil || !c.Kind.IsProof() {
				continue
			}
			if c.last.replaced {
				c.fixedBy, c.replaced = c.last.fixedBy, true
				continue
			}
			for _, later := range steps[i+1:] {
				if len(later.edits) > 0 {
					break
				}
				for _, p := range later.checks {
					if p.passed && p.Kind == c.Kind && (p.Lang == c.Lang || p.Lang == "" || c.Lang == "") && t.says(p.called()) {
						c.fixedBy, c.replaced = p, true
					}
				}
			}
		}
	}
}

// cure returns what made a failure go away, as the end of a sentence: "with `X=1`",
// "after `npm ci`"; "" when it is not known.
func (c *cures) cure() string {
	switch {
	case strings.HasPrefix(c.added, "in "):
		return c.added
	case c.added != "":
		return "with `" + c.added + "`"
	case len(c.commands) > 0:
		return "after " + list(c.commands, 2)
	}
	return ""
}

// cureTitle returns the title for a failure that went away without an edit. The episode must have
// one that was fixed or recovered.
func (e *episode) cureTitle() string {
	c := e.proof()
	by := curesOf(e.turn, e.steps, c)
	name := "`" + c.text + "`"
	switch {
	case c.replaced:
		return name + " fails here, `" + c.passedBy() + "` works"
	case by.added != "" && !strings.HasPrefix(by.added, "in "):
		return name + " needs `" + by.added + "`"
	case by.added != "":
		return name + " has to be run " + by.added
	case len(by.deps) > 0:
		return name + " needed: " + uncapitalFirst(by.deps[0])
	}
	return strings.TrimSpace(name + " passes " + by.cure())
}
