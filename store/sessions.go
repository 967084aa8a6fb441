package store

import (
	"context"
	"database/sql"
	"errors"

	"claudemem"
	"claudemem/sqlite"
)

// sessionColumns are the columns of table s that sessionFields receive.
const sessionColumns = `s.id, s.ulid, s.host, s.host_session_id, s.memory_session_id, s.project, s.label, s.status, s.title,
	s.prompt_count, s.started_at, s.updated_at, s.completed_at`

// sessionFields returns the destinations of sessionColumns.
func sessionFields(s *claudemem.Session) []any {
	return []any{&s.ID, &s.ULID, &s.Host, &s.HostSessionID, &s.MemorySessionID, &s.ProjectPath, &s.Label, &s.Status, &s.Title,
		&s.PromptCount, &s.StartedAt, &s.UpdatedAt, &s.CompletedAt}
}

// scanSession reads the columns of sessionColumns; sql.ErrNoRows without a row.
func scanSession(row *sql.Row) (claudemem.Session, error) {
	var s claudemem.Session
	err := row.Scan(sessionFields(&s)...)
	return s, err
}

func sessionByID(ctx context.Context, q querier, id claudemem.SessionID) (claudemem.Session, error) {
	return scanSession(q.QueryRowContext(ctx, "SELECT "+sessionColumns+" FROM sessions s WHERE s.id = ?", int64(id)))
}

// Session returns a session by its number; CodeNotFound when there is none.
func (s *Store) Session(ctx context.Context, id claudemem.SessionID) (claudemem.Session, error) {
	session, err := sessionByID(ctx, s.reader, id)
	return session, fault("read session", err)
}

// SessionByHost implements recall.Source.
func (s *Store) SessionByHost(ctx context.Context, host claudemem.Host, hostSessionID string) (claudemem.Session, error) {
	session, err := scanSession(s.reader.QueryRowContext(ctx,
		"SELECT "+sessionColumns+" FROM sessions s WHERE s.host = ? AND s.host_session_id = ?", string(host), hostSessionID))
	return session, fault("read session", err)
}

// OpenSession returns the host of the open session with an id that its host gave
// it, the one last worked in where several hosts have it; "" when there is none.
func (s *Store) OpenSession(ctx context.Context, hostSessionID string) (claudemem.Host, error) {
	host, err := value[claudemem.Host](ctx, s.reader, `SELECT host FROM sessions
		WHERE status = 'active' AND host_session_id = ? ORDER BY updated_at DESC, id DESC LIMIT 1`, hostSessionID)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return host, fault("find open session", err)
}

// Prompts lists a session's prompts in the order of their numbers.
func (s *Store) Prompts(ctx context.Context, session claudemem.SessionID) ([]claudemem.Prompt, error) {
	prompts, err := sessionPrompts(ctx, s.reader, session, 0, int(^uint(0)>>1))
	return prompts, fault("list prompts", err)
}

// sessionPrompts lists the prompts from..to of a session, in order.
func sessionPrompts(ctx context.Context, q querier, session claudemem.SessionID, from, to int) ([]claudemem.Prompt, error) {
	prompts, _, err := readPrompts(ctx, q, "session_id = ? AND number BETWEEN ? AND ? ORDER BY number", int64(session), from, to)
	return prompts, err
}

// readPrompts reads prompts by a condition, which may have an order and a limit,
// and the projects they are of.
func readPrompts(ctx context.Context, q querier, condition string, args ...any) (prompts []claudemem.Prompt, projects []string, err error) {
	err = each(ctx, q, func(scan sqlite.Scan) error {
		var p claudemem.Prompt
		var project string
		if err := scan(&p.ID, &p.ULID, &p.Session, &p.Number, &p.PromptID, &p.Text, &p.Branch, &p.HeadCommit, &p.CreatedAt, &project); err != nil {
			return err
		}
		prompts, projects = append(prompts, p), append(projects, project)
		return nil
	}, `SELECT id, ulid, session_id, number, prompt_id, text, branch, head_commit, created_at, project
		FROM prompts WHERE `+condition, args...)
	return prompts, projects, err
}

// Turns returns the prompts with numbers from..to and the observations that were
// stored for them, both in order.
func (s *Store) Turns(ctx context.Context, session claudemem.SessionID, from, to int) ([]claudemem.Prompt, []claudemem.Observation, error) {
	const what = "read turns"
	var prompts []claudemem.Prompt
	var observations []claudemem.Observation
	err := s.snapshot(ctx, func(q querier) error {
		var err error
		if prompts, err = sessionPrompts(ctx, q, session, from, to); err != nil {
			return err
		}
		observations, err = turnObservations(ctx, q, session, from, to)
		return err
	})
	return prompts, observations, fault(what, err)
}

// snapshot runs several reads that have to see the same moment.
func (s *Store) snapshot(ctx context.Context, fn func(querier) error) error {
	tx, err := s.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	return fn(tx)
}

