package daemon

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
)

// TestDataDirectoryReplaced removes the data directory under a worker and starts another
// worker in a new one. The old worker stops at its next look, without taking in the new
// spool, and leaves worker.json and socket to the new worker.
func TestDataDirectoryReplaced(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files in use cannot be deleted on Windows")
	}
	noLeaks(t)
	dir := filepath.Join(t.TempDir(), "memory")
	old := open(t, config(dir))
	indexed(t, old) // nothing is made in the directory any more
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	current := open(t, config(dir))
	spool := wire.SpoolOf(dir)
	spoolEvents(t, spool, "01")

	old.tidy(t.Context())
	select {
	case <-old.Done():
	default:
		t.Error("the old worker goes on")
	}
	if got := spoolNames(t, spool); len(got) != 1 {
		t.Errorf("the old worker has taken the new spool in: %q is left", got)
	}
	closeWorker(t, old)
	if _, err := wire.ReadWorkerInfo(dir); err != nil {
		t.Errorf("worker.json of the new worker: %v", err)
	}
	if err := post(t.Context(), peerOf(t, dir), event("s", memory.KindPrompt)); err != nil {
		t.Errorf("the new worker cannot be reached: %v", err)
	}
	closeWorker(t, current)
	if left, err := os.Stat(wire.SocketPath(dir, os.Getenv)); err == nil {
		t.Errorf("the new worker leaves its socket: %v", left.Name())
	}
}
