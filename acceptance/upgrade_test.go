//go:build unix

package acceptance

import (
	"compress/gzip"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"claudemem/wire"
)

// olderProgram builds claude-mem as version 0.0.9, once for the package.
var olderProgram = sync.OnceValues(func() (path string, err error) {
	path = filepath.Join(binDir, "older", "claude-mem")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-X claudemem/wire.Program=0.0.9", "-o", path, "claudemem/cmd/claude-mem")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return path, nil
})

// releasedDatabase returns a memory.db of a released schema.
func releasedDatabase(t testing.TB, schema int) []byte {
	t.Helper()
	packed, err := os.Open(fmt.Sprintf("../store/testdata/schema-%04d.db.gz", schema))
	must(t, err)
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	must(t, err)
	content, err := io.ReadAll(z)
	must(t, err)
	return content
}

// TestUpgrade runs the hooks of this version against the worker of an older one, on a
// database that this version has to migrate. The older worker takes the first event and gives
// way, the newer one migrates the database and takes what the hooks kept: no event is lost.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	m := newMemory(t)
	older, err := olderProgram()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(older, "worker", "start")
	cmd.Env, cmd.Dir = m.env, m.home
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("start the older worker: %v\n%s", err, out)
	}
	var before wire.WorkerInfo
	m.readJSON("worker.json", &before)
	if before.Version != "0.0.9" {
		t.Fatalf("the worker has version %s, want 0.0.9", before.Version)
	}
	current := m.schema()

	sent, info := 0, before
	for deadline := time.Now().Add(60 * time.Second); info.Version != wire.Program; time.Sleep(200 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after %d events the worker still has version %s, want %s", sent, info.Version, wire.Program)
		}
		if sent == 1 {
			m.undoMigration()
		}
		m.send("save", map[string]any{
			"hook_event_name": "PostToolUse", "session_id": "upgrade", "cwd": m.home, "tool_name": "Bash", "tool_use_id": fmt.Sprint("t", sent),
			"tool_input": map[string]any{"command": fmt.Sprint("make target-", sent)}, "tool_response": map[string]any{"stdout": "ok"},
		})
		sent++
		if now, err := wire.ReadWorkerInfo(m.dir); err == nil {
			info = now
		}
	}
	if info.PID == before.PID {
		t.Errorf("both workers have pid %d", info.PID)
	}
	if got := m.schema(); got != current {
		t.Errorf("the schema is %d, want %d", got, current)
	}
	m.send("summary", map[string]any{"hook_event_name": "Stop", "session_id": "upgrade", "cwd": m.home, "last_assistant_message": "Made."})
	sent++
	if books := m.settle(30 * time.Second); books.Received != sent {
		t.Errorf("%d events received, want the %d that were sent", books.Received, sent)
	}
	t.Logf("%d events while version %s gave way to %s", sent, before.Version, info.Version)
}

// undoMigration makes the database one of the schema before, object by object as the kept file of
// that schema has them: a migration adds tables and columns, and replaces the rest. The older
// worker, which is of the same source, cannot write to it: the hooks keep the events until the newer
// one has migrated it.
func (m *memory) undoMigration() {
	m.t.Helper()
	former := m.schema() - 1
	was := objectsOf(m.t, releasedSchema(m.t, former))
	m.database(func(db *sql.DB) error {
		is := objectsOf(m.t, db)
		script := "PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE;\n"
		for _, kind := range []string{"trigger", "view", "index", "table"} {
			for name, o := range is {
				if o.kind == kind && o.sql != "" && was[name].sql != o.sql && (kind != "table" || was[name].sql == "") {
					script += fmt.Sprintf("DROP %s %q;\n", kind, name)
				}
			}
		}
		for name, o := range is {
			for _, column := range o.columns {
				if o.kind == "table" && was[name].sql != "" && !slices.Contains(was[name].columns, column) {
					script += fmt.Sprintf("ALTER TABLE %q DROP COLUMN %q;\n", name, column)
				}
			}
		}
		for _, kind := range []string{"index", "view", "trigger"} {
			for name, o := range was {
				if o.kind == kind && o.sql != is[name].sql {
					script += o.sql + ";\n"
				}
			}
		}
		if _, err := db.Exec(script + fmt.Sprintf("PRAGMA user_version = %d; COMMIT", former)); err != nil {
			return fmt.Errorf("%w in\n%s", err, script)
		}
		return nil
	})
}

// releasedSchema opens a copy of the kept database of a released schema.
func releasedSchema(t testing.TB, version int) *sql.DB {
	t.Helper()
	packed, err := os.Open(filepath.Join("..", "store", "testdata", fmt.Sprintf("schema-%04d.db.gz", version)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = packed.Close() }()
	path := filepath.Join(t.TempDir(), "released.db")
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(unpacked)
	if err == nil {
		err = os.WriteFile(path, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// object is an entry of a database's schema; columns are those of a table.
type object struct {
	kind, sql string
	columns   []string
}

// objectsOf returns the objects of a database's schema by name.
func objectsOf(t testing.TB, db *sql.DB) map[string]object {
	t.Helper()
	rows, err := db.Query(`SELECT type, name, coalesce(sql, ''), (SELECT coalesce(group_concat(name), '') FROM pragma_table_info(o.name)) FROM sqlite_schema o WHERE name NOT LIKE 'sqlite%'`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	objects := map[string]object{}
	for rows.Next() {
		var name, columns string
		var o object
		if err := rows.Scan(&o.kind, &name, &o.sql, &columns); err != nil {
			t.Fatal(err)
		}
		o.columns = strings.Split(columns, ",")
		objects[name] = o
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return objects
}

// schema returns the version of the database's schema.
func (m *memory) schema() (version int) {
	m.t.Helper()
	m.database(func(db *sql.DB) error { return db.QueryRow("PRAGMA user_version").Scan(&version) })
	return version
}

// database opens the database for use.
func (m *memory) database(use func(*sql.DB) error) {
	m.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(m.dir, "memory.db")+"?_pragma=busy_timeout(5000)")
	if err == nil {
		err = use(db)
	}
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		m.t.Fatal(err)
	}
}
