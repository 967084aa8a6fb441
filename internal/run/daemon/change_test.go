package daemon

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// TestChangeOnce: a worker that commits a change and dies before its answer arrives does
// not have the change made again on the files.
func TestChangeOnce(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	w := open(t, config(dir))
	calls := 0
	err := Change(t.Context(), dir, false, func(m api.Memory) error {
		if calls++; calls > 1 {
			t.Error("the change is made again")
		}
		if _, err := m.AddObservation(t.Context(), api.NewObservation{Title: "Amounts are cents", Narrative: "Amounts are whole cents.", ProjectPath: "/home/dev/shop"}); err != nil {
			return err
		}
		closeWorker(t, w)
		return memory.Errorf(memory.CodeUnavailable, "the worker does not answer")
	})
	if memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("got %v, want that the worker did not answer", err)
	}
	if err := Change(t.Context(), dir, false, func(m api.Memory) error {
		found, err := m.Observations(t.Context(), api.ObservationsRequest{Paged: api.Paged{Limit: 10}})
		if found.Total != 1 {
			t.Errorf("%d observations, want 1", found.Total)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// TestChangeWaitsForAWorker: a worker that holds the lock and cannot be found yet is asked once
// it can.
func TestChangeWaitsForAWorker(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	w := open(t, config(dir))
	info := filepath.Join(dir, "worker.json")
	if err := os.Rename(info, info+".aside"); err != nil {
		t.Fatal(err)
	}
	waiting := &waitContext{Context: t.Context(), begins: func() {
		if err := os.Rename(info+".aside", info); err != nil {
			t.Error(err)
		}
	}}
	if err := Change(waiting, dir, true, func(m api.Memory) error {
		_, err := m.Learnings(t.Context(), api.LearningsRequest{})
		return err
	}); err != nil {
		t.Error(err)
	}
	closeWorker(t, w)
}

// waitContext calls begins once, when somebody first waits for its end.
type waitContext struct {
	context.Context
	once   sync.Once
	begins func()
}

func (c *waitContext) Done() <-chan struct{} {
	c.once.Do(c.begins)
	return c.Context.Done()
}

// TestChangeWithTracesOfAWorker: what a killed worker left behind does not keep a command
// from the files.
func TestChangeWithTracesOfAWorker(t *testing.T) {
	dir := t.TempDir()
	if err := wire.WriteWorkerInfo(dir, wire.WorkerInfo{PID: 1, Version: "1.0.0", Wire: wire.Version, Socket: dir + "/gone.sock"}); err != nil {
		t.Fatal(err)
	}
	if _, err := addLearning(t.Context(), dir, memory.Learning{ProjectPath: "/home/dev/shop", Category: "workflow", Content: "Run make test.", Confidence: 1}); err != nil {
		t.Error(err)
	}
}
