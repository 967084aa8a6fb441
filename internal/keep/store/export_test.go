package store

import (
	"context"
	"slices"
	"sync"
	"time"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/upkeep"
	"claudemem/internal/memory"
)

// Pragma sets a pragma of the writer's connection, as a test's way to a full
// disk (max_page_count) or to an impatient writer (busy_timeout).
func (s *Store) Pragma(pragma string) error {
	return s.Write(context.Background(), "set pragma", db.Job{Run: func(t *db.Tx) {
		_, err := t.Conn.ExecContext(context.Background(), "PRAGMA "+pragma)
		t.Fail(err)
	}})
}

// Counters returns the counters: duplicates, refused and, for each secret rule, redacted:RULE.
func (s *Store) Counters(ctx context.Context) (map[string]int, error) {
	return db.Pairs[string, int](ctx, s.Reader, "SELECT name, value FROM counters WHERE name NOT IN ('processed_seq', 'memory_id')")
}

// LogLookup notes that a session read observations in full at a time.
func (s *Store) LogLookup(session memory.SessionID, at memory.Millis, data any) error {
	text, err := db.Encode(data)
	if err != nil {
		return err
	}
	return s.Exec(context.Background(), "log lookup", "INSERT INTO event_log (event_type, session_id, data, created_at) VALUES ('lookup', ?, ?, ?)", db.OrNull(session), text, int64(at))
}

// AddObservations is AddObservation for many, 64 at the same time.
func (s *Store) AddObservations(ctx context.Context, all []memory.NewObservation) (failed error) {
	for group := range slices.Chunk(all, 64) {
		var adding sync.WaitGroup
		var mu sync.Mutex
		for _, n := range group {
			adding.Go(func() {
				if _, err := s.AddObservation(ctx, n); err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
				}
			})
		}
		adding.Wait()
	}
	return failed
}

// UsedTokens returns what counts against the caps at the given time: of its local day,
// and of a session.
func (s *Store) UsedTokens(ctx context.Context, at time.Time, session memory.SessionID) (day, ofSession int, err error) {
	y, m, d := at.Date()
	from, to := time.Date(y, m, d, 0, 0, 0, 0, at.Location()), time.Date(y, m, d+1, 0, 0, 0, 0, at.Location())
	const counted = "CASE WHEN reserved_tokens > 0 THEN reserved_tokens ELSE tokens_in + tokens_out + tokens_cached END"
	err = s.Reader.QueryRowContext(ctx, "SELECT (SELECT coalesce(sum("+counted+"), 0) FROM llm_calls WHERE started_at >= ? AND started_at < ?), (SELECT coalesce(sum("+counted+"), 0) FROM llm_calls WHERE session_id = ?)",
		from.UnixMilli(), to.UnixMilli(), int64(session)).Scan(&day, &ofSession)
	return day, ofSession, err
}

// Fail runs a background transaction that stores something and then panics.
func (s *Store) Fail() error {
	return s.Write(context.Background(), "fail", db.Job{Run: func(t *db.Tx) {
		t.Count("half-done", 1)
		panic("on purpose")
	}})
}

// Hide marks an observation as deleted.
func (s *Store) Hide(id int64) error {
	return s.Write(context.Background(), "hide", db.Job{Run: func(t *db.Tx) {
		t.Exec("UPDATE observations SET deleted_at = 1 WHERE id = ?", id)
	}})
}

// Plan explains how a query is answered.
func (s *Store) Plan(query string, args ...any) (string, error) {
	steps, err := db.All(context.Background(), s.Reader, func(step *[4]string) []any {
		return []any{&step[0], &step[1], &step[2], &step[3]}
	}, "EXPLAIN QUERY PLAN "+query, args...)
	plan := ""
	for _, step := range steps {
		plan += step[3] + "\n"
	}
	return plan, err
}

// VerifyRecords compares all records of the database at path, whose schema is the present
// one, with their hashes.
func VerifyRecords(ctx context.Context, path string) (wrong []upkeep.Mismatch, checked int, err error) {
	s, err := OpenReadOnly(ctx, path)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = s.Close() }()
	return s.VerifyRecords(ctx, func() error { return nil })
}
