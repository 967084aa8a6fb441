package store

import (
	"context"

	"claudemem/internal/memory"
)

// Known returns which of the event keys are in the books, those of forgotten events too.
func (s *Store) Known(ctx context.Context, keys []string) (known map[string]bool, err error) {
	defer wrap(&err, "look for events")
	found, err := column[string](ctx, s.reader, "SELECT event_key FROM events WHERE event_key IN (SELECT value FROM json_each(?))", jsonList(keys))
	if err != nil {
		return nil, err
	}
	known = make(map[string]bool, len(found))
	for _, key := range found {
		known[key] = true
	}
	return known, nil
}

// InWork returns the sessions with events that are being distilled, and how many those are.
func (s *Store) InWork(ctx context.Context) (sessions map[memory.SessionID]int, err error) {
	defer wrap(&err, "look for events in work")
	return pairs[memory.SessionID, int](ctx, s.reader, `SELECT session_id, count(*) FROM events INDEXED BY events_queue
		WHERE outcome IN ('pending', 'processing') AND outcome = 'processing' GROUP BY session_id`)
}