// undistilledEvents and undistilledBytes bound what is made into a summary on
// the spot while a host waits: a turn rarely has more.
const (
	undistilledEvents = 1000
	undistilledBytes  = 16 << 20
)

// Undistilled implements recall.Source: the oldest events of the queue, at most
// 1000 of them or 16 MB, with the prompts and observations of their turns.
func (s *Store) Undistilled(ctx context.Context, session claudemem.SessionID) (claudemem.Batch, error) {
	const what = "read undistilled events"
	var b claudemem.Batch
	err := s.snapshot(ctx, func(q querier) error {
		var err error
		if b.Session, err = sessionByID(ctx, q, session); err != nil {
			return err
		}
		if b.Events, err = readWaiting(ctx, q, session); err != nil || len(b.Events) == 0 {
			return err
		}
		from, to := b.Events[0].PromptNumber, b.Events[0].PromptNumber
		for _, e := range b.Events {
			from, to = min(from, e.PromptNumber), max(to, e.PromptNumber)
		}
		if b.Prompts, err = sessionPrompts(ctx, q, session, from, to); err != nil {
			return err
		}
		b.Earlier, err = turnObservations(ctx, q, session, from, to)
		return err
	})
	return b, fault(what, err)
}

// readWaiting returns a session's events that are not distilled yet, the oldest first,
// up to undistilledEvents and about undistilledBytes. Damaged ones are left out.
func readWaiting(ctx context.Context, q querier, session claudemem.SessionID) ([]claudemem.PendingEvent, error) {
	var events []claudemem.PendingEvent
	bytes := 0
	err := each(ctx, q, func(scan sqlite.Scan) error {
		if bytes >= undistilledBytes {
			return sqlite.ErrStop
		}
		var e claudemem.PendingEvent
		var payload, files sql.RawBytes
		if err := scan(&e.Key, &e.PromptNumber, &e.Attempts, &payload, &files); err != nil {
			return err
		}
		bytes += len(payload)
		if decodePayload(payload, files, &e) == nil { // else the claim buries it
			events = append(events, e)
		}
		return nil
	}, `SELECT e.event_key, e.prompt_number, m.attempts, m.payload, m.files
		FROM events e JOIN pending_messages m ON m.event_id = e.id
		WHERE e.session_id = ? AND e.outcome IN ('pending', 'processing')
		ORDER BY e.occurred_at, e.delivery_id, e.id LIMIT ?`, int64(session), undistilledEvents)
	return events, err
}

// SessionSummaries implements recall.Source; all of them when limit is 0.
func (s *Store) SessionSummaries(ctx context.Context, session claudemem.SessionID, limit int) ([]claudemem.Summary, error) {
	if limit <= 0 {
		limit = -1
	}
	summaries, _, err := readSummaries(ctx, s.reader, newestSummary, int64(session), limit)
	return summaries, fault("list summaries", err)
}

// readSummaries reads summaries by a condition, which may have an order and a
// limit, and the projects they are of.
func readSummaries(ctx context.Context, q querier, condition string, args ...any) (summaries []claudemem.Summary, projects []string, err error) {
	err = each(ctx, q, func(scan sqlite.Scan) error {
		var m claudemem.Summary
		var project string
		if err := scan(&m.ID, &m.ULID, &m.Session, &m.PromptNumber, &m.Request, &m.Investigated, &m.Learned, &m.Completed, &m.NextSteps,
			toList(&m.FilesRead), toList(&m.FilesEdited), &m.Notes, &m.Origin, &m.CreatedAt, &project); err != nil {
			return err
		}
		summaries, projects = append(summaries, m), append(projects, project)
		return nil
	}, `SELECT id, ulid, session_id, prompt_number, request, investigated, learned, completed, next_steps,
		files_read, files_edited, notes, origin, created_at, project FROM session_summaries WHERE `+condition, args...)
	return summaries, projects, err
}

// TouchSession moves a known session's updated_at to now, as when a host resumes
// it, and reports whether it is known. It opens nothing: a forked session comes
// with the id of the one it was forked from.
func (s *Store) TouchSession(ctx context.Context, host claudemem.Host, hostSessionID string) (known bool, err error) {
	err = s.write(ctx, "touch session", func(t *tx) error {
		n, err := t.change("UPDATE sessions SET updated_at = max(updated_at, ?) WHERE host = ? AND host_session_id = ?",
			int64(t.now()), string(host), hostSessionID)
		known = n > 0
		return err
	})
	return known, err
}

// ActiveSessions lists a project's active sessions, the newest first.
func (s *Store) ActiveSessions(ctx context.Context, projectPath string) ([]claudemem.Session, error) {
	const what = "list active sessions"
	sessions, err := all(ctx, s.reader, sessionFields, "SELECT "+sessionColumns+` FROM sessions s
		WHERE s.project = ? AND s.status = 'active' ORDER BY s.updated_at DESC, s.id DESC`, projectPath)
	return sessions, fault(what, err)
}
