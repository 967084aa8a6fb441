package store

import (
	"context"
	"time"

	"claudemem/internal/memory"
)

const (
	// counterChore begins the counter with the time of a chore's last end.
	counterChore = "chore:"
	// counterAged is the time by which ages are judged, counterAgedAt when it last moved.
	counterAged   = "aged"
	counterAgedAt = "aged_at"
)

// ChoreDone returns when the chore of a name last ended, 0 for never.
func (s *Store) ChoreDone(ctx context.Context, name string) (at memory.Millis, err error) {
	defer wrap(&err, "read chore")
	return value[memory.Millis](ctx, s.reader, "SELECT coalesce((SELECT value FROM counters WHERE name = ?), 0)", counterChore+name)
}

// NoteChore stores that the chore of a name ended at a time.
func (s *Store) NoteChore(ctx context.Context, name string, at memory.Millis) error {
	return s.writeKeeping(ctx, "note chore", func(t *tx) error { return t.setCounter(counterChore+name, int64(at)) })
}

// setCounter sets the counter of that name, which it makes if need be.
func (t *tx) setCounter(name string, value int64) error {
	return t.exec("INSERT INTO counters (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value", name, value)
}

const (
	// agesAtMost is how far the time by which ages are judged moves at once, and agesEvery
	// the least time between two moves.
	agesAtMost = 7 * 24 * time.Hour
	agesEvery  = 20 * time.Hour
)

// agingTime returns the time by which ages are judged when rows are deleted for their age.
// It is at most the present. It follows the clock by a week a day at most, from the newest
// event on: a clock that is a year ahead makes no records old at once, and a computer that
// was off for a year catches up.
func (t *tx) agingTime() (memory.Millis, error) {
	var aged, movedAt, newest memory.Millis
	now := t.now()
	if err := t.row(`SELECT coalesce((SELECT value FROM counters WHERE name = ?1), 0), coalesce((SELECT value FROM counters WHERE name = ?2), 0),
		coalesce((SELECT received_at FROM events ORDER BY id DESC LIMIT 1), 0)`, []any{counterAged, counterAgedAt}, &aged, &movedAt, &newest); err != nil {
		return 0, err
	}
	next := now
	switch {
	case aged != 0 && now < movedAt: // the clock was set back
		next = aged
	case aged != 0 && now < movedAt.Add(agesEvery):
		return min(aged, now), nil
	case aged != 0:
		next = max(aged, min(now, aged.Add(agesAtMost)))
	case newest != 0:
		next = min(now, newest.Add(agesAtMost))
	}
	if err := t.setCounter(counterAged, int64(next)); err != nil {
		return 0, err
	}
	return min(next, now), t.setCounter(counterAgedAt, int64(now))
}
