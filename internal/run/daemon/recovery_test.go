package daemon

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claudemem/internal/keep/backup"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/serve/api"
)

// used returns a data directory that a worker has used and closed: ten observations, a backup
// of five of them.
func used(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for n := range 10 {
		if n == 5 {
			if _, err := backup.Make(t.Context(), dir, 3, time.Now().Add(-time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		decide(t, dir, fmt.Sprintf("decision %d", n))
		if n == 0 {
			content, err := os.ReadFile(filepath.Join(dir, control.Database))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, control.Database+".older"), content, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	closeWorker(t, open(t, config(dir)))
	return dir
}

// recovered opens a worker on dir and returns its observations and notices.
func recovered(t *testing.T, dir string) (observations int, told string) {
	t.Helper()
	w := open(t, config(dir))
	defer closeWorker(t, w)
	has, err := w.store.Contents(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if wrong, err := w.store.Verify(t.Context()); err != nil || len(wrong) > 0 {
		t.Errorf("after the recovery: %v, %v", wrong, err)
	}
	if wrong, err := w.store.Audit(t.Context()); err != nil || len(wrong) > 0 {
		t.Errorf("books after the recovery: %v, %v", wrong, err)
	}
	notices, err := w.store.TakeNotices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return has.Observations, strings.Join(notices, "\n")
}

// TestRecovery checks that a database that is not as the last worker left it is recovered or
// at least told, that the damaged file is kept, and that the next start finds nothing.
func TestRecovery(t *testing.T) {
	for name, test := range map[string]struct {
		harm      func(t *testing.T, path string)
		without   bool // backups
		want      int  // observations, at least
		told      string
		keepsFile bool
	}{
		"missing":                  {harm: remove, want: 5, told: "was missing. The backup of"},
		"missing, no backup":       {harm: remove, without: true, want: 0, told: "a new memory was started"},
		"emptied":                  {harm: func(t *testing.T, path string) { cut(t, path, 0) }, want: 5, told: "was empty. The backup of", keepsFile: true},
		"not a database":           {harm: func(t *testing.T, path string) { overwrite(t, path, 0, 200) }, want: 5, told: "is damaged", keepsFile: true},
		"not a database, no other": {harm: func(t *testing.T, path string) { overwrite(t, path, 0, 200) }, without: true, want: 10, told: "rows that could still be read are in a new database", keepsFile: true},
		"cut off":                  {harm: func(t *testing.T, path string) { cut(t, path, -4096*3) }, want: 5, told: "is damaged", keepsFile: true},
		"cut off, no backup":       {harm: func(t *testing.T, path string) { cut(t, path, -4096*3) }, without: true, want: 7, told: "There was no backup", keepsFile: true}, // pages of the schema are gone
		"a page of an index":       {harm: func(t *testing.T, path string) { overwritePage(t, path, "observations_newest") }, want: 10, told: "newer rows that could still be read", keepsFile: true},
		"an index, no backup":      {harm: func(t *testing.T, path string) { overwritePage(t, path, "observations_newest") }, without: true, want: 10, told: "could still be read", keepsFile: true},
		"an older copy":            {harm: olderCopy, want: 5, told: "lacks", keepsFile: true},
		"an older copy, no backup": {harm: olderCopy, without: true, want: 1, told: "lacks"},
		"another memory":           {harm: another, want: 2, told: "is another memory"},
	} {
		t.Run(name, func(t *testing.T) {
			noLeaks(t)
			dir := used(t)
			path := filepath.Join(dir, control.Database)
			if test.without {
				if err := os.RemoveAll(backup.Folder(dir)); err != nil {
					t.Fatal(err)
				}
			}
			test.harm(t, path)
			harmed, _ := os.ReadFile(path)
			n, told := recovered(t, dir)
			if n < test.want {
				t.Errorf("%d observations, want at least %d", n, test.want)
			}
			if !strings.Contains(told, test.told) {
				t.Errorf("told %q, want %q", told, test.told)
			}
			aside, _ := filepath.Glob(filepath.Join(dir, "aside", "*", control.Database))
			if test.keepsFile {
				if kept, err := os.ReadFile(strings.Join(aside, "")); err != nil || !bytes.Equal(kept, harmed) {
					t.Errorf("the harmed file is not kept as it was: %v, %v", aside, err)
				}
			} else if len(aside) > 0 {
				t.Errorf("set aside: %v", aside)
			}
			if again, told := recovered(t, dir); again != n || told != "" {
				t.Errorf("the next start: %d observations, told %q; want %d and nothing", again, told, n)
			}
		})
	}
}

// TestEmptyMemory checks that a memory in which nothing is yet is not taken for an emptied
// one, although there is a backup of it.
func TestEmptyMemory(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		w := open(t, config(dir))
		if _, err := backup.Make(t.Context(), dir, 3, time.Now()); err != nil {
			t.Fatal(err)
		}
		if told, err := w.store.TakeNotices(t.Context()); err != nil || len(told) > 0 {
			t.Errorf("told %q, %v", told, err)
		}
		closeWorker(t, w)
	}
	if left := backup.Asides(dir); len(left) > 0 {
		t.Errorf("set aside: %v", left)
	}
}

// TestUntouched checks that a start after a clean stop and one after a kill tell nothing.
func TestUntouched(t *testing.T) {
	dir := used(t)
	if n, told := recovered(t, dir); n != 10 || told != "" {
		t.Errorf("%d observations, told %q; want 10 and nothing", n, told)
	}
	mark := backup.ReadMark(dir)
	mark.Clean = false // as a worker that was killed leaves it
	if err := backup.WriteMark(dir, mark); err != nil {
		t.Fatal(err)
	}
	if n, told := recovered(t, dir); n != 10 || told != "" {
		t.Errorf("after a kill: %d observations, told %q; want 10 and nothing", n, told)
	}
}

// TestDamageWhileServing checks that a worker whose memory is damaged under it is not ready
// any more and stops, and that the next one recovers it.
func TestDamageWhileServing(t *testing.T) {
	noLeaks(t)
	dir := used(t)
	w := open(t, config(dir))
	path := filepath.Join(dir, control.Database)
	overwritePage(t, path, "observations")
	dropCachedPages(t, path)
	peer := peerOf(t, dir)
	var page api.Page[api.Observation]
	if err := peer.Do(t.Context(), http.MethodGet, "/api/observations", nil, &page); err == nil {
		t.Fatal("the damaged list was answered")
	}
	select {
	case <-w.Done():
	case <-time.After(2 * time.Minute):
		t.Fatal("the worker goes on")
	}
	if err := w.Ready(); memory.CodeOf(err) != memory.CodeStorage {
		t.Errorf("ready: %v, want a fault of the storage", err)
	}
	closeWorker(t, w)
	if n, told := recovered(t, dir); n < 5 || !strings.Contains(told, "is damaged") {
		t.Errorf("%d observations, told %q", n, told)
	}
}

// TestCloseCutsVerification checks that Close does not wait for a verification, and that the next
// worker makes up for it.
func TestCloseCutsVerification(t *testing.T) {
	dir := used(t)
	w := open(t, config(dir))
	w.verifying.Go(func() { <-w.life.Done() }) // a large memory
	closeWorker(t, w)
	w = open(t, config(dir))
	w.endLife()
	w.checkDamage()
	closeWorker(t, w)
	if mark := backup.ReadMark(dir); mark.Clean {
		t.Error("the mark says that all is well")
	}
	w = open(t, config(dir))
	w.verifying.Wait()
	closeWorker(t, w)
	if mark := backup.ReadMark(dir); !mark.Clean {
		t.Error("the mark of a worker that ended well does not say so")
	}
}

// TestResumedRecovery checks that a restore whose process died between the two files is
// completed with the backup that the user chose, and not taken for a loss.
func TestResumedRecovery(t *testing.T) {
	noLeaks(t)
	dir := used(t)
	path := filepath.Join(dir, control.Database)
	if err := os.Rename(path+".older", path+".restoring"); err != nil {
		t.Fatal(err)
	}
	remove(t, path)
	if n, told := recovered(t, dir); n != 1 || !strings.Contains(told, "had been interrupted") {
		t.Errorf("%d observations, told %q; want 1 and that it was interrupted", n, told)
	}
	if n, told := recovered(t, dir); n != 1 || told != "" {
		t.Errorf("the next start: %d observations, told %q; want 1 and nothing", n, told)
	}
}

// TestChangeOfLostMemory checks that a command which writes without a worker makes no new
// memory where there was one.
func TestChangeOfLostMemory(t *testing.T) {
	dir := used(t)
	path := filepath.Join(dir, control.Database)
	remove(t, path)
	err := Change(t.Context(), dir, true, func(api.Memory) error { t.Error("it wrote"); return nil })
	if memory.CodeOf(err) != memory.CodeStorage {
		t.Errorf("got %v, want a storage error", err)
	}
	if n, told := recovered(t, dir); n < 5 || !strings.Contains(told, "was missing. The backup of") {
		t.Errorf("%d observations, told %q", n, told)
	}
}

// TestAnotherMemoryIndex checks that the index of the former memory is deleted before another
// one is opened: its place would be taken for a loss, and its records for those of this one.
func TestAnotherMemoryIndex(t *testing.T) {
	dir := used(t)
	indexed := filepath.Join(dir, control.Index)
	if _, err := os.Stat(indexed); err != nil {
		t.Fatal(err)
	}
	another(t, filepath.Join(dir, control.Database))
	w, err := newWorker(config(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer w.endLife()
	if told, err := w.secure(t.Context()); err != nil || !strings.Contains(told, "is another memory") {
		t.Fatalf("told %q, %v", told, err)
	}
	if _, err := os.Stat(indexed); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the index is left: %v", err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// cut truncates a file to n bytes, or by -n.
func cut(t *testing.T, path string, n int64) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if n < 0 {
		n += info.Size()
	}
	if err := os.Truncate(path, n); err != nil {
		t.Fatal(err)
	}
}

// overwrite writes n bytes of 0x5a at an offset.
func overwrite(t *testing.T, path string, at int64, n int) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(bytes.Repeat([]byte{0x5a}, n), at); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// overwritePage overwrites the root page of a table or an index.
func overwritePage(t *testing.T, path, name string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	var page, size int64
	err = db.QueryRow("SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_schema WHERE name = ?", name).Scan(&page, &size)
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	overwrite(t, path, (page-1)*size, int(size))
}

// dropCachedPages makes the connections of a running worker read the pages again that they hold:
// a commit from outside that changes nothing does so.
func dropCachedPages(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	var version int
	err = db.QueryRow("PRAGMA user_version").Scan(&version)
	if err == nil {
		_, err = db.Exec(fmt.Sprintf("PRAGMA user_version = %d", version))
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// olderCopy puts the copy of the memory in its place that used has made.
func olderCopy(t *testing.T, path string) {
	t.Helper()
	content, err := os.ReadFile(path + ".older")
	if err == nil {
		err = os.WriteFile(path, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// another puts a memory with two observations in its place.
func another(t *testing.T, path string) {
	t.Helper()
	dir := t.TempDir()
	decide(t, dir, "one")
	decide(t, dir, "two")
	if err := os.Rename(filepath.Join(dir, control.Database), path); err != nil {
		t.Fatal(err)
	}
}
