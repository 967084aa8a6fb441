package block

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"claudemem/internal/find/recall"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// Caps are the most tokens of each layer in a block of DefaultBudget tokens. They
// scale with the effective budget; tokens that a layer does not use go to the next
// one. A layer with a cap of 0 is not built.
type Caps struct {
	Sessions     int
	Symbols      int
	Learnings    int
	Observations int
	// Reserve is for the frame and the closing line.
	Reserve int
}

// DefaultCaps are the caps of a Caps that is all zero.
var DefaultCaps = Caps{Sessions: 400, Symbols: 500, Learnings: 300, Observations: 600, Reserve: 200}

// Options shape a Builder. The zero value of a field takes its default.
type Options struct {
	// Budget of a block in tokens, when a request names none; default DefaultBudget.
	Budget int
	// Caps of the layers; all zero = DefaultCaps.
	Caps Caps
	// MaxSessions, MaxSymbols, MaxLearnings and MaxObservations bound the layers' lines;
	// default 10, of symbols 30; negative = none.
	MaxSessions     int
	MaxSymbols      int
	MaxLearnings    int
	MaxObservations int
	// MinConfidence is the least confidence of a learning that is shown; default 0.5, negative = any.
	MinConfidence float64
	// Bounds sets the fields above for a request, with the values in the place of settings that it
	// names; nil = they hold for all.
	Bounds func(o *Options, settings string)
	// Distiller shows what still waits in the queue; nil = that is not shown.
	Distiller Distiller
	// Finder chooses the observations that fit the latest summary; nil = the newest are shown.
	Finder recall.Finder
	// WorkTree marks what changed since and what is on another branch; nil = nothing is marked.
	WorkTree recall.WorkTree
	// HostFiles leaves out what the host loads by itself; nil = nothing is left out.
	HostFiles HostFiles
	// StartLine reports whether a session that starts anew gets a line for the user; nil = none.
	StartLine func() bool
	// Trial returns the trial that runs, as it is for a session; nil = there is none.
	Trial func(ctx context.Context, host memory.Host, session string) (memory.Trial, error)
	// Timeout is after how long a block is given without the layers that are not
	// there yet; default 800 ms, so that the rest still reaches a hook that waits
	// 1.2 s. The context's deadline may make it less.
	Timeout time.Duration
	// Slack is added to all time limits, for tests.
	Slack time.Duration
	// Clock tells the time; default time.Now.
	Clock func() time.Time
	// Logger is told of layers that had to be left out; default discards.
	Logger *slog.Logger
}

// Builder builds context blocks. It is safe for concurrent use.
type Builder struct {
	source Source
	opts   Options
}

// New makes a Builder that reads from source, from several goroutines at once.
func New(source Source, opts Options) *Builder {
	opts.bound()
	opts.Timeout = cmp.Or(opts.Timeout, 800*time.Millisecond) + opts.Slack
	opts.Logger = cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	opts.Clock = memory.ClockOr(opts.Clock)
	return &Builder{source: source, opts: opts}
}

// bound sets the bounds that are not set to their defaults.
func (o *Options) bound() {
	o.Budget = cmp.Or(o.Budget, DefaultBudget)
	o.Caps = cmp.Or(o.Caps, DefaultCaps)
	o.MaxSessions = cmp.Or(o.MaxSessions, 10)
	o.MaxSymbols = cmp.Or(o.MaxSymbols, 30)
	o.MaxLearnings = cmp.Or(o.MaxLearnings, 10)
	o.MaxObservations = cmp.Or(o.MaxObservations, 10)
	o.MinConfidence = cmp.Or(o.MinConfidence, 0.5)
}

// The sources that are not like a startup.
const (
	sourceCompact = "compact"
	sourceResume  = "resume"
)

