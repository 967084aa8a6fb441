package observer

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"claudemem"
	"claudemem/queue"
	"claudemem/store"
)

// Defaults and bounds of Options.
const (
	// defaultQuietAfter is how long an open turn may lie still before it is distilled (SPEC 5).
	defaultQuietAfter = 10 * time.Minute
	// wholeTurnEvents bounds a batch when BatchMaxSize does not.
	wholeTurnEvents = 1000
	// defaultBatchBytes bounds the payloads of a batch in memory: a worker is a
	// guest on the user's machine, and a turn of 1000 full events would be 100 MB.
	defaultBatchBytes = 16 << 20
)

// Options tune an Observer.
type Options struct {
	// BatchingEnabled waits for whole turns; false distils event by event.
	BatchingEnabled bool
	// BatchMaxSize is the most events in a batch; 0 takes whole turns (up to 1000 events).
	BatchMaxSize int
	// BatchMaxBytes is about how much payload a batch holds; 0 is 16 MB.
	BatchMaxBytes int
	// QuietAfter is when an open turn without news is distilled; 0 is 10 minutes.
	QuietAfter time.Duration
	// MaxObservers is how many batches are in work at a time; less than 1 is 1.
	MaxObservers int
	// Fallback extracts what the distiller failed on three times. nil is the
	// distiller itself: in ever smaller parts, so that only the bad events are buried.
	Fallback Distiller
	// Clock is the time of day; nil is time.Now.
	Clock func() time.Time
	// Logger gets failures; nil discards them. Payload text is never logged.
	Logger *slog.Logger
}

// Observer turns what waits in the queue into what is remembered.
type Observer struct {
	queue     *queue.Queue
	store     *store.Store
	distiller Distiller
	opts      Options

	// wake (capacity 1, later signals merge) tells the scheduler that requests or
	// waiters have something for it.
	wake chan struct{}
	// done is closed when the scheduler and all it started are gone.
	done chan struct{}

	mu       sync.Mutex
	cancel   context.CancelFunc // nil before Open
	requests []flushRequest
	waiters  []*waiter
}

// flushRequest asks for a session's, or a project's, open turns.
type flushRequest struct {
	session claudemem.SessionID // 0 for a project
	project string
	except  claudemem.SessionID
}

// waiter is a caller of WaitIdle or Drain.
type waiter struct {
	openTurns bool
	done      chan struct{}
}

// New makes an observer; Open starts it.
func New(queue *queue.Queue, store *store.Store, distiller Distiller, opts Options) *Observer {
	if opts.QuietAfter <= 0 {
		opts.QuietAfter = defaultQuietAfter
	}
	if opts.BatchMaxSize <= 0 {
		opts.BatchMaxSize = wholeTurnEvents
	}
	if opts.BatchMaxBytes <= 0 {
		opts.BatchMaxBytes = defaultBatchBytes
	}
	if opts.Fallback == nil {
		opts.Fallback = distiller
	}
	opts.MaxObservers = max(opts.MaxObservers, 1)
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	return &Observer{
		queue: queue, store: store, distiller: distiller, opts: opts,
		wake: make(chan struct{}, 1),
		done: make(chan struct{}),
	}
}

// Open starts observing, first with what the queue already holds. It ends with
// ctx or with Close; an observer is opened once.
func (o *Observer) Open(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.cancel != nil {
		return claudemem.Errorf(claudemem.CodeConflict, "open observer: already opened")
	}
	ctx, o.cancel = context.WithCancel(ctx)
	go func() {
		defer close(o.done)
		newScheduler(o).run(ctx)
	}()
	return nil
}

// Close stops observing: a batch in work is given back to the queue untouched,
// or stored when its outcome was already there. It returns once every goroutine
// is gone, and is harmless when repeated or without Open.
func (o *Observer) Close() error {
	o.mu.Lock()
	cancel := o.cancel
	o.mu.Unlock()
	if cancel == nil {
		return nil
	}
	cancel()
	<-o.done
	return nil
}

// Run observes until ctx ends; it is Open and Close for a caller that has a
// goroutine to give.
func (o *Observer) Run(ctx context.Context) error {
	if err := o.Open(ctx); err != nil {
		return err
	}
	<-ctx.Done()
	return o.Close()
}

// Flush asks for everything that waits in a session, its open turn included. It
// does not wait.
func (o *Observer) Flush(session claudemem.SessionID) {
	o.request(flushRequest{session: session})
}

// FlushProject asks for everything that waits in a project's sessions but one:
// the session that has just begun there wants to know of the others. It does not wait.
func (o *Observer) FlushProject(project string, except claudemem.SessionID) {
	o.request(flushRequest{project: project, except: except})
}

func (o *Observer) request(r flushRequest) {
	o.mu.Lock()
	o.requests = append(o.requests, r)
	o.mu.Unlock()
	o.signal()
}

// WaitIdle waits until nothing is due any more; open turns are left alone, and so
// are retries whose time has not come.
func (o *Observer) WaitIdle(ctx context.Context) error { return o.wait(ctx, "wait for", false) }

// Drain is WaitIdle with all open turns taken as finished.
func (o *Observer) Drain(ctx context.Context) error { return o.wait(ctx, "drain", true) }

func (o *Observer) wait(ctx context.Context, verb string, openTurns bool) error {
	w := &waiter{openTurns: openTurns, done: make(chan struct{})}
	o.mu.Lock()
	if o.cancel == nil {
		o.mu.Unlock()
		return claudemem.Errorf(claudemem.CodeUnavailable, "%s observer: not open", verb)
	}
	o.waiters = append(o.waiters, w)
	o.mu.Unlock()
	o.signal()
	select {
	case <-w.done:
		return nil
	case <-o.done:
		return claudemem.Errorf(claudemem.CodeUnavailable, "%s observer: closed", verb)
	case <-ctx.Done():
		o.forget(w)
		return claudemem.Errorf(claudemem.CodeUnavailable, "%s observer: %w", verb, ctx.Err())
	}
}

// forget withdraws a waiter, so that one who gave up does not keep flushing open turns.
func (o *Observer) forget(w *waiter) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, x := range o.waiters {
		if x == w {
			o.waiters = append(o.waiters[:i:i], o.waiters[i+1:]...)
			return
		}
	}
}

func (o *Observer) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}
