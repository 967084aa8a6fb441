package store_test

import (
	"context"
	"database/sql"
	"os"
	"testing"

	"claudemem/internal/keep/store"
)

// rawRows reads a database as another program would.
func rawRows(t *testing.T, path, query string, args ...any) [][]any {
	t.Helper()
	db := rawOpen(t, path)
	rows, err := db.Query(query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var found [][]any
	for rows.Next() {
		row := make([]any, len(columns))
		dest := make([]any, len(columns))
		for i := range row {
			dest[i] = &row[i]
		}
		if err := rows.Scan(dest...); err != nil {
			t.Fatal(err)
		}
		found = append(found, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

// rawExec changes a database as another program would.
func rawExec(t *testing.T, path, query string, args ...any) {
	t.Helper()
	if _, err := rawOpen(t, path).Exec(query, args...); err != nil {
		t.Fatal(err)
	}
}

func rawOpen(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(2000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func mkdirTemp() (string, error) { return os.MkdirTemp("", "claudemem-store-*") }

func removeAll(dir string) { _ = os.RemoveAll(dir) }

// openReadOnly opens a memory as a process does that is not the worker.
func openReadOnly(t *testing.T, path string) *store.Store {
	t.Helper()
	s, err := store.OpenReadOnly(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}
