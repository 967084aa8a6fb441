package store

import (
	"path/filepath"
	"testing"

	"claudemem/sqlite"
)

// TestSalvageEndsOnFullDisk checks that a row which finds no space is not taken for one that
// is damaged.
func TestSalvageEndsOnFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "from.db")
	db, err := sqlite.OpenWriter(path, sqlite.Source(path, nil, busyTimeout))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, statement := range []string{"CREATE TABLE t (id INTEGER PRIMARY KEY, text)", "INSERT INTO t VALUES (1, 'a'), (2, 'b')", "PRAGMA max_page_count = 1"} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	_, full := db.ExecContext(t.Context(), "INSERT INTO t VALUES (3, zeroblob(1000000))")
	if !Full(full) {
		t.Fatalf("not full: %v", full)
	}
	taken := 0
	err = readAround(t.Context(), db, "SELECT id FROM t WHERE id", "id", 0, func(scan sqlite.Scan) (at int64, err error) {
		taken++
		if err := scan(&at); err != nil {
			return at, err
		}
		return at, full
	})
	if !Full(err) || taken != 1 {
		t.Errorf("%d rows tried, %v; want the first and that the disk is full", taken, err)
	}
}
