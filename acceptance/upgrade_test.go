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

// undoMigration makes the database one of the schema before. The older worker, which is of the same
// source, cannot write to it: the hooks keep the events until the newer one has migrated it.
func (m *memory) undoMigration() {
	m.t.Helper()
	m.database(func(db *sql.DB) error {
		_, err := db.Exec(`BEGIN IMMEDIATE;
			DROP TRIGGER paths_keyed;
			CREATE TABLE files_kept AS SELECT * FROM observation_files;
			DROP VIEW observation_files;
			CREATE TABLE observation_files (
				observation_id INTEGER NOT NULL REFERENCES observations (id) ON DELETE CASCADE,
				position       INTEGER NOT NULL,
				path           TEXT    NOT NULL,
				role           TEXT    NOT NULL CHECK (role IN ('read', 'modified')),
				file_hash      TEXT,
				symbols        TEXT    NOT NULL DEFAULT '',
				PRIMARY KEY (observation_id, position)
			) STRICT, WITHOUT ROWID;
			INSERT INTO observation_files SELECT * FROM files_kept;
			CREATE INDEX observation_files_path ON observation_files (path, observation_id DESC);
			DROP TABLE files_kept;
			DROP TABLE file_refs;
			PRAGMA user_version = 6;
			COMMIT`)
		return err
	})
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
