package daemon

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/keep/store"
	"claudemem/internal/memory"
	"claudemem/internal/move/nodedb"
	"claudemem/proof/layouts"
)

// TestImportNode: all rows of a database of claude-mem for Node are accounted for, keep their
// numbers where these are free, are redacted, and a second import changes nothing.
func TestImportNode(t *testing.T) {
	for _, version := range layouts.Versions {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), nodedb.FileName)
			db, err := layouts.Create(path, version)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := layouts.Fill(db, version); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			first, rows := importNode(t, dir, path)
			if first.Done() != rows.Total() || !first.Complete {
				t.Errorf("%+v of %+v", first, rows)
			}
			// The rows without text, too long, private, or of the year 2255.
			refused := 5
			if version >= 10 {
				refused = 6 // the empty prompt
			}
			if first.Refused != refused || first.Excluded+first.Forgotten+first.Differs != 0 || first.Added.Sessions != rows.Sessions+rows.Stubs {
				t.Errorf("%+v, want %d refused", first, refused)
			}
			if want := 1; version >= 8 && first.Merged != want {
				t.Errorf("%d are merged, want %d", first.Merged, want)
			}
			s, err := store.Open(t.Context(), filepath.Join(dir, "memory.db"), store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			o, err := s.Observation(t.Context(), 4213)
			if err != nil || o.Title != "The cart rounded twice because totals were floats." || o.ProjectPath != "label:shop" || o.Origin != memory.OriginImport || !o.Provenance.Foreign() {
				t.Errorf("4213 is %+v, %v", o, err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			again, _ := importNode(t, dir, path)
			if again.Added.Total() != 0 || again.Differs != 0 || again.Done() != rows.Total() {
				t.Errorf("the second import did %+v", again)
			}
			for _, name := range []string{"memory.db", "memory.db-wal"} {
				b, _ := os.ReadFile(filepath.Join(dir, name)) // there may be no log
				for _, private := range []string{layouts.Secret, "hunter-two", "all of it"} {
					if bytes.Contains(b, []byte(private)) {
						t.Errorf("%s has %q", name, private)
					}
				}
			}
		})
	}
}

// TestImportNodeFillsPages: the pages of an imported memory are nearly as full as they can be.
func TestImportNodeFillsPages(t *testing.T) {
	path := filepath.Join(t.TempDir(), nodedb.FileName)
	db, err := layouts.Create(path, 49)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(layouts.Many(db, 5000), db.Close()); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	importNode(t, dir, path)
	memoryPath := filepath.Join(dir, "memory.db")
	size := func() int64 {
		info, err := os.Stat(memoryPath)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	imported := size()
	db, err = sql.Open(sqlite.Driver, memoryPath)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("VACUUM"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if full := size(); imported > full*5/4 {
		t.Errorf("the memory has %d bytes, %d after VACUUM", imported, full)
	}
}

func importNode(t *testing.T, dir, path string) (Importing, nodedb.Rows) {
	t.Helper()
	c, err := nodedb.Open(t.Context(), path, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	r, err := c.NewReader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	done, err := ImportRecords(t.Context(), dir, r, ImportOptions{}, func(int) {})
	if err != nil {
		t.Fatalf("%+v, %v", done, err)
	}
	return done, r.Rows
}
