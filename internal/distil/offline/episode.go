package offline

import (
	"slices"
	"strings"
	"unicode/utf8"

	"claudemem/internal/capture/toolcall"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// turn is a prompt with the tool calls of the batch that belong to it.
type turn struct {
	number  int
	request request
	steps   []*step
	// episodes are the stretches of steps that become observations.
	episodes []*episode
	// dialogs are the calls that asked the user; they are none of steps.
	dialogs []*step
	// message is the agent's last message; stopped: the turn has ended.
	message []sentence
	// outlines has a sentence for each list of the message that something leads to, and one for the
	// rows of all its tables.
	outlines []sentence
	// choosing has the weights by which titles are chosen; Distil sets it before observe.
	choosing *Distiller
	// raw is the agent's last message as it was written.
	raw     string
	stopped bool
	// goesOn: a question without tools, in a session with a record of files: it is about that work.
	goesOn bool
	// recapped: in talk, the agent told again what holds.
	recapped bool
	// attempts are the edits that it took back.
	attempts []attempt
	// last is the last event of the turn: turnsOf always sets it.
	last *memory.PendingEvent
	// earlier are the observations that earlier batches made of the turn.
	earlier []memory.Observation
	session memory.SessionID
	// no: the user says no to what was done before, or finds fault with it (faults); corrects is the number of the turn that this is
	// about, 0 for none. before is what earlier turns of the session changed, lines what this one
	// did. follow sets them.
	no       bool
	faults   bool
	before   []memory.TurnLines
	lines    memory.TurnLines
	corrects int
}

// episode is a sequence of a turn's steps that becomes one observation.
type episode struct {
	turn  *turn
	steps []*step
	// only: it is the turn's only episode with work, so that the prompt and the last
	// message are about it.
	only bool

	edits []*edit
	// symbols are the net changes of all steps.
	symbols []symbol
	// fixed are the failures after which something was edited and a later check passed;
	// open are those without a later pass.
	fixed, open []*check
	// recovered are failures that passed later without a change; cured, in an episode
	// with edits, those that something else than an edit ended.
	recovered, cured []*check
	// wanted are failures that had to be.
	wanted []*check
	// undone are those that edits caused which were taken back.
	undone []*check
	// passes are the checks that passed after, or in, the last step that edited.
	passes []*check
	// failedFirst: something failed before the first edit.
	failedFirst bool
	// reverts are the commits that it took back; takenOut: its own were, later.
	reverts  []string
	takenOut bool
	// commits are the subjects of its commits, bodies the rest of their messages: as many.
	commits []string
	bodies  []string
	// deps are sentences about dependencies, read the paths of files, sources pages on the web.
	deps    []string
	read    []string
	sources []string
	// answers are the steps in which a subagent answered.
	answers []*step
	tokens  int
}

// turnsOf groups a batch's events by turn, in the order of each turn's first event. A
// turn has a step for each tool call, its parsed prompt, the sentences of the agent's
// last message and the observations made of it earlier.
func turnsOf(batch *memory.Batch) []*turn {
	byNumber := map[int]*turn{}
	var turns []*turn
	for i := range batch.Events {
		pe := &batch.Events[i]
		t := byNumber[pe.PromptNumber]
		if t == nil {
			t = &turn{number: pe.PromptNumber, session: batch.Session.ID}
			byNumber[pe.PromptNumber] = t
			turns = append(turns, t)
		}
		t.last = pe
		switch pe.Event.Kind {
		case memory.KindTool:
			if s := newStep(pe); len(s.Questions) > 0 && !pe.Provenance.Foreign() {
				t.dialogs = append(t.dialogs, s)
			} else {
				t.steps = append(t.steps, s)
			}
		case memory.KindStop:
			t.stopped = true
			if pe.Event.LastAssistantMessage != "" {
				t.raw = pe.Event.LastAssistantMessage[:min(len(pe.Event.LastAssistantMessage), maxText)]
				t.message, t.outlines = read(t.raw)
				t.message = slices.DeleteFunc(t.message, func(s sentence) bool { return offers(s.text) && !looksAhead(s) && !leavesOpen(s) })
				t.outlines = append(t.outlines, rows(t.message)...)
			}
		}
	}
	for i := range batch.Prompts {
		if t := byNumber[batch.Prompts[i].Number]; t != nil {
			t.request = parseRequest(batch.Prompts[i].Text)
		}
	}
	for _, t := range turns {
		t.goesOn = len(t.steps) == 0 && t.request.is(wantFindOut|wantDecision) &&
			slices.ContainsFunc(batch.Nearby, func(o memory.Observation) bool { return o.Session == batch.Session.ID && len(o.Files) > 0 })
	}
	for i := range batch.Earlier {
		if t := byNumber[batch.Earlier[i].PromptNumber]; t != nil {
			t.earlier = append(t.earlier, batch.Earlier[i])
		}
	}
	return turns
}

// episodesOf returns the episodes of all turns, which it also sets in each turn. A failure of one
// turn may be fixed in a later one; it then belongs to the episode that fixed it.
func episodesOf(turns []*turn) []*episode {
	for _, t := range turns {
		reviveFailures(t)
		for i, s := range t.steps {
			s.turn, s.at = t, i
		}
	}
	resolve(turns)
	var all []*episode
	for _, t := range turns {
		undo(t)
		replaceFailing(t.steps, t)
		t.episodes = append(t.episodes, collect.Map(segments(t.steps), func(steps []*step) *episode { return newEpisode(t, steps) })...)
		t.episodes = mergeIdle(t.episodes)
		working := collect.Count(t.episodes, (*episode).works)
		for _, e := range t.episodes {
			e.only = working <= 1
		}
		all = append(all, t.episodes...)
	}
	markTakenOut(all)
	// A failure of an earlier turn belongs to the episode that ended it.
	for _, t := range turns {
		for _, c := range checksOf(t.steps) {
			if c.fixedBy == nil || c.undone || c.fixedBy.step.turn == t {
				continue
			}
			for _, e := range all {
				if e.holds(c.fixedBy.step) && len(e.edits) > 0 {
					c.early = true
					e.fixed = append(e.fixed, c)
				}
			}
		}
	}
	return all
}

// reviveFailures puts the failures that an earlier batch of the same turn left
// open at the turn's beginning, from the observation that told of them. Such a step has no event.
func reviveFailures(t *turn) {
	var revived []*step
	for i := range t.earlier {
		o := &t.earlier[i]
		if o.Origin != memory.OriginOffline {
			continue
		}
		for _, fact := range o.Facts {
			command, says, ok := parseOpenFact(fact)
			if !ok {
				continue
			}
			commands := toolcall.ParseCommands(command)
			for j := range commands {
				if commands[j].Kind.IsCheck() {
					c := &check{Command: &commands[j], text: commandText(&commands[j]), failure: toolcall.Verdict{Message: says}}
					if name := text.Before(says, ": "); isIdent(name) {
						c.failure.Tests, c.failure.Message = []string{name}, strings.TrimPrefix(says, name+": ")
					}
					c.step = &step{Call: toolcall.Call{Tool: toolcall.ToolCommand}, checks: []*check{c}}
					revived = append(revived, c.step)
					break
				}
			}
		}
	}
	t.steps = append(revived, t.steps...)
}

// isIdent reports whether s is an identifier as tests are called.
func isIdent(s string) bool {
	return s != "" && !text.IsDigit(s[0]) && !strings.ContainsFunc(s, func(r rune) bool { return r < utf8.RuneSelf && !text.IsIdent(byte(r)) && r != '$' })
}

// segments cuts a turn's steps into stretches: after a commit, and where one
// thing was repaired and another one fails that has nothing to do with it. Every step is in one
// stretch, in order.
func segments(steps []*step) [][]*step {
	var out [][]*step
	start := 0
	for i, s := range steps {
		if len(s.Commits) > 0 {
			out = append(out, steps[start:i+1])
			start = i + 1
			continue
		}
		if start < i && secondTrouble(steps[start:i], steps[i:]) {
			out = append(out, steps[start:i])
			start = i
		}
	}
	if start < len(steps) {
		out = append(out, steps[start:])
	}
	return out
}

// secondTrouble reports whether after, the steps to the end of the turn, begins with a failure that
// the stretch before has not caused: something failed there and all of it passes, no edit came
// since, and what is edited from now on are other files.
func secondTrouble(before, after []*step) bool {
	if !slices.ContainsFunc(after[0].checks, func(c *check) bool { return !c.passed }) {
		return false
	}
	sinceEdit, repaired, mine := false, false, pathsOf(editsOf(before))
	for _, s := range before {
		sinceEdit = sinceEdit && len(s.edits) == 0
		for _, c := range s.checks {
			if c.passed {
				sinceEdit = true
				continue
			}
			if c.fixedBy == nil || !holdsStep(before, c.fixedBy.step) {
				return false
			}
			repaired = true
		}
	}
	if !sinceEdit || !repaired || len(mine) == 0 {
		return false
	}
	theirs := editsOf(after)
	return len(theirs) > 0 && !slices.ContainsFunc(theirs, func(e *edit) bool { return slices.Contains(mine, e.path) })
}

// holdsStep reports whether s is among steps, a stretch of one turn.
func holdsStep(steps []*step, s *step) bool {
	return len(steps) > 0 && s.turn == steps[0].turn && steps[0].at <= s.at && s.at <= steps[len(steps)-1].at
}

// holds reports whether a step is one of the episode's; false for nil.
func (e *episode) holds(s *step) bool { return s != nil && holdsStep(e.steps, s) }

// newEpisode collects what a stretch of steps shows: it tells each failed check as fixed,
// recovered, cured, open, wanted or undone, and sets early of those that ended. One of a trial, or
// that ended in another stretch, is none of them. No steps are a talk.
func newEpisode(t *turn, steps []*step) *episode {
	e := &episode{turn: t, steps: steps}
	first := func(is func(*edit) bool) int {
		if i := slices.IndexFunc(steps, func(s *step) bool { return slices.ContainsFunc(s.edits, is) }); i >= 0 {
			return i
		}
		return len(steps)
	}
	firstEdit := first(func(*edit) bool { return true })
	firstCode := first(func(x *edit) bool { return x.kind != toolcall.FileTest && x.kind != toolcall.FileDoc })
	for i, s := range steps {
		e.tokens += s.tokens
		e.edits = append(e.edits, s.edits...)
		if len(s.edits) > 0 {
			e.passes = nil
		}
		for _, c := range s.Commits {
			e.commits, e.bodies = append(e.commits, c.Subject), append(e.bodies, c.Body)
		}
		e.deps = text.Add(e.deps, s.deps...)
		for _, r := range s.Reverts {
			e.reverts = text.Add(e.reverts, shown(r, 100))
		}
		e.read, e.sources = text.Add(e.read, s.path), text.Add(e.sources, s.source)
		if s.Answer != "" {
			e.answers = append(e.answers, s)
		}
		for _, c := range s.checks {
			switch {
			case c.passed:
				e.passes = append(e.passes, c)
			case c.undone:
				e.undone = append(e.undone, c)
			case (c.without || c.trial) && c.fixedBy == nil:
			case c.fixedBy == nil && t.wants(c):
				e.wanted = append(e.wanted, c)
			case c.fixedBy == nil:
				e.open = append(e.open, c)
				e.failedFirst = e.failedFirst || i < firstEdit
			case holdsStep(steps, c.fixedBy.step):
				c.early = i < firstCode
				switch by := curesOf(t, steps, c); {
				case c.replaced, firstEdit == len(steps) && !by.none(), by.edited:
					e.fixed = append(e.fixed, c)
					e.failedFirst = e.failedFirst || i < firstEdit
				case by.none():
					e.recovered = append(e.recovered, c)
				default:
					e.cured = append(e.cured, c)
				}
			}
		}
	}
	e.open = slices.DeleteFunc(lastFailures(e.open), func(c *check) bool { // it ends as wanted now
		return slices.ContainsFunc(e.wanted, func(w *check) bool { return w.text == c.text && w.at > c.at })
	})
	e.symbols = symbolsOf(steps)
	return e
}

// lastFailures keeps the last of the failed checks that cover each other, in their order.
// Its failure is replaced, in place, by that of an earlier one which tells more.
func lastFailures(checks []*check) []*check {
	var out []*check
next:
	for i := len(checks) - 1; i >= 0; i-- {
		c := checks[i]
		for _, kept := range out {
			if covers(kept, c) || covers(c, kept) {
				if kept.failure.RanksBelow(&c.failure) {
					kept.failure = c.failure
				}
				continue next
			}
		}
		out = append([]*check{c}, out...)
	}
	return out
}

// works reports whether the episode changed or proved something.
func (e *episode) works() bool {
	return len(e.edits) > 0 || len(e.fixed) > 0 || len(e.commits) > 0 || len(e.deps) > 0 || len(e.reverts) > 0 || e.onlyTried()
}

// mergeIdle joins stretches without work of their own to the one before, so that
// looking around after a commit is no episode; what was read then goes with that one. A commit
// joins the work before it, and further commits in a row join the first. A revert stays alone.
func mergeIdle(list []*episode) []*episode {
	var out []*episode
	for _, e := range list {
		if len(out) == 0 {
			out = append(out, e)
			continue
		}
		p := out[len(out)-1]
		joins := len(e.edits) == 0 && len(e.fixed) == 0 && len(e.commits) > 0 && len(p.reverts)+len(e.reverts) == 0
		switch {
		case !e.works() && len(e.open) == 0:
			p.read = text.Add(p.read, e.read...)
			p.answers = append(p.answers, e.answers...)
			p.undone = append(p.undone, e.undone...)
			if len(p.commits) == 0 {
				p.passes = append(p.passes, e.passes...)
			}
		case joins && len(e.open) == 0 && len(p.edits) > 0 && len(p.commits) == 0, // the commit of the work before
			joins && len(p.edits) == 0 && len(p.fixed) == 0 && len(p.commits) > 0: // several commits in a row are one thing to tell
			p.commits, p.bodies = append(p.commits, e.commits...), append(p.bodies, e.bodies...)
		default:
			out = append(out, e)
			continue
		}
		p.steps = slices.Concat(p.steps, e.steps)
		p.symbols = symbolsOf(p.steps)
		p.tokens += e.tokens
	}
	return out
}
