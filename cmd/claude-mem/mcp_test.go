package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"claudemem"
	"claudemem/api"
	"claudemem/wire"
)

// TestMCPWithoutWorker: what reads is answered over the files, what writes says that
// nothing was changed, and nobody waits for long; with a worker that is mute too.
func TestMCPWithoutWorker(t *testing.T) {
	for _, mute := range []bool{false, true} {
		env, project := seeded(t)
		a, _, _ := testApp(t, env)
		dataDir := env["CLAUDE_MEM_DATA_DIR"]
		// In the back-off of a start that failed: no test binary is to be the worker.
		for _, ago := range []time.Duration{4 * time.Hour, 3 * time.Hour, 2 * time.Hour, time.Hour, 0} {
			_, err := wire.ClaimStart(dataDir, a.now().Add(-ago), false)
			must(t, err)
		}
		if mute {
			muteWorker(t, dataDir)
		}
		m := newClientMemory(t.Context(), a, dataDir)
		m.patience = 50 * time.Millisecond
		ctx := t.Context()
		found, err := m.Search(ctx, api.SearchRequest{Types: []string{"bugfix"}, Dated: api.Dated{Paged: api.Paged{Project: project}}})
		if err != nil || found.Total != 1 {
			t.Errorf("mute %t: search: %+v, %v", mute, found, err)
		}
		batch, err := m.Batch(ctx, api.BatchRequest{IDs: api.ObservationRefs{1, 99}, Lookup: new(bool)})
		if err != nil || len(batch.Results) != 1 {
			t.Errorf("mute %t: batch: %+v, %v", mute, batch, err)
		}
		if _, err := m.Session(ctx, api.SessionRequest{Name: "S99"}); claudemem.CodeOf(err) != claudemem.CodeNotFound {
			t.Errorf("mute %t: a session that is not there: %v", mute, err)
		}
		if _, err := m.AddObservation(ctx, api.NewObservation{Narrative: "x", Project: project}); claudemem.CodeOf(err) != claudemem.CodeUnavailable {
			t.Errorf("mute %t: add: %v, want unavailable", mute, err)
		}
		if _, err := m.HideObservation(ctx, api.HideRequest{ID: 1}); claudemem.CodeOf(err) != claudemem.CodeUnavailable {
			t.Errorf("mute %t: hide: %v, want unavailable", mute, err)
		}
		if batch, err := m.Batch(ctx, api.BatchRequest{IDs: api.ObservationRefs{1}}); err != nil || len(batch.Results) != 1 {
			t.Errorf("mute %t: after a refused write: %+v, %v", mute, batch, err)
		}
		m.waking.Wait()
	}
}

// muteWorker leaves the traces of a worker that accepts no connection.
func muteWorker(t *testing.T, dataDir string) {
	t.Helper()
	socket := filepath.Join(shortDir(t), "s")
	listener, err := net.Listen("unix", socket)
	must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	must(t, wire.WriteWorkerInfo(dataDir, wire.WorkerInfo{PID: 1, Version: version, Wire: wire.Version, Socket: socket}))
}

// TestCompletionsOfAMuteWorker: a worker that does not answer costs completions a part
// of a second, and they come from the files.
func TestCompletionsOfAMuteWorker(t *testing.T) {
	env, project := seeded(t)
	t.Chdir(project)
	a, _, _ := testApp(t, env)
	muteWorker(t, env["CLAUDE_MEM_DATA_DIR"])
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a loaded machine may be slow
	defer cancel()
	if found := a.sessionChoices()(ctx); len(found) == 0 {
		t.Error("no sessions are offered")
	}
}

// shortDir is a directory whose path has room for a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "cm")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