// Context builds the block for a session that starts. By req.Source:
//
//   - startup, clear and anything unknown: what other sessions did;
//   - compact: this session's own summaries first, then the others;
//   - resume: only what is new since this session was last given a block.
//
// An empty memory, or nothing new, gives an empty Text. A layer that cannot be
// built is left out and named in Skipped; when no layer at all could be built
// the error has CodeUnavailable. Injection is what to book once the text was given.
func (b *Builder) Context(ctx context.Context, req memory.ContextRequest) (memory.ContextBlock, error) {
	if b.opts.Bounds != nil {
		own := *b
		own.opts.Bounds(&own.opts, req.Settings)
		own.opts.bound()
		b = &own
	}
	start := b.opts.Clock()
	// One clock for everything below, in stages: who asks, what is recent, what
	// waits in the queue, the layers. A stage that is late costs only itself.
	limit := b.opts.Timeout
	if end, ok := ctx.Deadline(); ok {
		// Whoever waits for less still gets what is there by then, and time to pass it on.
		limit = min(limit, time.Until(end)*9/10)
	}
	by := func(part time.Duration) (context.Context, context.CancelFunc) {
		return context.WithTimeout(ctx, limit*part/4)
	}
	askCtx, cancel := by(1)
	defer cancel()
	recentCtx, cancel := by(2)
	defer cancel()
	freshCtx, cancel := by(3)
	defer cancel()
	layerCtx, cancel := by(4)
	defer cancel()

	r := &run{
		Builder: b,
		req:     req,
		now:     memory.MillisOf(start),
		limit:   limit,
	}
	r.recent = recall.Try(recentCtx, r.recentSessions)
	r.host = recall.Try(recentCtx, r.loadHost)
	asking := recall.Try(askCtx, r.identify)
	var skipped []memory.LayerCost
	asker, err := asking.Wait()
	if err != nil {
		skipped = append(skipped, b.leaveOut("session", err))
		if req.Source == sourceResume && ctx.Err() == nil {
			// Not knowing what this session was given, more of it may be the same again.
			return b.finish(start, req, nil, skipped, shelf{}), nil
		}
	}
	r.asker = asker
	r.fresh = recall.Try(layerCtx, func(context.Context) (freshSessions, error) { return r.distilFresh(freshCtx), nil })
	totals := recall.Try(layerCtx, func(ctx context.Context) (memory.Totals, error) {
		return b.source.Totals(ctx, req.ProjectPath)
	})

	layers := r.layers()
	builds := collect.Map(layers, func(l layer) *recall.Attempt[built] { return recall.Try(layerCtx, l.build) })
	sections := make([]section, len(layers))
	failed := 0
	for i, l := range layers {
		got, err := builds[i].Wait()
		sections[i] = section{layer: l, built: got}
		if err != nil {
			failed++
			sections[i].skip = b.leaveOut(l.name, err)
		}
		skipped = append(skipped, got.lacking...)
	}
	if err := ctx.Err(); err != nil {
		return memory.ContextBlock{}, fmt.Errorf("build context: %w", err)
	}
	if failed > 0 && failed == len(layers) {
		return memory.ContextBlock{}, memory.Errorf(memory.CodeUnavailable, "build context: no layer could be built")
	}
	if fresh, err := r.fresh.Wait(); err != nil {
		skipped = append(skipped, b.leaveOut(layerUndistilled, err))
	} else if fresh.failed != nil {
		skipped = append(skipped, b.leaveOut(layerUndistilled, fresh.failed))
	}
	if _, err := r.host.Wait(); err != nil {
		skipped = append(skipped, b.leaveOut(layerHost, err))
	}
	var all shelf
	t, err := totals.Wait()
	if err != nil {
		skipped = append(skipped, b.leaveOut(layerClosing, err))
	} else if req.Source != sourceResume { // What else there is, is no news to a session that goes on.
		all = r.shelf(t)
	}
	leaveReversed(sections)
	reconcile(sections)
	passOn(sections)
	block := b.finish(start, req, sections, skipped, all)
	if err == nil {
		block.SystemMessage = r.startLine(t)
	}
	b.withhold(ctx, &block) // whose stages may all be over
	return block, nil
}

// leaveOut returns the entry of a layer that could not be built, with the kind of error
// as reason. The cause goes to the log alone: it may hold paths.
func (b *Builder) leaveOut(name string, cause error) memory.LayerCost {
	reason := recall.ReasonOf(cause)
	b.opts.Logger.Warn("context layer left out", "layer", name, "reason", reason, "error", cause)
	return memory.LayerCost{Name: name, Reason: reason}
}

// shelf returns how many records of other sessions there are to look further in; after a
// compaction those of this session count too.
func (r *run) shelf(t memory.Totals) shelf {
	all := shelf{known: true, sessions: t.Sessions, observations: t.Observations}
	recent, err := r.recent.Wait()
	if err == nil && len(recent) < r.recentLimit() {
		// These are all; unlike the totals they leave out sessions without content.
		all.sessions = len(recent)
	}
	if r.req.Source != sourceCompact && slices.ContainsFunc(recent, func(d memory.SessionDigest) bool { return r.isSelf(d.Session) }) {
		all.sessions--
	}
	return all
}

// run is one Context call: what its layers share.
type run struct {
	*Builder
	req memory.ContextRequest
	now memory.Millis
	// limit bounds the time for the whole block.
	limit time.Duration
	asker
	// host names the file that says a line and that the host loads by itself; said has the
	// names for observations, by nameOf.
	host   *recall.Attempt[func(line ...string) string]
	said   sync.Map
	recent *recall.Attempt[[]memory.SessionDigest]
	fresh  *recall.Attempt[freshSessions]
}

// asker is the session that asks for a block.
type asker struct {
	// self has ID 0 while the session is unknown.
	self memory.Session
	// since is the time of the session's last block, for a resume only.
	since memory.Millis
	// judged has the verdicts on records.
	judged memory.Judged
}

// identify looks up the session that asks for a block. One that is not stored yet is no
// error.
func (r *run) identify(ctx context.Context) (asker, error) {
	judged, err := r.source.Judged(ctx)
	a := asker{judged: judged}
	if err != nil || r.req.HostSessionID == "" {
		return a, err
	}
	self, err := r.source.SessionByHost(ctx, r.req.Host, r.req.HostSessionID)
	if err != nil && memory.CodeOf(err) != memory.CodeNotFound {
		return a, err
	}
	if err == nil {
		a.self = self
	}
	if r.req.Source == sourceResume {
		a.since, err = r.source.LastInjection(ctx, r.req.Host, r.req.HostSessionID)
		return a, err
	}
	return a, nil
}

// isSelf reports whether s is the asking session; it works also when that could not be looked up.
func (r *run) isSelf(s memory.Session) bool {
	return r.self.ID != 0 && s.ID == r.self.ID ||
		r.req.HostSessionID != "" && s.HostSessionID == r.req.HostSessionID && s.Host == r.req.Host
}

// recentLimit returns how many recent sessions to read: one more than are shown,
// because the asking session is often among them, and at least 4, because events of
// the latest sessions may wait in the queue even if the session layer is off.
func (r *run) recentLimit() int { return max(r.opts.MaxSessions, 3) + 1 }

// recentSessions reads the recent sessions of the project from the store.
func (r *run) recentSessions(ctx context.Context) ([]memory.SessionDigest, error) {
	return r.source.RecentSessions(ctx, r.req.ProjectPath, r.recentLimit())
}
