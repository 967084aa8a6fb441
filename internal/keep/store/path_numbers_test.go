package store_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claudemem/internal/keep/store/upkeep"
	"claudemem/internal/memory"
)

// beforePathNumbers is a memory of the schema in which a file had the text of its path, with a
// hidden and a superseded observation, a path of several observations, one that is missing in
// paths and one that no observation has.
func beforePathNumbers(t *testing.T) (path string) {
	t.Helper()
	path = unpacked(t, releasedName(5))
	rawExec(t, path, `
		UPDATE observations SET deleted_at = 7 WHERE title = 'bravo';
		UPDATE observations SET superseded_by = 5 WHERE title = 'alpha';
		INSERT INTO observation_files (observation_id, position, path, role, file_hash, symbols)
			VALUES (4, 0, 'src/cart.go', 'read', 'abc', '[{"name":"Total"}]'), (4, 1, 'src/cart.go', 'modified', NULL, ''), (4, 2, 'lib/lost/Basket.go', 'read', NULL, '');
		INSERT INTO paths (id, path) VALUES (90, 'of/none.go');
		DELETE FROM path_segments WHERE path_id = (SELECT id FROM paths WHERE path = 'docs/auth.md');
		DELETE FROM paths WHERE path = 'docs/auth.md'`)
	return path
}

const allFiles = "SELECT observation_id, position, path, role, file_hash, symbols FROM observation_files ORDER BY 1, 2"

// TestPathNumbersMigration: the migration changes no file of an observation, no hash of them, no number
// of a path, and nothing that the feed would tell.
func TestPathNumbersMigration(t *testing.T) {
	ctx := context.Background()
	path := beforePathNumbers(t)
	same := []string{
		allFiles, "SELECT kind, id, rest FROM record_sums ORDER BY kind, id", "SELECT kind, id, rest, damaged_at FROM record_hashes ORDER BY kind, id", "SELECT * FROM changes",
		"SELECT name FROM pragma_table_info('observation_files')", "SELECT id, path FROM paths WHERE path <> 'docs/auth.md' AND path <> 'lib/lost/Basket.go' ORDER BY id",
	}
	var before [][][]any
	for _, query := range same {
		before = append(before, rawRows(t, path, query))
	}
	if len(before[0]) != 9 {
		t.Fatalf("the memory has %d files", len(before[0]))
	}
	// A memory that was damaged may have files of an observation that is gone.
	rawExec(t, path, "INSERT INTO observation_files (observation_id, position, path, role) VALUES (99, 0, 'src/gone.go', 'read')")
	m := &testStore{path: path, clock: &clock{base}}
	m.open(t)
	defer func() { _ = m.Close() }()
	for i, query := range same {
		if diff := cmp.Diff(before[i], rawRows(t, path, query)); diff != "" && i < len(same)-1 {
			t.Errorf("%s (-before +after):\n%s", query, diff)
		}
	}
	for _, row := range before[len(same)-1] {
		if got := rawRows(t, path, "SELECT path FROM paths WHERE id = ?", row[0]); len(got) != 1 || got[0][0] != row[1] {
			t.Errorf("path %v is %v, want %v", row[0], got, row[1])
		}
	}
	if got := verified(t, m); got != "[]" {
		t.Errorf("%s are taken for changed", got)
	}
	for _, pragma := range []string{"foreign_key_check", "integrity_check"} {
		if rows := rawRows(t, path, "PRAGMA "+pragma); len(rows) > 0 && rows[0][0] != "ok" {
			t.Errorf("%s: %v", pragma, rows)
		}
	}
	for file, want := range map[string][]int64{
		"cart.go": {1, 4, 5}, "src/cart.go": {1, 4, 5}, "basket": {4}, "lib/lost": {4}, "auth/": {1}, "gone.go": nil, "none.go": nil,
	} {
		refs, err := m.FilterRecords(ctx, memory.Query{Files: []string{file}}, nil, memory.OrderOldest)
		var got []int64
		for _, r := range refs {
			got = append(got, r.ID)
		}
		if slices.Sort(got); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v %v have %s, want %v", got, err, file, want)
		}
	}
	of, err := m.ObservationsOfFile(ctx, "/home/dev/shop", "src/cart.go", 5)
	if err != nil || len(of) != 2 {
		t.Errorf("%d observations of a file, %v; want delta, and echo in the place of alpha", len(of), err)
	}
	if _, err := m.RestoreObservation(ctx, 2); err != nil {
		t.Fatal(err)
	}
	if refs, err := m.FilterRecords(ctx, memory.Query{Files: []string{"auth.md"}}, nil, ""); err != nil || len(refs) != 1 {
		t.Errorf("the path that was missing is found %d times, %v", len(refs), err)
	}
}

