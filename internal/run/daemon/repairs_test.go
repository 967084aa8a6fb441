package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"claudemem/internal/memory"
	"claudemem/internal/run/control"
)

// TestRepairOnceADay: the same repair is made again after a day, or when a person allows it, and the
// user is told once that it is not made before.
func TestRepairOnceADay(t *testing.T) {
	dir := t.TempDir()
	started, later := time.Now(), atomic.Int64{}
	c := config(dir)
	c.Clock = func() time.Time { return started.Add(time.Duration(later.Load())) }
	w := open(t, c)
	defer closeWorker(t, w)
	may := func(want bool, reason string) {
		t.Helper()
		if got := w.mayRepair(control.Index, reason); got != want {
			t.Errorf("%s: got %t", reason, got)
		}
	}
	may(true, "pages")
	may(false, "pages")
	may(false, "pages")
	may(true, "other")
	if held := control.HeldRepairs(dir, false, c.Clock()); len(held) != 1 || held[0].Reason != "pages" {
		t.Errorf("held are %+v", held)
	}
	if told := notices(t, w); strings.Count(told, "index.db was repaired on") != 1 {
		t.Errorf("told %q", told)
	}
	later.Store(int64(daily))
	may(true, "pages")
	may(false, "pages")
	if err := control.AllowRepairs(dir, true); err != nil {
		t.Error(err)
	}
	may(false, "pages")
	if err := control.AllowRepairs(dir, false); err != nil {
		t.Error(err)
	}
	may(true, "pages")
}

// TestSecondRecovery damages a memory twice within a day: the second time nothing is changed, and
// no worker starts until a person allows another recovery.
func TestSecondRecovery(t *testing.T) {
	dir := used(t)
	damage := func() {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, control.Database), []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	damage()
	closeWorker(t, open(t, config(dir)))
	damage()
	for range 2 {
		if _, err := Open(t.Context(), config(dir)); memory.CodeOf(err) != memory.CodeStorage || !strings.Contains(err.Error(), "was repaired on") {
			t.Fatalf("opened again: %v", err)
		}
	}
	if content, err := os.ReadFile(filepath.Join(dir, control.Database)); err != nil || !strings.HasPrefix(string(content), "no database") {
		t.Errorf("it was changed: %v", err)
	}
	if err := control.AllowRepairs(dir, true); err != nil {
		t.Fatal(err)
	}
	closeWorker(t, open(t, config(dir)))
}
