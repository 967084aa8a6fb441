package queue

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"time"

	"claudemem/internal/memory"
)

// Storage keeps the queue. Every method is one transaction; after a nil error
// its effect survives kill -9 and power loss. The store implements it, and fakeStorage in the
// tests, for fake time and for a store that fails.
type Storage interface {
	// Enqueue books arrivals in order and returns a receipt for each. It dedupes
	// by event key and by delivery id, opens unknown sessions, numbers prompts,
	// stores prompts and session ends at once, and keeps the payload of tools
	// and stops as pending work. Concurrent calls share a commit.
	Enqueue(ctx context.Context, arrivals ...memory.Arrival) ([]memory.Receipt, error)
	// Backlog lists the sessions that have pending events.
	Backlog(ctx context.Context, now memory.Millis) ([]memory.Backlog, error)
	// Claim marks up to limit due events of a session, the oldest first and
	// without a gap, as processing. No events means that another claimer has
	// them, or that the oldest is not due.
	Claim(ctx context.Context, claimer string, session memory.SessionID, limit int, now memory.Millis) (memory.Claim, error)
	// Confirm stores the outcome, books the claim's events as processed and
	// deletes their payloads. It fails with CodeConflict, storing nothing, when
	// any of the events is no longer held by the claim's claimer.
	Confirm(ctx context.Context, claim memory.Claim, outcome memory.Outcome) error
	// Release gives claimed events back as pending, not due before notBefore;
	// attempts are counted when counted is true.
	Release(ctx context.Context, claim memory.Claim, cause string, counted bool, notBefore memory.Millis) error
	// Hasten makes pending events that wait for a retry due now and returns how many.
	Hasten(ctx context.Context) (int, error)
	// Bury books the claim's events as failed and keeps their payloads.
	Bury(ctx context.Context, claim memory.Claim, cause string) error
	// Skip books the claim's events as skipped for a reason and deletes their payloads.
	Skip(ctx context.Context, claim memory.Claim, reason string) error
	// Heal makes events pending again that were claimed before the given time by
	// none of the live claimers, and returns how many.
	Heal(ctx context.Context, claimedBefore memory.Millis, live []string) (int, error)
	// Revive makes the named buried events pending again, all when none are named.
	Revive(ctx context.Context, keys ...string) (int, error)
	// Interrupt marks active sessions without activity since the given time as interrupted.
	Interrupt(ctx context.Context, idleSince memory.Millis) (int, error)
}

// Options are what a queue takes from outside; zero fields take the default.
type Options struct {
	Clock  func() time.Time // time.Now
	Logger *slog.Logger     // none
	// Rand returns a number in [0,1), for the jitter of retries.
	Rand func() float64
	// Claimer begins the names of claimers; each process has another.
	Claimer string
	// HealEvery is the time between two sweeps for lost claims and idle sessions.
	HealEvery time.Duration // 30 s
	// RetryBase is the pause after a first counted failure; it doubles up to retryMax.
	RetryBase time.Duration // 5 s
}

const (
	// healAfter is the age at which a claim without a live claimer is lost.
	healAfter = 60 * time.Second
	// idleAfter is the time without events after which a session is interrupted.
	idleAfter = 24 * time.Hour
	// retryMax is the longest pause after a counted failure.
	retryMax = 10 * time.Minute
	// retryUncounted is the pause after a failure that isn't the events' fault.
	retryUncounted = time.Minute
)

// retryAfterMax bounds a pause that a provider asks for: past it the queue looks
// for itself.
const retryAfterMax = time.Hour

// Queue is the durable work. Its methods may be called from any goroutine.
type Queue struct {
	storage Storage
	opts    Options
	ready   chan struct{} // capacity 1
	// earlier tells the timer's goroutine that a retry is due before it would wake;
	// capacity 1, what is due stands in due.
	earlier chan struct{}
	life    context.Context // of the goroutine that keeps time
	end     context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	live   map[string]int // how many events each claimer still holds
	claims uint64
	due    memory.Millis // the earliest retry, 0 for none
	opened bool
}

