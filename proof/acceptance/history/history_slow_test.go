//go:build unix && slow

package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"

	"claudemem/internal/move/nodedb"
	"claudemem/proof/layouts"
)

// TestNodeHistoryScale imports 100,000 rows of claude-mem for Node and waits until the last one
// is found by search.
func TestNodeHistoryScale(t *testing.T) {
	const rows, most = 100_000, 5 * time.Minute
	m := world.NewMemory(t)
	path := filepath.Join(m.Home, nodedb.FileName)
	db, err := layouts.Create(path, 49)
	if err != nil {
		t.Fatal(err)
	}
	if err := layouts.Many(db, rows); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	m.MustCommand("worker", "start")
	started := time.Now()
	cmd := exec.Command(world.Binary("claude-mem"), "import", "--yes", path, "--json")
	cmd.Env, cmd.Dir = m.Env, m.Home
	var errout bytes.Buffer
	cmd.Stderr = &errout
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	var done nodeImport
	if err := json.Unmarshal(out, &done); err != nil || done.Done() != done.Rows.Total() || done.Added.Observations != rows {
		t.Fatalf("%+v, %v: %s %s", done, err, out, errout.Bytes())
	}
	imported := time.Since(started)
	for _, word := range []string{layouts.Word(0), layouts.Word(rows - 1)} {
		for !bytes.Contains(m.MustCommand("search", "--all", word), []byte(word)) {
			if time.Since(started) > most {
				t.Fatalf("%s is not found after %v", word, most)
			}
			time.Sleep(time.Second)
		}
	}
	if took := time.Since(started); took > most {
		t.Errorf("it took %v, want at most %v", took, most)
	}
	used := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10 // KB on Linux
	world.Figure(t, 1, "%s", fmt.Sprintf("%d rows imported in %v, searchable after %v, %d MB of memory", rows, imported.Round(time.Second), time.Since(started).Round(time.Second), used))
}
