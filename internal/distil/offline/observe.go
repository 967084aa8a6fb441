package offline

import (
	"cmp"
	"slices"
	"strings"

	"claudemem/internal/capture/toolcall"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// openFact begins the fact that tells of a failure that nothing overcame; a later
// batch of the same turn reads it back.
const (
	openFact  = "Still failing: `"
	failsFact = "Fails: `"
	// midwayFact stands in a record that was made before the turn ended.
	midwayFact = "Failed, and work went on: `"
)

// parseOpenFact returns the command that failed, and its message, from a fact about an
// open failure; false for another fact. The directory in which the command ran is left out.
func parseOpenFact(fact string) (command, says string, ok bool) {
	rest, ok := cutPrefixes(fact, openFact, failsFact, midwayFact)
	if !ok {
		return "", "", false
	}
	command, says, ok = strings.Cut(rest, "`")
	return text.Before(command, " (in "), strings.TrimPrefix(says, ": "), ok
}

// cutPrefixes returns s without the first of prefixes that it has; s and false if it has none.
func cutPrefixes(s string, prefixes ...string) (string, bool) {
	for _, p := range prefixes {
		if rest, ok := strings.CutPrefix(s, p); ok {
			return rest, true
		}
	}
	return s, false
}

// observe returns the observations of an episode, without session and project, which the caller
// sets; none if nothing happened that is worth one. A title may be "": the caller leaves that out.
func (e *episode) observe() []memory.Observation {
	if e.onlyTried() {
		return []memory.Observation{e.tried()}
	}
	choice := e.choice()
	quiet := e.all(func(x *edit) bool { return x.kind == toolcall.FileDoc || x.commentOnly })
	if choice >= 0 && (len(e.edits) == 0 || quiet) && len(e.fixed) == 0 && (len(e.edits) > 0 || len(e.commits) == 0) {
		if o, ok := e.found(memory.TypeDecision, titleOf(e.turn.message[choice].text)); ok {
			return []memory.Observation{o}
		}
	}
	if e.onlyCommits() {
		return nil
	}
	if e.works() || len(e.blocking()) > 0 {
		t := e.typeOf()
		choose := newChooser(e)
		say, ok := choose.choose(e.evidentTitle(t))
		if !ok {
			say.title = e.title(t)
		}
		if say.subtitle == "" {
			say.subtitle = e.subtitle(t)
		}
		if ok && t != memory.TypeDiscovery {
			said := say.title
			if hasCode(said) || len(words(said)) > 5 || tellsUnspaced(said) { // a shorter title names nothing
				said += " " + say.subtitle
			}
			say.title = e.withNames(say.title, said)
		}
		o := e.observation(t, say.title)
		if e.takenOut {
			o.Title = shown(cut(o.Title, maxTitle-len(revertedLater))+revertedLater, maxTitle)
		}
		o.Subtitle = say.subtitle
		o.Facts = e.facts("")
		out := []memory.Observation{o}
		if also, decided, more := choose.second(&say); ok && more && e.only {
			if len(e.edits) == 0 {
				t = memory.TypeDiscovery
			}
			if decided {
				t = memory.TypeDecision
			}
			d := e.observation(t, also.title)
			d.Subtitle = also.subtitle
			d.DiscoveryTokens = 0
			out = append(out, d)
		}
		return out
	}
	if t, ok := e.concludes(); ok {
		if o, ok := e.found(t, ""); ok {
			o.Files = e.earlierFiles(o.Files)
			return []memory.Observation{o}
		}
	}
	if e.finds() {
		if o, ok := e.found(memory.TypeDiscovery, ""); ok {
			return []memory.Observation{o}
		}
	}
	return e.fromAgents()
}

// concludes reports whether the episode ends work that an earlier batch of its turn told
// without the agent's last words, and the type of that work.
func (e *episode) concludes() (memory.ObservationType, bool) {
	if !e.turn.stopped || !e.only || len(e.edits) > 0 {
		return "", false
	}
	for i := range e.turn.earlier {
		if o := &e.turn.earlier[i]; o.Origin == memory.OriginOffline && len(o.FilesIn(memory.FileModified)) > 0 {
			if e.turn.request.is(wantFix) && !e.turn.request.is(wantFeature) {
				return memory.TypeBugfix, true
			}
			return o.Type, true
		}
	}
	return "", false
}

// earlierFiles returns the files of the turn's earlier observations, of which there must be one, and
// those of refs, each path once, at most maxFiles.
func (e *episode) earlierFiles(refs []memory.FileRef) []memory.FileRef {
	var out []memory.FileRef
	for i := range e.turn.earlier {
		for _, f := range slices.Concat(e.turn.earlier[i].Files, refs) {
			if !slices.ContainsFunc(out, func(x memory.FileRef) bool { return x.Path == f.Path }) {
				out = append(out, f)
			}
		}
	}
	return out[:min(len(out), maxFiles)]
}

// onlyCommits reports whether the episode did nothing but commit: that confirms the
// record of the work.
func (e *episode) onlyCommits() bool {
	return len(e.commits) > 0 && len(e.edits)+len(e.fixed)+len(e.deps)+len(e.reverts) == 0 && !e.onlyTried() && len(e.blocking()) == 0
}

// observation fills in what all types share; session, project, subtitle and facts are not set. It has
// an agent only if all steps are of the same one.
func (e *episode) observation(t memory.ObservationType, title string) memory.Observation {
	o := memory.Observation{
		PromptNumber:    e.turn.number,
		Type:            t,
		Title:           title,
		Narrative:       e.narrative(),
		Concepts:        e.concepts(t),
		Files:           e.fileRefs(),
		DiscoveryTokens: e.tokens,
		Origin:          memory.OriginOffline,
		TimesSeen:       1,
	}
	last := e.turn.last
	var events []memory.PendingEvent
	agent, agentType, same := "", "", true
	for _, s := range e.steps {
		if s.event == nil {
			continue
		}
		last = s.event
		events = append(events, *s.event)
		if a := s.event.Event.AgentID; a != agent && (agent != "" || s != e.steps[0]) {
			same = false
		}
		agent, agentType = s.event.Event.AgentID, s.event.Event.AgentType
	}
	if same {
		o.AgentID, o.AgentType = agent, shown(agentType, 60)
	}
	if last != nil {
		if len(events) == 0 {
			events = append(events, *last)
		}
		o.Branch, o.HeadCommit = memory.MadeAt(events, o.Files)
		o.CreatedAt = last.Event.OccurredAt
	}
	return o
}

// subtitle returns the evidence in one line, for a record of type t of which the agent says nothing:
// what failed and passes, what was edited; "" for none.
func (e *episode) subtitle(t memory.ObservationType) string {
	if len(e.reverts) > 0 && len(e.edits) == 0 {
		return e.whyReverted()
	}
	var parts []string
	if s := e.overcome(); s != "" && t != memory.TypeDiscovery {
		parts = append(parts, s)
	} else if blocking := e.blocking(); len(blocking) > 0 {
		parts = append(parts, "`"+blocking[0].text+"` "+e.failing())
	} else if p := e.lastMeasure(); p != "" {
		parts = append(parts, "`"+p+"` passes")
	}
	if done := e.worked(3); done != "" {
		parts = append(parts, done)
	}
	if len(parts) < 2 && len(e.commits) > 0 && len(e.edits) > 0 {
		parts = append(parts, "committed as “"+e.commits[len(e.commits)-1]+"”")
	}
	if len(parts) == 0 && len(e.bodies) > 0 {
		parts = append(parts, e.bodies[len(e.bodies)-1])
	}
	return shown(capital(strings.Join(parts, "; ")), maxSubtitle)
}

// revertedLater ends the title of work whose commit was taken back.
const revertedLater = " (reverted later)"

// whyReverted returns the agent's sentence that gives a reason for a revert, else what the
// user said.
func (e *episode) whyReverted() string {
	for _, s := range e.turn.message {
		if lang.Has(s.text, "explain") && !isFluff(s.text) {
			return shown(s.text, maxSubtitle)
		}
	}
	return shown(text.First(strings.SplitN(e.turn.request.text, "\n", 2)), maxSubtitle)
}

// proof returns the failure that best shows what was overcome: the last one, a test's
// before others. It is one of fixed or, if that is empty, of recovered; nil if both are.
func (e *episode) proof() *check {
	fixed := e.fixed
	if len(fixed) == 0 {
		fixed = e.recovered
	}
	var best *check
	for _, c := range fixed {
		if best == nil || c.Kind == toolcall.KindTest || best.Kind != toolcall.KindTest {
			best = c
		}
	}
	return best
}

// overcome returns which command failed and which one passes now, "" if none was overcome.
func (e *episode) overcome() string {
	c := e.proof()
	if c == nil {
		return ""
	}
	switch by := c.passedBy(); {
	case c.replaced:
		return "`" + c.text + "` fails, `" + by + "` works"
	case by == c.text:
		return "`" + c.text + "` failed and passes now"
	default:
		return "`" + c.text + "` failed, `" + by + "` passes now"
	}
}

// lastMeasure returns the command of the test, build or linter that passed at the end,
// "" for none.
func (e *episode) lastMeasure() string {
	measure := ""
	for _, c := range slices.Backward(e.passes) {
		if c.Kind == toolcall.KindTest {
			return c.called()
		}
		if measure == "" && c.Kind.IsProof() {
			measure = c.called()
		}
	}
	return measure
}

// facts returns single statements about the episode that later questions ask for, at most
// maxFacts: failures first, then edits, measures, commits, dependencies, and what the agent said. told
// is what title and subtitle say where they are all that the agent said, "" elsewhere.
func (e *episode) facts(told string) []string {
	var facts []string
	put := func(s string) {
		if s = shown(s, maxFact); s != "" && len(facts) < maxFacts {
			facts = text.Add(facts, s)
		}
	}
	seen := map[string]bool{}
	for _, c := range e.fixed {
		says := failureText(&c.failure)
		if !seen[says] && len(seen) < 3 {
			seen[says] = true
			when := "Failed before: `"
			switch {
			case c.replaced:
				when = failsFact
			case !c.early:
				when = "Failed on the way: `"
			}
			put(when + c.text + "`: " + says)
		}
	}
	for _, c := range e.cured {
		by := curesOf(e.turn, e.steps, c)
		put("`" + c.text + "` failed: " + failureText(&c.failure) + ", and passed " + by.cure())
	}
	for _, c := range e.open {
		fact := openFact
		switch {
		case !e.turn.stopped:
			fact = midwayFact
		case len(e.edits) == 0:
			fact = failsFact
		}
		put(fact + c.text + "`: " + failureText(&c.failure))
	}
	for _, c := range e.wanted {
		put("Ends with an error, as it should: `" + c.text + "`: " + failureText(&c.failure))
	}
	for _, r := range e.reverts {
		put(revertedFact + quoted([]string{r}))
	}
	put(e.attemptFact())
	for _, f := range e.files() {
		put(e.changes(f))
	}
	if len(e.edits) > 0 || len(e.fixed) > 0 {
		p, now := e.lastMeasure(), ""
		if c := e.proof(); c != nil {
			p, now = cmp.Or(p, c.passedBy()), " now"
		}
		if p != "" {
			put("`" + p + "` passes" + now)
		}
	}
	for i, c := range e.commits {
		if c == "" {
			continue
		}
		put(committedFact + c + "”")
		if i < len(e.bodies) && e.bodies[i] != "" {
			put("Commit message: " + e.bodies[i])
		}
	}
	for _, d := range e.deps {
		put(d)
	}
	if told != "" || len(e.edits) == 0 {
		n := 0
		for _, s := range e.turn.message {
			if repeated(s.text, told) < 0.9 && n < 4 && !isFluff(s.text) && !reportsTests(s.text) && !lang.Has(s.text, "committed") && (hasCode(s.text) || lang.Has(s.text, "explain")) && len(e.commits) == 0 {
				put(s.text)
				n++
			}
		}
	}
	for _, s := range e.sources[:min(len(e.sources), 2)] {
		put("Source: " + s)
	}
	put(e.workaround())
	return facts
}

// workaround notes a program that is not there and what served in its place; "" for none.
func (e *episode) workaround() string {
	missing := ""
	for _, c := range checksOf(e.turn.steps) {
		if !c.passed && (c.failure.Exit == 127 || lang.Has(c.failure.Message, "missing-program")) {
			missing = c.text
		} else if c.passed && missing != "" && c.Kind.IsProof() && c.text != missing {
			return "`" + missing + "` is not available here; `" + c.text + "` works"
		}
	}
	return ""
}

// maxFiles bounds the files of a record.
const maxFiles = 40

// fileRefs returns the files of the episode, at most maxFiles; a file that was modified is not also
// read. One that a command wrote to after it was last looked at has no hash.
func (e *episode) fileRefs() []memory.FileRef {
	hashes := map[string]string{}
	for _, s := range e.steps {
		// What a command wrote to is not what it was, and nobody looked at it since.
		for _, x := range s.edits {
			delete(hashes, x.path)
		}
		for _, p := range slices.Concat(s.Touched, s.Undone) {
			delete(hashes, p)
		}
		if slices.Contains(s.Undone, ".") {
			clear(hashes)
		}
		if s.event == nil {
			continue
		}
		for _, f := range s.event.Files {
			hashes[f.Path] = f.Hash // The last counts, also when it could not be taken.
		}
	}
	paths := text.Add(pathsOf(e.edits), collect.Flat(e.steps, func(s *step) []string { return s.Touched })...)
	return memory.FileRefs(paths, e.read, hashes, maxFiles)
}

// concepts returns up to four concepts, of the list of the mode "code", that fit the episode and its
// type.
func (e *episode) concepts(t memory.ObservationType) []string {
	var c []string
	switch t {
	case memory.TypeBugfix:
		c = []string{"problem-solution", "what-changed"}
	case memory.TypeDecision:
		c = []string{"trade-off", "why-it-exists"}
	case memory.TypeDiscovery:
		c = []string{"how-it-works"}
		if len(e.blocking()) > 0 || len(e.fixed) > 0 || e.onlyTried() {
			c = []string{"gotcha"}
		}
	default:
		c = []string{"what-changed"}
	}
	for _, s := range e.turn.message {
		switch {
		case lang.Has(s.text, "gotcha"):
			c = text.Add(c, "gotcha")
		case t == memory.TypeDiscovery && lang.Has(s.text, "why-exists"):
			c = text.Add(c, "why-it-exists")
		case t != memory.TypeDecision && lang.Has(s.text, "trade-off"):
			c = text.Add(c, "trade-off")
		case lang.Has(s.text, "pattern") && t != memory.TypeBugfix:
			c = text.Add(c, "pattern")
		}
	}
	return c[:min(len(c), 4)]
}

// narrative returns the agent's own account without its fluff, then the evidence. A sentence that
// would make it longer than maxNarrative bytes is left out.
func (e *episode) narrative() string {
	var b strings.Builder
	put := func(s string) {
		if s = strings.TrimSpace(s); s == "" || b.Len()+len(s) > maxNarrative {
			return
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(s)
		if !strings.ContainsAny(s[len(s)-1:], ".!?…") {
			b.WriteByte('.')
		}
	}
	for _, s := range e.turn.message {
		if !isFluff(s.text) && (e.only || e.relevance(s) > 0) {
			put(s.text)
		}
	}
	for _, s := range e.evidence() {
		if !reports(b.String(), s) {
			put(s)
		}
	}
	return b.String()
}

// reports reports whether evidence only says that a command passes which text names already.
func reports(text, evidence string) bool {
	_, rest, ok := strings.Cut(evidence, "`")
	command, _, ok2 := strings.Cut(rest, "`")
	return ok && ok2 && strings.HasSuffix(evidence, "passes.") && strings.Contains(text, "`"+command+"`")
}

// evidence describes, in sentences, what was seen to happen; nil if nothing was edited or
// fixed.
func (e *episode) evidence() []string {
	var out []string
	files := list(e.files(), 4)
	switch {
	case len(e.fixed) > 0 && files != "":
		c := e.proof()
		failed, passes := "`"+c.text+"` failed", "; `"+c.passedBy()+"` passes"
		if c.text == c.passedBy() {
			passes = " and passes"
		}
		if c.early {
			out = append(out, failed+" before the change to "+files+passes+" since.")
		} else {
			out = append(out, "Edited "+files+"; "+failed+" on the way"+passes+" now.")
		}
	case len(e.fixed) > 0:
		c := e.proof()
		by := curesOf(e.turn, e.steps, c)
		if c.replaced {
			out = append(out, "`"+c.text+"` fails; `"+c.passedBy()+"` works.")
		} else {
			out = append(out, strings.TrimSpace("`"+c.text+"` failed and passes "+by.cure())+".")
		}
	case len(e.blocking()) > 0 && files != "":
		out = append(out, "`"+e.blocking()[0].text+"` "+e.failing()+" after the change to "+files+".")
	case files != "":
		out = append(out, capital(e.worked(4))+".")
	}
	if p := e.lastMeasure(); p != "" && len(e.fixed) == 0 && len(e.blocking()) == 0 && files != "" {
		out = append(out, "`"+p+"` passes.")
	}
	return out
}
