package observer

import (
	"context"
	"errors"
	"slices"
	"strings"

	"claudemem/internal/distil/observer/answer"
	"claudemem/internal/distil/observer/mode"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// The longest useful answers, in tokens. A cap's reservation holds them, so they are not
// larger than needed.
const (
	observationsMaxTokens = 3000
	turnMaxTokens         = 4000
)

// The kinds of call, as the ledger names them: a turn that has ended, with its closing
// message, and a part of one that goes on or does not fit into one call.
const (
	kindObservation = "observation"
	kindTurn        = "turn"
)

// turn is the part of a batch that belongs to one turn.
type turn struct {
	number int
	prompt memory.Prompt
	// events are all events of the turn in order, tools its tool events.
	events, tools []memory.PendingEvent
	// stop is the last stop, nil while the turn goes on or when it was interrupted.
	stop *memory.PendingEvent
}

// turnsOf returns the turns of a batch in the order in which they begin.
func turnsOf(b *memory.Batch) []*turn {
	var turns []*turn
	byNumber := map[int]*turn{}
	for i := range b.Events {
		e := &b.Events[i]
		t := byNumber[e.PromptNumber]
		if t == nil {
			t = &turn{number: e.PromptNumber}
			for _, p := range b.Prompts {
				if p.Number == t.number {
					t.prompt = p
				}
			}
			byNumber[t.number] = t
			turns = append(turns, t)
		}
		t.events = append(t.events, *e)
		switch e.Event.Kind {
		case memory.KindTool:
			t.tools = append(t.tools, *e)
		case memory.KindStop:
			t.stop = e
		}
	}
	return turns
}

// lastMessage returns the agent's last message of the turn, "" without a stop.
func (t *turn) lastMessage() string {
	if t.stop == nil {
		return ""
	}
	return t.stop.Event.LastAssistantMessage
}

// askTurns asks about all turns of the batch, one after the other.
func (w *task) askTurns(ctx context.Context) error {
	for _, t := range turnsOf(w.batch) {
		err := w.askTurn(ctx, t)
		if errors.Is(err, memory.ErrUnusable) && !w.redo {
			// The model answers, but not to this: the turn's rest is remembered without it.
			w.m.troubles.noteUnusable(ctx, w.choice.Provider.Name())
			err = w.distilEvents(ctx, w.uncovered(t.events), memory.UnreadUnusable)
		}
		if err != nil {
			return err
		}
	}
	if w.asked && ctx.Err() == nil {
		w.m.troubles.providerAnswered(ctx, w.choice.Provider.Name(), w.batch.Session.ID)
	}
	return nil
}

// askTurn asks about one turn: in one call with its closing message, for observations,
// summary and learnings. What does not fit is asked about in calls before it.
func (w *task) askTurn(ctx context.Context, t *turn) error {
	if len(t.tools) == 0 {
		if t.stop == nil {
			w.markCovered(t.events)
			return nil
		}
		if nothing, err := w.nothingNew(ctx, t); err != nil || nothing && !w.redo {
			w.markCovered(t.events)
			return err
		}
		return w.askPart(ctx, t, nil, kindTurn)
	}
	for tools := t.tools; len(tools) > 0; {
		n, kind, err := w.fitTools(ctx, t, tools)
		if err != nil {
			return err
		}
		if err := w.askPart(ctx, t, tools[:n:n], kind); err != nil {
			return err
		}
		tools = tools[n:]
	}
	return nil
}

// markCovered records that the outcome accounts for these events.
func (w *task) markCovered(events []memory.PendingEvent) {
	for i := range events {
		w.covered[events[i].Key] = true
	}
}

// fitTools returns how many of tools, from the first on, fit into one request, and the
// kind of that request: the turn's last one if all do.
func (w *task) fitTools(ctx context.Context, t *turn, tools []memory.PendingEvent) (n int, kind string, err error) {
	n = min(len(tools), w.m.opts.BatchMaxSize)
	view := w.view(t)
	n = min(n, view.Fit(tools[:n]))
	size := func() int {
		kind = kindObservation
		if n == len(tools) && t.stop != nil {
			kind = kindTurn
		}
		return jsonSize(view.Turn(tools[:n], t.prompt, t.lastMessage(), kind == kindTurn))
	}
	if err := w.ensureRun(ctx, size()); err != nil {
		return 0, "", err
	}
	for n > 1 && size() > maxRequest-jsonSize(w.thread.run.system)-minOpening {
		n -= (n + 3) / 4
	}
	n = max(n, 1)
	size() // sets kind
	return n, kind, nil
}

// view returns how a request shows the turn: under a mark of its own, with paths relative
// to the project and to the worktree.
func (w *task) view(t *turn) mode.View {
	v := mode.View{Mark: newMark(), Earlier: nearest(w.batch, t), Roots: []string{w.batch.Session.ProjectPath}}
	for i := range t.events {
		v.Roots = text.Add(v.Roots, t.events[i].Event.WorktreeRoot)
	}
	// The longest first: a worktree may lie within the project.
	slices.SortFunc(v.Roots, func(a, b string) int { return len(b) - len(a) })
	return v.WithFiles(t.tools)
}

// askPart asks about tools and, in a call of kind turn, about the turn's end.
func (w *task) askPart(ctx context.Context, t *turn, tools []memory.PendingEvent, kind string) error {
	q := question{kind: kind, turn: t, tools: tools, maxTokens: observationsMaxTokens, prompt: w.view(t).Turn(tools, t.prompt, t.lastMessage(), kind == kindTurn)}
	evidence := tools
	if kind == kindTurn {
		q.maxTokens = turnMaxTokens
		evidence = t.events // the closing message tells of all of them
	}
	a, err := w.ask(ctx, q)
	if err != nil {
		return err
	}
	if w.thread.finalized == t.number {
		w.thread.finalized = noTurn // the turn has continued after its checkpoint
	}
	w.thread.observed = t.number
	w.noteNames(tools)
	w.addObservations(t, kind, tools, evidence, a.Observations)
	learnings := learned(t, evidence, a.Learnings)
	w.outcome.Learnings = append(w.outcome.Learnings, learnings[:min(len(learnings), maxAnswerLearnings)]...)
	w.noteLost(len(learnings)-maxAnswerLearnings, "learnings of an answer beyond its bound")
	if kind == kindTurn {
		if err := w.addSummary(ctx, t, a, a.Class != answer.ClassIdle); err != nil {
			return err
		}
		w.markCovered(t.events)
	}
	w.markCovered(tools)
	return nil
}

// nothingNew reports whether a stop without tools adds nothing to the last
// checkpoint.
func (w *task) nothingNew(ctx context.Context, t *turn) (bool, error) {
	switch {
	case w.thread.finalized == t.number && t.number != 0:
		return true, nil
	case w.thread.observed == t.number && t.number != 0:
		return false, nil
	case strings.TrimSpace(t.prompt.Text) == "" && strings.TrimSpace(t.lastMessage()) == "" && len(w.earlier(t)) == 0:
		return true, nil
	}
	// After a restart, the store knows the last checkpoint.
	summaries, err := w.m.opts.Store.SessionSummaries(ctx, w.batch.Session.ID, 1)
	if err != nil {
		return false, transientError{err}
	}
	if len(summaries) == 0 || summaries[0].PromptNumber != t.number {
		return false, nil
	}
	newer := func(o memory.Observation) bool { return o.CreatedAt > summaries[0].CreatedAt }
	return !slices.ContainsFunc(w.earlier(t), newer), nil
}

// earlier returns the observations of a turn that were stored before this batch.
func (w *task) earlier(t *turn) []memory.Observation {
	return slices.DeleteFunc(slices.Clone(w.batch.Earlier), func(o memory.Observation) bool { return o.PromptNumber != t.number })
}

// addSummary adds the checkpoint of an answer to the outcome, of a turn that has a stop. missing: an
// answer without one should have had it, so the fallback makes one.
func (w *task) addSummary(ctx context.Context, t *turn, a answer.Answer, missing bool) error {
	w.thread.finalized = t.number
	if a.Summary == nil || a.Summary.Empty() {
		if !missing || a.SkipSummary || w.redo {
			return nil
		}
		out, err := w.distilOffline(ctx, t.events)
		w.outcome.Summaries = append(w.outcome.Summaries, out.Summaries...)
		return err
	}
	s := *a.Summary
	s.PromptNumber = t.number
	s.Origin = memory.OriginObserver
	s.CreatedAt = t.stop.Event.OccurredAt
	e := evidenceOf(t.events)
	edited := e.modified
	for _, o := range append(w.earlier(t), w.outcome.Observations...) {
		if o.PromptNumber == t.number {
			edited = append(edited, o.FilesIn(memory.FileModified)...)
		}
	}
	s.FilesRead, s.FilesEdited = e.summaryFiles(s.FilesRead, s.FilesEdited, edited)
	w.outcome.Summaries = append(w.outcome.Summaries, s)
	return nil
}

// maxTurnObservations bounds the observations of a turn that a model makes.
const maxTurnObservations = 6

// surest returns the observations of an answer that its turn has room for: if not all, those with
// a file that a tool has modified first, else in the answer's order. Before the call that has the
// closing message they get half of the room.
func (w *task) surest(t *turn, kind string, observations []memory.Observation) []memory.Observation {
	room := maxTurnObservations
	for _, o := range append(w.earlier(t), w.outcome.Observations...) {
		if o.PromptNumber == t.number && o.Origin == memory.OriginObserver {
			room--
		}
	}
	if kind != kindTurn {
		room /= 2
	}
	if lost := len(observations) - max(room, 0); lost > 0 {
		w.noteLost(lost, "observations of a turn beyond its bound")
		edited := func(o memory.Observation) int { return min(len(o.FilesIn(memory.FileModified)), 1) }
		slices.SortStableFunc(observations, func(a, b memory.Observation) int { return edited(b) - edited(a) })
		observations = observations[:len(observations)-lost]
	}
	return observations
}

// addObservations adds observations of tools to the outcome, with the fields that
// a model cannot know and with the files that the evidence supports.
func (w *task) addObservations(t *turn, kind string, tools, evidence []memory.PendingEvent, observations []memory.Observation) {
	observations = slices.Clone(observations) // the paid answer stays as it is
	evidenceOf(evidence).correctFiles(observations)
	observations = w.surest(t, kind, observations)
	tokens := 0
	var agent, agentType string
	for i := range tools {
		event := &tools[i].Event
		tokens += event.ToolTokens()
		if i == 0 {
			agent, agentType = event.AgentID, event.AgentType
		} else if event.AgentID != agent {
			agent, agentType = "", ""
		}
	}
	made := tools
	if len(made) == 0 {
		made = evidence
	}
	last := &made[len(made)-1].Event
	shown, foreign := nearest(w.batch, t), memory.ProvenanceOf(evidence).Foreign()
	for i := range observations {
		o := observations[i]
		o.PromptNumber = t.number
		o.Origin = memory.OriginObserver
		o.TimesSeen = 1
		o.AgentID, o.AgentType = agent, agentType
		o.Branch, o.HeadCommit = memory.MadeAt(made, o.Files)
		o.CreatedAt = last.OccurredAt
		// The tokens are divided evenly; the first observations get the remainder.
		o.DiscoveryTokens = tokens / len(observations)
		if i < tokens%len(observations) {
			o.DiscoveryTokens++
		}
		keepShown(&o, shown, foreign)
		w.outcome.Observations = append(w.outcome.Observations, o)
	}
}
