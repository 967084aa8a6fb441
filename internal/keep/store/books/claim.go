package books

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"iter"
	"slices"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// claimBytes bounds the payloads of one claim, so that a backlog of huge events
// doesn't fill the memory; an event larger than that is claimed alone.
const claimBytes = 64 << 20

// longestPause is more than any pause that the queue asks for (an hour). An event
// with a later due time was released before the clock was set back: it is due now.
const longestPause memory.Millis = 2 * 60 * 60 * 1000

// isDue reports whether an event that is to wait until notBefore may be claimed now.
func isDue(notBefore, now memory.Millis) bool {
	return notBefore <= now || notBefore > now+longestPause
}

// errorLength bounds what is kept of why an event failed, in bytes.
const errorLength = 1000

// Backlog implements queue.Storage: the sessions with pending events. Stops, Tools and Bytes
// count what is due at now; events behind one that isn't due yet are not due either, since a
// session's events are claimed in order. NextDue is the time of the first that isn't, 0 if all are.
func (s *Keeper) Backlog(ctx context.Context, now memory.Millis) (list []memory.Backlog, err error) {
	defer db.Wrap(&err, "read backlog")
	return readBacklog(ctx, s.Reader, now)
}

// Undone returns the backlog and, of the same moment, the sessions with events that are claimed and not
// confirmed yet, and how many those are: an event may go from one to the other and back at any time.
func (s *Keeper) Undone(ctx context.Context, now memory.Millis) (backlog []memory.Backlog, inWork map[memory.SessionID]int, err error) {
	inWork, err = db.InSnapshot(ctx, s.DB, "look for events that are not distilled", func(q db.Querier) (map[memory.SessionID]int, error) {
		if backlog, err = readBacklog(ctx, q, now); err != nil {
			return nil, err
		}
		return db.Pairs[memory.SessionID, int](ctx, q, `SELECT session_id, count(*) FROM events INDEXED BY events_queue
			WHERE outcome IN ('pending', 'processing') AND outcome = 'processing' GROUP BY session_id`)
	})
	return backlog, inWork, err
}

