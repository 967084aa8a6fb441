package store

import (
	"context"
	"database/sql"
	"errors"

	"claudemem/internal/memory"
)

// SetRun stores the name of a session's run, "" for none, so that a provider that
// keeps conversations can take it up again after a restart.
func (s *Store) SetRun(ctx context.Context, session memory.SessionID, run string) error {
	return s.writeKeeping(ctx, "set observer run", func(t *tx) error {
		return t.exec("UPDATE sessions SET memory_session_id = ?1 WHERE id = ?2 AND memory_session_id <> ?1", run, int64(session))
	})
}

// RunTokens returns the size of a session's run in tokens: those that its newest
// answered call read and wrote.
func (s *Store) RunTokens(ctx context.Context, session memory.SessionID) (int, error) {
	n, err := value[int](ctx, s.reader, `SELECT tokens_in + tokens_out + tokens_cached FROM llm_calls
		WHERE session_id = ? AND outcome = 'ok' ORDER BY started_at DESC, id DESC LIMIT 1`, int64(session))
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return n, fault("read observer run", err)
}
