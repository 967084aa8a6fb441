package daemon

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/internal/run/control"
)

// An index that lost a record, which no check of its file sees, is told and rebuilt.
func TestIndexLostRecord(t *testing.T) {
	noLeaks(t)
	dir := used(t)
	w := open(t, config(dir))
	indexed(t, w)
	defer closeWorker(t, w)
	db, err := sql.Open("sqlite", filepath.Join(dir, control.Index))
	if err != nil {
		t.Fatal(err)
	}
	result, err := db.Exec("DELETE FROM documents WHERE record_id = 3")
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := result.RowsAffected(); n != 1 {
		t.Fatalf("%d rows deleted", n)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	wrong, compared, err := control.VerifyIndex(t.Context(), w.store, dir)
	if err != nil || !compared || strings.Join(wrong, "; ") != "1 record of the memory missing" {
		t.Fatalf("found %q, compared %t, %v", wrong, compared, err)
	}
	if err := w.mendIndex(t.Context()); err != nil {
		t.Fatal(err)
	}
	if told := notices(t, w); !strings.Contains(told, "the search index was damaged (1 record of the memory missing)") {
		t.Errorf("told %q", told)
	}
	if !eventually(func() bool { return !w.finder.Reindexing().Running }) {
		t.Fatal("the index is not rebuilt")
	}
	if wrong, compared, err := control.VerifyIndex(t.Context(), w.store, dir); err != nil || !compared || len(wrong) > 0 {
		t.Errorf("found %q after the rebuild, compared %t, %v", wrong, compared, err)
	}
}
