package daemon

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/serve/api"
)

// mustRefuse opens a worker that must not come up and returns why.
func mustRefuse(t *testing.T, cfg Config, want memory.Code) *memory.Error {
	t.Helper()
	w, err := Open(t.Context(), cfg)
	if err == nil {
		closeWorker(t, w)
		t.Fatal("the worker opened")
	}
	var e *memory.Error
	if !errors.As(err, &e) || e.Code != want {
		t.Fatalf("open: %v (%s), want %s", err, memory.CodeOf(err), want)
	}
	if e.Hint == "" {
		t.Errorf("%v: no hint", err)
	}
	return e
}

func TestNewerSchema(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	path := filepath.Join(dir, control.Database)
	closeWorker(t, open(t, config(dir)))
	raise(t, path, db.SchemaVersion()+1)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	mustRefuse(t, config(dir), memory.CodeNewerSchema)
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(before) != string(after) {
		t.Error("the newer database was touched")
	}
	if held, err := control.LockHeld(dir); err != nil || held {
		t.Errorf("lock is held: %t, %v, want false", held, err)
	}
}

// raise gives the database the schema number of a later program.
func raise(t *testing.T, path string, version int) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(fmt.Sprintf("PRAGMA user_version = %d", version)); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedDatabase checks that a worker that finds a damaged database without a backup
// sets it aside and starts.
func TestDamagedDatabase(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	closeWorker(t, open(t, config(dir)))
	sound, err := os.ReadFile(filepath.Join(dir, control.Database))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"no database at all": strings.Repeat("this is not a database. ", 500),
		"damaged inside":     string(sound[:100]) + strings.Repeat("\x10\x00garbage", len(sound)/9),
		"cut off":            string(sound[:5000]),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, control.Database)
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			closeWorker(t, open(t, config(dir)))
			aside, _ := filepath.Glob(filepath.Join(dir, "aside", "*", control.Database))
			if got, err := os.ReadFile(strings.Join(aside, "")); err != nil || string(got) != content {
				t.Errorf("the damaged file was not kept as it was: %v", err)
			}
		})
	}
}

func TestDataDirectoryIsAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	mustRefuse(t, config(path), memory.CodeStorage)
	mustRefuse(t, config(filepath.Join(path, "below")), memory.CodeStorage)
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, control.Database), 0o700); err != nil {
		t.Fatal(err)
	}
	mustRefuse(t, config(dir), memory.CodeStorage)
}

func TestLockHeldWithoutAnswer(t *testing.T) {
	dir := t.TempDir()
	held, err := openfile.TryLock(filepath.Join(dir, control.LockName))
	if err != nil || held == nil {
		t.Fatal(held, err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := Open(t.Context(), config(dir))
		ended <- err
	}()
	select {
	case err := <-ended:
		if memory.CodeOf(err) != memory.CodeConflict {
			t.Errorf("open: %v, want CodeConflict", err)
		}
	case <-time.After(answerLimit + 10*time.Second):
		t.Fatal("open waits for ever")
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestLockComesFree checks that a new worker waits for one that is stopping.
func TestLockComesFree(t *testing.T) {
	dir := t.TempDir()
	held, err := openfile.TryLock(filepath.Join(dir, control.LockName))
	if err != nil || held == nil {
		t.Fatal(held, err)
	}
	opened := make(chan error, 1)
	var w *Worker
	go func() {
		var err error
		w, err = Open(t.Context(), config(dir))
		opened <- err
	}()
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Fatal(err)
	}
	closeWorker(t, w)
}

func TestNoDataDirectory(t *testing.T) {
	mustRefuse(t, Config{}, memory.CodeInvalid)
}

func TestRevive(t *testing.T) {
	revive := func(dir string) (n int, err error) {
		err = Change(t.Context(), dir, false, func(m api.Memory) error {
			done, err := m.RetryQueue(t.Context(), api.RetryRequest{})
			n = done.Revived
			return err
		})
		return n, err
	}
	dir := t.TempDir()
	if n, err := revive(dir); memory.CodeOf(err) != memory.CodeNoMemory || n != 0 {
		t.Errorf("revive without a memory: %d, %v, want 0", n, err)
	}
	if _, err := os.Stat(filepath.Join(dir, control.Database)); err == nil {
		t.Error("revive made a database")
	}
	w := open(t, config(dir))
	bury := func(session string) {
		if _, err := w.intake.Ingest(t.Context(), event(session, memory.KindTool)); err != nil {
			t.Fatal(err)
		}
		s, err := w.store.SessionByHost(t.Context(), memory.HostClaudeCode, session)
		if err != nil {
			t.Fatal(err)
		}
		claim, err := w.queue.Claim(t.Context(), s.ID, 0)
		if err != nil || len(claim.Events) != 1 {
			t.Fatalf("claim %+v, %v", claim, err)
		}
		if err := w.queue.Bury(t.Context(), claim, errors.New("no use")); err != nil {
			t.Fatal(err)
		}
	}
	bury("a")
	if n, err := revive(dir); err != nil || n != 1 {
		t.Errorf("revive through the worker: %d, %v, want 1", n, err)
	}
	bury("b")
	closeWorker(t, w)
	if n, err := revive(dir); err != nil || n != 1 {
		t.Errorf("revive without a worker: %d, %v, want 1", n, err)
	}
	if held, err := control.LockHeld(dir); err != nil || held {
		t.Errorf("lock is held: %t, %v, want false", held, err)
	}
}
