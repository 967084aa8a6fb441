package model

import (
	"context"
	"time"

	"claudemem/internal/memory"
)

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
	return newLimit(next, perMinute, time.Now, Sleep)
}

// newLimit returns next limited to perMinute calls, with a clock and sleep of the
// caller's.
func newLimit(next Provider, perMinute int, now func() time.Time, sleep func(context.Context, time.Duration) error) *Limit {
	l := &Limit{wrapped: wrapped{next}, turn: make(chan struct{}, 1), begun: make([]time.Time, perMinute), now: now, sleep: sleep}
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