// TestPathNumbersAreNotReused: a path gets a number that no path had, and one that is in use
// cannot be deleted.
func TestPathNumbersAreNotReused(t *testing.T) {
	m := filled(t)
	newest := func() int64 { return rawRows(t, m.path, "SELECT max(id) FROM paths")[0][0].(int64) }
	m.add(t, note("one", func(n *memory.NewObservation) { n.Files = []memory.FileRef{{Path: "one.go"}} }))
	one := newest()
	if _, err := rawOpen(t, m.path).Exec("PRAGMA foreign_keys = 1; DELETE FROM paths WHERE id = ?", one); err == nil {
		t.Error("a path of an observation was deleted")
	}
	if _, err := m.HideObservation(t.Context(), 7, true); err != nil {
		t.Fatal(err)
	}
	if n, err := m.PurgeHidden(t.Context(), memory.LatestTime); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	if newest() >= one {
		t.Fatal("the path is still there")
	}
	m.add(t, note("two", func(n *memory.NewObservation) { n.Files = []memory.FileRef{{Path: "two.go"}} }))
	if two := newest(); two <= one {
		t.Errorf("two.go has number %d, which %d was given before", two, one)
	}
}

// TestObservationFilesIsWrittenTo: what is written to the view goes to the table behind it, with
// the hashes of the records.
func TestObservationFilesIsWrittenTo(t *testing.T) {
	m := filled(t)
	db := rawOpen(t, m.path)
	exec := func(query string) {
		t.Helper()
		if _, err := db.Exec("PRAGMA foreign_keys = 1; " + query); err != nil {
			t.Fatal(err)
		}
	}
	number := func(path string) any {
		t.Helper()
		rows := rawRows(t, m.path, "SELECT id FROM paths WHERE path = ?", path)
		if len(rows) != 1 {
			t.Fatalf("%s has numbers %v", path, rows)
		}
		return rows[0][0]
	}
	cart := number("src/cart.go")
	exec(`INSERT INTO observation_files (observation_id, position, path, role) VALUES (4, 0, 'src/cart.go', 'read');
		INSERT INTO observation_files (observation_id, position, path, role, file_hash, symbols) VALUES (4, 1, 'new/Path.go', 'modified', 'abc', '[]')`)
	want := [][]any{{int64(4), int64(0), "src/cart.go", "read", nil, ""}, {int64(4), int64(1), "new/Path.go", "modified", "abc", "[]"}}
	check := func() {
		t.Helper()
		if diff := cmp.Diff(want, rawRows(t, m.path, "SELECT * FROM observation_files WHERE observation_id = 4 ORDER BY position")); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
		if number("src/cart.go") != cart {
			t.Error("a path has got another number")
		}
		if got := verified(t, m); got != "[]" {
			t.Errorf("%s are taken for changed", got)
		}
	}
	check()
	exec("INSERT OR REPLACE INTO observation_files (observation_id, position, path, role) VALUES (4, 2, 'src/cart.go', 'read')")
	want = append(want, []any{int64(4), int64(2), "src/cart.go", "read", nil, ""})
	check()
	exec("UPDATE observation_files SET path = 'other.go', role = 'modified', file_hash = 'x' WHERE observation_id = 4 AND position = 1")
	want[1] = []any{int64(4), int64(1), "other.go", "modified", "x", "[]"}
	check()
	for _, wrong := range []string{
		"INSERT INTO observation_files (observation_id, position, path, role) VALUES (4, 3, 'a.go', 'deleted')",
		"INSERT INTO observation_files (observation_id, position, path, role) VALUES (4, 3, NULL, 'read')",
		"INSERT INTO observation_files (observation_id, position, path, role) VALUES (4, 1, 'a.go', 'read')",
		"INSERT INTO observation_files (observation_id, position, path, role) VALUES (99, 0, 'a.go', 'read')",
		"UPDATE observation_files SET role = 'deleted' WHERE observation_id = 4",
		"UPDATE observation_files SET path = NULL WHERE observation_id = 4",
		"UPDATE observation_files SET symbols = NULL WHERE observation_id = 4",
	} {
		if _, err := db.Exec("PRAGMA foreign_keys = 1; " + wrong); err == nil {
			t.Errorf("no error: %s", wrong)
		}
	}
	check()
	exec("DELETE FROM observation_files WHERE observation_id = 4 AND path = 'src/cart.go'")
	want = want[1:2]
	check()
	exec("DELETE FROM observations WHERE id = 4")
	want = nil
	check()
	if rows := rawRows(t, m.path, "SELECT * FROM file_refs WHERE observation_id = 4"); len(rows) > 0 {
		t.Errorf("files of a deleted observation: %v", rows)
	}
}

