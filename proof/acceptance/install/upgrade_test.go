//go:build unix

package install

import (
	"fmt"
	"os/exec"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"

	"claudemem/internal/capture/wire"
)

// TestUpgrade runs the hooks of this version against the worker of an older one, on a
// database that this version has to migrate. The older worker takes the first event and gives
// way, the newer one migrates the database and takes what the hooks kept: no event is lost.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	m := world.NewMemory(t)
	older, err := world.OlderProgram()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(older, "worker", "start")
	cmd.Env, cmd.Dir = m.Env, m.Home
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("start the older worker: %v\n%s", err, out)
	}
	var before wire.WorkerInfo
	m.ReadJSON("worker.json", &before)
	if before.Version != "0.0.9" {
		t.Fatalf("the worker has version %s, want 0.0.9", before.Version)
	}
	current := m.Schema()

	sent, info := 0, before
	for deadline := time.Now().Add(60 * time.Second); info.Version != wire.Program; time.Sleep(200 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after %d events the worker still has version %s, want %s", sent, info.Version, wire.Program)
		}
		if sent == 1 {
			m.UndoMigration()
		}
		m.Send("save", map[string]any{
			"hook_event_name": "PostToolUse", "session_id": "upgrade", "cwd": m.Home, "tool_name": "Bash", "tool_use_id": fmt.Sprint("t", sent),
			"tool_input": map[string]any{"command": fmt.Sprint("make target-", sent)}, "tool_response": map[string]any{"stdout": "ok"},
		})
		sent++
		if now, err := wire.ReadWorkerInfo(m.Dir); err == nil {
			info = now
		}
	}
	if info.PID == before.PID {
		t.Errorf("both workers have pid %d", info.PID)
	}
	if got := m.Schema(); got != current {
		t.Errorf("the schema is %d, want %d", got, current)
	}
	m.Send("summary", map[string]any{"hook_event_name": "Stop", "session_id": "upgrade", "cwd": m.Home, "last_assistant_message": "Made."})
	sent++
	if books := m.Settle(30 * time.Second); books.Received != sent {
		t.Errorf("%d events received, want the %d that were sent", books.Received, sent)
	}
	t.Logf("%d events while version %s gave way to %s", sent, before.Version, info.Version)
}
