package moments

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"claudemem/internal/find/recall"
	"claudemem/internal/find/recall/gate"
	"claudemem/internal/find/trial"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// History reads what was done to a file. The store implements it, and remembered in the tests,
// for fake time.
type History interface {
	// ObservationsOfFile lists a project's observations of exactly this path, which is
	// as an observation's files have it: pinned ones ahead, then the newest, at most
	// limit.
	ObservationsOfFile(ctx context.Context, projectPath, path string, limit int) ([]memory.Observation, error)
}

// Given reads what sessions were given already. The store implements it, and remembered in
// the tests, for fake time.
type Given interface {
	Shown(ctx context.Context, host memory.Host, hostSessionID string) (memory.Shown, error)
}

// Options shape a Reminder. What is nil is done without.
type Options struct {
	// Finder finds records for a prompt or a failure; nil = none are shown at either.
	Finder recall.Finder
	// History lists the records of a file that is read; nil = none are shown.
	History History
	// Relative names a file as the store does, from a worktree's root and a current
	// directory (repo.Relative).
	Relative func(worktreeRoot, cwd, file string) string
	// WorkTree marks what changed since and what is on another branch; nil = nothing is marked.
	WorkTree recall.WorkTree
	// On reports whether moments are switched on; nil = always.
	On func() bool
	// Trial returns the latest trial, as it is for a session: one that it keeps from the memory is given no lines, others
	// none where the lot says so; nil = there is none.
	Trial func(ctx context.Context, host memory.Host, session string) (memory.Trial, error)
	// Slack is added to all time limits, for tests.
	Slack time.Duration
	// Clock tells the time; default time.Now.
	Clock func() time.Time
}

// Reminder gives a session a few lines when a prompt, a file that it read or a
// failure calls for them. Silence is the rule: package recall/gate decides. It is
// safe for concurrent use.
type Reminder struct {
	given Given
	opts  Options
	told  ledger
	// passPrompt filters the records near a prompt down to those worth showing and
	// not yet shown. Default: gate.Prompt.
	passPrompt func(found []memory.Related, told func(memory.Related) bool) []memory.Related
}

// New returns a Reminder. given lists the records that a session was shown
// before, at its start too; of these it is told only what was not said.
func New(given Given, opts Options) *Reminder {
	opts.Clock = memory.ClockOr(opts.Clock)
	return &Reminder{given: given, opts: opts, told: ledger{sessions: map[memory.SessionName]*account{}}, passPrompt: gate.Prompt}
}

// momentLines bounds the records of a moment: the agent pays for each, used or not.
const momentLines = 3

// reminding is the state of one call of Recall.
type reminding struct {
	*Reminder
	event   memory.Event
	session memory.SessionID
	shown   memory.Shown
}

// reminder is the result of a moment: the records found and the session to tell.
type reminder struct {
	frame string // the framing line
	// lines are the best first, none longer than a line may be.
	lines []reminderLine
	// file is the path that the lines are about, at that moment only.
	file string
}

// reminderLine is a record with what is said of it.
type reminderLine struct {
	recall.Marked
	// title and details are plain already; any may be cut. The best detail is first.
	title   string
	details []recall.Statement
	// again: the session was shown the record, and the details are what it was not told.
	again bool
	why   string
	// statements returns all that the record says beside its title.
	statements func() []recall.Statement
}

// trial returns the latest trial, and whether it gives the session of an event no lines.
func (r *Reminder) trial(ctx context.Context, e *memory.Event) (t memory.Trial, withheld bool, err error) {
	if r.opts.Trial != nil {
		t, err = r.opts.Trial(ctx, e.Host, e.HostSessionID)
		_, withheld = trial.Withheld(&t, e.Host, e.HostSessionID)
	}
	return t, withheld, err
}

// Recall returns what the session should be reminded of at this event, an empty
// Text for nothing. Of lines that a lot holds back the Injection has an Arm, and the
// session counts as having been shown them. An error means that nothing is known of it; a part that is
// still at work when ctx ends is not waited for.
func (r *Reminder) Recall(ctx context.Context, event memory.Event, session memory.SessionID) (memory.Recollection, error) {
	moment := event.Moment()
	if moment == memory.MomentNone || event.HostSessionID == "" || event.ProjectPath == "" || r.opts.On != nil && !r.opts.On() {
		return memory.Recollection{}, nil
	}
	drawn, withheld, err := r.trial(ctx, &event)
	if err != nil || withheld {
		return memory.Recollection{}, err
	}
	start := r.opts.Clock()
	run := &reminding{Reminder: r, event: event, session: session}
	build, where := run.atPrompt, "UserPromptSubmit"
	switch moment {
	case memory.MomentFile:
		build, where = run.atFile, "PostToolUse"
	case memory.MomentFailure:
		build, where = run.atFailure, "PostToolUseFailure"
	}
	// Nothing is claimed in the attempt: one that is late must not keep a record
	// from the next moment.
	found, err := recall.Try(ctx, build).Wait()
	if err != nil {
		return memory.Recollection{}, fmt.Errorf("recall at %s: %w", moment, err)
	}
	if len(found.lines) == 0 {
		return memory.Recollection{}, nil
	}
	key := memory.SessionName{Host: event.Host, ID: event.HostSessionID}
	lines, at := r.told.claim(key, found, run.shown, memory.MillisOf(start))
	if len(lines) == 0 {
		return memory.Recollection{}, nil
	}
	text, given, said := r.news(key, found, lines, run.shown, at)
	if len(given) == 0 {
		r.told.release(key, at)
		return memory.Recollection{}, nil
	}
	ids := make([]memory.ObservationID, len(given))
	for i := range given {
		given[i].Layer, ids[i] = string(moment), given[i].Observation
	}
	in := memory.Injection{
		Host: event.Host, HostSessionID: event.HostSessionID, ProjectPath: event.ProjectPath,
		Where: where, Source: string(moment), Observations: ids, Lines: given, FindSaid: said,
		Tokens: memory.EstimateTokens(text), Budget: momentTokens,
		BuildMS: float64(r.opts.Clock().Sub(start).Microseconds()) / 1000,
		At:      at,
	}
	if trial.Draw(&drawn, &in, cmp.Or(event.ToolUseID, event.PromptID, event.DeliveryID)); in.Arm == memory.ArmHeld {
		text = ""
	}
	return memory.Recollection{Text: text, Injection: in}, nil
}

