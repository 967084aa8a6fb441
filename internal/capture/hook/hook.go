package hook

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
)

// Verb is the hook's command.
type Verb string

// The verbs.
const (
	VerbContext Verb = "context"
	VerbNew     Verb = "new"
	VerbSave    Verb = "save"
	VerbSummary Verb = "summary"
	VerbEnd     Verb = "end"
	// VerbStatusline prints the host's status line; it takes no event in.
	VerbStatusline Verb = "statusline"
)

// times bound a verb.
type times struct {
	// budget is how long the verb may take, counted from the arrival of the payload.
	budget time.Duration
	// patience is how long it waits for its payload, counted from the start of the process.
	// With the budget, or the last resort, it stays below the host's timeout.
	patience time.Duration
	// timeout is what a host's configuration grants the hook, in seconds. Claude Code grants
	// SessionEnd 1.5 s whatever is written there.
	timeout int
}

// times returns the bounds of the verb. Until the payload has said which one it is, the verb
// is "", with the bounds of save.
func (v Verb) times() times {
	switch v {
	case VerbContext:
		return times{2 * time.Second, 7 * time.Second, 10}
	case VerbNew:
		return times{400 * time.Millisecond, 3500 * time.Millisecond, 5}
	case VerbEnd:
		return times{500 * time.Millisecond, 1100 * time.Millisecond, 2}
	case VerbStatusline:
		return times{statuslineTime, statuslineTime, 0} // it is no hook
	}
	return times{250 * time.Millisecond, 3500 * time.Millisecond, 5}
}

const (
	// spoolReserve is what of the budget is kept for the spool when the worker is slow.
	spoolReserve = 60 * time.Millisecond
	// leastPost is what the worker gets however late it is.
	leastPost = 20 * time.Millisecond
	// lastResort is when the process ends whatever it is doing (a file system that
	// hangs), counted from the arrival of the payload.
	lastResort = 1300 * time.Millisecond
	// sessionEndTime is all that a session's end may take, counted from the start of
	// the process: the host gives it 1.5 s.
	sessionEndTime = 1400 * time.Millisecond
	// logTime is what noting a fault may take before the process ends regardless.
	logTime = 50 * time.Millisecond
	// largestInput is the payload from which on nothing is taken in.
	largestInput = 50 << 20
)

// Options are what a hook runs with; zero fields take what the process has.
type Options struct {
	// Verb may be empty: then the payload's hook_event_name decides.
	Verb Verb
	// Host selects the adapter; Claude Code when empty.
	Host   memory.Host
	Stdin  io.Reader
	Stdout io.Writer
	Getenv func(string) string
	// Now is what events are stamped with. Deadlines go by the real clock.
	Now func() time.Time
	// Rand makes the random half of a delivery id.
	Rand func() uint64
	// StartedAt is when the process began.
	StartedAt time.Time
	// DataDir is the data directory, settings.DataDir's when empty.
	DataDir string
	// StartWorker starts a worker for a data directory, detached.
	StartWorker func(dataDir string) error
	// Fallback builds a context block without the worker and returns the hook's
	// reply. The twin leaves it nil: it runs the big binary beside it.
	Fallback func(ctx context.Context, request memory.ContextRequest) ([]byte, error)

	// exit ends the process when the time is over; nil in tests.
	exit func(code int)
	// slack is added to all deadlines, for tests, beside settings.Slack.
	slack time.Duration
}

// run is one hook at work.
type run struct {
	Options
	// stamp is when the hook began by Now.
	stamp time.Time
	// arrived is when the payload had been read, by the real clock; until then the
	// start of the process. deadline is when the hook must be over.
	arrived  time.Time
	deadline time.Time
	// limit ends the process when its time is over; nil in tests, which have no limit.
	limit    *limit
	settings *settings.Settings
	// worker is connected before the payload is read: waking an idle worker takes
	// as long as making the event, and the two go on side by side.
	worker wire.Client
	// deliveryID is the event's, and refusal why the worker has not taken it; both "" until
	// known.
	deliveryID, refusal string
	// unstarted is why this hook could not start a worker, nil if it did not try or could.
	unstarted error
	// kept says that the event is delivered, spooled or logged as lost.
	kept  bool
	reply reply
}

// Run handles one payload. It never fails and never panics; faults are logged to
// logs/hook.log in the data directory.
func Run(o Options) {
	r := newRun(o)
	defer func() {
		if cause := recover(); cause != nil {
			r.log(r.lost("panic"), panicText(cause))
		}
	}()
	r.handle()
	r.reply.print(r.Stdout)
}

// newRun returns a run with defaults for what o leaves out. The clock of its deadline
// has started.
func newRun(o Options) *run {
	o.StartedAt, o.Host = cmp.Or(o.StartedAt, time.Now()), cmp.Or(o.Host, memory.HostClaudeCode)
	o.Stdin, o.Stdout = cmp.Or[io.Reader](o.Stdin, os.Stdin), cmp.Or(o.Stdout, stdout)
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	o.Now = memory.ClockOr(o.Now)
	if o.Rand == nil {
		o.Rand = rand.Uint64 // seeded by the operating system
	}
	if o.StartWorker == nil {
		o.StartWorker = StartWorker
	}
	o.DataDir = cmp.Or(o.DataDir, settings.DataDir(o.Getenv))
	o.slack += settings.Slack(o.Getenv)
	r := &run{Options: o, stamp: o.Now(), arrived: o.StartedAt}
	r.setDeadline()
	return r
}