// readBacklog is Backlog for one moment.
func readBacklog(ctx context.Context, q db.Querier, now memory.Millis) (list []memory.Backlog, err error) {
	var waiting []int // of list, those with an event that isn't due
	// Added up by SQLite, out of the index alone, and with the sessions in the same statement: the
	// observer asks after each event.
	var b memory.Backlog
	var waits bool
	for range db.Select(ctx, q, &err, "SELECT "+records.SessionColumns()+`, w.oldest, w.newest, w.newest_at, w.stops, w.tools, w.size, w.waits
		FROM (SELECT session_id, min(prompt_number) AS oldest, max(prompt_number) AS newest, max(received_at) AS newest_at,
				sum(kind = 'stop') AS stops, sum(kind <> 'stop') AS tools, sum(bytes) AS size, max(not_before > ?1 AND not_before <= ?1 + ?2) AS waits
			FROM events INDEXED BY events_queue WHERE outcome IN ('pending', 'processing') AND outcome = 'pending'
			GROUP BY session_id) w CROSS JOIN sessions s ON s.id = w.session_id`, int64(now), int64(longestPause)).
		Into(append(records.SessionFields(&b.Session), &b.OldestPrompt, &b.NewestPrompt, &b.NewestAt, &b.Stops, &b.Tools, &b.Bytes, &waits)...) {
		if waits {
			waiting = append(waiting, len(list))
		}
		b.Pending = b.Stops + b.Tools
		list = append(list, b)
	}
	if err != nil {
		return nil, err
	}
	for _, i := range waiting {
		if err := countDue(ctx, q, &list[i], now); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// countDue counts anew what of a session's backlog is due: the events before the
// first that isn't, whose time becomes NextDue.
func countDue(ctx context.Context, q db.Querier, b *memory.Backlog, now memory.Millis) (err error) {
	b.Stops, b.Tools, b.Bytes = 0, 0, 0
	var kind memory.EventKind
	var notBefore memory.Millis
	var bytes int
	for range db.Select(ctx, q, &err, `SELECT kind, not_before, bytes FROM events INDEXED BY events_queue
		WHERE outcome IN ('pending', 'processing') AND outcome = 'pending' AND session_id = ?
		ORDER BY occurred_at, delivery_id, id`, int64(b.Session.ID)).Into(&kind, &notBefore, &bytes) {
		if !isDue(notBefore, now) {
			b.NextDue = notBefore
			break
		}
		b.Bytes += bytes
		if kind == memory.KindStop {
			b.Stops++
		} else {
			b.Tools++
		}
	}
	return err
}

// Claim implements queue.Storage: it marks the oldest due events of a session, up to limit (0 for
// all) and about claimBytes, as processing by claimer. A session has at most one claim at a time,
// whoever holds it: without events nothing is claimed, since another claim is open or nothing is
// due. An event whose payload can't be read is buried on the way.
func (s *Keeper) Claim(ctx context.Context, claimer string, session memory.SessionID, limit int, now memory.Millis) (memory.Claim, error) {
	const what = "claim events"
	claim := memory.Claim{Claimer: claimer}
	var ids []int64
	err := s.WriteKeeping(ctx, what, func(t *db.Tx) {
		if claimer == "" {
			t.Fail(memory.Errorf(memory.CodeInvalid, "claim without a claimer"))
		}
		ids = markClaimed(t, claimer, session, limit, now)
	})
	if err != nil || len(ids) == 0 {
		return claim, err
	}
	// The payloads are read and decoded outside the transaction, which blocks other
	// writers; the claim protects them.
	unreadable, err := s.readClaim(ctx, &claim, session, ids)
	if err == nil && len(unreadable) > 0 {
		err = s.Bury(ctx, memory.Claim{Claimer: claimer, Session: claim.Session, Events: unreadable}, "its payload can't be read")
	}
	if err != nil {
		// The caller's context may be why; giving back must not depend on it.
		undone := s.WriteKeeping(context.Background(), "undo claim", func(t *db.Tx) {
			free(t, ids)
		})
		return memory.Claim{}, db.Fault(what, errors.Join(err, undone))
	}
	return claim, nil
}

// readClaim fills in the session and the events with the given ids and returns
// those whose payload can't be read.
func (s *Keeper) readClaim(ctx context.Context, claim *memory.Claim, session memory.SessionID, ids []int64) (unreadable []memory.PendingEvent, err error) {
	if claim.Session, err = s.records.Session(ctx, session); err != nil {
		return nil, err
	}
	claim.Events = make([]memory.PendingEvent, 0, len(ids))
	for e, damage := range pendingEvents(db.Select(ctx, s.Reader, &err, "SELECT "+pendingColumns+`
		FROM json_each(?) j CROSS JOIN events e ON e.id = j.value CROSS JOIN pending_messages m ON m.event_id = e.id
		ORDER BY j.key`, db.JSONList(ids))) {
		if damage == nil {
			claim.Events = append(claim.Events, e.PendingEvent)
		} else {
			unreadable = append(unreadable, e.PendingEvent)
		}
	}
	return unreadable, err
}

// pendingColumns are the columns of events e and pending_messages m that pendingEvents takes.
const pendingColumns = "e.event_key, e.prompt_number, m.attempts, m.payload, m.files, m.symbols, m.provenance"

// pendingEvent is a waiting event and the size of its payload in bytes.
type pendingEvent struct {
	memory.PendingEvent
	size int
}

// pendingEvents is a loop over the events of rows that begin with pendingColumns, the other columns
// in also. Its error says that the payload of an event cannot be read, so that only the books'
// fields are there.
func pendingEvents(rows sqlite.Selection, also ...any) iter.Seq2[pendingEvent, error] {
	return func(yield func(pendingEvent, error) bool) {
		var e memory.PendingEvent
		var payload, files, symbols sql.RawBytes
		for range rows.Into(append([]any{&e.Key, &e.PromptNumber, &e.Attempts, &payload, &files, &symbols, &e.Provenance}, also...)...) {
			damage := json.Unmarshal(payload, &e.Event)
			if damage == nil && len(files) > 0 {
				damage = json.Unmarshal(files, &e.Files)
			}
			if damage == nil && len(symbols) > 0 {
				damage = json.Unmarshal(symbols, &e.Symbols)
			}
			if !yield(pendingEvent{e, len(payload)}, damage) {
				return
			}
			e = memory.PendingEvent{} // nothing of it is in the next one
		}
	}
}

// free makes processing events pending again, due as they were, whoever holds them. No attempt
// is counted.
func free(t *db.Tx, ids []int64) {
	t.Exec("UPDATE events SET outcome = 'pending' WHERE id IN (SELECT value FROM json_each(?)) AND outcome = 'processing'", db.JSONList(ids))
	t.Exec("UPDATE pending_messages SET claimer = NULL, claimed_at = NULL WHERE event_id IN (SELECT value FROM json_each(?))", db.JSONList(ids))
}

// markClaimed marks the due events of a session as processing and returns their ids in
// order; none while another claim of the session is open.
func markClaimed(t *db.Tx, claimer string, session memory.SessionID, limit int, now memory.Millis) []int64 {
	held := t.Number(`SELECT EXISTS (SELECT 1 FROM events INDEXED BY events_queue
		WHERE session_id = ? AND outcome = 'processing' AND outcome IN ('pending', 'processing'))`, int64(session))
	if held != 0 {
		return nil
	}
	ids := due(t, session, limit, now)
	if len(ids) == 0 {
		return nil
	}
	n := t.Exec("UPDATE events SET outcome = 'processing' WHERE id IN (SELECT value FROM json_each(?)) AND outcome = 'pending'", db.JSONList(ids))
	if n != len(ids) {
		t.Fail(memory.Errorf(memory.CodeConflict, "%d of %d events are no longer pending", len(ids)-n, len(ids)))
	}
	t.Exec("UPDATE pending_messages SET claimer = ?, claimed_at = ? WHERE event_id IN (SELECT value FROM json_each(?))",
		claimer, int64(now), db.JSONList(ids))
	return ids
}

// due lists the oldest events of a session up to the first that isn't due, at most limit (0 for
// all) and claimBytes, but at least one however large. The index alone answers it.
func due(t *db.Tx, session memory.SessionID, limit int, now memory.Millis) []int64 {
	var ids []int64
	total := 0
	var id int64
	var notBefore memory.Millis
	var bytes int
	for range t.Select(`SELECT id, not_before, bytes FROM events INDEXED BY events_queue
		WHERE session_id = ? AND outcome = 'pending' AND outcome IN ('pending', 'processing')
		ORDER BY occurred_at, delivery_id, id LIMIT ?`, int64(session), db.SQLLimit(limit)).Into(&id, &notBefore, &bytes) {
		total += bytes
		if !isDue(notBefore, now) || (total > claimBytes && len(ids) > 0) {
			break
		}
		ids = append(ids, id)
	}
	return ids
}

// heldEvents returns the ids of a claim's events, in their order. The transaction fails with
// CodeConflict when any of them isn't held by the claimer any more, with CodeInvalid for a claim
// without events.
func heldEvents(t *db.Tx, claim *memory.Claim) []int64 {
	if len(claim.Events) == 0 {
		t.Fail(memory.Errorf(memory.CodeInvalid, "the claim is empty"))
	}
	keys := collect.MapPtr(claim.Events, func(p *memory.PendingEvent) string { return p.Key })
	ids := db.Selected[int64](t, `SELECT e.id FROM json_each(?1) j
		CROSS JOIN events e ON e.event_key = j.value CROSS JOIN pending_messages m ON m.event_id = e.id
		WHERE e.outcome = 'processing' AND m.claimer = ?2 AND e.session_id = ?3 ORDER BY j.key`,
		db.JSONList(keys), claim.Claimer, int64(claim.Session.ID))
	distinct := slices.Compact(slices.Sorted(slices.Values(ids)))
	if len(distinct) != len(keys) {
		t.Fail(memory.Errorf(memory.CodeConflict, "%d of %d events are held by %s", len(distinct), len(keys), claim.Claimer))
	}
	return ids
}

// Release implements queue.Storage: the events are pending again and not due before notBefore,
// 0 for at once. counted adds an attempt to each; cause, unless "", is kept as their last error.
// CodeConflict when the claim isn't held.
func (s *Keeper) Release(ctx context.Context, claim memory.Claim, cause string, counted bool, notBefore memory.Millis) error {
	attempts := 0
	if counted {
		attempts = 1
	}
	return s.endClaim(ctx, "release claim", &claim, "outcome = 'pending', not_before = ?", notBefore, attempts, cause)
}

// Bury implements queue.Storage: the events are failed and keep their payloads, until Revive.
// CodeConflict when the claim isn't held.
func (s *Keeper) Bury(ctx context.Context, claim memory.Claim, cause string) error {
	return s.endClaim(ctx, "bury claim", &claim, "outcome = 'failed', processed_at = ?", s.Now(), 1, cause)
}

// endClaim ends a claim whose events stay undistilled, with their payloads: assignments, with at
// as their argument, say in the books what becomes of them.
func (s *Keeper) endClaim(ctx context.Context, what string, claim *memory.Claim, assignments string, at memory.Millis, attempts int, cause string) error {
	return s.WriteKeeping(ctx, what, func(t *db.Tx) {
		held := db.JSONList(heldEvents(t, claim))
		t.Exec("UPDATE events SET "+assignments+" WHERE id IN (SELECT value FROM json_each(?))", int64(at), held)
		t.Exec(`UPDATE pending_messages SET claimer = NULL, claimed_at = NULL, attempts = attempts + ?1,
			last_error = CASE WHEN ?2 = '' THEN last_error ELSE ?2 END WHERE event_id IN (SELECT value FROM json_each(?3))`,
			attempts, text.FirstBytes(cause, errorLength), held)
	})
}

// Heal implements queue.Storage: it frees the events that were claimed before the given time by
// none of the live claimers, without counting an attempt, and returns how many.
func (s *Keeper) Heal(ctx context.Context, claimedBefore memory.Millis, live []string) (int, error) {
	const what = "heal queue"
	// Mostly there is nothing to heal: a look at it needs no transaction that writes.
	if lost, err := lostEvents(ctx, s.Reader, claimedBefore, live); err != nil || len(lost) == 0 {
		return 0, db.Fault(what, err)
	}
	return db.InKeeping(ctx, s.DB, what, func(t *db.Tx) (int, error) {
		ids, err := lostEvents(ctx, t.Conn, claimedBefore, live)
		if err != nil {
			return 0, err
		}
		free(t, ids)
		return len(ids), nil
	})
}

// lostEvents lists the events that were claimed before the given time by none of
// the live claimers. The index comes first: the payloads of all that waits must
// not be read every 30 seconds.
func lostEvents(ctx context.Context, q db.Querier, claimedBefore memory.Millis, live []string) ([]int64, error) {
	return db.Column[int64](ctx, q, `SELECT e.id FROM events e INDEXED BY events_queue CROSS JOIN pending_messages m ON m.event_id = e.id
		WHERE e.outcome = 'processing' AND e.outcome IN ('pending', 'processing')
		  AND m.claimed_at < ?1 AND m.claimer NOT IN (SELECT value FROM json_each(?2))`, int64(claimedBefore), db.JSONList(live))
}

// DeadLetters implements queue.Storage: the oldest first, all when limit is 0.
func (s *Keeper) DeadLetters(ctx context.Context, limit int) (letters []memory.DeadLetter, err error) {
	defer db.Wrap(&err, "list dead letters")
	return db.All(ctx, s.Reader, func(l *memory.DeadLetter) []any {
		return []any{&l.Key, &l.Session, &l.Kind, &l.ToolName, &l.OccurredAt, &l.Attempts, &l.LastError}
	}, `SELECT e.event_key, e.session_id, e.kind, e.tool_name, e.occurred_at, m.attempts, m.last_error
		FROM events e JOIN pending_messages m ON m.event_id = e.id
		WHERE e.outcome = 'failed' ORDER BY e.occurred_at, e.id LIMIT ?`, db.SQLLimit(limit))
}

// Revive implements queue.Storage: the buried events of these keys are pending again and due at
// once, all of them without keys. Attempts start at 0 again. It returns how many they are;
// a key of an event that is not buried is ignored.
func (s *Keeper) Revive(ctx context.Context, keys ...string) (int, error) {
	names := db.JSONList(keys)
	return db.InKeeping(ctx, s.DB, "revive dead letters", func(t *db.Tx) (int, error) {
		t.Exec(`UPDATE pending_messages SET attempts = 0 WHERE event_id IN (
			SELECT id FROM events WHERE outcome = 'failed'
			  AND (?1 = 0 OR event_key IN (SELECT value FROM json_each(?2))))`, len(keys), names)
		return t.Exec(`UPDATE events SET outcome = 'pending', not_before = 0, processed_at = NULL
			WHERE outcome = 'failed' AND (?1 = 0 OR event_key IN (SELECT value FROM json_each(?2)))`, len(keys), names), nil
	})
}

// Hasten implements queue.Storage: pending events that wait for a retry are due now; it returns
// how many.
func (s *Keeper) Hasten(ctx context.Context) (int, error) {
	return db.InKeeping(ctx, s.DB, "make retries due", func(t *db.Tx) (int, error) {
		return t.Exec("UPDATE events SET not_before = 0 WHERE outcome = 'pending' AND not_before > 0"), nil
	})
}

// Interrupt implements queue.Storage: active sessions that were last updated before idleSince
// become interrupted; it returns how many. A later event makes one active again.
func (s *Keeper) Interrupt(ctx context.Context, idleSince memory.Millis) (int, error) {
	const what = "interrupt idle sessions"
	// Mostly there is none: the bookkeeper need not forget its sessions then.
	idle, err := db.Value[bool](ctx, s.Reader, "SELECT EXISTS (SELECT 1 FROM sessions WHERE status = 'active' AND updated_at < ?)", int64(idleSince))
	if err != nil || !idle {
		return 0, db.Fault(what, err)
	}
	return db.InJob(ctx, s.DB, what, db.Job{}, func(t *db.Tx) (int, error) {
		return t.Exec("UPDATE sessions SET status = 'interrupted' WHERE status = 'active' AND updated_at < ?", int64(idleSince)), nil
	})
}

// Skip implements queue.Storage: the events are done, as skipped for a reason, and their payloads
// are deleted. CodeConflict when the claim isn't held.
func (s *Keeper) Skip(ctx context.Context, claim memory.Claim, reason string) error {
	return s.WriteKeeping(ctx, "skip claim", func(t *db.Tx) {
		skip(t, heldEvents(t, &claim), reason)
	})
}

// SkipWaiting books the pending events as skipped for which reason returns one, deletes
// their payloads, and returns how many those are. Claimed events are left alone, and those whose
// payload cannot be read.
func (s *Keeper) SkipWaiting(ctx context.Context, reason func(*memory.PendingEvent) string) (int, error) {
	const what = "skip waiting events"
	skipped := map[string][]int64{}
	var id int64
	var err error
	for e, damage := range pendingEvents(db.Select(ctx, s.Reader, &err, "SELECT "+pendingColumns+`, e.id FROM events e INDEXED BY events_queue CROSS JOIN pending_messages m ON m.event_id = e.id
		WHERE e.outcome = 'pending' AND e.outcome IN ('pending', 'processing')`), &id) {
		if damage != nil {
			continue
		}
		if r := reason(&e.PendingEvent); r != "" {
			skipped[r] = append(skipped[r], id)
		}
	}
	if err != nil || len(skipped) == 0 {
		return 0, db.Fault(what, err)
	}
	return db.InKeeping(ctx, s.DB, what, func(t *db.Tx) (int, error) {
		n := 0
		for r, ids := range skipped {
			// Some may have been claimed meanwhile.
			waiting := db.Selected[int64](t, "SELECT id FROM events WHERE id IN (SELECT value FROM json_each(?)) AND outcome = 'pending'", db.JSONList(ids))
			skip(t, waiting, r)
			n += len(waiting)
		}
		return n, nil
	})
}

// skip books events of the queue as skipped and deletes their payloads. The sessions no longer
// count them. The conditions on ?2 are always true: all three statements take the same arguments.
func skip(t *db.Tx, ids []int64, reason string) {
	skipped := db.JSONList(ids)
	t.ExecAll([]string{
		"UPDATE events SET outcome = 'skipped', reason = ?2, not_before = 0 WHERE id IN (SELECT value FROM json_each(?1))",
		`UPDATE sessions SET event_count = max(0, event_count - (SELECT count(*) FROM events e WHERE e.session_id = sessions.id AND e.id IN (SELECT value FROM json_each(?1))))
			WHERE id IN (SELECT session_id FROM events WHERE id IN (SELECT value FROM json_each(?1)) AND ?2 <> '')`,
		"DELETE FROM pending_messages WHERE event_id IN (SELECT value FROM json_each(?1)) AND ?2 <> ''",
	}, skipped, reason)
}