// New makes a queue over a storage. Until Open it does not heal or keep time. The caller calls
// Close, even without Open.
func New(storage Storage, opts Options) *Queue {
	opts.HealEvery = cmp.Or(opts.HealEvery, 30*time.Second)
	opts.RetryBase = cmp.Or(opts.RetryBase, 5*time.Second)
	opts.Clock = memory.ClockOr(opts.Clock)
	opts.Logger = cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	if opts.Rand == nil {
		opts.Rand = rand.Float64
	}
	if opts.Claimer == "" {
		// The start time distinguishes two processes that had the same number.
		opts.Claimer = fmt.Sprintf("%d-%x", os.Getpid(), opts.Clock().UnixNano())
	}
	q := &Queue{
		storage: storage, opts: opts,
		ready:   make(chan struct{}, 1),
		earlier: make(chan struct{}, 1),
		live:    map[string]int{},
	}
	q.life, q.end = context.WithCancel(context.Background())
	return q
}

// Open makes everything pending again that a former process had claimed,
// announces what waits and starts to keep time. The caller is the only worker of the storage and
// has claimed nothing yet. After an error of the storage it may be called again; after success
// or Close it returns CodeConflict.
func (q *Queue) Open(ctx context.Context) error {
	if err := q.recover(ctx); err != nil {
		return fmt.Errorf("open queue: %w", err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.opened || q.life.Err() != nil {
		return memory.Errorf(memory.CodeConflict, "open queue: it was opened before")
	}
	q.opened = true
	q.running.Go(q.keepTime)
	return nil
}

// recover gives back all claims, whose processes are dead, finds the earliest retry and signals
// if events are pending.
func (q *Queue) recover(ctx context.Context) error {
	healed, err := q.storage.Heal(ctx, math.MaxInt64, nil)
	if err != nil {
		return err
	}
	if healed > 0 {
		q.opts.Logger.Info("gave back claims of a former process", "events", healed)
	}
	waiting, err := q.findDue(ctx)
	if waiting {
		q.signal()
	}
	return err
}

// Close ends the time-keeping and waits for it. Claims that are out stay
// claimed; the next Open makes them pending.
func (q *Queue) Close() error {
	q.mu.Lock()
	q.end()
	q.mu.Unlock()
	q.running.Wait()
	return nil
}

// Ready receives (capacity 1, later signals merge) when work has arrived or has
// become due.
func (q *Queue) Ready() <-chan struct{} { return q.ready }

// signal wakes whoever waits for Ready; it never blocks.
func (q *Queue) signal() { wake(q.ready) }

// wake sends to a channel of capacity 1, unless that is full: then it has been signalled already.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (q *Queue) now() memory.Millis { return memory.MillisOf(q.opts.Clock()) }

// Enqueue implements intake.Queue: when it returns without an error, the arrivals are durable and
// each has a receipt, in their order. Prompts and session ends are announced too, since they
// end a turn. The error is CodeUnavailable after Close, else the storage's.
func (q *Queue) Enqueue(ctx context.Context, arrivals ...memory.Arrival) ([]memory.Receipt, error) {
	if q.life.Err() != nil {
		return nil, memory.Errorf(memory.CodeUnavailable, "enqueue events: the queue is closing")
	}
	receipts, err := q.storage.Enqueue(ctx, arrivals...)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(receipts, func(r memory.Receipt) bool {
		return r.Status == memory.StatusPending || r.Status == memory.StatusProcessed
	}) {
		q.signal()
	}
	return receipts, nil
}

// Backlog lists the sessions that have pending events.
func (q *Queue) Backlog(ctx context.Context) ([]memory.Backlog, error) {
	return q.storage.Backlog(ctx, q.now())
}

// Claim takes up to limit of the oldest due events of a session, 0 = all. The
// claim has to be given back by Confirm, Retry, Release, Bury or Skip; until then it is
// never healed. One without events has nothing to give back: another claimer has them, or the
// oldest is not due.
func (q *Queue) Claim(ctx context.Context, session memory.SessionID, limit int) (memory.Claim, error) {
	q.mu.Lock()
	q.claims++
	claimer := fmt.Sprintf("%s-%d", q.opts.Claimer, q.claims)
	q.live[claimer] = math.MaxInt // how many is known when storage has answered
	q.mu.Unlock()
	claim, err := q.storage.Claim(ctx, claimer, session, limit, q.now())
	q.mu.Lock()
	defer q.mu.Unlock()
	if err != nil {
		delete(q.live, claimer)
		return memory.Claim{}, err
	}
	q.live[claimer] = len(claim.Events)
	if len(claim.Events) == 0 {
		delete(q.live, claimer)
	}
	return claim, nil
}

// uncount takes the events of a claim, or of the part of it that was given back, off the
// number that its claimer holds. It is called once for each event. A claimer that holds none is
// no longer live: after healAfter, Heal gives back what storage still has as its own.
func (q *Queue) uncount(claim memory.Claim) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.live[claim.Claimer] -= len(claim.Events); q.live[claim.Claimer] <= 0 {
		delete(q.live, claim.Claimer)
	}
}

// Confirm stores the outcome and takes the claim's events off the queue. After
// CodeConflict the claim is lost and nothing was stored; after any other error it
// is still held and is to be confirmed again or given back otherwise.
//
// The outcome may be of some of the claim's events only (a claim whose Events
// are a part of it): the others stay held and are given back on their own.
func (q *Queue) Confirm(ctx context.Context, claim memory.Claim, outcome memory.Outcome) error {
	return q.ended(claim, q.storage.Confirm(ctx, claim, outcome))
}

// ended returns err, and ends the claim unless it is still held after err: only after nil and
// CodeConflict it is not.
func (q *Queue) ended(claim memory.Claim, err error) error {
	if err == nil || memory.CodeOf(err) == memory.CodeConflict {
		q.endClaim(claim)
	}
	return err
}

// endClaim forgets the claim and signals that events which arrived meanwhile can be
// claimed.
func (q *Queue) endClaim(claim memory.Claim) {
	q.uncount(claim)
	q.signal()
}

// Retry gives the claim back after a failure: counted failures back off
// exponentially, uncounted ones (not the events' fault) wait a fixed time. When
// the cause has a method RetryAfter() of a positive duration, the claim isn't due
// before that, within an hour. A nil cause has no text. The error is the storage's; the claim is
// over then too.
func (q *Queue) Retry(ctx context.Context, claim memory.Claim, cause error, counted bool) error {
	pause := retryUncounted
	if counted {
		pause = q.backOff(claim)
	}
	pause = max(pause, retryAfter(cause))
	due := q.now().Add(pause)
	defer q.uncount(claim) // if this fails, healing gives it back
	err := q.storage.Release(ctx, claim, causeText(cause), counted, due)
	if err == nil {
		q.dueAt(due)
	}
	return err
}

// Release gives the claim back untouched and due at once.
func (q *Queue) Release(ctx context.Context, claim memory.Claim) error {
	defer q.endClaim(claim) // if this fails, healing gives it back
	return q.storage.Release(ctx, claim, "", false, 0)
}

// Bury makes dead letters of the claim's events.
func (q *Queue) Bury(ctx context.Context, claim memory.Claim, cause error) error {
	defer q.endClaim(claim) // if this fails, healing gives it back
	return q.storage.Bury(ctx, claim, causeText(cause))
}

// Skip takes the claim's events off the queue undistilled: the user no longer wants them
// captured. As after Confirm, the claim is still held after an error other than CodeConflict.
func (q *Queue) Skip(ctx context.Context, claim memory.Claim, reason string) error {
	return q.ended(claim, q.storage.Skip(ctx, claim, reason))
}

// Revive makes the named dead letters pending again, all when none are named,
// and returns how many.
func (q *Queue) Revive(ctx context.Context, keys ...string) (int, error) {
	return q.announce(q.storage.Revive(ctx, keys...))
}

// announce signals that n events became pending, if any did, and returns n and err.
func (q *Queue) announce(n int, err error) (int, error) {
	if n > 0 {
		q.signal()
	}
	return n, err
}

// Hasten makes everything due now that waits for a retry and returns how many
// events that are: what they waited for may have changed.
func (q *Queue) Hasten(ctx context.Context) (int, error) {
	return q.announce(q.storage.Hasten(ctx))
}
