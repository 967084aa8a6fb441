package opencode

import (
	"bufio"
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

// write makes the database of the recorded session in dir and returns its path; more is SQL for it.
func write(t *testing.T, dir, more string) string {
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
	path := write(t, dir, "")
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
	path := write(t, t.TempDir(), session+`('ses_child', 'global', '', '/home/dev/limiter', '', '', (SELECT id FROM session LIMIT 1), 1, 2);
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
	odd := write(t, t.TempDir(), "PRAGMA foreign_keys = off; DROP TABLE session; CREATE TABLE session (id, directory, parent_id, time_created, time_updated);"+
		"INSERT INTO session VALUES (x'00ff', NULL, 1.5, 'a', 'b'), ('s', '/p', NULL, 1, 1e20), (NULL, 1, 1, 1, 1);"+`
		INSERT INTO message VALUES ('n1', 's', 1, 1, '{"role":"user","time":{"created":1}}');
		INSERT INTO part VALUES ('q1', 'n1', 's', 1, 1, '{"type":"text","text":"' || printf('%.*c', 17000000, 'x') || '"}'), ('q2', 'n1', 's', 1, 1, '{"type":"text","text":"Look"}');`)
	if got, _ := unpacked(t, odd); len(got) != 1 || got[0]["prompt"] != "Look" {
		t.Errorf("odd rows: %.200v", got)
	}
	for _, more := range []string{"ALTER TABLE part RENAME TO parts; CREATE VIEW part AS SELECT * FROM parts;", "DROP TABLE part;"} {
		if _, _, err := Unpack(context.Background(), write(t, t.TempDir(), more), t.TempDir()); memory.CodeOf(err) != memory.CodeInvalid {
			t.Errorf("%s: %v", more, err)
		}
	}
}

func FuzzMessage(f *testing.F) {
	f.Add([]byte(`{"role":"assistant","time":{"created":1,"completed":2}}`), []byte(`{"type":"tool","tool":"bash","callID":"c","state":{"status":"completed","input":{},"output":"a","metadata":{},"time":{"end":3}}}`))
	f.Add([]byte(`{"role":"user"}`), []byte(`{"type":"text","text":"Look"}`))
	f.Fuzz(func(t *testing.T, message, part []byte) {
		var b bytes.Buffer
		w := &writer{Writer: bufio.NewWriter(&b), s: &session{id: "s", dir: "/p"}, root: "s"}
		w.message(entry{"m", message}, []entry{{"p", part}})
		w.stop()
		_ = w.Flush()
		for l := range bytes.Lines(b.Bytes()) {
			if !json.Valid(l) && string(l) != "broken\n" {
				t.Fatalf("%q", l)
			}
		}
	})
}
