package store

import (
	"context"
	"database/sql"
	"errors"
	"math"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/memory"
)

// sessionWhere returns the session s that a condition selects; sql.ErrNoRows when there is none.
func sessionWhere(ctx context.Context, q querier, condition string, args ...any) (memory.Session, error) {
	var s memory.Session
	err := q.QueryRowContext(ctx, "SELECT "+sessionRecord.read+" FROM sessions s WHERE "+condition, args...).Scan(sessionRecord.fields(&s)...)
	return s, err
}

func sessionByID(ctx context.Context, q querier, id memory.SessionID) (memory.Session, error) {
	return sessionWhere(ctx, q, "s.id = ?", int64(id))
}

// Session returns a session by its number; CodeNotFound when there is none.
func (s *Store) Session(ctx context.Context, id memory.SessionID) (session memory.Session, err error) {
	defer wrap(&err, "read session")
	return sessionByID(ctx, s.reader, id)
}

// SessionByHost implements recall.Source.
func (s *Store) SessionByHost(ctx context.Context, host memory.Host, hostSessionID string) (session memory.Session, err error) {
	defer wrap(&err, "read session")
	return sessionWhere(ctx, s.reader, "s.host = ? AND s.host_session_id = ?", string(host), hostSessionID)
}

// OpenSession returns the host of the open session with an id that its host gave
// it, the one last worked in where several hosts have it; "" when there is none.
func (s *Store) OpenSession(ctx context.Context, hostSessionID string) (memory.Host, error) {
	host, err := value[memory.Host](ctx, s.reader, `SELECT host FROM sessions
		WHERE status = 'active' AND host_session_id = ? ORDER BY updated_at DESC, id DESC LIMIT 1`, hostSessionID)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return host, fault("find open session", err)
}

// Prompts lists a session's prompts in the order of their numbers.
func (s *Store) Prompts(ctx context.Context, session memory.SessionID) (prompts []memory.Prompt, err error) {
	defer wrap(&err, "list prompts")
	return sessionPrompts(ctx, s.reader, session, 0, math.MaxInt)
}

// sessionPrompts lists the prompts from..to of a session, in order.
func sessionPrompts(ctx context.Context, q querier, session memory.SessionID, from, to int) ([]memory.Prompt, error) {
	prompts, err := all(ctx, q, promptRecord.fields, "SELECT "+promptRecord.read+` FROM prompts r
		WHERE r.session_id = ? AND r.number BETWEEN ? AND ? ORDER BY r.number`, int64(session), from, to)
	if err != nil {
		return nil, err
	}
	return prompts, withholdPrompts(ctx, q, pointers(prompts))
}

// Turns returns the prompts with numbers from..to and the observations that were
// stored for them, both in order.
func (s *Store) Turns(ctx context.Context, session memory.SessionID, from, to int) ([]memory.Prompt, []memory.Observation, error) {
	b, err := inSnapshot(ctx, s, "read turns", func(q querier) (b memory.Batch, err error) {
		err = readTurns(ctx, q, &b, session, from, to)
		return b, err
	})
	return b.Prompts, b.Earlier, err
}

// readTurns reads the prompts with numbers from..to and the observations that were
// stored for them into b.
func readTurns(ctx context.Context, q querier, b *memory.Batch, session memory.SessionID, from, to int) (err error) {
	if b.Prompts, err = sessionPrompts(ctx, q, session, from, to); err != nil {
		return err
	}
	b.Earlier, err = readObservations(ctx, q, `observations r INDEXED BY observations_turn
		WHERE r.session_id = ? AND r.prompt_number BETWEEN ? AND ? AND r.deleted_at IS NULL
		ORDER BY r.prompt_number, r.id`, int64(session), from, to)
	return err
}

// undistilledEvents and undistilledBytes bound what is made into a summary on
// the spot while a host waits: a turn rarely has more.
const (
	undistilledEvents = 1000
	undistilledBytes  = 16 << 20
)

// Undistilled implements recall.Source: the oldest events of the queue, at most
// 1000 of them or 16 MB, with the prompts and observations of their turns and those nearby.
func (s *Store) Undistilled(ctx context.Context, session memory.SessionID) (memory.Batch, error) {
	return inSnapshot(ctx, s, "read undistilled events", func(q querier) (b memory.Batch, err error) {
		if b.Session, err = sessionByID(ctx, q, session); err != nil {
			return b, err
		}
		if b.Events, err = readWaiting(ctx, q, session); err != nil || len(b.Events) == 0 {
			return b, err
		}
		from, to := b.Events[0].PromptNumber, b.Events[0].PromptNumber
		for _, e := range b.Events {
			from, to = min(from, e.PromptNumber), max(to, e.PromptNumber)
		}
		if err = readTurns(ctx, q, &b, session, from, to); err != nil {
			return b, err
		}
		return b, readNearby(ctx, q, &b, math.MaxInt64)
	})
}

// readWaiting returns a session's events that are not distilled yet, the oldest first,
// up to undistilledEvents and about undistilledBytes. Damaged ones are left out.
func readWaiting(ctx context.Context, q querier, session memory.SessionID) ([]memory.PendingEvent, error) {
	var events []memory.PendingEvent
	bytes := 0
	err := each(ctx, q, func(scan sqlite.Scan) error {
		if bytes >= undistilledBytes {
			return sqlite.ErrStop
		}
		e, size, damage, err := scanPending(scan)
		if bytes += size; err == nil && damage == nil { // else the claim buries it
			events = append(events, e)
		}
		return err
	}, "SELECT "+pendingColumns+`
		FROM events e JOIN pending_messages m ON m.event_id = e.id
		WHERE e.session_id = ? AND e.outcome IN ('pending', 'processing')
		ORDER BY e.occurred_at, e.delivery_id, e.id LIMIT ?`, int64(session), undistilledEvents)
	return events, err
}

// SessionSummaries implements recall.Source: the newest first; all of them when limit is 0.
func (s *Store) SessionSummaries(ctx context.Context, session memory.SessionID, limit int) (summaries []memory.Summary, err error) {
	defer wrap(&err, "list summaries")
	return newestSummaries(ctx, s.reader, session, limit)
}

func newestSummaries(ctx context.Context, q querier, session memory.SessionID, limit int) ([]memory.Summary, error) {
	summaries, err := all(ctx, q, summaryRecord.fields, "SELECT "+summaryRecord.read+` FROM session_summaries r
		WHERE r.session_id = ? ORDER BY r.prompt_number DESC, r.id DESC LIMIT ?`, int64(session), sqlLimit(limit))
	if err != nil {
		return nil, err
	}
	return summaries, withholdSummaries(ctx, q, pointers(summaries))
}

// TouchSession moves a known session's updated_at to now, as when a host resumes
// it, and reports whether it is known. It opens nothing: a forked session comes
// with the id of the one it was forked from.
func (s *Store) TouchSession(ctx context.Context, host memory.Host, hostSessionID string) (known bool, err error) {
	return inJob(ctx, s, "touch session", job{}, func(t *tx) (bool, error) {
		n, err := t.change("UPDATE sessions SET updated_at = max(updated_at, ?) WHERE host = ? AND host_session_id = ?",
			int64(t.now()), string(host), hostSessionID)
		return n > 0, err
	})
}
