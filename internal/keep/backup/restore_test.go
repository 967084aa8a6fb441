package backup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"claudemem/internal/keep/store"
)

// TestResume checks what the next start makes of a restore whose process died before and
// after the former database was set aside.
func TestResume(t *testing.T) {
	for name, tt := range map[string]struct {
		dies    func(t *testing.T, dir string) // with 3 observations ready and 5 in place
		resumed bool
		want    int
	}{
		"before":           {func(*testing.T, string) {}, false, 5},
		"after memory.db":  {func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, databaseName))) }, true, 3},
		"ready is damaged": {func(t *testing.T, dir string) { damageReady(t, dir) }, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := makeMemory(t, 3)
			must(t, copyFile(filepath.Join(dir, databaseName), filepath.Join(dir, restoring)))
			add(t, dir, 2)
			left := filepath.Join(dir, salvagePrefix+"1")
			must(t, os.Mkdir(left, 0o700))
			must(t, os.WriteFile(filepath.Join(dir, databaseName+"-wal"), []byte("of the former database"), 0o600))
			tt.dies(t, dir)
			resumed, err := Resume(t.Context(), dir, day)
			if err != nil || resumed != tt.resumed {
				t.Fatalf("resumed %t, %v; want %t", resumed, err, tt.resumed)
			}
			if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the folder of the salvage is left: %v", err)
			}
			if tt.want > 0 && observations(t, dir) != tt.want {
				t.Errorf("%d observations, want %d", observations(t, dir), tt.want)
			}
			if logs, _ := filepath.Glob(filepath.Join(dir, asideFolder, "*", "*-wal")); tt.resumed != (len(logs) == 1) {
				t.Errorf("logs that were set aside: %v", logs)
			}
			if again, err := Resume(t.Context(), dir, day); err != nil || again {
				t.Errorf("resumed again: %t, %v", again, err)
			}
		})
	}
}

// damageReady leaves a damaged database ready and none in place.
func damageReady(t *testing.T, dir string) {
	t.Helper()
	must(t, os.Remove(filepath.Join(dir, databaseName)))
	must(t, os.Truncate(filepath.Join(dir, restoring), 9000))
}

// TestSetAsideUndone checks that memory.db and its log are back in place when one of them
// cannot be moved.
func TestSetAsideUndone(t *testing.T) {
	dir := makeMemory(t, 1)
	must(t, os.WriteFile(filepath.Join(dir, databaseName+"-wal"), []byte("log"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, databaseName+"-shm"), nil, 0o600))
	want := names(t, dir)
	failed := errors.New("no")
	rename = func(from, to string) error {
		if filepath.Base(from) == databaseName+"-shm" {
			return failed
		}
		return os.Rename(from, to)
	}
	defer func() { rename = os.Rename }()
	if aside, err := SetAside(dir, day); !errors.Is(err, failed) || aside != "" {
		t.Fatalf("set aside in %q: %v", aside, err)
	}
	if got := slices.DeleteFunc(names(t, dir), func(name string) bool { return name == asideFolder }); !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
	if folders := Asides(dir); len(folders) != 0 {
		t.Errorf("set aside: %v", folders)
	}
}

// TestRestoreBesideLog: the log of a database that was ready when an earlier restore was
// killed is not applied to the backup that is restored then.
func TestRestoreBesideLog(t *testing.T) {
	dir, other := makeMemory(t, 3), makeMemory(t, 1)
	old, err := Make(t.Context(), dir, 3, day)
	must(t, err)
	forget(t, dir, "decision 1 of")
	open, err := store.Open(t.Context(), filepath.Join(other, databaseName), store.Options{})
	must(t, err)
	add(t, other, 20)
	must(t, copyFile(filepath.Join(other, databaseName+"-wal"), filepath.Join(dir, restoring+"-wal")))
	must(t, open.Close())
	if _, applied, err := Restore(t.Context(), dir, old, day); err != nil || applied.Erasures != 1 {
		t.Fatalf("restored with %+v: %v", applied, err)
	}
	if n := observations(t, dir); n != 2 {
		t.Errorf("%d observations, want 2", n)
	}
}
