package wire

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"claudemem/internal/memory"
)

func lossAt(at memory.Millis, id string) memory.Loss {
	return memory.Loss{DeliveryID: id, At: at, Worker: "disk full", Hook: "no space"}
}

// recordsOf returns the records of a data directory, without their ids.
func recordsOf(l Losses) (records []memory.LossRecord) {
	for _, r := range l.Read() {
		r.ID = ""
		records = append(records, r)
	}
	return records
}

func TestLosses(t *testing.T) {
	dir, day := t.TempDir(), memory.Millis(lossPause.Milliseconds())
	l := LossesOf(dir, func(string) string { return "" })
	if got := l.Read(); got != nil {
		t.Errorf("none: %v", got)
	}
	if err := l.Reserve(time.UnixMilli(1)); err != nil {
		t.Fatal(err)
	}
	for i, at := range []memory.Millis{5, 7, 6, 7 + day, 8 + 2*day, 9 + 2*day} {
		if err := l.Add(lossAt(at, fmt.Sprint("id", i))); err != nil {
			t.Fatal(err)
		}
		if err := l.Reserve(time.UnixMilli(2)); err != nil {
			t.Fatal(err)
		}
	}
	got, want := fmt.Sprintf("%+v", recordsOf(l)), fmt.Sprintf("%+v", []memory.LossRecord{{
		Count: 6, Recent: 2, First: 8 + 2*day, Last: 9 + 2*day, Worker: "disk full", Hook: "no space",
		Deliveries: []string{"id0", "id1", "id2", "id3", "id4", "id5"},
	}})
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if info, err := os.Stat(filepath.Join(dir, lossesName)); err != nil || info.Size() != lossesEnd || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestLossesKeepTheLast: of more losses than there is room for ids, the last ids stay, also
// if the file was made without its full length.
func TestLossesKeepTheLast(t *testing.T) {
	l := LossesOf(t.TempDir(), func(string) string { return "" })
	const n = lossSlots + 7
	for i := range n {
		if err := l.Add(lossAt(1, fmt.Sprint("id", i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Reserve(time.UnixMilli(1)); err != nil {
		t.Fatal(err)
	}
	r := l.Read()[0]
	if r.Count != n || len(r.Deliveries) != lossSlots || r.Deliveries[0] != "id7" || r.Deliveries[lossSlots-1] != fmt.Sprint("id", n-1) {
		t.Errorf("count %d, %d ids from %s", r.Count, len(r.Deliveries), r.Deliveries[0])
	}
}

func TestLossesAtOnce(t *testing.T) {
	l := LossesOf(t.TempDir(), func(string) string { return "" })
	if err := l.Reserve(time.UnixMilli(1)); err != nil {
		t.Fatal(err)
	}
	const hooks, each = 4, 5
	var wg sync.WaitGroup
	for range hooks {
		wg.Go(func() {
			for range each {
				for l.Add(lossAt(1, "a")) != nil { // only when the others hold the lock all the time
				}
			}
		})
	}
	wg.Wait()
	if got := l.Read()[0].Count; got != hooks*each {
		t.Errorf("%d, want %d", got, hooks*each)
	}
}

// TestLossesElsewhere counts in the runtime directory when the data directory takes nothing.
func TestLossesElsewhere(t *testing.T) {
	runtimeDir := t.TempDir()
	dir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l := LossesOf(dir, func(key string) string {
		if key == "XDG_RUNTIME_DIR" {
			return runtimeDir
		}
		return ""
	})
	if err := l.Add(lossAt(1, "a")); err != nil {
		t.Fatal(err)
	}
	if got := l.Read(); len(got) != 1 || got[0].Count != 1 {
		t.Errorf("%+v", got)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Chmod(filepath.Join(runtimeDir, ownName(dir)), 0o755); err != nil { //nolint:gosec // the point
		t.Fatal(err)
	}
	if err := l.Add(lossAt(1, "a")); err == nil {
		t.Error("counted in a directory that others can read")
	}
	if got := l.Read(); got != nil {
		t.Errorf("read from a directory that others can read: %+v", got)
	}
}

func TestDamagedLosses(t *testing.T) {
	for name, content := range map[string]string{
		"empty": "", "zeros": strings.Repeat("\x00", lossesEnd), "no JSON": strings.Repeat("x", lossHead),
		"negative": `{"count":-5,"id":"a"}` + strings.Repeat(" ", lossHead), "no id": `{"count":5}` + strings.Repeat(" ", lossHead),
		"more than all": `{"count":5,"recent":6,"id":"a"}` + strings.Repeat(" ", lossHead),
	} {
		dir := t.TempDir()
		l := LossesOf(dir, func(string) string { return "" })
		if err := os.WriteFile(filepath.Join(dir, lossesName), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := l.Read(); got != nil {
			t.Errorf("%s: %+v", name, got)
		}
		if err := l.Add(lossAt(1, "a")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := l.Read(); len(got) != 1 || got[0].Count != 1 {
			t.Errorf("%s, then a loss: %+v", name, got)
		}
	}
}

// TestReasonsFitTheirLine: a reason of any bytes leaves the record readable.
func TestReasonsFitTheirLine(t *testing.T) {
	l := LossesOf(t.TempDir(), func(string) string { return "" })
	for _, reason := range []string{strings.Repeat("\x01\"\\", 500), strings.Repeat("é", 300), strings.Repeat("\xff", 300)} {
		if err := l.Add(memory.Loss{At: 1, Worker: reason, Hook: reason}); err != nil {
			t.Fatal(err)
		}
	}
	if got := l.Read(); len(got) != 1 || got[0].Count != 3 || len(got[0].Worker) != longestReason {
		t.Errorf("%+v", got)
	}
}
