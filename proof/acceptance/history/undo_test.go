//go:build unix

package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"

	"claudemem/internal/memory"
	"claudemem/internal/run/recorded"

	"github.com/google/go-cmp/cmp"
)

// exportOf returns the records of an export of everything.
func exportOf(m *world.Memory) string {
	m.T.Helper()
	_, records, ok := bytes.Cut(m.MustCommand("export", "-"), []byte("\n"))
	if !ok {
		m.T.Fatal("no export")
	}
	return string(records)
}

// TestUndo: transcripts of sessions that were captured in part, of new ones, an export and a database of
// claude-mem for Node are imported over a memory, killed at up to 15 moments, and undone, killed at up to 9, with
// the tag slow at 24 and 15.
// Completed, each import adds the same; undone, the memory is as it was, and the same import works again.
func TestUndo(t *testing.T) {
	t.Parallel()
	sessions := recorded.Sessions()
	m, other := world.NewMemory(t), world.NewMemory(t)
	m.Play(sessions[:3], func(p recorded.Payload) bool {
		return bytes.Contains(p.Body, []byte(`"PostToolUse"`)) && len(p.Body)%3 == 0
	})
	m.MustCommand("worker", "stop")
	before := exportOf(m)

	export := filepath.Join(other.Home, "memory.jsonl")
	other.Play(sessions[3:5], func(recorded.Payload) bool { return false })
	other.MustCommand("worker", "stop")
	other.MustCommand("export", export)
	sources := []string{writeTranscripts(t, m.Home, sessions), export, world.Root("testdata", "wild", "node-orphan-project", "claude-mem.db")}

	random := rand.New(rand.NewPCG(1, 2))
	killed := 0
	kill := func(within time.Duration, args ...string) {
		t.Helper()
		cmd := exec.Command(world.Binary("claude-mem"), args...)
		cmd.Env, cmd.Dir = m.Env, m.Home
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.Int64N(int64(within))))
		_ = cmd.Process.Signal(os.Kill)
		if err := cmd.Wait(); err != nil {
			killed++
		}
	}
	numbers := func() (list []int64) {
		t.Helper()
		var shown struct{ Imports []memory.ImportEntry }
		if err := json.Unmarshal(m.MustCommand("import", "--list", "--json"), &shown); err != nil {
			t.Fatal(err)
		}
		for _, e := range shown.Imports {
			list = append(list, e.ID)
		}
		return list
	}
	for _, source := range sources {
		whole := func() {
			t.Helper()
			if out, err := m.Command("import", "--yes", source); err != nil && exitOf(err) != 2 { // rows that cannot be imported
				t.Fatal(err, string(out))
			}
		}
		started := time.Now()
		whole()
		took := time.Since(started)
		want := exportOf(m)
		if want == before {
			t.Errorf("%s adds nothing", source)
		}
		for round := range world.Scaled(3, 5) {
			for _, n := range numbers() {
				kill(took/4, "import", "--undo", fmt.Sprint(n))
				if out, err := m.Command("import", "--undo", fmt.Sprint(n)); err != nil && exitOf(err) != 3 { // the killed one was done
					t.Fatal(err, string(out))
				}
			}
			if diff := cmp.Diff(before, exportOf(m)); diff != "" {
				t.Fatalf("%s: after the undo (-want +got):\n%s", source, diff)
			}
			kill(took/2, "import", "--yes", source)
			if round%2 == 0 { // a second kill in what goes on
				kill(took/2, "import", "--yes", source)
			}
			if round == 1 {
				continue // what was broken off is undone
			}
			whole()
			if got := len(numbers()); got != 1 {
				t.Errorf("%s: an import that was broken off has %d numbers", source, got)
			}
		}
		again := exportOf(m)
		whole()
		if diff := cmp.Diff(again, exportOf(m)); diff != "" {
			t.Errorf("%s: a second import adds (-want +got):\n%s", source, diff)
		}
		for _, n := range numbers() {
			m.MustCommand("import", "--undo", fmt.Sprint(n))
		}
		if diff := cmp.Diff(before, exportOf(m)); diff != "" {
			t.Errorf("%s: after the last undo (-want +got):\n%s", source, diff)
		}
	}
	m.Settle(time.Minute)
	world.Figure(t, 4, "transcripts, an export and a database of claude-mem for Node: killed %d times in import and undo; undone, the export is equal", killed)
}
