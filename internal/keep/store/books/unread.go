package books

import (
	"cmp"
	"context"
	"slices"
	"time"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/likeness"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/memory"
)

// unreadMark begins the reason of a processed event that its session's model has not read.
const unreadMark = "unread: "

// Bounds of the payloads that are kept of events that no model has read.
const (
	keptFor   = 7 * 24 * time.Hour
	keptBytes = 50 << 20
	// strangeWait is the time after which a model is shown events that one has refused or
	// answered with something else than it was asked for.
	strangeWait = time.Hour
)

// Unread counts the processed events whose records were made without the model that was
// chosen for them, for one reason. At is when the last of them was processed.
type Unread struct {
	Reason memory.UnreadReason `json:"reason"`
	Events int                 `json:"events"`
	// Kept counts those among them that a model can still be shown.
	Kept int           `json:"kept"`
	At   memory.Millis `json:"at"`
}

// unreadMeanings say why no model has read events.
var unreadMeanings = map[memory.UnreadReason]string{
	memory.UnreadCap:      "a token cap was reached",
	memory.UnreadUnusable: "the model's answers were not in the form that is asked for",
	memory.UnreadRefused:  "the provider refused them",
	"login":               "the provider refused the login",
	"quota":               "the provider's quota or credit was used up",
	"rate_limit":          "the provider limited the rate of calls",
	"transient":           "the provider did not answer",
}

// Meaning returns the reason in words, or as it is.
func (u Unread) Meaning() string { return cmp.Or(unreadMeanings[u.Reason], string(u.Reason)) }

// Unread returns the counts of the events that no model has read although one was chosen,
// processed since a time, the most frequent reason first.
func (s *Keeper) Unread(ctx context.Context, since memory.Millis) (found []Unread, err error) {
	defer db.Wrap(&err, "count unread events")
	return db.All(ctx, s.Reader, func(u *Unread) []any { return []any{&u.Reason, &u.Events, &u.Kept, &u.At} },
		`SELECT substr(reason, ?1), count(*), count(m.event_id), max(processed_at)
		FROM events e LEFT JOIN unread_messages m ON m.event_id = e.id
		WHERE outcome = 'processed' AND reason >= ?2 AND reason < ?2 || char(1114111) AND processed_at >= ?3
		GROUP BY reason ORDER BY 2 DESC, 1`, len(unreadMark)+1, unreadMark, int64(since))
}

// UnreadTurn names a turn whose payloads are kept because no model has read them.
type UnreadTurn struct {
	Session      memory.SessionID
	PromptNumber int
	// DueAt is when a model may be asked again, Attempts how often one was asked in vain.
	DueAt    memory.Millis
	Attempts int
}

// redoable is the condition that a model may be shown turn u of unread_turns: it is not too
// old (?1), nothing of its session waits, and the user has hidden none of its records.
const redoable = `u.kept_at >= ?1
	AND NOT EXISTS (SELECT 1 FROM events e INDEXED BY events_queue WHERE e.session_id = u.session_id AND e.outcome IN ('pending', 'processing'))
	AND NOT EXISTS (SELECT 1 FROM unread_records r JOIN observations o ON o.id = r.record_id
		WHERE r.session_id = u.session_id AND r.prompt_number = u.prompt_number AND r.kind = 'observation' AND r.made = 1 AND o.deleted_at IS NOT NULL)`

// UnreadTurns lists the kept turns that a model may be shown, the newest first: what was
// done last is asked for first. Those that are not due yet are among them, but none that was kept
// longer than keptFor.
func (s *Keeper) UnreadTurns(ctx context.Context) (turns []UnreadTurn, err error) {
	defer db.Wrap(&err, "list unread turns")
	return db.All(ctx, s.Reader, func(u *UnreadTurn) []any { return []any{&u.Session, &u.PromptNumber, &u.DueAt, &u.Attempts} },
		`SELECT u.session_id, u.prompt_number, u.due_at, u.attempts FROM unread_turns u WHERE `+redoable+`
		ORDER BY u.kept_at DESC, u.session_id DESC, u.prompt_number DESC`, int64(s.Now().Add(-keptFor)))
}

