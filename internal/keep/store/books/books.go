package books

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// Books implements queue.Storage. What was received is read from the numbers
// that events get as they come and not by counting outcomes, so that
// [memory.Books.Balanced] proves something.
func (s *Keeper) Books(ctx context.Context) (memory.Books, error) {
	// One statement sees one moment; each part has an index that covers it.
	n, err := db.Pairs[string, int](ctx, s.Reader, `
		SELECT outcome, count(*) FROM events WHERE outcome IN ('pending', 'processing') GROUP BY outcome
		UNION ALL SELECT outcome, count(*) FROM events WHERE outcome IN ('processed', 'skipped', 'forgotten') GROUP BY outcome
		UNION ALL SELECT 'failed', count(*) FROM events WHERE outcome = 'failed'
		UNION ALL SELECT 'received', coalesce(max(id), 0) FROM events
		UNION ALL SELECT 'duplicates', coalesce(sum(value), 0) FROM counters WHERE name = 'duplicates'
		UNION ALL SELECT 'lost', coalesce(sum(value), 0) FROM counters WHERE name = 'lost'`)
	return memory.Books{
		Received: n["received"], Duplicates: n["duplicates"], Pending: n["pending"], Processing: n["processing"],
		Processed: n["processed"], Skipped: n["skipped"], Failed: n["failed"], Forgotten: n["forgotten"], Lost: n["lost"],
	}, db.Fault("read books", err)
}

// Audit checks what must always hold of the books and returns a sentence for
// each thing that doesn't; none is the good answer.
func (s *Keeper) Audit(ctx context.Context) ([]string, error) {
	checks := []struct{ query, finding string }{
		{`SELECT coalesce(max(id), 0) - count(*) FROM events`,
			"%d events were received and are not in the books"},
		{`SELECT count(*) FROM events e WHERE outcome IN ('pending', 'processing', 'failed')
			AND NOT EXISTS (SELECT 1 FROM pending_messages m WHERE m.event_id = e.id)`,
			"%d events wait without a payload"},
		{`SELECT count(*) FROM pending_messages m JOIN events e ON e.id = m.event_id
			WHERE e.outcome NOT IN ('pending', 'processing', 'failed')`,
			"%d payloads are left of events that are done"},
		{`SELECT count(*) FROM pending_messages m JOIN events e ON e.id = m.event_id
			WHERE (e.outcome = 'processing') <> (m.claimer IS NOT NULL)`,
			"%d events are claimed by nobody, or free and claimed"},
		{`SELECT count(*) FROM events WHERE (processed_seq IS NOT NULL) AND outcome NOT IN ('processed', 'forgotten')`,
			"%d events were confirmed and are not processed"},
		{`SELECT count(*) FROM unread_messages m JOIN events e ON e.id = m.event_id
			WHERE e.outcome <> 'processed' OR substr(e.reason, 1, 8) <> 'unread: '`,
			"%d payloads are kept of events that a model has read, or that are not done"},
		{`SELECT count(*) FROM sessions s WHERE prompt_count <> max(
			coalesce((SELECT max(number) FROM prompts p WHERE p.session_id = s.id), 0),
			coalesce((SELECT max(prompt_number) FROM events e WHERE e.session_id = s.id AND e.outcome = 'forgotten' AND e.kind = 'prompt'), 0))`,
			"%d sessions count their prompts wrongly"},
	}
	return db.InSnapshot(ctx, s.DB, "audit books", func(q db.Querier) (findings []string, err error) {
		for _, c := range checks {
			n, err := db.Value[int](ctx, q, c.query)
			if err != nil {
				return nil, err
			}
			if n != 0 {
				findings = append(findings, fmt.Sprintf(c.finding, n))
			}
		}
		return findings, nil
	})
}

