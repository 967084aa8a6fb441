package model

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"claudemem/internal/memory"
)

// Limits of Retry.
const (
	// maxTries bounds the tries of one call.
	maxTries = 3
	// firstPause is doubled for each further one.
	firstPause = 500 * time.Millisecond
	// longestPause: when the provider asks for more, the error is returned at once. An event
	// waits better in the queue than in a call that occupies an observer.
	longestPause = 10 * time.Second
	// retryBudget is the time after which no further try begins.
	retryBudget = 30 * time.Second
)

// Retry is a Provider that repeats calls after transient failures, a few times and
// not for long. It returns all other failures at once.
type Retry struct {
	wrapped
	now    func() time.Time
	sleep  func(context.Context, time.Duration) error
	jitter func() float64 // in [0, 1)
}

// NewRetry wraps next; now is not nil.
func NewRetry(next Provider, now func() time.Time) *Retry {
	return &Retry{wrapped{next}, now, Sleep, rand.Float64}
}

// Complete returns the first success or the last failure, also when ctx ends during a pause.
func (r *Retry) Complete(ctx context.Context, request memory.ModelRequest) (memory.ModelAnswer, error) {
	start := r.now()
	for try := 1; ; try++ {
		answer, err := r.next.Complete(ctx, request)
		var failed *memory.ModelError
		if err == nil || try >= maxTries || !errors.As(err, &failed) || failed.Class != memory.ClassTransient {
			return answer, err
		}
		pause := max(r.pause(try), failed.Wait)
		end := r.now().Add(pause)
		if failed.Wait > longestPause || end.Sub(start) > retryBudget {
			return answer, err
		}
		if deadline, ok := ctx.Deadline(); ok && end.After(deadline) {
			return answer, err
		}
		if err := r.sleep(ctx, pause); err != nil {
			return answer, err // ctx's
		}
	}
}

// pause returns the back-off after the try-th failure: half of it fixed, half
// random, so that two observers that failed together do not retry together.
func (r *Retry) pause(try int) time.Duration {
	half := min(firstPause<<(try-1), longestPause) / 2
	return half + time.Duration(r.jitter()*float64(half))
}

// Sleep waits for d, or returns ctx's error when that ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// Limit is a Provider that begins at most a fixed number of calls within any
// minute. Waiting calls begin in the order of their arrival; a call that gives up
// uses nothing.
type Limit struct {
	wrapped
	// turn holds one token; its holder may use begun. A channel instead of a mutex,
	// because a waiter must be able to leave, and because the runtime serves a
	// channel's waiters in order.
	turn  chan struct{}
	begun []time.Time // start times of the last calls, a ring
	at    int         // index of the oldest
	now   func() time.Time
	sleep func(context.Context, time.Duration) error
}

// NewLimit wraps next; with perMinute 0 or less it returns next itself.
func NewLimit(next Provider, perMinute int) Provider {
	if perMinute <= 0 {
		return next
	}
	l := &Limit{wrapped: wrapped{next}, turn: make(chan struct{}, 1), begun: make([]time.Time, perMinute), now: time.Now, sleep: Sleep}
	l.turn <- struct{}{}
	return l
}

// Complete waits until the limit allows a call, then asks. The wait counts against
// ctx.
func (l *Limit) Complete(ctx context.Context, request memory.ModelRequest) (memory.ModelAnswer, error) {
	if err := l.wait(ctx); err != nil {
		return memory.ModelAnswer{}, err
	}
	return l.next.Complete(ctx, request)
}

// wait returns when another call may begin, or with ctx's error. Callers wait in line.
func (l *Limit) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-l.turn:
	}
	defer func() { l.turn <- struct{}{} }() // capacity 1 and we hold the token: never blocks
	if oldest := l.begun[l.at]; !oldest.IsZero() {
		// At most a minute, also when the clock was set back.
		if wait := min(oldest.Add(time.Minute).Sub(l.now()), time.Minute); wait > 0 {
			if err := l.sleep(ctx, wait); err != nil {
				return err
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	l.begun[l.at] = l.now()
	l.at = (l.at + 1) % len(l.begun)
	return nil
}
