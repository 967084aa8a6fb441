package daemon

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"claudemem/internal/memory"
)

// purgeRig is a purger whose time the test moves.
type purgeRig struct {
	*purger
	mu    sync.Mutex
	now   time.Time
	gone  int   // what the next look erases
	err   error // of the next look
	waits chan time.Duration
	fire  chan time.Time
	looks chan memory.Millis
}

func newPurgeRig(t *testing.T) *purgeRig {
	r := &purgeRig{now: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC), waits: make(chan time.Duration, 1), fire: make(chan time.Time), looks: make(chan memory.Millis, 1)}
	clock := func() time.Time { r.mu.Lock(); defer r.mu.Unlock(); return r.now }
	r.purger = newPurger(func(_ context.Context, by memory.Millis) (int, error) {
		r.looks <- by
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.gone, r.err
	}, clock, slog.New(slog.DiscardHandler))
	r.after = func(d time.Duration) <-chan time.Time { r.waits <- d; return r.fire }
	r.start()
	t.Cleanup(func() { _ = r.close() })
	return r
}

// pass lets time go by and the timer fire; gone is what the look erases then.
func (r *purgeRig) pass(t *testing.T, d time.Duration, gone int, err error) {
	t.Helper()
	r.mu.Lock()
	r.now, r.gone, r.err = r.now.Add(d), gone, err
	want := memory.MillisOf(r.now.Add(-undoTime))
	r.mu.Unlock()
	r.fire <- time.Time{}
	if by := <-r.looks; by != want {
		t.Errorf("looked for what was hidden by %d, want %d", by, want)
	}
}

func (r *purgeRig) waited(t *testing.T, want time.Duration) {
	t.Helper()
	if got := <-r.waits; got != want {
		t.Errorf("waits %v, want %v", got, want)
	}
}

func TestPurger(t *testing.T) {
	noLeaks(t)
	whole := undoTime + purgeSlack
	r := newPurgeRig(t)
	<-r.looks // at the start
	r.waited(t, whole)
	r.pass(t, whole, 0, nil) // what was hidden just before the start; nothing: it sleeps

	r.hidden()
	r.waited(t, whole)
	r.mu.Lock()
	r.now = r.now.Add(4 * time.Minute)
	r.mu.Unlock()
	r.hidden()
	r.pass(t, 6*time.Minute+purgeSlack, 1, nil) // the first is erased
	r.waited(t, 4*time.Minute)                  // the second is due then
	r.pass(t, 4*time.Minute, 0, errors.New("disk full"))
	r.waited(t, purgePause) // due, and not erased
	r.pass(t, purgePause, 1, nil)

	// The clock is set back by a day: not for longer than at first, again and again.
	r.hidden()
	r.waited(t, whole)
	r.pass(t, -24*time.Hour, 0, nil)
	r.waited(t, whole)
	// Brought back: it sleeps again, and wakes for the next.
	r.restored()
	r.pass(t, whole, 0, nil)
	r.hidden()
	r.waited(t, whole)
}
