package store

import (
	"context"

	"claudemem/internal/memory"
)

const (
	// counterLost counts the events that were lost, counterUntold and counterUntoldFrom those
	// that the user was not told of, and since when. counterLosses begins the counter of how
	// many losses of a record were booked.
	counterLost       = "lost"
	counterUntold     = "lost_untold"
	counterUntoldFrom = "lost_untold_from"
	counterLosses     = "lost:"
)

// NoticeLost is the key of the notice of lost events.
const NoticeLost = "lost_events"

// BookLosses books the losses of a record that were not booked before, and adds a notice
// whose text is made of how many events the user was not told of, and since when. It does
// not count events that were stored after all: the worker was too slow for the hook. It
// returns how many it counted.
func (s *Store) BookLosses(ctx context.Context, r memory.LossRecord, text func(count int, from memory.Millis) string) (lost int, err error) {
	booked, err := value[int64](ctx, s.reader, "SELECT coalesce((SELECT value FROM counters WHERE name = ?), 0)", counterLosses+r.ID)
	if err != nil || booked >= r.Count { // asked at every session start: a look costs no commit
		return 0, fault("book losses", err)
	}
	return inKeeping(ctx, s, "book losses", func(t *tx) (int, error) { return t.bookLosses(r, text) })
}

// StoredAfterAll counts how many of the last n losses of a record were stored after all.
func (s *Store) StoredAfterAll(ctx context.Context, r memory.LossRecord, n int64) (int64, error) {
	stored, err := value[int64](ctx, s.reader, countStored, lastDeliveries(r, n))
	return stored, fault("count stored events", err)
}

const countStored = "SELECT count(*) FROM events WHERE delivery_id IN (SELECT value FROM json_each(?))"

// lastDeliveries returns the deliveries of a record's last n losses, as far as it knows them, as a
// JSON list.
func lastDeliveries(r memory.LossRecord, n int64) string {
	return jsonList(r.Deliveries[max(0, int64(len(r.Deliveries))-n):])
}

func (t *tx) bookLosses(r memory.LossRecord, text func(int, memory.Millis) string) (int, error) {
	var booked, untold, told int64
	var from memory.Millis
	err := t.row(`SELECT coalesce((SELECT value FROM counters WHERE name = ?1), 0), coalesce((SELECT value FROM counters WHERE name = ?2), 0),
		coalesce((SELECT value FROM counters WHERE name = ?3), 0), (SELECT count(*) FROM notices WHERE key = ?4 AND shown_at IS NULL) = 0`,
		[]any{counterLosses + r.ID, counterUntold, counterUntoldFrom, NoticeLost}, &booked, &untold, &from, &told)
	lost := r.Count - booked
	if err != nil || lost <= 0 {
		return 0, err
	}
	stored, err := t.number(countStored, lastDeliveries(r, lost))
	if err != nil {
		return 0, err
	}
	lost -= stored
	if err := t.setCounter(counterLosses+r.ID, r.Count); err != nil || lost == 0 {
		return 0, err
	}
	if told == 1 {
		untold, from = 0, r.First
	}
	untold, from = untold+lost, min(from, r.First)
	if err := t.count(counterLost, int(lost)); err != nil {
		return 0, err
	}
	if err := t.setCounter(counterUntold, untold); err != nil {
		return 0, err
	}
	if err := t.setCounter(counterUntoldFrom, int64(from)); err != nil {
		return 0, err
	}
	// A notice that was shown may have had the same text.
	if err := t.exec("DELETE FROM notices WHERE key = ?", NoticeLost); err != nil {
		return 0, err
	}
	return int(lost), t.addNotice(NoticeLost, text(int(untold), from))
}
