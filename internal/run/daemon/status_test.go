package daemon

import (
	"os"
	"path/filepath"
	"testing"

	"claudemem/internal/run/control"
)

// TestLockHeld checks that testing the lock creates no file, and that the status of a
// worker has that of its index.
func TestLockHeld(t *testing.T) {
	noLeaks(t)
	dir := filepath.Join(t.TempDir(), "memory")
	if held, err := control.LockHeld(dir); held || err != nil {
		t.Errorf("without a directory: %v, %v", held, err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the directory was made")
	}
	if status, err := control.Look(t.Context(), dir); err != nil || status.Running || status.Index != nil {
		t.Errorf("without a worker: %+v, %v", status, err)
	}
	w := open(t, config(dir))
	if held, err := control.LockHeld(dir); !held || err != nil {
		t.Errorf("with a worker: %v, %v", held, err)
	}
	var health *control.IndexHealth
	if !eventually(func() bool {
		status, err := control.Look(t.Context(), dir)
		health = status.Index
		return err == nil && health != nil && !health.IsOpening()
	}) {
		t.Fatalf("the index is not opened: %+v", health)
	}
	if health.Error != "" || health.Path == "" || health.Behind != 0 {
		t.Errorf("index %+v", health)
	}
	closeWorker(t, w)
	if held, err := control.LockHeld(dir); held || err != nil {
		t.Errorf("after the worker: %v, %v", held, err)
	}
}
