package observer

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"claudemem/internal/capture/queue"
	"claudemem/internal/keep/store"
	"claudemem/internal/memory"
)

// Distiller makes records of a batch of events. An empty outcome is a good answer.
type Distiller interface {
	Distil(ctx context.Context, batch memory.Batch) (memory.Outcome, error)
}

// Limiter is a Distiller that bounds its batches: a model's request is limited,
// and the offline distiller wants whole turns.
type Limiter interface {
	// MaxEvents returns the most events of a session in a batch; 0 leaves that to
	// Options. It is called at every look at the backlog and has to be quick.
	MaxEvents(session memory.Session) int
}

// Defaults and bounds of Options.
const (
	// quietAfter is the time without news after which an open turn is distilled: its
	// end may never come.
	quietAfter = 10 * time.Minute
	// ClosingAfter is how long the open turn of a session that has ended waits for its closing
	// message, without which the turn's records would not know how it came out: the hook that
	// brings it may be slower than that of the end. Then it lies in the spool.
	ClosingAfter = 3 * time.Second
	// wholeTurnEvents bounds a batch without BatchMaxSize.
	wholeTurnEvents = 1000
	// knownTurns bounds the turns, of all sessions, whose changed lines are kept in memory.
	knownTurns = 100
	// defaultBatchBytes bounds the payloads of a batch in memory: a turn of 1000
	// full events would take 100 MB of the user's machine.
	defaultBatchBytes = 16 << 20
)

// Options tune an Observer. Forbidden, Renew and Mark are required.
type Options struct {
	// BatchingEnabled waits for whole turns; false distils event by event.
	BatchingEnabled bool
	// BatchMaxSize is the most events in a batch; 0 takes whole turns (up to 1000 events).
	BatchMaxSize int
	// BatchMaxBytes is about the most bytes of payload in a batch; 0 is 16 MB.
	BatchMaxBytes int
	// MaxObservers is the most batches distilled at a time; less than 1 is 1.
	MaxObservers int
	// Fallback distils events on which the distiller has failed three times. nil is
	// the distiller itself, in ever smaller parts, so that only the bad events are
	// buried.
	Fallback Distiller
	// Forbidden reports whether the user no longer wants an event captured. A turn with one is
	// not shown to a model later.
	Forbidden func(*memory.Event) bool
	// Renew applies the settings to an event before it is distilled, since they may have
	// changed while it waited: it may mask contents, and returns why the event is to be
	// skipped, "" if it is not.
	Renew func(*memory.PendingEvent) (skip string)
	// Mark sets the provenance of events of a session before they are distilled, in their
	// order.
	Mark func(memory.SessionID, []memory.PendingEvent)
	// LookAfter is the pause between an arrival and the look at what is due. For a caller that waits or
	// asks for a session, the observer looks at once.
	LookAfter time.Duration
	// Clock is the time of day; nil is time.Now.
	Clock func() time.Time
	// Logger receives failures; nil discards them. Payload text is never logged.
	Logger *slog.Logger
}

// Observer distils the events of the queue into records of the store.
type Observer struct {
	queue     *queue.Queue
	store     *store.Store
	distiller Distiller
	opts      Options

	// wake (capacity 1, later signals merge) tells the scheduler about new requests
	// or waiters.
	wake chan struct{}
	// done is closed when the scheduler and all goroutines that it started have
	// ended.
	done chan struct{}

	// unread asks the scheduler to look for turns that no model has read.
	unread atomic.Bool

	mu       sync.Mutex
	cancel   context.CancelFunc // nil before Open
	requests []flushRequest
	// waiters are the calls of WaitIdle; each channel is closed when nothing is due.
	waiters []chan struct{}
	// lines are what the last turns changed, the newest last.
	lines []memory.TurnLines
}

// flushRequest asks for the open turns of a session or a project.
type flushRequest struct {
	session memory.SessionID // 0 for a project
	project string
	except  memory.SessionID
	// at is when it was made: sessions of a project that began later are not meant.
	at memory.Millis
}

// New returns an observer; Open starts it.
func New(queue *queue.Queue, store *store.Store, distiller Distiller, opts Options) *Observer {
	opts.BatchMaxSize = cmp.Or(max(opts.BatchMaxSize, 0), wholeTurnEvents)
	opts.BatchMaxBytes = cmp.Or(max(opts.BatchMaxBytes, 0), defaultBatchBytes)
	opts.Fallback = cmp.Or(opts.Fallback, distiller)
	opts.MaxObservers = max(opts.MaxObservers, 1)
	opts.Logger = cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	opts.Clock = memory.ClockOr(opts.Clock)
	return &Observer{
		queue: queue, store: store, distiller: distiller, opts: opts,
		wake: make(chan struct{}, 1),
		done: make(chan struct{}),
	}
}

// Open starts observing, first the events that the queue already holds. It ends
// with ctx or with Close; an observer is opened once.
func (o *Observer) Open(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.cancel != nil {
		return memory.Errorf(memory.CodeConflict, "open observer: already opened")
	}
	ctx, o.cancel = context.WithCancel(ctx)
	go func() {
		defer close(o.done)
		newScheduler(o).run(ctx)
	}()
	return nil
}

// Close stops observing. A batch that is being distilled is given back to the
// queue untouched, or stored when its outcome was already there. Close returns
// when all goroutines have ended; it may be called again, and without Open.
func (o *Observer) Close() error {
	o.mu.Lock()
	cancel := o.cancel
	o.mu.Unlock()
	if cancel != nil {
		cancel()
		<-o.done
	}
	return nil
}

// Flush asks for all waiting events of a session, its open turn included. It does
// not wait.
func (o *Observer) Flush(session memory.SessionID) {
	o.request(flushRequest{session: session})
}

// FlushProject asks for all waiting events of a project's sessions except one: the
// session that has just begun there, which wants to know about the others. It does
// not wait.
func (o *Observer) FlushProject(project string, except memory.SessionID) {
	o.request(flushRequest{project: project, except: except, at: memory.MillisOf(o.opts.Clock())})
}

// request hands a flush to the scheduler.
func (o *Observer) request(r flushRequest) {
	o.mu.Lock()
	o.requests = append(o.requests, r)
	o.mu.Unlock()
	o.signal()
}

// WaitIdle waits until nothing is due any more. Open turns are left alone, and so
// are retries that are due later. CodeUnavailable when the observer is not open, closes, or
// ctx ends first.
func (o *Observer) WaitIdle(ctx context.Context) error {
	idle := make(chan struct{})
	o.mu.Lock()
	if o.cancel == nil {
		o.mu.Unlock()
		return memory.Errorf(memory.CodeUnavailable, "wait for observer: not open")
	}
	o.waiters = append(o.waiters, idle)
	o.mu.Unlock()
	o.signal()
	select {
	case <-idle:
		return nil
	case <-o.done:
		return memory.Errorf(memory.CodeUnavailable, "wait for observer: closed")
	case <-ctx.Done():
		o.forget(idle)
		return memory.Errorf(memory.CodeUnavailable, "wait for observer: %w", ctx.Err())
	}
}

// forget withdraws a waiter.
func (o *Observer) forget(idle chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiters = slices.DeleteFunc(o.waiters, func(w chan struct{}) bool { return w == idle })
}

// signal wakes the scheduler; it never blocks.
func (o *Observer) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}