// UnreadBatch returns the kept events of a turn in order, with its prompt, the observations
// of it that were made of other events, and the observations nearby that were there at its
// end. A turn of which a payload cannot be
// read is dropped: its batch has no events, like that of a turn that is no longer kept.
func (s *Keeper) UnreadBatch(ctx context.Context, session memory.SessionID, promptNumber int) (memory.Batch, error) {
	damaged := false
	b, err := db.InSnapshot(ctx, s.DB, "read unread turn", func(q db.Querier) (b memory.Batch, err error) {
		if b.Session, err = records.SessionByID(ctx, q, session); err != nil {
			return b, err
		}
		for e, damage := range pendingEvents(db.Select(ctx, q, &err, "SELECT "+unreadColumns+` FROM unread_messages m CROSS JOIN events e ON e.id = m.event_id
			WHERE m.session_id = ? AND m.prompt_number = ? ORDER BY e.occurred_at, e.delivery_id, e.id`, int64(session), promptNumber)) {
			damaged = damaged || damage != nil
			b.Events = append(b.Events, e.PendingEvent)
		}
		if err != nil || damaged || len(b.Events) == 0 {
			return b, err
		}
		if err := s.records.ReadBatch(ctx, q, &b, b.Events[len(b.Events)-1].Event.OccurredAt); err != nil {
			return b, err
		}
		ours, err := db.Column[memory.ObservationID](ctx, q, `SELECT record_id FROM unread_records
			WHERE session_id = ? AND prompt_number = ? AND kind = 'observation'`, int64(session), promptNumber)
		if err != nil {
			return b, err
		}
		isOurs := func(o memory.Observation) bool { return slices.Contains(ours, o.ID) }
		b.Earlier = slices.DeleteFunc(b.Earlier, isOurs)
		b.Nearby = slices.DeleteFunc(b.Nearby, isOurs)
		return b, err
	})
	if err == nil && damaged {
		b.Events = nil
		err = s.Exec(ctx, "drop unread turn", deleteUnread, int64(session), promptNumber)
	}
	return b, err
}

// unreadColumns are the columns of events e and unread_messages m that pendingEvents takes.
const unreadColumns = "e.event_key, m.prompt_number, 0, m.payload, m.files, m.symbols, m.provenance"

// PostponeUnread records that a model could not be had for a kept turn: it is due at a
// time, and the attempt counts if counted.
func (s *Keeper) PostponeUnread(ctx context.Context, session memory.SessionID, promptNumber int, due memory.Millis, counted bool) error {
	return s.Exec(ctx, "postpone unread turn", "UPDATE unread_turns SET due_at = ?, attempts = attempts + ? WHERE session_id = ? AND prompt_number = ?",
		int64(due), counted, int64(session), promptNumber)
}

// HastenUnread makes all kept turns due, as if no model had been asked in vain, and returns
// how many events those of them have that a model may be shown (UnreadTurns).
func (s *Keeper) HastenUnread(ctx context.Context) (int, error) {
	return db.InKeeping(ctx, s.DB, "make unread turns due", func(t *db.Tx) (int, error) {
		t.Exec("UPDATE unread_turns SET due_at = 0, attempts = 0 WHERE due_at <> 0 OR attempts <> 0")
		n := t.Number(`SELECT count(*) FROM unread_messages m JOIN unread_turns u USING (session_id, prompt_number) WHERE `+redoable,
			int64(t.Now().Add(-keptFor)))
		return int(n), nil
	})
}

// ExpireUnread deletes the payloads that have been kept for 7 days. Their events stay processed,
// with the reason why no model has read them.
func (s *Keeper) ExpireUnread(ctx context.Context) error {
	const what = "expire unread turns"
	// Mostly there is none: a look at it needs no transaction that writes.
	before := int64(s.Now().Add(-keptFor))
	old, err := db.Value[bool](ctx, s.Reader, "SELECT EXISTS (SELECT 1 FROM unread_turns WHERE kept_at < ?)", before)
	if err != nil || !old {
		return db.Fault(what, err)
	}
	return s.Exec(ctx, what, "DELETE FROM unread_turns WHERE kept_at < ?", before)
}

// DropUnread deletes what is kept of the turns with an event for which drop returns true,
// and returns how many turns that were.
func (s *Keeper) DropUnread(ctx context.Context, drop func(*memory.PendingEvent) bool) (int, error) {
	const what = "drop unread turns"
	type turn struct {
		session memory.SessionID
		number  int
	}
	turns := map[turn]bool{}
	var session memory.SessionID
	var err error
	for e, damage := range pendingEvents(db.Select(ctx, s.Reader, &err, "SELECT "+unreadColumns+", m.session_id FROM unread_messages m CROSS JOIN events e ON e.id = m.event_id"), &session) {
		if t := (turn{session, e.PromptNumber}); damage == nil && !turns[t] && drop(&e.PendingEvent) {
			turns[t] = true
		}
	}
	if err != nil || len(turns) == 0 {
		return 0, db.Fault(what, err)
	}
	return len(turns), s.WriteKeeping(ctx, what, func(t *db.Tx) {
		for kept := range turns {
			t.Exec(deleteUnread, int64(kept.session), kept.number)
		}
	})
}

