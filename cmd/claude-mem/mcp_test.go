package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
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
			_, err := wire.ClaimStart(dataDir, a.Now().Add(-ago), false)
			must(t, err)
		}
		if mute {
			muteWorker(t, dataDir)
		}
		m := a.Place(dataDir).Client(t.Context())
		m.Patience = 50 * time.Millisecond
		ctx := t.Context()
		found, err := m.Search(ctx, api.SearchRequest{Types: []string{"bugfix"}, Dated: api.Dated{Paged: api.Paged{Project: project}}})
		if err != nil || found.Total != 1 {
			t.Errorf("mute %t: search: %+v, %v", mute, found, err)
		}
		batch, err := m.Batch(ctx, api.BatchRequest{IDs: api.ObservationRefs{1, 99}, Lookup: new(bool)})
		if err != nil || len(batch.Results) != 1 {
			t.Errorf("mute %t: batch: %+v, %v", mute, batch, err)
		}
		if _, err := m.Session(ctx, api.SessionRequest{Name: "S99"}); memory.CodeOf(err) != memory.CodeNotFound {
			t.Errorf("mute %t: a session that is not there: %v", mute, err)
		}
		if _, err := m.AddObservation(ctx, api.NewObservation{Narrative: "x", Project: project}); memory.CodeOf(err) != memory.CodeUnavailable {
			t.Errorf("mute %t: add: %v, want unavailable", mute, err)
		}
		if _, err := m.HideObservation(ctx, api.HideRequest{ID: 1}); memory.CodeOf(err) != memory.CodeUnavailable {
			t.Errorf("mute %t: hide: %v, want unavailable", mute, err)
		}
		if batch, err := m.Batch(ctx, api.BatchRequest{IDs: api.ObservationRefs{1}}); err != nil || len(batch.Results) != 1 {
			t.Errorf("mute %t: after a refused write: %+v, %v", mute, batch, err)
		}
		m.Wait()
	}
}

// muteWorker leaves the traces of a worker that accepts no connection.
func muteWorker(t *testing.T, dataDir string) {
	t.Helper()
	socket := filepath.Join(shortDir(t), "s")
	listener, err := net.Listen("unix", socket)
	must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	must(t, wire.WriteWorkerInfo(dataDir, wire.WorkerInfo{PID: 1, Version: wire.Program, Wire: wire.Version, Socket: socket}))
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
	if found := a.SessionChoices()(ctx); len(found) == 0 {
		t.Error("no sessions are offered")
	}
}

// TestDeletedProjectOfAMuteWorker checks that a deleted directory still names its project
// when a worker runs that does not answer.
func TestDeletedProjectOfAMuteWorker(t *testing.T) {
	env, project := seeded(t)
	a, _, _ := testApp(t, env)
	must(t, os.RemoveAll(project))
	muteWorker(t, env["CLAUDE_MEM_DATA_DIR"])
	if got, err := a.ProjectNamed(project); err != nil || got != project {
		t.Errorf("project %q, %v, want %q", got, err, project)
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

// TestMCPWithAnotherVersion: what a worker of another version says of a write is passed
// on, hint and all; what it says of a read may only mean that it is older, so the files
// answer.
func TestMCPWithAnotherVersion(t *testing.T) {
	env, project := seeded(t)
	a, _, _ := testApp(t, env)
	dataDir := env["CLAUDE_MEM_DATA_DIR"]
	refusingWorker(t, dataDir, "0.0.1")
	m := a.Place(dataDir).Client(t.Context())
	_, err := m.AddObservation(t.Context(), api.NewObservation{Narrative: "x", Project: project})
	var e *memory.Error
	if !errors.As(err, &e) || e.Code != memory.CodeInvalid || e.Hint != "say more" {
		t.Errorf("add: %+v, want the worker's error", err)
	}
	if _, err := m.NoteLookups(t.Context(), api.LookupNote{Observations: []memory.ObservationID{1}}); memory.CodeOf(err) != memory.CodeInvalid {
		t.Errorf("note: %v, want the worker's error", err)
	}
	found, err := m.Search(t.Context(), api.SearchRequest{Types: []string{"bugfix"}, Dated: api.Dated{Paged: api.Paged{Project: project}}})
	if err != nil || found.Total != 1 {
		t.Errorf("search: %+v, %v, want what the files have", found, err)
	}
}

// refusingWorker serves as a worker of a version that calls every request invalid.
func refusingWorker(t *testing.T, dataDir, itsVersion string) {
	t.Helper()
	socket := filepath.Join(shortDir(t), "s")
	listener, err := net.Listen("unix", socket)
	must(t, err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/version" {
			_, _ = fmt.Fprintf(w, `{"version":%q,"wire":%d}`, itsVersion, wire.Version)
			return
		}
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":{"code":"invalid","message":"no such field","hint":"say more"}}`)
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	must(t, wire.WriteWorkerInfo(dataDir, wire.WorkerInfo{PID: 1, Version: itsVersion, Wire: wire.Version, Socket: socket}))
}