// news writes those of the lines that say something new: not one of a record that the
// session was shown, of which it was told all that the line says, in other words.
func (r *Reminder) news(key memory.SessionName, found reminder, lines []reminderLine, shown memory.Shown, at memory.Millis) (string, []memory.ContextLine, func() map[memory.ObservationID][]uint32) {
	for {
		text, given, said := found.write(lines)
		kept := slices.DeleteFunc(slices.Clone(lines), func(l reminderLine) bool {
			return l.again && !r.told.book(key, at, l.ID, said()[l.ID], shown.Said[l.ID])
		})
		if len(kept) == len(lines) {
			return text, given, said
		}
		lines = kept
	}
}

// Forget says that a recollection did not reach its session: what it shows may be
// given again.
func (r *Reminder) Forget(c memory.Recollection) {
	r.told.release(memory.SessionName{Host: c.Injection.Host, ID: c.Injection.HostSessionID}, c.Injection.At)
}

// readShown reads the records that the session was shown; everything after it
// relies on them.
func (r *reminding) readShown(ctx context.Context) (err error) {
	r.shown, err = r.given.Shown(ctx, r.event.Host, r.event.HostSessionID)
	return err
}

// isOwn reports whether a record is this session's and its model still has it in
// mind: not what a compaction made it forget.
func (r *reminding) isOwn(o *memory.Observation) bool {
	return r.session != 0 && o.Session == r.session && o.CreatedAt > r.shown.CompactedAt
}

// isNew reports whether a record may be given: it is not the session's own and
// was not shown since it was compacted last.
func (r *reminding) isNew(o *memory.Observation) bool {
	return o.ID != 0 && !r.isOwn(o) && !slices.Contains(r.shown.Observations, o.ID)
}

// related finds records near a text, none without a Finder.
func (r *reminding) related(ctx context.Context, text string) ([]memory.Related, error) {
	if r.opts.Finder == nil {
		return nil, nil
	}
	return r.opts.Finder.Related(ctx, memory.RelatedRequest{Text: text, ProjectPath: r.event.ProjectPath,
		Limit: considered, During: memory.During{Session: r.session, Waiting: r.event.Kind == memory.KindPrompt}})
}

// considered bounds the nearest records that are read: the gate compares ten, and
// as many may be the session's own.
const considered = 20

// plain returns a text of a record as one line for the reminder, without markup and the project's path.
func (r *reminding) plain(s string) string { return recall.RecordLine(s, r.event.ProjectPath) }

// unsaid filters the statements of a record that the session was shown down to those that
// it was not told; none where nobody knows what it was told.
func (r *reminding) unsaid(o *memory.Observation, all []recall.Statement) []recall.Statement {
	said, known := r.shown.Said[o.ID]
	if !known || r.isOwn(o) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(all), func(s recall.Statement) bool { return slices.Contains(said, s.Key()) })
}

// rest returns the statements of an answer that the session was not told yet, from a record
// that it was shown; none if no statement of these answers the prompt by itself. Statements
// beyond the room of the first line are not part of the answer, so that asking again does
// not bring the record bit by bit.
func (r *reminding) rest(o *memory.Observation, title string, details []recall.Statement, asked recall.Question) []recall.Statement {
	rest := r.unsaid(o, chosen(title, details, leadChars))
	if !slices.ContainsFunc(rest, func(s recall.Statement) bool { return s.Answers || asked.Wants(s) }) {
		return nil
	}
	return rest
}

// reasons returns the causes and choices that the session was not told, from a record that
// it was shown. Those that the record's line would not have room for are left out.
func (r *reminding) reasons(o *memory.Observation) []recall.Statement {
	title := recall.Heading(o, r.plain)
	ranked := recall.Question{}.Rank(recall.BesideTitle(o, r.plain), title)
	return slices.DeleteFunc(r.unsaid(o, chosen(title, ranked, momentChars)), func(s recall.Statement) bool {
		return s.Worth < 0 || !s.Signs[0] && !s.Signs[1]
	})
}

// tellsCure reports whether a session that was shown the record of a failure has yet to be
// told what made it go away.
func (r *reminding) tellsCure(p *precedent) bool {
	fix := text.Unstopped(r.plain(p.fix))
	return slices.ContainsFunc(r.unsaid(p.Observation, recall.BesideTitle(p.Observation, r.plain)), func(s recall.Statement) bool {
		return recall.ContainsFold(s.Text, fix) || recall.ContainsFold(fix, s.Text)
	})
}
