package daemon

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"claudemem/internal/keep/backup"
	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/upkeep"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
)

// decide adds an observation to the memory of dir, which no worker has open.
func decide(t *testing.T, dir, title string) {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(dir, control.Database), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.AddObservation(t.Context(), memory.NewObservation{ProjectPath: "/p", Type: "decision", Title: title, Narrative: title}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// backupsOf returns the backups of dir, the newest first.
func backupsOf(t *testing.T, dir string) []backup.Backup {
	t.Helper()
	list, err := backup.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestDailyBackup checks that a worker backs a memory up that has no backup, again after a
// day with changes, and not after a day without.
func TestDailyBackup(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	decide(t, dir, "first")
	cfg := config(dir)
	var now atomic.Int64
	start := time.Date(2026, 3, 1, 4, 0, 0, 0, time.UTC)
	now.Store(start.UnixNano())
	cfg.Clock = func() time.Time { return time.Unix(0, now.Load()) }
	cfg.Housekeeping = 5 * time.Millisecond
	w := open(t, cfg)
	// backedUp waits until the chore has run at the present time.
	backedUp := func() int {
		if !eventually(func() bool {
			done, err := w.store.ChoreDone(t.Context(), "backup")
			return err == nil && done == memory.MillisOf(cfg.Clock())
		}) {
			t.Fatal("the chore has not run")
		}
		return len(backupsOf(t, dir))
	}
	if n := backedUp(); n != 1 {
		t.Fatalf("%d backups at first, want 1", n)
	}
	for day, change := range []bool{true, false, true} {
		want := len(backupsOf(t, dir))
		if change {
			want++
			if _, err := w.store.AddObservation(t.Context(), memory.NewObservation{ProjectPath: "/p", Type: "decision", Title: time.Duration(day).String(), Narrative: "n"}); err != nil {
				t.Fatal(err)
			}
		}
		now.Add(int64(25 * time.Hour))
		if n := backedUp(); n != want {
			t.Errorf("day %d: %d backups, want %d", day, n, want)
		}
	}
	closeWorker(t, w)
}

// TestBackupBeforeMigration checks that a database of an older schema is backed up as it is.
func TestBackupBeforeMigration(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	olderDatabase(t, filepath.Join(dir, control.Database), 3)
	closeWorker(t, open(t, config(dir)))
	list := backupsOf(t, dir)
	if len(list) != 1 {
		t.Fatalf("backups: %v, want one", list)
	}
	has, err := backup.Check(t.Context(), list[0])
	if err != nil || has.Schema != 3 {
		t.Errorf("the backup has schema %d, %v; want 3", has.Schema, err)
	}
	// The next start migrates nothing and makes none.
	closeWorker(t, open(t, config(dir)))
	if list := backupsOf(t, dir); len(list) != 1 {
		t.Errorf("backups after another start: %v", list)
	}
}

// TestDamagedBeforeMigration checks that a damaged database of an older schema is recovered
// by the second start, and does not refuse every one.
func TestDamagedBeforeMigration(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	path := filepath.Join(dir, control.Database)
	olderDatabase(t, path, 3)
	had, err := upkeep.ReadContents(t.Context(), path)
	if err != nil || had.Observations == 0 {
		t.Fatalf("%+v, %v", had, err)
	}
	overwritePage(t, path, "observations_newest")
	if _, err := Open(t.Context(), config(dir)); !errors.Is(err, backup.ErrDamaged) {
		t.Fatalf("opened a damaged database: %v", err)
	}
	if n, told := recovered(t, dir); n != had.Observations || !strings.Contains(told, "is damaged") {
		t.Errorf("%d observations, told %q; want %d and that it was damaged", n, told, had.Observations)
	}
	if n, told := recovered(t, dir); n != had.Observations || told != "" {
		t.Errorf("the next start: %d observations, told %q", n, told)
	}
}

// olderDatabase writes a database of an earlier release to path.
func olderDatabase(t *testing.T, path string, schema int) {
	t.Helper()
	packed, err := os.Open(filepath.Join("..", "..", "keep", "store", "testdata", fmt.Sprintf("schema-%04d.db.gz", schema)))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRestoreStopsTheWorker checks that Restore ends a running worker and that the next one
// has the memory of the backup and a new index.
func TestRestoreStopsTheWorker(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	decide(t, dir, "in the backup")
	made, err := backup.Make(t.Context(), dir, 1, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	decide(t, dir, "after the backup")
	w := open(t, config(dir))
	ended := make(chan error, 1)
	go func() { ended <- w.Run(t.Context()) }()
	aside, _, err := Restore(t.Context(), dir, made, time.Now())
	if err != nil || aside == "" {
		t.Fatalf("restore: %q, %v", aside, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	again := open(t, config(dir))
	has, err := again.store.Contents(t.Context())
	if err != nil || has.Observations != 1 {
		t.Errorf("%d observations, %v; want 1", has.Observations, err)
	}
	former, err := upkeep.ReadContents(t.Context(), filepath.Join(aside, control.Database))
	if err != nil || former.Observations != 2 {
		t.Errorf("set aside: %d observations, %v; want 2", former.Observations, err)
	}
	closeWorker(t, again)
}

// TestFirstBackup: a memory gets its first backup with its tenth record, or an hour after its
// first event, and not before; what the daily chore does is not waited for.
func TestFirstBackup(t *testing.T) {
	noLeaks(t)
	for name, row := range map[string]struct {
		records int
		events  int
		after   time.Duration
		want    int
	}{
		"nine records":           {records: 9, want: 0},
		"ten records":            {records: 10, want: 1},
		"events, not an hour":    {events: 1, after: 59 * time.Minute, want: 0},
		"events for an hour":     {events: 1, after: time.Hour, want: 1},
		"nothing for half a day": {after: 12 * time.Hour, want: 0},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(t.TempDir())
			cfg.Housekeeping = time.Hour // the test looks, not the timer
			var now atomic.Int64
			now.Store(time.Date(2026, 3, 1, 4, 0, 0, 0, time.UTC).UnixNano())
			cfg.Clock = func() time.Time { return time.Unix(0, now.Load()) }
			w := open(t, cfg)
			defer closeWorker(t, w)
			w.chores.look()
			if !eventually(func() bool {
				done, err := w.store.ChoreDone(t.Context(), "backup")
				return err == nil && done > 0 // nothing to back up yet
			}) {
				t.Fatal("the chore has not run")
			}
			for i := range row.records {
				if _, err := w.store.AddObservation(t.Context(), memory.NewObservation{ProjectPath: "/p", Type: "decision", Title: fmt.Sprint("title ", i), Narrative: fmt.Sprint("n", i)}); err != nil {
					t.Fatal(err)
				}
			}
			for i := range row.events {
				if err := post(t.Context(), peerOf(t, cfg.DataDir), event(fmt.Sprint("s", i), memory.KindPrompt)); err != nil {
					t.Fatal(err)
				}
			}
			now.Add(int64(row.after))
			if due := w.firstBackupDue(t.Context()); due != (row.want > 0) {
				t.Errorf("due: %v, want %v", due, row.want > 0)
			}
			w.chores.look()
			if row.want > 0 && !eventually(func() bool { return len(backupsOf(t, cfg.DataDir)) == 1 }) {
				t.Error("no backup was made")
			}
			if w.firstBackupDue(t.Context()) && row.want > 0 {
				t.Error("a second first backup is due")
			}
		})
	}
}
