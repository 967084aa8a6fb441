package store

import (
	"context"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/memory"
)

// Skip implements queue.Storage; CodeConflict when the claim isn't held.
func (s *Store) Skip(ctx context.Context, claim memory.Claim, reason string) error {
	return s.writeKeeping(ctx, "skip claim", func(t *tx) error {
		ids, err := t.heldEvents(&claim)
		if err != nil {
			return err
		}
		return t.skip(ids, reason)
	})
}

// SkipWaiting books the pending events as skipped for which reason returns one, deletes
// their payloads, and returns how many those are. Claimed events are left alone.
func (s *Store) SkipWaiting(ctx context.Context, reason func(*memory.PendingEvent) string) (int, error) {
	const what = "skip waiting events"
	skipped := map[string][]int64{}
	err := each(ctx, s.reader, func(scan sqlite.Scan) error {
		var id int64
		e, _, damage, err := scanPending(func(dest ...any) error { return scan(append(dest, &id)...) })
		if err != nil || damage != nil {
			return err
		}
		if r := reason(&e); r != "" {
			skipped[r] = append(skipped[r], id)
		}
		return nil
	}, "SELECT "+pendingColumns+`, e.id FROM events e INDEXED BY events_queue CROSS JOIN pending_messages m ON m.event_id = e.id
		WHERE e.outcome = 'pending' AND e.outcome IN ('pending', 'processing')`)
	if err != nil || len(skipped) == 0 {
		return 0, fault(what, err)
	}
	return inKeeping(ctx, s, what, func(t *tx) (int, error) {
		n := 0
		for r, ids := range skipped {
			// Some may have been claimed meanwhile.
			waiting, err := column[int64](ctx, t, "SELECT id FROM events WHERE id IN (SELECT value FROM json_each(?)) AND outcome = 'pending'", jsonList(ids))
			if err != nil {
				return 0, err
			}
			if err := t.skip(waiting, r); err != nil {
				return 0, err
			}
			n += len(waiting)
		}
		return n, nil
	})
}

// skip books events of the queue as skipped and deletes their payloads.
func (t *tx) skip(ids []int64, reason string) error {
	skipped := jsonList(ids)
	return t.execAll([]string{
		"UPDATE events SET outcome = 'skipped', reason = ?2, not_before = 0 WHERE id IN (SELECT value FROM json_each(?1))",
		`UPDATE sessions SET event_count = max(0, event_count - (SELECT count(*) FROM events e WHERE e.session_id = sessions.id AND e.id IN (SELECT value FROM json_each(?1))))
			WHERE id IN (SELECT session_id FROM events WHERE id IN (SELECT value FROM json_each(?1)) AND ?2 <> '')`,
		"DELETE FROM pending_messages WHERE event_id IN (SELECT value FROM json_each(?1)) AND ?2 <> ''",
	}, skipped, reason)
}