// TestSalvageOfOlderSchema copies the files of damaged databases in which they had the texts of
// their paths.
func TestSalvageOfOlderSchema(t *testing.T) {
	for version := 1; version <= 5; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			damaged, files := unpacked(t, releasedName(version)), "SELECT observation_id, position, path, role, file_hash FROM observation_files ORDER BY 1, 2"
			if version == 5 {
				damaged, files = beforePathNumbers(t), allFiles
			}
			rawExec(t, damaged, "INSERT INTO tombstones (kind, key, created_at) VALUES ('content', ?, 1)", strings.Repeat("0f", 32))
			want := rawRows(t, damaged, files)
			m := newMemory(t)
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			if _, _, err := salvage(t, damaged, m.path); err != nil {
				t.Fatal(err)
			}
			m.open(t)
			if diff := cmp.Diff(want, rawRows(t, m.path, files)); diff != "" || len(want) < 6 {
				t.Errorf("files (-damaged +salvaged):\n%s", diff)
			}
			if got := verified(t, m); got != "[]" {
				t.Errorf("%s are taken for changed", got)
			}
			if rows := rawRows(t, m.path, "SELECT id, content_hash FROM observations WHERE typeof(content_hash) <> 'blob' OR length(content_hash) <> 16"); len(rows) > 0 {
				t.Errorf("hashes in the older form: %v", rows)
			}
			if rows := rawRows(t, m.path, "SELECT key FROM tombstones WHERE kind = 'content' AND length(key) <> 32"); len(rows) > 0 {
				t.Errorf("tombstones in the older form: %v", rows)
			}
		})
	}
}

// TestSalvageGoesByTheTextOfPaths: a number means another path in the backup, and the files do
// not change; each counts as a row.
func TestSalvageGoesByTheTextOfPaths(t *testing.T) {
	m := filled(t)
	m.tampered = true // closed in the middle
	older := filepath.Join(t.TempDir(), "older.db")
	if err := upkeep.Copy(t.Context(), m.path, older); err != nil {
		t.Fatal(err)
	}
	next := rawRows(t, m.path, "SELECT max(id) + 1 FROM paths")[0][0]
	rawExec(t, older, "INSERT INTO paths (id, path) VALUES (?1, 'of/older.go'), (?1 + 1, 'src/new.go')", next)
	rawExec(t, older, "PRAGMA foreign_keys = 1; INSERT INTO observation_files (observation_id, position, path, role) VALUES (4, 0, 'of/older.go', 'read')")
	m.add(t, note("new", func(n *memory.NewObservation) {
		n.Files = []memory.FileRef{{Path: "src/new.go", Role: memory.FileRead}, {Path: "src/cart.go"}, {Path: "src/newer.go"}}
	}))
	if got := rawRows(t, m.path, "SELECT path FROM paths WHERE id = ?", next); got[0][0] != "src/new.go" {
		t.Fatalf("number %v is that of %v", next, got)
	}
	want := rawRows(t, m.path, "SELECT position, path, role FROM observation_files WHERE observation_id = 7 ORDER BY position")
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	copied, _, err := salvage(t, m.path, older)
	if err != nil || copied != 1+1+3 {
		t.Errorf("%d rows, %v; want a session, an observation and its 3 files", copied, err)
	}
	restored := &testStore{path: older, clock: m.clock}
	restored.open(t)
	defer func() { _ = restored.Close() }()
	if diff := cmp.Diff(want, rawRows(t, older, "SELECT position, path, role FROM observation_files WHERE observation_id = 7 ORDER BY position")); diff != "" || len(want) != 3 {
		t.Errorf("files (-damaged +salvaged):\n%s", diff)
	}
	if got := rawRows(t, older, "SELECT path FROM observation_files WHERE observation_id = 4"); len(got) != 1 || got[0][0] != "of/older.go" {
		t.Errorf("a file of the backup is %v", got)
	}
	if got := verified(t, restored); got != "[]" {
		t.Errorf("%s are taken for changed", got)
	}
}