// Known returns which of the event keys are in the books, whatever became of the events: those
// of skipped, failed and forgotten ones too, and all of a session that came from another device: its records
// are here, and no events of it.
func (s *Keeper) Known(ctx context.Context, keys []string) (known map[string]bool, err error) {
	defer db.Wrap(&err, "look for events")
	found, err := db.Column[string](ctx, s.Reader, "SELECT event_key FROM events WHERE event_key IN (SELECT value FROM json_each(?))", db.JSONList(keys))
	if err != nil {
		return nil, err
	}
	// A key begins with the kind, the host and the session, none of which has a colon.
	sessionOf := func(key string) string {
		return strings.Join(append(strings.SplitN(key, ":", 4), "", "", "")[1:3], ":")
	}
	received, err := db.Column[string](ctx, s.Reader, `SELECT DISTINCT value FROM json_each(?) JOIN sessions s ON s.host = substr(value, 1, instr(value, ':') - 1)
		AND s.host_session_id = substr(value, instr(value, ':') + 1) WHERE EXISTS (SELECT 1 FROM shared_records r WHERE r.kind = 'session' AND r.id = s.id)
		AND NOT EXISTS (SELECT 1 FROM imported i WHERE i.kind = 'session' AND i.id = s.id) AND NOT EXISTS (SELECT 1 FROM events e WHERE e.session_id = s.id)`,
		db.JSONList(slices.Compact(slices.Sorted(slices.Values(collect.Map(keys, sessionOf))))))
	known, elsewhere := collect.Set(found), collect.Set(received)
	for _, key := range keys {
		if elsewhere[sessionOf(key)] {
			known[key] = true
		}
	}
	return known, err
}

// KnownSessions returns which sessions of some hosts are in the books or were forgotten, by the hosts'
// ids for them: a higher number for one that came later, the lowest for those that were forgotten.
func (s *Keeper) KnownSessions(ctx context.Context, hosts []memory.Host, ids []string) (known map[string]int64, err error) {
	defer db.Wrap(&err, "look for sessions")
	tombs := make(map[string]string, len(ids))
	for _, host := range hosts {
		for _, id := range ids {
			tombs[records.SessionTomb(host, id)] = id
		}
	}
	found, err := db.Pairs[string, int64](ctx, s.Reader, `SELECT host_session_id, id FROM sessions WHERE host IN (SELECT value FROM json_each(?1)) AND host_session_id IN (SELECT value FROM json_each(?2))
		UNION ALL SELECT key, -1 FROM tombstones WHERE kind = '`+records.TombSession+`' AND key IN (SELECT value FROM json_each(?3))`,
		db.JSONList(hosts), db.JSONList(ids), db.JSONList(slices.Collect(maps.Keys(tombs))))
	known = make(map[string]int64, len(found))
	for name, number := range found {
		known[cmp.Or(tombs[name], name)] = number
	}
	return known, err
}

// undistilledEvents and undistilledBytes bound what is made into a summary on
// the spot while a host waits: a turn rarely has more.
const (
	undistilledEvents = "1000" // in the statement: see db.SQLLimit
	undistilledBytes  = 16 << 20
)

// Undistilled implements block.Source: the oldest events of the queue, at most
// 1000 of them or 16 MB, with the prompts and observations of their turns and those nearby.
func (s *Keeper) Undistilled(ctx context.Context, session memory.SessionID) (memory.Batch, error) {
	return db.InSnapshot(ctx, s.DB, "read undistilled events", func(q db.Querier) (b memory.Batch, err error) {
		if b.Session, err = records.SessionByID(ctx, q, session); err != nil {
			return b, err
		}
		if b.Events, err = readWaiting(ctx, q, session); err != nil {
			return b, err
		}
		err = s.records.ReadBatch(ctx, q, &b, math.MaxInt64)
		return b, err
	})
}

// Batch returns events of a session with the prompts and the stored observations of their
// turns, and those nearby; without events nothing is read.
func (s *Keeper) Batch(ctx context.Context, session memory.Session, events []memory.PendingEvent) (memory.Batch, error) {
	return db.InSnapshot(ctx, s.DB, "read batch", func(q db.Querier) (b memory.Batch, err error) {
		b = memory.Batch{Session: session, Events: events}
		err = s.records.ReadBatch(ctx, q, &b, math.MaxInt64)
		return b, err
	})
}

// readWaiting returns a session's events that are not distilled yet, the oldest first,
// up to undistilledEvents and about undistilledBytes. Damaged ones are left out.
func readWaiting(ctx context.Context, q db.Querier, session memory.SessionID) (events []memory.PendingEvent, err error) {
	bytes := 0
	for e, damage := range pendingEvents(db.Select(ctx, q, &err, "SELECT "+pendingColumns+`
		FROM events e JOIN pending_messages m ON m.event_id = e.id
		WHERE e.session_id = ? AND e.outcome IN ('pending', 'processing')
		ORDER BY e.occurred_at, e.delivery_id, e.id LIMIT `+undistilledEvents, int64(session))) {
		if damage == nil { // else the claim buries it
			events = append(events, e.PendingEvent)
		}
		if bytes += e.size; bytes >= undistilledBytes {
			break
		}
	}
	return events, err
}
