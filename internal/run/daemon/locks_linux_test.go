package daemon

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"claudemem/internal/keep/backup"
	"claudemem/internal/keep/store"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
)

// TestLocksAreKept: what a process with an open memory reads of its files leaves SQLite its locks
// on them. Without them another process empties the index of the log, and memory.db is damaged.
func TestLocksAreKept(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(t.Context(), filepath.Join(dir, control.Database), store.Options{})
	failOn(t, err)
	defer s.Close()
	_, err = s.AddObservation(t.Context(), memory.NewObservation{ProjectPath: "/home/ada/tally", Type: "decision", Title: "Something decided"})
	failOn(t, err)
	files := []string{control.Database, control.Database + "-shm"}
	check := func(when string) {
		t.Helper()
		for _, name := range files {
			if !locked(t, filepath.Join(dir, name)) {
				t.Fatalf("%s: no lock on %s", when, name)
			}
		}
	}
	check("open")
	_, err = backup.Make(t.Context(), dir, 3, time.Now())
	failOn(t, err)
	check("after a backup")
	wrong, err := s.Verify(t.Context())
	failOn(t, err)
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	check("after a verification")
	none := newNeedles([]string{"nothing has this"})
	e := &eraser{dataDir: dir, getenv: func(string) string { return "" }, log: slog.New(slog.DiscardHandler), sought: none, words: none}
	e.search(t.Context())
	check("after a search through all files")
}

// locked reports whether this process has a POSIX lock on a file (proc_locks(5)).
func locked(t *testing.T, path string) bool {
	t.Helper()
	info, err := os.Stat(path)
	failOn(t, err)
	table, err := os.ReadFile("/proc/locks")
	failOn(t, err)
	inode := fmt.Sprintf(":%d", info.Sys().(*syscall.Stat_t).Ino)
	for line := range strings.Lines(string(table)) {
		if f := strings.Fields(line); len(f) > 5 && f[1] == "POSIX" && f[4] == fmt.Sprint(os.Getpid()) && strings.HasSuffix(f[5], inode) {
			return true
		}
	}
	return false
}
