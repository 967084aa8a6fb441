package backup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/upkeep"
	"claudemem/internal/memory"
)

// day is when the tests' first backup is made.
var day = time.Date(2026, 3, 1, 4, 0, 0, 0, time.UTC)

// memory returns a data directory with a memory of n observations, which is closed.
func makeMemory(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	add(t, dir, n)
	return dir
}

// add adds n observations to the memory of dir.
func add(t *testing.T, dir string, n int) {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(dir, databaseName), store.Options{})
	must(t, err)
	for i := range n {
		_, err := s.AddObservation(t.Context(), memory.NewObservation{
			ProjectPath: "/home/ada/tally", Type: "decision", Title: fmt.Sprintf("decision %d of %d", i, time.Now().UnixNano()), Narrative: strings.Repeat("why ", 300)})
		must(t, err)
	}
	must(t, s.Close())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// observations returns how many observations the memory of dir has.
func observations(t *testing.T, dir string) int {
	t.Helper()
	has, err := upkeep.ReadContents(t.Context(), filepath.Join(dir, databaseName))
	must(t, err)
	return has.Observations
}

// names returns the names of the files in a folder.
func names(t *testing.T, folder string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	must(t, err)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestBackupAndRestore(t *testing.T) {
	dir := makeMemory(t, 5)
	// A backup is made while the worker has the database open and a log of its own.
	open, err := store.Open(t.Context(), filepath.Join(dir, databaseName), store.Options{})
	must(t, err)
	made, err := Make(t.Context(), dir, 3, day)
	must(t, err)
	must(t, open.Close())
	if info, err := os.Stat(made.Path); err != nil || info.Mode().Perm() != 0o600 || info.Size() != made.Bytes {
		t.Errorf("the backup: %v, %v", info, err)
	}
	if got := names(t, Folder(dir)); len(got) != 1 || got[0] != made.Name || !strings.HasPrefix(made.Name, "memory-20260301T040000Z-") {
		t.Fatalf("backups: %v", got)
	}

	add(t, dir, 4)
	former, err := os.ReadFile(filepath.Join(dir, databaseName))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "index.db"), nil, 0o600))
	aside, _, err := Restore(t.Context(), dir, made, day)
	must(t, err)
	if n := observations(t, dir); n != 5 {
		t.Errorf("%d observations after the restore, want 5", n)
	}
	if kept, err := os.ReadFile(filepath.Join(aside, databaseName)); err != nil || string(kept) != string(former) {
		t.Errorf("the former database was changed: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "index.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the index of the former database is left: %v", err)
	}
	add(t, dir, 1) // it is a memory like any other
}

// TestRotation checks which backups are deleted: the oldest of this memory, never those of
// another one.
func TestRotation(t *testing.T) {
	dir, other := makeMemory(t, 2), makeMemory(t, 1)
	foreign, err := Make(t.Context(), other, 3, day.AddDate(-1, 0, 0))
	must(t, err)
	must(t, os.MkdirAll(Folder(dir), 0o700))
	must(t, os.Rename(foreign.Path, filepath.Join(Folder(dir), foreign.Name)))
	stale := filepath.Join(Folder(dir), tempPrefix+"1-1.tmp")
	must(t, os.WriteFile(stale, nil, 0o600))
	must(t, os.Chtimes(stale, day.AddDate(0, 0, -9), day.AddDate(0, 0, -9)))
	for n := range 5 {
		_, err := Make(t.Context(), dir, 3, day.AddDate(0, 0, n))
		must(t, err)
	}
	list, err := List(dir)
	must(t, err)
	var got []string
	for _, b := range list {
		got = append(got, b.At.Time().UTC().Format(time.DateOnly))
	}
	if want := "2026-03-05 2026-03-04 2026-03-03 2025-03-01"; strings.Join(got, " ") != want {
		t.Errorf("kept %v, want %s", got, want)
	}
	if all := names(t, Folder(dir)); len(all) != 4 {
		t.Errorf("in the folder: %v", all)
	}
	// Two in one second are two.
	again, err := Make(t.Context(), dir, 9, day.AddDate(0, 0, 4))
	if err != nil || again.At != list[0].At || again.Name == list[0].Name {
		t.Errorf("a second backup in the same second: %v, %v", again, err)
	}
}

