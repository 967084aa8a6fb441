package db

import (
	"context"
	"sync"
	"time"

	"claudemem/internal/memory"
)

// feed tells followers that the change feed has grown. It carries no content:
// a follower that was slow reads on from its own position.
type feed struct {
	mu        sync.Mutex
	seq       int64
	followers map[chan struct{}]struct{}
	// first is the time of the first commit since the followers were last woken, zero without one.
	first  time.Time
	timer  *time.Timer
	closed bool
}

// Those who follow the feed are woken once nothing was committed for tellAfter, and at most tellMost after
// the first commit. Whoever wrote is answered first: the index would take in a prompt while memories are
// searched for it, which made the answer come a sixth later (2.5 to 2.97 ms) on two processors. To take in
// the many commits of an import together costs less.
const (
	tellAfter = 10 * time.Millisecond
	tellMost  = 200 * time.Millisecond
)

// tell has the followers woken some time from now if seq, the number of the last change, is another one
// than in the call before: the first call after the opening wakes them in any case. It never blocks.
func (f *feed) tell(seq int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if seq == f.seq {
		return
	}
	f.seq = seq
	if f.first.IsZero() {
		f.first = time.Now()
	}
	after := min(tellAfter, tellMost-time.Since(f.first))
	if f.timer == nil {
		f.timer = time.AfterFunc(after, f.wake)
	} else {
		f.timer.Reset(after)
	}
}

// wake wakes the followers.
func (f *feed) wake() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.first = time.Time{}
	for c := range f.followers {
		select {
		case c <- struct{}{}:
		default: // capacity 1: it has been told already
		}
	}
}

// close closes the followers' channels.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for c := range f.followers {
		close(c)
	}
	f.followers = nil
}

// Follow returns a channel (capacity 1, later signals merge) that receives soon after
// each commit that appended to the change feed, and once at the start. The
// channel is closed by stop, which may be called again, and when the store closes.
func (s *DB) Follow() (changed <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	c <- struct{}{}
	f := &s.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		close(c)
		return c, func() {}
	}
	if f.followers == nil {
		f.followers = map[chan struct{}]struct{}{}
	}
	f.followers[c] = struct{}{}
	return c, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if _, ok := f.followers[c]; ok {
			delete(f.followers, c)
			close(c)
		}
	}
}

// Changes returns up to limit entries of the change feed with numbers above
// after, in order.
func (s *DB) Changes(ctx context.Context, after int64, limit int) (changes []memory.Change, err error) {
	defer Wrap(&err, "read changes")
	return All(ctx, s.Reader, func(c *memory.Change) []any {
		return []any{&c.Seq, &c.Kind, &c.ID, &c.Operation}
	}, "SELECT seq, kind, id, operation FROM changes WHERE seq > ? ORDER BY seq LIMIT ?", after, limit)
}

// ChangeRange returns the lowest number that the feed still has and the highest
// that it ever gave. A follower whose position is below oldest-1 has missed
// changes and must start anew. An empty feed has oldest = newest+1.
func (s *DB) ChangeRange(ctx context.Context) (oldest, newest int64, err error) {
	defer Wrap(&err, "read change range")
	err = s.Reader.QueryRowContext(ctx, `SELECT
		coalesce((SELECT min(seq) FROM changes), (SELECT seq + 1 FROM sqlite_sequence WHERE name = 'changes'), 1),
		coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0)`).Scan(&oldest, &newest)
	return oldest, newest, err
}