// TestSalvageOfDamagedPaths: where the table of paths is unreadable, their texts come from its
// index. A file whose path is nowhere is left out, and missed.
func TestSalvageOfDamagedPaths(t *testing.T) {
	for name, test := range map[string]struct{ table, index, lost bool }{
		"table": {table: true},
		"index": {index: true},
		"both":  {table: true, index: true, lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory(t)
			older := filepath.Join(t.TempDir(), "older.db")
			if err := upkeep.Copy(t.Context(), m.path, older); err != nil {
				t.Fatal(err)
			}
			const rows = 1000
			rawExec(t, m.path, fmt.Sprintf(`INSERT INTO sessions (id, ulid, host, host_session_id, started_at, updated_at) VALUES (1, 'S', 'claude-code', 's', 1, 1);
				WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < %[1]d)
					INSERT INTO observations (id, ulid, session_id, project, type, title, content_hash, created_at) SELECT id, 'u' || id, 1, '/p', 'change', 'title', 'h' || id, 1 FROM n;
				INSERT INTO observation_files (observation_id, position, path, role) SELECT id, 0, 'src/some/longer/folder/file' || (id %% 500) || '.go', 'read' FROM observations`, rows))
			want := rawRows(t, m.path, allFiles)
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			rawRows(t, m.path, "PRAGMA wal_checkpoint(truncate)")
			if test.table {
				spoilLeaves(t, m.path, "paths", 1)
			}
			if test.index {
				spoilLeaves(t, m.path, "sqlite_autoindex_paths_1", 99)
			}
			if _, _, err := salvage(t, m.path, older); err != nil {
				t.Fatal(err)
			}
			restored := &testStore{path: older, clock: m.clock}
			restored.open(t)
			defer func() { _ = restored.Close() }()
			got := rawRows(t, older, allFiles)
			if !test.lost {
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("files (-damaged +salvaged):\n%s", diff)
				}
			}
			if test.lost == (len(got) == rows) || len(got) < rows/4 {
				t.Errorf("%d files of %d", len(got), rows)
			}
			there := map[string]bool{}
			for _, row := range want {
				there[fmt.Sprint(row)] = true
			}
			for _, row := range got {
				if !there[fmt.Sprint(row)] {
					t.Errorf("%v is no file of the damaged database", row)
				}
			}
			wrong, _, err := restored.VerifyRecords(t.Context(), func() error { return nil })
			if err != nil || len(wrong) != rows-len(got) {
				t.Errorf("%d records miss a file, %v; want %d", len(wrong), err, rows-len(got))
			}
		})
	}
}

// spoilLeaves overwrites pages with rows of a table or index, at most n from the second on.
func spoilLeaves(t *testing.T, path, name string, n int) {
	t.Helper()
	size := rawRows(t, path, "PRAGMA page_size")[0][0].(int64)
	leaves := rawRows(t, path, "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path", name)
	if len(leaves) < 3 {
		t.Fatalf("%s has %d pages", name, len(leaves))
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range leaves[1:min(n+1, len(leaves))] {
		if _, err := file.WriteAt(bytes.Repeat([]byte{'x'}, int(size)), (leaf[0].(int64)-1)*size); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}
