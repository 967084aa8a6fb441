package sqlite

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// leavesFile returns the content of a database with rows of every size: 1,000 of a table, whose
// texts grow up to 1,000 bytes, and 1,000 of one WITHOUT ROWID. 1,000 more of each are deleted.
func leavesFile(t testing.TB, rows int) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "memory.db")
	db, err := OpenWriter(path, Source(path, nil, "auto_vacuum(incremental)"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(fmt.Sprintf(`CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT, n INTEGER, r REAL, b BLOB, none TEXT) STRICT;
		CREATE TABLE w (k TEXT, n INTEGER, v TEXT, PRIMARY KEY (k, n)) STRICT, WITHOUT ROWID;
		CREATE INDEX t_n ON t (n);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %[1]d * 2)
			INSERT INTO t SELECT i, printf('%%.*c', i, 'x'), i, 0.5, x'00ff', NULL FROM n;
		INSERT INTO w SELECT 'key', id, 'v' || id FROM t;
		DELETE FROM t WHERE id > %[1]d; DELETE FROM w WHERE n > %[1]d`, rows))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestLeaves: the rows of a database are read whatever became of its first page, those of free
// pages are not, and the file is as before.
func TestLeaves(t *testing.T) {
	const rows = 1000
	whole := leavesFile(t, rows)
	for name, damage := range map[string]func(content []byte) []byte{
		"none":                nil,
		"no header":           func(c []byte) []byte { clear(c[:100]); return c },
		"no first page":       func(c []byte) []byte { clear(c[:4096]); return c },
		"other page size":     func(c []byte) []byte { c[16], c[17] = 0, 7; return c },
		"not a whole page":    func(c []byte) []byte { return append(c, "some more"...) },
		"a page of garbage":   func(c []byte) []byte { return append(c, bytes.Repeat([]byte{13}, 4096)...) },
		"the map is gone too": func(c []byte) []byte { clear(c[:8192]); return c },
	} {
		t.Run(name, func(t *testing.T) {
			content := slices.Clone(whole)
			if damage != nil {
				content = damage(content)
			}
			path := filepath.Join(t.TempDir(), "damaged.db")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			tables, entries := map[int64]bool{}, map[int64]bool{}
			err := Leaves(t.Context(), path, func(row Row) error {
				switch {
				case row.Entry && len(row.Values) == 3:
					n, _ := row.Values[1].(int64)
					if row.Values[0] != "key" || row.Values[2] != fmt.Sprint("v", n) {
						t.Errorf("entry %v", row.Values)
					}
					entries[n] = true
				case !row.Entry && len(row.Values) == 5 && row.Values[0] == nil:
					if text, _ := row.Values[1].(string); len(text) != int(row.ID) || row.Values[2] != row.ID || row.Values[3] != 0.5 || !bytes.Equal(row.Values[4].([]byte), []byte{0, 255}) {
						t.Errorf("row %d: %v", row.ID, row.Values)
					}
					tables[row.ID] = true
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if want := name != "the map is gone too"; want && (len(tables) != rows || len(entries) != rows) || len(tables) < rows || len(entries) < rows {
				t.Errorf("%d rows and %d entries, want %d", len(tables), len(entries), rows)
			}
			after, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(after, content) {
				t.Errorf("the file was changed (%v)", err)
			}
		})
	}
}

// FuzzLeaves overwrites bytes of a database: reading its pages ends without a panic, calls take
// with values of known types only, and leaves the file as it was.
func FuzzLeaves(f *testing.F) {
	whole := leavesFile(f, 60)
	f.Add(uint32(4096), []byte{13, 0, 0, 255, 255})
	f.Add(uint32(100), bytes.Repeat([]byte{0xff}, 300))
	f.Add(uint32(3*4096), []byte{10, 0, 0, 0, 9, 1, 1, 0, 0, 0, 0, 0, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, at uint32, with []byte) {
		content := slices.Clone(whole)
		for i, b := range with {
			content[(int(at)+i)%len(content)] = b
		}
		path := filepath.Join(t.TempDir(), "damaged.db")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Leaves(t.Context(), path, func(row Row) error {
			for _, v := range row.Values {
				switch v.(type) {
				case nil, int64, float64, string, []byte:
				default:
					t.Errorf("a %T", v)
				}
			}
			return nil
		}); err != nil {
			t.Errorf("Leaves: %v", err)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, content) {
			t.Errorf("the file was changed (%v)", err)
		}
	})
}
