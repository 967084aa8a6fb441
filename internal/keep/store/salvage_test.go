package store_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/internal/keep/store/upkeep"

	"github.com/google/go-cmp/cmp"
)

// salvage calls upkeep.Salvage for a copy of the database at path and its log.
func salvage(t *testing.T, path, into string) (copied int, unread, err error) {
	t.Helper()
	work := filepath.Join(t.TempDir(), "damaged.db")
	for _, suffix := range []string{"", "-wal"} {
		if content, err := os.ReadFile(path + suffix); err == nil {
			if err := os.WriteFile(work+suffix, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return upkeep.Salvage(t.Context(), work, into)
}

// TestSalvage checks that rows which can be read are copied into an older copy, that those
// which cannot leave the books balanced, and that deletions are repeated.
func TestSalvage(t *testing.T) {
	m := newMemory(t)
	older := filepath.Join(t.TempDir(), "older.db")
	titles := func(m *testStore) (list string) {
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
	if err := upkeep.Copy(t.Context(), m.path, older); err != nil {
		t.Fatal(err)
	}
	rawExec(t, m.path, "DELETE FROM observations WHERE title = 'two'")
	add("four", "five")
	rawExec(t, m.path, "INSERT INTO events (id, event_key, session_id, kind, occurred_at, received_at, outcome, processed_seq) VALUES (3, 'k', 1, 'prompt', 1, 1, 'processed', 41)")
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	copied, _, err := salvage(t, m.path, older)
	if err != nil || copied != 4 {
		t.Errorf("%d rows, %v; want 3 and a deletion", copied, err)
	}
	restored := &testStore{path: older, clock: m.clock}
	restored.open(t)
	if got := titles(restored); got != "one three four five" {
		t.Errorf("observations %q", got)
	}
	if got := rawRows(t, older, "SELECT value FROM counters WHERE name = 'processed_seq'"); len(got) != 1 || got[0][0] != int64(41) {
		t.Errorf("confirmed work is numbered from %v on, want after 41", got)
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
			if err := upkeep.Copy(t.Context(), m.path, older); err != nil {
				t.Fatal(err)
			}
			const rows = 8_000
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
			copied, _, err := salvage(t, m.path, older)
			if err != nil || copied != left || left == rows {
				t.Errorf("%d rows, %v; want %d", copied, err, left)
			}
		})
	}
}

// TestSalvageOfEveryTable fills each table of a memory, and checks that what a copy lacks is
// salvaged, or made anew, or named here with the reason why it is not.
func TestSalvageOfEveryTable(t *testing.T) {
	leftOut := map[string]string{
		"changes":              "the index is compared with the records anew",
		"record_hashes":        "triggers make them of the copied rows; those of the damaged database are compared",
		"observation_concepts": "made of observations by a trigger",
		"lookups":              "made of event_log by a trigger",
		"worth":                "the worker finds it out again each day",
	}
	m := newMemory(t)
	older := filepath.Join(t.TempDir(), "older.db")
	if err := upkeep.Copy(t.Context(), m.path, older); err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{
		"sessions":           "(id, ulid, host, host_session_id, prompt_count, started_at, updated_at) VALUES (1, 'S', 'claude-code', 's', 1, 1, 1)",
		"prompts":            "(id, ulid, session_id, number, text, created_at) VALUES (1, 'P', 1, 1, 'ask', 1)",
		"observations":       "(id, ulid, session_id, project, type, title, content_hash, created_at) VALUES (1, 'O', 1, '/p', 'change', 'done', 'h', 1)",
		"file_refs":          "(observation_id, position, path_id, modified) VALUES (1, 0, 1, 0)",
		"paths":              "(id, path) VALUES (1, 'a.go')",
		"session_summaries":  "(id, ulid, session_id, project, request, created_at) VALUES (1, 'U', 1, '/p', 'ask', 1)",
		"learnings":          "(id, ulid, project, category, content, content_key, confidence, created_at, updated_at) VALUES (1, 'L', '/p', 'rule', 'never', 'k', 0.5, 1, 1)",
		"function_map":       "(id, ulid, session_id, file_path, snapshot_at, qualified_name, kind, change_type) VALUES (1, 'F', 1, 'a.go', 1, 'f', 'func', 'new')",
		"events":             "(id, event_key, session_id, kind, occurred_at, received_at, outcome) VALUES (1, 'k', 1, 'prompt', 1, 1, 'pending')",
		"pending_messages":   "(event_id, payload) VALUES (1, '{}')",
		"llm_calls":          "(id, provider, kind, started_at) VALUES (1, 'p', 'turn', 1)",
		"injections":         "(id, host, host_session_id, hook_event, created_at) VALUES (1, 'claude-code', 's', 'SessionStart', 1)",
		"given_lines":        "(id, injection_id, layer, words, why) VALUES (1, 1, 'prompt', 'done', 'near')",
		"judgements":         "(id, kind, record_id, judge, up, judged_at) VALUES (1, 'observation', 1, 'user', 1, 1)",
		"trials":             "(id, share, placebo, secret, started_at) VALUES (1, 50, 0, x'01', 1)",
		"event_log":          "(id, event_type, created_at) VALUES (1, 'x', 1)",
		"tombstones":         "(kind, key, created_at) VALUES ('record', 'gone', 1)",
		"counters":           "(name, value) VALUES ('lost', 7)",
		"notices":            "(key, text, created_at) VALUES ('n', 'read me', 1)",
		"unread_turns":       "(session_id, prompt_number, kept_at) VALUES (1, 1, 1)",
		"unread_messages":    "(event_id, session_id, prompt_number, payload) VALUES (1, 1, 1, '{}')",
		"unread_records":     "(session_id, prompt_number, kind, record_id, made) VALUES (1, 1, 'observation', 1, 1)",
		"project_aliases":    "(path, project, created_at) VALUES ('/p/old', '/p', 1)",
		"shared_records":     "(kind, key, id) VALUES ('observation', 'k', 1)",
		"team_records":       "(kind, key, id) VALUES ('observation', 'k', 1)",
		"shared_state":       "(name, value) VALUES ('own', '{}')",
		"project_identities": "(identity, path) VALUES ('example.org/p', '/p')",
		"foreign_texts":      "(id, session_id, prompt_number, provenance, runs, created_at) VALUES (1, 1, 1, 'web', x'0102030405060708', 1)",
		"claims":             "(kind, id, origin, provenance, wanted, waiting) VALUES ('learning', 1, '', 'user', 1, 1)",
		"imports":            "(id, source, begun_at) VALUES (1, '/p/old.jsonl', 1)",
		"imported":           "(kind, id, import) VALUES ('symbol', 1, 1)",
		"hidden_records":     "(kind, id, erase_at, content) VALUES ('prompt', 9, 1, '[]')",
	}
	tables := rawRows(t, m.path, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid")
	for _, table := range tables {
		name := table[0].(string)
		if _, ok := leftOut[name]; ok {
			continue
		}
		if rows[name] == "" {
			t.Fatalf("table %s: is it salvaged?", name)
		}
		rawExec(t, m.path, "INSERT INTO "+name+" "+rows[name])
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := salvage(t, m.path, older); err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		name := table[0].(string)
		if rows[name] == "" {
			continue
		}
		want, got := rawRows(t, m.path, "SELECT * FROM "+name), rawRows(t, older, "SELECT * FROM "+name)
		if diff := cmp.Diff(want, got); diff != "" && name != "counters" {
			t.Errorf("%s (-damaged +salvaged):\n%s", name, diff)
		}
	}
	if got := rawRows(t, older, "SELECT value FROM counters WHERE name = 'lost'"); len(got) != 1 || got[0][0] != int64(7) {
		t.Errorf("counter: %v", got)
	}
}
