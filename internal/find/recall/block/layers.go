package block

import (
	"context"
	"strings"

	"claudemem/internal/find/recall"
	"claudemem/internal/memory"
)

// The names of the parts of a block, as the injections table has them.
const (
	layerSessions     = memory.LayerSessions
	layerSymbols      = "symbols"
	layerLearnings    = "learnings"
	layerObservations = "observations"
	layerClosing      = "closing"
	// layerFrame is the name of the text around the layers; only Lines have it.
	layerFrame = "frame"
	// Names in Skipped for parts of other layers: records distilled on the spot from
	// the queue, and records near the latest summary.
	layerUndistilled = "undistilled"
	layerRelated     = "related"
	// layerHost is the name in Skipped of the comparison with what the host loads.
	layerHost = "host files"
)

// layer is one part of a block. Layers are built at the same time and written
// in their order.
type layer struct {
	name    string
	heading string
	// cap in tokens of a block of DefaultBudget tokens.
	cap int
	// most bounds the number of lines shown; 0 = all that build returns, which bounds them itself. The
	// writer cuts observations only when it has left out what is said above, so that others take
	// their place.
	most int
	// build returns the layer's lines, the most important first. It must not
	// write to what other layers read.
	build func(ctx context.Context) (built, error)
}

// built is the result of building a layer.
type built struct {
	// lines may be more than are shown, where some of them may not be worth it.
	lines []line
	// known are lines that are not given: the host loads what they say by itself, and why names the file; or a
	// line that is given says otherwise, and why names its day.
	known []line
	// superseded are observations that do not hold any more, with the note that says so.
	superseded []line
	// lacking names what is missing in them, and why.
	lacking []memory.LayerCost
}

// line is one list item.
type line struct {
	// group is the line above those that have it in common: the file of symbols.
	group string
	// lead and tail survive a cut of the text: an age, marks, a record's number.
	lead, text, tail string
	session          memory.SessionID
	observation      memory.ObservationID
	learning         int64
	// why explains why the line is in the block.
	why string
	// from says whose words the text has.
	from memory.Provenance
	// spare says that it is not worth its place when the layers above say the same.
	spare bool
	// title is what an observation's line is about, detail what it says of it. Where its
	// session's line says the title, the rest follows there.
	title, detail string
	// more returns the sentences that the line has no room for, the best first: they are
	// added where the budget allows it. nil when there are none.
	more func() []recall.Statement
	// statements returns all that the observation says beside its title; nil when that is
	// not known.
	statements func() []recall.Statement
	// proof says which command failed before and passes now, "" when that is not known;
	// nil for a line that tells of no work. See writer.prove.
	proof func() string
	// pinned: an observation that keeps its line.
	pinned bool
	// note is the mark of the observation, which the tail has; see passOn.
	note string
	// claim is what the line's record says, to be compared with what other lines say.
	claim recall.Claim
	// yieldsTo is the line that disagrees with it and is given; see reconcile.
	yieldsTo *line
}

// layers returns the layers that this block will have, the most important first. The
// share of one that is switched off passes to the next.
func (r *run) layers() []layer {
	caps, opts := r.opts.Caps, r.opts
	var all []layer
	unused := 0 // of the layers that are not built: it passes down
	add := func(atMost int, l layer) {
		if l.cap <= 0 {
			return
		}
		unused += l.cap
		if atMost > 0 {
			l.cap, unused = unused, 0
			all = append(all, l)
		}
	}
	add(opts.MaxSessions, layer{layerSessions, "## Recent Sessions", caps.Sessions, 0, r.sessionLines})
	add(opts.MaxSymbols, layer{layerSymbols, "## Recently Changed Code", caps.Symbols, 0, r.symbolLines})
	add(opts.MaxLearnings, layer{layerLearnings, "## Project Knowledge", caps.Learnings, 0, r.learningLines})
	add(opts.MaxObservations, layer{layerObservations, "## Relevant Past Work", caps.Observations, opts.MaxObservations, r.observationLines})
	return all
}

// plain returns a text of a record as one line for the block, without markup and the project's path.
func (r *run) plain(s string) string { return recall.RecordLine(s, r.req.ProjectPath) }