// setDeadline computes the deadline from the verb and the arrival of the payload; that of a
// session's end also from the start of the process.
func (r *run) setDeadline() {
	r.deadline = r.arrived.Add(r.Verb.times().budget + r.slack)
	if latest := r.StartedAt.Add(sessionEndTime + r.slack); r.Verb == VerbEnd && latest.Before(r.deadline) {
		r.deadline = latest
	}
}

// endBy replaces the time at which the process exits 0 whatever it is doing. The
// fault is logged then, unless what is "". It does nothing where exit is nil, as in tests.
func (r *run) endBy(at time.Time, what, fault string) {
	if r.exit == nil {
		return
	}
	begun := r.limit != nil
	if !begun {
		r.limit = &limit{exit: r.exit}
	}
	r.limit.next.Store(&ending{at: at.Add(r.slack), log: r.journal(), what: what, fault: fault})
	if !begun {
		r.limit.check()
	}
}

// endByLastResort bounds the work on a payload that has arrived. It is called again when the verb is
// known and when the event is kept, as both change the time or the message.
func (r *run) endByLastResort() {
	at := r.arrived.Add(lastResort)
	switch r.Verb {
	case VerbContext:
		at = r.arrived.Add(VerbContext.times().budget)
	case VerbEnd:
		at = r.StartedAt.Add(sessionEndTime)
	}
	r.endBy(at, r.lost("gave up"), "not finished in time")
}

// lost returns the message of a fault that ends the run: that the event is lost, unless
// it is kept already or the verb prints the context, which has none to lose.
func (r *run) lost(why string) string {
	if r.kept || r.Verb == VerbContext {
		return why
	}
	return EventLost + ": " + why
}

// panicText returns the text of a panic without quoting from the payload: the texts of
// the runtime's own errors hold types and numbers only.
func panicText(cause any) string {
	if err, ok := cause.(runtime.Error); ok {
		return err.Error()
	}
	return "unexpected panic"
}

// handle reads the payload and captures the event, or collects the context in the reply, or prints
// the status line. Nothing is captured in excluded projects or with broken settings. In a run that
// claude-mem itself started (CLAUDE_MEM_INTERNAL) it only reads the payload.
func (r *run) handle() {
	patience := r.StartedAt.Add(r.Verb.times().patience)
	if internal := r.Getenv("CLAUDE_MEM_INTERNAL"); internal != "" && internal != "0" {
		r.endBy(patience, "", "")
		drain(r.Stdin)
		return
	}
	if r.Verb == VerbStatusline {
		r.endBy(patience, "", "")
		r.statusline()
		return
	}
	r.endBy(patience, r.lost("payload"), "the host did not send it whole in time")
	if r.DataDir != "" && r.Verb != VerbContext {
		r.worker = wire.Client{Address: wire.Find(r.DataDir, r.Getenv), Deadline: r.postUntil()}
		r.worker.Dial()
		defer r.worker.Close()
	}
	input, err := readInput(r.Stdin, largestInput)
	r.arrived = time.Now()
	r.endByLastResort()
	if err != nil {
		r.log(r.lost("read payload"), err.Error())
		return
	}
	if r.DataDir == "" { // and no place for a log either
		if r.Verb == VerbContext {
			r.reply.tell("claude-mem: " + settings.NoDataDir(r.Getenv) + ": nothing is remembered. Set it for the agent.")
		}
		return
	}
	p, err := r.understand(input)
	if errors.Is(err, errEmptyInput) {
		return // no host sends that: a person tries the command
	}
	if a := adapterOf(r.Host); err != nil && (a == nil || a.byShape) {
		r.log(NotUnderstood, string(r.Host)+": "+err.Error()+"; members: "+memberNames(input))
		return
	}
	if err != nil {
		r.log("payload ignored", err.Error())
		return
	}
	if p.verb == "" || r.Verb != "" && r.Verb != p.verb {
		return
	}
	r.Verb = p.verb
	r.setDeadline()
	r.endByLastResort()

	if r.settings, err = settings.Load(r.DataDir, r.Getenv); err != nil && p.verb == VerbContext { // once a session is enough
		r.log("settings", err.Error())
		r.reply.tell("claude-mem: " + err.Error() + ". `claude-mem doctor` helps.")
	}
	if r.settings.Closed() {
		return
	}
	r.locate(p)
	if e := &p.event; !r.settings.Projects().Captured(e.ProjectPath, e.WorktreeRoot, p.projectDir, e.Cwd) {
		return
	}
	switch p.verb {
	case VerbContext:
		r.context(p)
	default:
		r.capture(p)
	}
}
