package model

import (
	"context"
	"time"

	"claudemem"
)

// Limit lets at most so many calls begin within any minute. Calls that have to
// wait begin in the order in which they came; one that gives up takes nothing.
type Limit struct {
	wrapped
	// turn holds one token: who has it may look at begun. A channel and not a
	// mutex, because a waiter must be able to leave, and because the runtime
	// serves a channel's waiters in order.
	turn  chan struct{}
	begun []time.Time // when the last calls began, as a ring
	at    int         // the oldest of them
	now   func() time.Time
	sleep func(context.Context, time.Duration) error
}

// NewLimit wraps next; perMinute 0 or less means no limit and returns next itself.
func NewLimit(next Provider, perMinute int) Provider {
	if perMinute <= 0 {
		return next
	}
	return newLimit(next, perMinute, time.Now, sleep)
}

func newLimit(next Provider, perMinute int, now func() time.Time, sleep func(context.Context, time.Duration) error) *Limit {
	l := &Limit{wrapped: wrapped{next}, turn: make(chan struct{}, 1), begun: make([]time.Time, perMinute), now: now, sleep: sleep}
	l.turn <- struct{}{}
	return l
}

// Complete waits for its turn, then asks. The wait counts against ctx.
func (l *Limit) Complete(ctx context.Context, request claudemem.ModelRequest) (claudemem.ModelAnswer, error) {
	if err := l.wait(ctx); err != nil {
		return claudemem.ModelAnswer{}, err
	}
	return l.next.Complete(ctx, request)
}

func (l *Limit) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-l.turn:
	}
	defer func() { l.turn <- struct{}{} }() // capacity 1 and we hold the token: never blocks
	if oldest := l.begun[l.at]; !oldest.IsZero() {
		// A clock that was set back could ask for hours; a minute is the most
		// that the rule can mean.
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
