package store_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/store"
)

// TestSalvage checks that rows which can be read are copied into an older copy, that those
// which cannot leave the books balanced, and that deletions are repeated.
func TestSalvage(t *testing.T) {
	m := newMemory(t)
	older := filepath.Join(t.TempDir(), "older.db")
	titles := func(m *memory) (list string) {
		for _, row := range rawRows(t, m.path, "SELECT title FROM observations ORDER BY id") {
			list += fmt.Sprint(row[0], " ")
		}
		return strings.TrimSpace(list)
	}
	add := func(names ...string) {
		for _, name := range names {
			rawExec(t, m.path, "INSERT OR IGNORE INTO sessions (id, ulid, host, host_session_id, started_at, updated_at) VALUES (1, 'S', 'claude-code', 's', 1, 1)")
			rawExec(t, m.path, "INSERT INTO observations (ulid, session_id, project, type, title, content_hash, created_at) VALUES ('"+name+"', 1, '/p', 'change', '"+name+"', '"+name+"', 1)")
		}
	}
	add("one", "two", "three")
	if err := store.Copy(t.Context(), m.path, older); err != nil {
		t.Fatal(err)
	}
	rawExec(t, m.path, "DELETE FROM observations WHERE title = 'two'")
	add("four", "five")
	rawExec(t, m.path, "INSERT INTO events (id, event_key, session_id, kind, occurred_at, received_at, outcome) VALUES (3, 'k', 1, 'prompt', 1, 1, 'processed')")
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	copied, err := store.Salvage(t.Context(), m.path, older)
	if err != nil || copied != 3 {
		t.Errorf("%d rows, %v; want 3", copied, err)
	}
	restored := &memory{path: older, clock: m.clock}
	restored.open(t)
	if got := titles(restored); got != "one three four five" {
		t.Errorf("observations %q", got)
	}
	books, err := restored.Books(t.Context())
	if err != nil || !books.Balanced() || books.Received != 3 || books.Forgotten != 2 {
		t.Errorf("books %+v, %v", books, err)
	}
	if wrong, err := restored.Verify(t.Context()); err != nil || len(wrong) > 0 {
		t.Errorf("%v, %v", wrong, err)
	}
}

// TestSalvageAround: of a table of which a stretch of pages is unreadable, however long,
// all rows before and behind it are copied, with few reads of what is not there.
func TestSalvageAround(t *testing.T) {
	for name, share := range map[string][2]int{"one page": {50, 50}, "most": {3, 97}, "the end": {30, 101}} {
		t.Run(name, func(t *testing.T) {
			m := newMemory(t)
			older := filepath.Join(t.TempDir(), "older.db")
			if err := store.Copy(t.Context(), m.path, older); err != nil {
				t.Fatal(err)
			}
			const rows = 20_000
			rawExec(t, m.path, fmt.Sprintf(`WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < %d)
				INSERT INTO events (id, event_key, kind, occurred_at, received_at, outcome) SELECT id, 'k' || id, 'tool', 1, 1, 'processed' FROM n`, rows))
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			rawRows(t, m.path, "PRAGMA wal_checkpoint(truncate)")
			size := rawRows(t, m.path, "PRAGMA page_size")[0][0].(int64)
			leaves := rawRows(t, m.path, "SELECT pageno, ncell FROM dbstat WHERE name = 'events' AND pagetype = 'leaf' ORDER BY path")
			file, err := os.OpenFile(m.path, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			left := rows
			for i, leaf := range leaves {
				if at := i * 100 / len(leaves); at < share[0] || at > share[1] {
					continue
				}
				if _, err := file.WriteAt(bytes.Repeat([]byte{'x'}, int(size)), (leaf[0].(int64)-1)*size); err != nil {
					t.Fatal(err)
				}
				left -= int(leaf[1].(int64))
			}
			if err := file.Close(); err != nil {
				t.Fatal(err)
			}
			copied, err := store.Salvage(t.Context(), m.path, older)
			if err != nil || copied != left || left == rows {
				t.Errorf("%d rows, %v; want %d", copied, err, left)
			}
		})
	}
}