// Source is the memory that a context block is built from; the worker and the
// read-only fall-back each have one. The store implements it, and fakeMemory in the tests,
// which fails and waits as it is told.
type Source interface {
	// SessionByHost finds a session by the host's name for it; CodeNotFound when there is none.
	SessionByHost(ctx context.Context, host memory.Host, hostSessionID string) (memory.Session, error)
	// RecentSessions lists a project's sessions, the most recently updated first;
	// sessions in which nothing was said or done yet are left out.
	RecentSessions(ctx context.Context, projectPath string, limit int) ([]memory.SessionDigest, error)
	// RecentSymbols lists what the last sessions of a project that changed a function or
	// type changed, the latest first. The session except is left out unless it is 0.
	RecentSymbols(ctx context.Context, project string, except memory.SessionID, sessions int) ([]memory.SymbolChange, error)
	// SessionSummaries lists a session's summaries, the newest first.
	SessionSummaries(ctx context.Context, session memory.SessionID, limit int) ([]memory.Summary, error)
	// Observations lists by filter, the newest first, pinned ones ahead.
	Observations(ctx context.Context, q memory.Query) ([]memory.Observation, error)
	// Undistilled returns what waits in a session's queue, without claiming it. Its calls may be
	// at the same time.
	Undistilled(ctx context.Context, session memory.SessionID) (memory.Batch, error)
	// LastInjection returns when a session was last given something at SessionStart, 0 if never.
	LastInjection(ctx context.Context, host memory.Host, hostSessionID string) (memory.Millis, error)
	// Judged returns the verdicts on records.
	Judged(ctx context.Context) (memory.Judged, error)
	// Totals counts a project's records.
	Totals(ctx context.Context, projectPath string) (memory.Totals, error)
	// Learnings lists what is known of a project, the highest confidence first.
	Learnings(ctx context.Context, q memory.LearningQuery) ([]memory.Learning, error)
}

// HostFiles finds out what a host loads by itself.
type HostFiles interface {
	// Load reads the files that the host of the session loads by itself. The function that
	// it returns names the file that says a line, given in parts: in one statement or each
	// in its own; "" for none. It is nil when there are no files.
	Load(ctx context.Context, r memory.ContextRequest) func(line ...string) string
}

// Distiller makes a summary on the spot of a session whose turns still wait in the queue.
type Distiller interface {
	Distil(ctx context.Context, batch memory.Batch) (memory.Outcome, error)
}

// add adds a line, to known if file says it.
func (b *built) add(l line, file string) {
	if file == "" {
		b.lines = append(b.lines, l)
		return
	}
	l.why = "said in " + file
	b.known = append(b.known, l)
}

// loadHost reads what the host loads by itself, nil for nothing. The only error is ctx's: what was
// read may lack files then.
func (r *run) loadHost(ctx context.Context) (func(line ...string) string, error) {
	if r.opts.HostFiles == nil {
		return nil, nil
	}
	return r.opts.HostFiles.Load(ctx, r.req), ctx.Err()
}

// hostSays returns the name of the file that the host loads by itself and that says a
// line, given in parts. "" when a part is not said, or that is not known in time.
func (r *run) hostSays(line ...string) string {
	who, _ := r.host.Wait() // nil for nothing, or if it is not there in time
	if who == nil {
		return ""
	}
	return who(line...)
}

// hostSaysWork is hostSays for the text of a session's line. What was only asked for is
// not known to be done.
func (r *run) hostSaysWork(said string) string {
	said, _, _ = strings.Cut(said, askedMark)
	said, _, _ = strings.Cut(said, nextMark)
	if strings.HasPrefix(said, askedStart) {
		return ""
	}
	return r.hostSays(said)
}

// hostSaysObservation is hostSays for an observation's line. It remembers the answer:
// an observation is looked at when it is read and when it is chosen.
func (r *run) hostSaysObservation(o *memory.Observation) string {
	if who, _ := r.host.Wait(); who == nil {
		return ""
	}
	name := nameOf(o)
	if file, ok := r.said.Load(name); ok {
		return file.(string)
	}
	title, detail := recall.TitleAndDetail(o, r.plain(o.Title), r.plain, func(string) bool { return false })
	line := []string{title, detail}
	if detail == "" {
		line = line[:1]
	}
	file := r.hostSays(line...)
	r.said.Store(name, file)
	return file
}
