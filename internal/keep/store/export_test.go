package store

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"claudemem/internal/memory"
)

// Pragma sets a pragma of the writer's connection, as a test's way to a full
// disk (max_page_count) or to an impatient writer (busy_timeout).
func (s *Store) Pragma(pragma string) error {
	return s.writer.do(context.Background(), job{run: func(t *tx) error {
		_, err := t.w.conn.ExecContext(context.Background(), "PRAGMA "+pragma)
		return err
	}})
}

// Counters returns the counters: duplicates, refused and, for each secret rule, redacted:RULE.
func (s *Store) Counters(ctx context.Context) (map[string]int, error) {
	return pairs[string, int](ctx, s.reader, "SELECT name, value FROM counters WHERE name NOT IN ('processed_seq', 'memory_id')")
}

// LogLookup notes that a session read observations in full at a time.
func (s *Store) LogLookup(session memory.SessionID, at memory.Millis, data any) error {
	return s.writeKeeping(context.Background(), "log lookup", func(t *tx) error {
		return t.logEvent(logEntry{kind: eventLookup, session: int64(session), at: at, data: data})
	})
}

// AddObservations is AddObservation for many, of which 64 share a commit.
func (s *Store) AddObservations(ctx context.Context, all []memory.NewObservation) error {
	for group := range slices.Chunk(all, 64) {
		for i := range group {
			if err := s.complete(ctx, &group[i]); err != nil {
				return err
			}
		}
		if err := s.writeKeeping(ctx, "add observations", func(t *tx) error {
			for i := range group {
				if _, err := t.addWritten(&group[i]); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// Used returns what counts against the caps at the given time: of its local day,
// and of a session.
func (l *Ledger) Used(ctx context.Context, at time.Time, session memory.SessionID) (day, ofSession int, err error) {
	from, to := dayOf(at)
	err = l.store.reader.QueryRowContext(ctx, "SELECT (SELECT coalesce(sum("+counted+"), 0) FROM llm_calls WHERE started_at >= ? AND started_at < ?), (SELECT coalesce(sum("+counted+"), 0) FROM llm_calls WHERE session_id = ?)",
		int64(from), int64(to), int64(session)).Scan(&day, &ofSession)
	return day, ofSession, err
}

// Fail runs a background transaction that stores something and then panics.
func (s *Store) Fail() error {
	return s.write(context.Background(), "fail", job{run: func(t *tx) error {
		if err := t.count("half-done", 1); err != nil {
			return err
		}
		panic("on purpose")
	}})
}

// Occupy keeps the writer busy until release is called.
func (s *Store) Occupy() (release func() error) {
	free, done := make(chan struct{}), make(chan error, 1)
	busy := make(chan struct{})
	go func() {
		done <- s.writer.do(context.Background(), job{keepsSessions: true, run: func(*tx) error {
			close(busy)
			<-free
			return nil
		}})
	}()
	<-busy
	return func() error {
		close(free)
		return <-done
	}
}

// RememberedSessions returns how many sessions the bookkeeper remembers.
func (s *Store) RememberedSessions() (n int, err error) {
	err = s.writer.do(context.Background(), job{keepsSessions: true, run: func(t *tx) error {
		n = len(t.w.books.sessions)
		return nil
	}})
	return n, err
}

// Alike gives tests the comparison of titles.
var Alike = alike

// Hide marks an observation as deleted.
func (s *Store) Hide(id int64) error {
	return s.write(context.Background(), "hide", job{run: func(t *tx) error {
		return t.exec("UPDATE observations SET deleted_at = 1 WHERE id = ?", id)
	}})
}

// PagePlan and CountPlan explain how a filter's page and its count are answered;
// rare says whether few observations have the files.
func (s *Store) PagePlan(q memory.Query, kinds []memory.RecordKind, o Order, rare bool) (string, error) {
	return s.filterPlan(q, kinds, o, rare, func(sources []source) (string, []any) { return pageQuery(sources, o, 20, 0) })
}

func (s *Store) CountPlan(q memory.Query, kinds []memory.RecordKind) (string, error) {
	return s.filterPlan(q, kinds, newest, true, countQuery)
}

// FilterWide is FilterRecords that takes every file for one that is everywhere.
func (s *Store) FilterWide(ctx context.Context, q memory.Query, kinds []memory.RecordKind) ([]memory.RecordRef, error) {
	f, err := resolveFilter(ctx, s.reader, q, kinds)
	if err != nil {
		return nil, err
	}
	sources, err := f.sources(ctx, s.reader, newest, filesNone)
	if err != nil {
		return nil, err
	}
	limit := q.Limit
	if limit == 0 {
		limit = 1 << 30
	}
	return page(ctx, s.reader, sources, newest, limit, q.Offset)
}

// ForgetCounts drops the counts that are kept.
func (s *Store) ForgetCounts() { s.counts = countMemory[int]{} }

// AroundPlan explains both sides of a timeline.
func (s *Store) AroundPlan(project string, ref memory.RecordRef) (string, error) {
	plans := ""
	for _, o := range []Order{newest, oldest} {
		plan, err := s.filterPlan(memory.Query{Project: project}, nil, newest, true, func(sources []source) (string, []any) {
			return pageQuery(beyond(sources, o, 1, ref), o, 10, 0)
		})
		if err != nil {
			return "", err
		}
		plans += plan
	}
	return plans, nil
}

// Order and its values are the orders of lists.
type Order = order

const (
	Newest       = newest
	Oldest       = oldest
	PinnedNewest = pinnedNewest
)

func (s *Store) filterPlan(q memory.Query, kinds []memory.RecordKind, o Order, rare bool, build func([]source) (string, []any)) (string, error) {
	ctx := context.Background()
	f, err := resolveFilter(ctx, s.reader, q, kinds)
	if err != nil {
		return "", err
	}
	how := filesNone
	if rare {
		how = filesWhenRare
	}
	sources, err := f.sources(ctx, s.reader, o, how)
	if err != nil {
		return "", err
	}
	query, args := build(sources)
	return s.Plan(query, args...)
}

// Plan explains how a query is answered.
func (s *Store) Plan(query string, args ...any) (string, error) {
	rows, err := s.reader.Query("EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		return "", err
	}
	defer func() { _ = rows.Close() }()
	plan := ""
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			return "", err
		}
		plan += detail + "\n"
	}
	return plan, rows.Err()
}

// VerifyRecords compares all records of the database at path, whose schema is the present
// one, with their hashes. With another schema there are none: checked is 0.
func VerifyRecords(ctx context.Context, path string) (wrong []Mismatch, checked int, err error) {
	defer wrap(&err, "verify records")
	err = withReader(ctx, path, func(db *sql.DB) error {
		if version, err := schemaVersion(ctx, db); err != nil || version != SchemaVersion() {
			return err
		}
		wrong, checked, err = verifyRecords(ctx, db, func() error { return nil })
		return err
	})
	return wrong, checked, err
}