// deleteUnread deletes what is kept of a turn.
const deleteUnread = "DELETE FROM unread_turns WHERE session_id = ? AND prompt_number = ?"

// markUnread stores why no model has read the events of a claim that unread names by key, and
// keeps their payloads by turn; ids are those of the claim's events, in their order. It comes
// before the payloads are deleted.
func markUnread(t *db.Tx, claim *memory.Claim, ids []int64, unread map[string]memory.UnreadReason) {
	for i := range claim.Events {
		e := &claim.Events[i]
		reason, ok := unread[e.Key]
		if !ok {
			continue
		}
		t.Exec("UPDATE events SET reason = ? WHERE id = ?", unreadMark+string(reason), ids[i])
		keepUnread(t, claim.Session.ID, e, ids[i], reason)
	}
	if len(unread) == 0 {
		return
	}
	// Those that are too old go, and the oldest beyond keptBytes.
	t.Exec(`DELETE FROM unread_turns WHERE kept_at < ?1 OR (session_id, prompt_number) IN (
		SELECT session_id, prompt_number FROM (SELECT session_id, prompt_number,
			sum(bytes) OVER (ORDER BY kept_at DESC, session_id DESC, prompt_number DESC) AS total FROM unread_turns)
		WHERE total > ?2)`, int64(t.Now().Add(-keptFor)), keptBytes)
}

// keepUnread copies the payload of an event to its turn's, with the symbol changes and the
// provenance that are known by now. The turn is due at once, or after strangeWait if a model has
// had the events and did not take them or could not answer.
func keepUnread(t *db.Tx, session memory.SessionID, e *memory.PendingEvent, id int64, reason memory.UnreadReason) {
	due := memory.Millis(0)
	switch reason {
	case memory.UnreadRefused, memory.UnreadUnusable, memory.UnreadError, memory.UnreadReason(memory.ClassPromptTooLong):
		due = t.Now().Add(strangeWait)
	}
	t.Exec(`INSERT INTO unread_turns (session_id, prompt_number, kept_at, bytes, due_at)
		SELECT ?1, ?2, ?3, bytes, ?4 FROM events WHERE id = ?5
		ON CONFLICT DO UPDATE SET kept_at = excluded.kept_at, bytes = bytes + excluded.bytes, due_at = max(due_at, excluded.due_at)`,
		int64(session), e.PromptNumber, int64(t.Now()), int64(due), id)
	var symbols any
	if e.Symbols != nil {
		symbols = db.JSONList(e.Symbols)
	}
	t.Exec(`INSERT INTO unread_messages (event_id, session_id, prompt_number, files, symbols, provenance, payload)
		SELECT event_id, ?1, ?2, files, coalesce(?3, symbols), ?5, payload FROM pending_messages WHERE event_id = ?4`,
		int64(session), e.PromptNumber, symbols, id, string(e.Provenance))
}

// The kinds of records in unread_records.
const (
	unreadObservation = "observation"
	unreadSummary     = "summary"
	unreadLearning    = "learning"
)

// noteUnreadRecords stores which records of a claim were made of the unread events: those
// of offline distilling in their turns, and all learnings.
func noteUnreadRecords(t *db.Tx, claim *memory.Claim, unread map[string]memory.UnreadReason, outcome *memory.Outcome) {
	if len(unread) == 0 {
		return
	}
	turns := map[int]bool{}
	for i := range claim.Events {
		if e := &claim.Events[i]; unread[e.Key] != "" {
			turns[e.PromptNumber] = true
		}
	}
	note := func(turn int, kind string, id int64, made bool, content string) {
		// A turn that was too large is not kept.
		t.Exec(`INSERT INTO unread_records (session_id, prompt_number, kind, record_id, made, content)
			SELECT session_id, prompt_number, ?3, ?4, ?5, ?6 FROM unread_turns WHERE session_id = ?1 AND prompt_number = ?2
			ON CONFLICT DO NOTHING`, int64(claim.Session.ID), turn, kind, id, made, content)
	}
	for i := range outcome.Observations {
		if o := &outcome.Observations[i]; o.Origin == memory.OriginOffline && turns[o.PromptNumber] {
			note(o.PromptNumber, unreadObservation, int64(o.ID), o.TimesSeen == 1, o.ContentHash)
		}
	}
	for i := range outcome.Summaries {
		if m := &outcome.Summaries[i]; m.Origin == memory.OriginOffline && turns[m.PromptNumber] {
			note(m.PromptNumber, unreadSummary, m.ID, true, "")
		}
	}
	for i := range outcome.Learnings {
		for turn := range turns {
			l := &outcome.Learnings[i]
			note(turn, unreadLearning, l.ID, l.TimesSeen == 1, likeness.FoldSpace(l.Content))
		}
	}
}
