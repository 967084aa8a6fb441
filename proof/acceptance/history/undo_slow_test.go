//go:build unix && slow

package history

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"

	"claudemem/internal/memory"
	"claudemem/internal/run/recorded"

	"github.com/google/go-cmp/cmp"
)

// TestKilledImports kills imports of transcripts 30 times, at moments spread over a whole one, each time in
// what the last one has left or after an undo: completed, the records are those of an undisturbed import; undone, the
// memory is as it was.
func TestKilledImports(t *testing.T) {
	const kills = 30
	sessions := recorded.Sessions()
	m, calm := world.NewMemory(t), world.NewMemory(t)
	started := time.Now()
	calm.MustCommand("import", "--yes", writeTranscripts(t, calm.Home, sessions))
	took := time.Since(started)
	want := remembers(calm, sessions)

	m.MustCommand("remember", "The shop rounds in the customer's favour.")
	m.MustCommand("worker", "stop")
	before := exportOf(m)
	root := writeTranscripts(t, m.Home, sessions)
	undo := func() {
		t.Helper()
		var shown struct{ Imports []memory.ImportEntry }
		if err := json.Unmarshal(m.MustCommand("import", "--list", "--json"), &shown); err != nil || len(shown.Imports) > 1 {
			t.Fatal(err, shown)
		}
		for _, e := range shown.Imports {
			m.MustCommand("import", "--undo", fmt.Sprint(e.ID))
		}
		if diff := cmp.Diff(before, exportOf(m)); diff != "" {
			t.Fatalf("after an undo (-want +got):\n%s", diff)
		}
	}
	random, killed, undone := rand.New(rand.NewPCG(3, 4)), 0, 0
	for killed < kills {
		cmd := exec.Command(world.Binary("claude-mem"), "import", "--yes", root)
		cmd.Env, cmd.Dir = m.Env, m.Home
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.Int64N(int64(took) / 2)))
		_ = cmd.Process.Signal(os.Kill)
		if cmd.Wait() != nil {
			killed++
			continue
		}
		undone++ // it was complete: the next kills find something to do
		undo()
	}
	m.MustCommand("import", "--yes", root)
	if diff := cmp.Diff(want, remembers(m, sessions)); diff != "" {
		t.Errorf("after %d kills (-undisturbed +killed):\n%s", killed, diff)
	}
	undo()
	m.Settle(time.Minute)
	world.Figure(t, 4, "transcripts: an import killed %d times and completed has the records of one undisturbed (%d undone in between); undone, the export is equal", killed, undone)
}