// TestDamagedIsNotBackedUp checks that damage that only a complete check finds refuses a
// backup and keeps the older ones.
func TestDamagedIsNotBackedUp(t *testing.T) {
	dir := makeMemory(t, 30)
	first, err := Make(t.Context(), dir, 1, day)
	must(t, err)
	// A row disappears from an index: quick_check does not see it.
	db, err := sql.Open("sqlite", filepath.Join(dir, databaseName))
	must(t, err)
	for _, statement := range []string{
		"PRAGMA writable_schema = 1",
		"UPDATE sqlite_schema SET sql = sql || ' WHERE id <> 3' WHERE name = 'observations_newest_everywhere'",
		"PRAGMA writable_schema = 0",
	} {
		_, err := db.Exec(statement)
		must(t, err)
	}
	must(t, db.Close())
	db, err = sql.Open("sqlite", filepath.Join(dir, databaseName))
	must(t, err)
	_, err = db.Exec("REINDEX observations_newest_everywhere")
	must(t, err)
	for _, statement := range []string{
		"PRAGMA writable_schema = 1",
		"UPDATE sqlite_schema SET sql = replace(sql, ' WHERE id <> 3', '') WHERE name = 'observations_newest_everywhere'",
	} {
		_, err := db.Exec(statement)
		must(t, err)
	}
	must(t, db.Close())

	_, err = Make(t.Context(), dir, 1, day.AddDate(0, 0, 1))
	if !errors.Is(err, ErrDamaged) || memory.CodeOf(err) != memory.CodeStorage {
		t.Errorf("backup of a damaged memory: %v", err)
	}
	if got := names(t, Folder(dir)); len(got) != 1 || got[0] != first.Name {
		t.Errorf("backups: %v, want the first alone", got)
	}
}

// TestRestoreRefuses checks that nothing is moved for a file that is no sound memory.
func TestRestoreRefuses(t *testing.T) {
	dir := makeMemory(t, 3)
	made, err := Make(t.Context(), dir, 1, day)
	must(t, err)
	sound, err := os.ReadFile(made.Path)
	must(t, err)
	for name, content := range map[string]string{
		"no database": strings.Repeat("not a database ", 100),
		"cut off":     string(sound[:len(sound)/2]),
		"scribbled":   string(sound[:20000]) + strings.Repeat("\xff", 8192) + string(sound[28192:]),
		"empty":       "",
	} {
		path := filepath.Join(t.TempDir(), "copy.db")
		must(t, os.WriteFile(path, []byte(content), 0o600))
		b, err := Find(dir, path)
		must(t, err)
		if _, _, err := Restore(t.Context(), dir, b, day); err == nil {
			t.Errorf("%s: restored", name)
		}
		if n := observations(t, dir); n != 3 {
			t.Errorf("%s: %d observations are left, want 3", name, n)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, asideFolder)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was set aside: %v", err)
	}
}

func TestFind(t *testing.T) {
	dir := makeMemory(t, 1)
	if _, err := Find(dir, "latest"); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("latest of none: %v", err)
	}
	first, err := Make(t.Context(), dir, 3, day)
	must(t, err)
	second, err := Make(t.Context(), dir, 3, day.Add(time.Hour))
	must(t, err)
	for named, want := range map[string]string{"latest": second.Path, first.Name: first.Path, first.Path: first.Path} {
		if b, err := Find(dir, named); err != nil || b.Path != want {
			t.Errorf("%s: %s, %v", named, b.Path, err)
		}
	}
}

func TestNothingToBackUp(t *testing.T) {
	if _, err := Make(t.Context(), t.TempDir(), 1, day); memory.CodeOf(err) != memory.CodeNoMemory {
		t.Errorf("no database: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	dir := makeMemory(t, 1)
	if _, err := Make(ended, dir, 1, day); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if list, err := List(dir); err != nil || len(list) != 0 {
		t.Errorf("left: %v, %v", list, err)
	}
}
