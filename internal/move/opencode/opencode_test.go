package opencode

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/memory"

	"github.com/google/go-cmp/cmp"
)

const histories = "../../../testdata/histories"

// made makes the database of the recorded session in dir and returns its path; more is SQL for it.
func made(t *testing.T, dir, more string) string {
	t.Helper()
	tables, err := os.ReadFile(filepath.Join(histories, "opencode", "opencode.sql"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "opencode.db")
	db, err := sql.Open(sqlite.Driver, sqlite.Source(path, nil))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(string(tables) + more); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// unpacked returns the payloads of the sessions at path, and removes what was unpacked.
func unpacked(t *testing.T, path string) (payloads []map[string]any, files []string) {
	t.Helper()
	work := t.TempDir()
	folder, remove, err := Unpack(context.Background(), path, work)
	if err != nil {
		t.Fatal(err)
	}
	if list, _ := os.ReadDir(work); len(list) != 1 {
		t.Errorf("%v are in the folder of imports", list)
	}
	paths, _ := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	for _, name := range paths {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for l := range strings.Lines(string(content)) {
			var record struct{ Payload map[string]any }
			if json.Unmarshal([]byte(l), &record) == nil {
				payloads = append(payloads, record.Payload)
			}
		}
		files = append(files, filepath.Base(name))
	}
	remove()
	if left, _ := os.ReadDir(work); len(left) > 0 {
		t.Errorf("%v stay", left)
	}
	return payloads, files
}

// TestUnpack: the database has what the plugin has given the hook.
func TestUnpack(t *testing.T) {
	dir := t.TempDir()
	path := made(t, dir, "")
	before, _ := os.ReadFile(path)
	got, _ := unpacked(t, path)
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the database was changed")
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("files beside the database: %v", list)
	}
	content, err := os.ReadFile(filepath.Join(histories, "opencode-hooks.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var want []map[string]any
	for l := range strings.Lines(string(content)) {
		var told struct{ Payload map[string]any }
		if err := json.Unmarshal([]byte(l), &told); err != nil {
			t.Fatal(err)
		}
		if told.Payload["source"] == nil && told.Payload["reason"] == nil {
			want = append(want, told.Payload)
		}
	}
	for _, list := range [][]map[string]any{want, got} {
		for _, p := range list {
			if p["tool"] == "claude-mem_search_memory" || p["error"] != nil {
				delete(p, "metadata") // the plugin is not told it
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-plugin +database:\n%s", diff)
	}
	for path, want := range map[string]bool{path: true, dir: true, t.TempDir(): false} {
		if Is(path) != want {
			t.Errorf("%s is OpenCode's: %t", path, !want)
		}
	}
}

// TestStrange: a subagent's calls are told as its session's; rows that cannot be read, loops of parents, and
// tables that are computed do no harm.
func TestStrange(t *testing.T) {
	const session = "INSERT INTO session (id, project_id, slug, directory, title, version, parent_id, time_created, time_updated) VALUES "
	path := made(t, t.TempDir(), session+`('ses_child', 'global', '', '/home/dev/limiter', '', '', (SELECT id FROM session LIMIT 1), 1, 2);
		INSERT INTO message VALUES ('m1', 'ses_child', 1, 1, '{"role":"user","time":{"created":1}}'), ('m2', 'ses_child', 2, 2, '{"role":"assistant","time":{"created":2,"completed":3}}'), ('m3', 'ses_child', 3, 3, 'torn');
		INSERT INTO part VALUES ('p1', 'm1', 'ses_child', 1, 1, '{"type":"text","text":"Look"}'), ('p2', 'm2', 'ses_child', 1, 1, '{"type":"tool","tool":"bash","callID":"c","state":{"status":"completed","input":{"command":"ls"},"output":"a"}}'),
		('p3', 'm2', 'ses_child', 1, 1, '{"type":"text","text":"Done"}'), ('p4', 'm2', 'ses_child', 1, 1, '[');`+
		session+`('ses_a', 'global', '', '/p', '', '', 'ses_b', 1, 2), ('ses_b', 'global', '', '/p', '', '', 'ses_a', 1, 2);`)
	got, files := unpacked(t, path)
	var child []map[string]any
	for _, p := range got {
		if p["agent_id"] != nil {
			child = append(child, p)
		}
	}
	if len(child) != 1 || child[0]["agent_id"] != "ses_child" || !strings.HasPrefix(child[0]["session_id"].(string), "ses_d") || len(files) != 2 || !strings.HasPrefix(files[1], "agent-") {
		t.Errorf("%v: %v", files, child)
	}
	odd := made(t, t.TempDir(), "PRAGMA foreign_keys = off; DROP TABLE session; CREATE TABLE session (id, directory, parent_id, time_created, time_updated);"+
		"INSERT INTO session VALUES (x'00ff', NULL, 1.5, 'a', 'b'), ('s', '/p', NULL, 1, -5), ('t', '/p', NULL, 1, 1e20), (NULL, 1, 1, 1, 1);"+`
		INSERT INTO message VALUES ('n1', 's', 1, 1, '{"role":"user","time":{"created":1}}');
		INSERT INTO part VALUES ('q1', 'n1', 's', 1, 1, '{"type":"text","text":"' || printf('%.*c', 17000000, 'x') || '"}'), ('q2', 'n1', 's', 1, 1, '{"type":"text","text":"Look"}');`)
	if got, _ := unpacked(t, odd); len(got) != 1 || got[0]["prompt"] != "Look" {
		t.Errorf("odd rows: %.200v", got)
	}
	for _, more := range []string{"ALTER TABLE part RENAME TO parts; CREATE VIEW part AS SELECT * FROM parts;", "DROP TABLE part;"} {
		if _, _, err := Unpack(context.Background(), made(t, t.TempDir(), more), t.TempDir()); memory.CodeOf(err) != memory.CodeInvalid {
			t.Errorf("%s: %v", more, err)
		}
	}
}

// FuzzWrite: whatever a row has, each line is JSON or counted as one that cannot be read.
func FuzzWrite(f *testing.F) {
	f.Add(`{"role":"assistant","time":{"created":1,"completed":2}}`, `{"type":"tool","tool":"bash","callID":"c","state":{"status":"completed","input":{},"output":"a","metadata":{},"time":{"end":3}}}`)
	f.Add(`{"role":"user"}`, `{"type":"text","text":"Look"}`)
	f.Add(`{"role":"user","time":1}`, `{"type":"text","text":{"a":1},"synthetic":"no"}`)
	f.Add(`{"role":"assistant","time":{"completed":1e300},"summary":[]}`, `{"type":"text","text":"Done"}`)
	f.Add(`{"role":"assistant","time":{"created":-1}}`, `{"type":"tool","state":{"status":"error","time":{"end":"x"}}}`)
	f.Add(`[`, `"text"`)
	db, err := sql.Open(sqlite.Driver, ":memory:")
	if err != nil {
		f.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // another would have a memory of its own
	exec := func(t testing.TB, query string, args ...any) {
		if _, err := db.Exec(query, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(f, "CREATE TABLE message (id, session_id, time_created, data); CREATE TABLE part (id, message_id, data)")
	f.Fuzz(func(t *testing.T, message, part string) {
		exec(t, "DELETE FROM message; DELETE FROM part")
		exec(t, "INSERT INTO message VALUES ('m', 's', 1, ?)", message)
		exec(t, "INSERT INTO part VALUES ('p', 'm', ?)", part)
		path := filepath.Join(t.TempDir(), "s.jsonl")
		if err := write(context.Background(), db, path, "s", "s", "/p"); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for l := range bytes.Lines(content) {
			if !json.Valid(l) && string(l) != "broken\n" {
				t.Fatalf("%q", l)
			}
		}
	})
}
