package queue

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"claudemem/internal/memory"
)

// keepTime is the goroutine that heals, and announces retries when they become
// due. Open starts it, Close ends it and waits for it.
func (q *Queue) keepTime() {
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
		case <-q.earlier:
		case <-retry.C:
			q.lookForDue()
		}
		retry.Reset(q.untilDue())
	}
}

// never is a pause that no process lives to see the end of.
const never = 100 * 365 * 24 * time.Hour

// untilDue returns the time until the earliest retry, never when none waits.
func (q *Queue) untilDue() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.due == 0 {
		return never
	}
	// A millisecond more, so that it is due by the storage's comparison too.
	return max(0, q.due.Sub(q.now())+time.Millisecond)
}

// dueAt notes that a retry becomes due, and wakes keepTime if it is the earliest; 0 is none.
func (q *Queue) dueAt(at memory.Millis) {
	q.mu.Lock()
	earlier := at != 0 && (q.due == 0 || at < q.due)
	if earlier {
		q.due = at
	}
	q.mu.Unlock()
	if earlier {
		wake(q.earlier)
	}
}

// findDue notes the earliest retry of the storage and reports whether any events are pending.
func (q *Queue) findDue(ctx context.Context) (waiting bool, err error) {
	backlog, err := q.Backlog(ctx)
	for _, b := range backlog {
		q.dueAt(b.NextDue)
	}
	return len(backlog) > 0, err
}

// lookForDue finds the earliest retry anew and signals when the one known so far is due.
// When the storage cannot answer, the next round of healing asks again. Only keepTime calls it.
func (q *Queue) lookForDue() {
	now := q.now()
	q.mu.Lock()
	// Later than any pause: then the clock was set back and storage takes it for due.
	due := q.due != 0 && (q.due <= now || q.due.Sub(now) > retryAfterMax)
	q.due = 0
	q.mu.Unlock()
	_, err := q.findDue(q.life)
	q.warn("look for retries", err)
	if due {
		q.signal()
	}
}

// warn logs a failure of the timer, unless the queue is closing.
func (q *Queue) warn(what string, err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		q.opts.Logger.Warn(what, "error", err)
	}
}

// heal gives back what was claimed healAfter ago by no live claimer, asks anew for the earliest
// retry and interrupts idle sessions. A failure is harmless: it is logged, and the next round
// tries again.
func (q *Queue) heal(ctx context.Context) {
	q.mu.Lock()
	live := slices.Sorted(maps.Keys(q.live))
	q.mu.Unlock()
	now := q.now()
	healed, err := q.storage.Heal(ctx, now.Add(-healAfter), live)
	q.warn("give back lost claims", err)
	if healed > 0 {
		q.opts.Logger.Warn("gave back lost claims", "events", healed)
		q.signal()
	}
	q.lookForDue()
	_, err = q.storage.Interrupt(ctx, now.Add(-idleAfter))
	q.warn("interrupt idle sessions", err)
}

// backOff is the pause after a counted failure: RetryBase, doubled with each earlier attempt up to
// retryMax; a random part of up to a half is taken off, so that sessions which failed
// together don't come back together. The event with the most attempts decides.
func (q *Queue) backOff(claim memory.Claim) time.Duration {
	attempts := 0
	for _, e := range claim.Events {
		attempts = max(attempts, e.Attempts)
	}
	pause := min(q.opts.RetryBase<<min(attempts, 20), retryMax)
	return pause - time.Duration(q.opts.Rand()*float64(pause)/2)
}

// retryAfter is the pause that the cause of a failure asks for, at most retryAfterMax; 0 when it
// asks for none, or is nil.
func retryAfter(cause error) time.Duration {
	var asks interface{ RetryAfter() time.Duration }
	if !errors.As(cause, &asks) {
		return 0
	}
	return min(max(asks.RetryAfter(), 0), retryAfterMax)
}

// causeText returns the text of an error, "" for nil.
func causeText(cause error) string {
	if cause == nil {
		return ""
	}
	return cause.Error()
}
