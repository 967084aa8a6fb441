package daemon

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/internal/keep/backup"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
)

// changeText replaces old by new, of the same length, in memory.db.
func changeText(t *testing.T, dir, old, new string) {
	t.Helper()
	path := filepath.Join(dir, control.Database)
	content, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(content, []byte(old)) || len(old) != len(new) {
		t.Fatalf("%q is not in memory.db: %v", old, err)
	}
	if err := os.WriteFile(path, bytes.ReplaceAll(content, []byte(old), []byte(new)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// loseIndexRow changes an observation without one of its indexes.
func loseIndexRow(t *testing.T, dir string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, control.Database))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(0) // each statement has a connection of its own, which reads the schema again
	for _, statement := range []string{
		`PRAGMA writable_schema = 1; CREATE TABLE kept AS SELECT * FROM sqlite_schema WHERE name = 'observations_newest';
			DELETE FROM sqlite_schema WHERE name = 'observations_newest'; PRAGMA schema_version = 1001`,
		"UPDATE observations SET pinned = 1 WHERE id = 1",
		"PRAGMA writable_schema = 1; INSERT INTO sqlite_schema SELECT * FROM kept; PRAGMA schema_version = 1002; DROP TABLE kept",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
}

// titles returns the titles of the observations that the worker lists.
func titles(t *testing.T, w *Worker) string {
	t.Helper()
	list, err := w.store.Observations(t.Context(), memory.Query{})
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, o := range list {
		titles = append(titles, o.Title)
	}
	return strings.Join(titles, ", ")
}

func notices(t *testing.T, w *Worker) string {
	t.Helper()
	list, err := w.store.TakeNotices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(list, "\n")
}

// Records that were changed on the disk are repaired or withheld before the worker serves,
// and the user is told, once.
func TestChangedRecords(t *testing.T) {
	for name, test := range map[string]struct {
		old, new string
		harm     func(t *testing.T, dir string)
		told     string
		titles   string // "" is not compared
	}{
		"in the backup": {old: "decision 1", new: "derision 1", told: "1 restored from a backup (observation 2)",
			titles: "decision 9, decision 8, decision 7, decision 6, decision 5, decision 4, decision 3, decision 2, decision 1, decision 0"},
		"not in the backup": {old: "decision 7", new: "derision 7", told: "1 withheld because no backup has the text (observation 8)",
			titles: "decision 9, decision 8, decision 6, decision 5, decision 4, decision 3, decision 2, decision 1, decision 0"},
		"index": {harm: loseIndexRow, told: "an index of memory.db was damaged (row 1 missing from index observations_newest). It was rebuilt"},
	} {
		t.Run(name, func(t *testing.T) {
			noLeaks(t)
			dir := used(t)
			if test.harm != nil {
				test.harm(t, dir)
			} else {
				changeText(t, dir, test.old, test.new)
			}
			w := open(t, config(dir))
			got, told := titles(t, w), notices(t, w)
			closeWorker(t, w)
			if !strings.Contains(told, test.told) {
				t.Errorf("told %q, want %q", told, test.told)
			}
			if test.titles != "" && got != test.titles {
				t.Errorf("serves %q, want %q", got, test.titles)
			}
			w = open(t, config(dir))
			defer closeWorker(t, w)
			if told := notices(t, w); told != "" {
				t.Errorf("told again: %q", told)
			}
		})
	}
}

// A text that changes while a worker runs is not served, and repaired in the background.
func TestChangedWhileServing(t *testing.T) {
	noLeaks(t)
	dir := used(t)
	path := filepath.Join(dir, control.Database)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	changeText(t, dir, "decision 1", "derision 1")
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil { // a fault of the disk sets no time
		t.Fatal(err)
	}
	w := open(t, config(dir))
	defer closeWorker(t, w)
	first := titles(t, w)
	if strings.Contains(first, "derision") {
		t.Errorf("the changed text is served: %s", first)
	}
	if !strings.Contains(first, memory.Withheld) && !strings.Contains(first, "decision 1") {
		t.Errorf("the record is left out: %s", first)
	}
	if !eventually(func() bool { return strings.Contains(notices(t, w), "1 restored from a backup (observation 2)") }) {
		t.Fatal("the record is not repaired")
	}
	if got := titles(t, w); !strings.Contains(got, "decision 1,") || strings.Contains(got, memory.Withheld) {
		t.Errorf("serves %s after the repair", got)
	}
}

// A record that was changed before the memory was damaged is not taken for a sound one when
// its row is salvaged.
func TestChangedRecordSalvaged(t *testing.T) {
	noLeaks(t)
	dir := used(t)
	if err := os.RemoveAll(backup.Folder(dir)); err != nil {
		t.Fatal(err)
	}
	changeText(t, dir, "decision 7", "derision 7")
	overwritePage(t, filepath.Join(dir, control.Database), "observations_newest")
	w := open(t, config(dir))
	defer closeWorker(t, w)
	if got := titles(t, w); strings.Contains(got, "derision") || !strings.Contains(got, "decision 6") {
		t.Errorf("serves %s", got)
	}
	if told := notices(t, w); !strings.Contains(told, "could still be read") || !strings.Contains(told, "withheld because no backup has the text") {
		t.Errorf("told %q", told)
	}
}
