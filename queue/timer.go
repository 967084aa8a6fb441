package queue

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"claudemem"
)

// keepTime is the goroutine that heals, and announces retries when they become
// due.
func (q *Queue) keepTime() {
	defer close(q.stopped)
	heal := time.NewTicker(q.opts.HealEvery)
	defer heal.Stop()
	retry := time.NewTimer(q.untilDue())
	defer retry.Stop()
	for {
		select {
		case <-q.life.Done():
			return
		case <-heal.C:
			q.heal(q.life)
			retry.Reset(q.untilDue())
		case <-q.earlier:
			retry.Reset(q.untilDue())
		case <-retry.C:
			if q.takeDue() {
				q.signal()
			}
			retry.Reset(q.untilDue())
		}
	}
}

// never is a pause that no process lives to see the end of.
const never = 100 * 365 * 24 * time.Hour

// untilDue returns the time until the earliest retry.
func (q *Queue) untilDue() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.due == 0 {
		return never
	}
	// A millisecond more, so that it is due by the storage's comparison too.
	return max(0, q.due.Sub(q.now())+time.Millisecond)
}

// dueAt notes that a retry becomes due; 0 is none.
func (q *Queue) dueAt(at claudemem.Millis) {
	if at == 0 {
		return
	}
	q.mu.Lock()
	earlier := q.due == 0 || at < q.due
	if earlier {
		q.due = at
	}
	q.mu.Unlock()
	if !earlier {
		return
	}
	select {
	case q.earlier <- struct{}{}:
	default: // it will look anyway
	}
}

// takeDue reports whether the earliest retry is due and finds the next one.
func (q *Queue) takeDue() bool {
	q.mu.Lock()
	due := q.due != 0 && q.due <= q.now()
	if due {
		q.due = 0
	}
	q.mu.Unlock()
	if !due {
		return false
	}
	q.findDue(q.life)
	return true
}

// findDue asks the storage for the earliest retry. When it can't answer, the
// next round of healing asks again.
func (q *Queue) findDue(ctx context.Context) {
	backlog, err := q.Backlog(ctx)
	if err != nil {
		if !errors.Is(err, context.Canceled) {
			q.opts.Logger.Warn("queue can't look for retries", "error", err)
		}
		return
	}
	for _, b := range backlog {
		q.dueAt(b.NextDue)
	}
}

// heal gives back what no live claimer holds, asks anew for the earliest retry
// and interrupts idle sessions. A failure is harmless: the next round tries
// again.
func (q *Queue) heal(ctx context.Context) {
	q.mu.Lock()
	live := slices.Sorted(maps.Keys(q.live))
	q.mu.Unlock()
	now := q.now()
	healed, err := q.storage.Heal(ctx, now.Add(-q.opts.HealAfter), live)
	switch {
	case err != nil && !errors.Is(err, context.Canceled):
		q.opts.Logger.Warn("queue can't heal", "error", err)
	case healed > 0:
		q.opts.Logger.Warn("queue healed", "events", healed)
		q.signal()
	}
	q.mu.Lock()
	// Due at this very moment, or later than any pause: then the clock was set back
	// and storage takes it for due.
	due := q.due != 0 && (q.due <= now || q.due.Sub(now) > retryAfterMax)
	q.due = 0
	q.mu.Unlock()
	q.findDue(ctx)
	if due {
		q.signal()
	}
	if _, err := q.storage.Interrupt(ctx, now.Add(-q.opts.IdleAfter)); err != nil && !errors.Is(err, context.Canceled) {
		q.opts.Logger.Warn("queue can't interrupt idle sessions", "error", err)
	}
}

// backOff is the pause after a counted failure: it doubles with each attempt,
// and a random part of up to a half is taken off, so that sessions which failed
// together don't come back together.
func (q *Queue) backOff(claim claudemem.Claim) time.Duration {
	attempts := 0
	for _, e := range claim.Events {
		attempts = max(attempts, e.Attempts)
	}
	pause := q.opts.RetryMax
	if attempts < 30 { // beyond it the shift would overflow
		pause = min(q.opts.RetryBase<<attempts, q.opts.RetryMax)
	}
	return pause - time.Duration(q.opts.Rand()*float64(pause)/2)
}

// retryAfter is the pause that the cause of a failure asks for.
func retryAfter(cause error) time.Duration {
	var asks interface{ RetryAfter() time.Duration }
	if !errors.As(cause, &asks) {
		return 0
	}
	return min(max(asks.RetryAfter(), 0), retryAfterMax)
}

func causeText(cause error) string {
	if cause == nil {
		return ""
	}
	return cause.Error()
}
