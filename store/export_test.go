package store

import "context"

// Pragma sets a pragma of the writer's connection, as a test's way to a full
// disk (max_page_count) or to an impatient writer (busy_timeout).
func (s *Store) Pragma(pragma string) error {
	return s.writer.do(context.Background(), job{run: func(t *tx) error {
		_, err := t.w.conn.ExecContext(context.Background(), "PRAGMA "+pragma)
		return err
	}})
}

// Fail runs a background transaction that stores something and then panics.
func (s *Store) Fail() error {
	return s.write(context.Background(), "fail", func(t *tx) error {
		if err := t.count("half-done", 1); err != nil {
			return err
		}
		panic("on purpose")
	})
}

// Alike gives tests the comparison of titles.
var Alike = alike

// Hide marks an observation as deleted.
func (s *Store) Hide(id int64) error {
	return s.write(context.Background(), "hide", func(t *tx) error {
		_, err := t.exec("UPDATE observations SET deleted_at = 1 WHERE id = ?", id)
		return err
	})
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
