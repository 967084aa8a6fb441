package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
	"claudemem/internal/run/daemon"
	"claudemem/internal/serve/api"
)

// TestBrowseNeedsATerminal: elsewhere the command names those that print.
func TestBrowseNeedsATerminal(t *testing.T) {
	env, project := seeded(t)
	t.Chdir(project)
	code, out, errs := command(t, env, "browse")
	if code != 2 || out != "" || !strings.Contains(errs, "needs a terminal") || !strings.Contains(errs, "claude-mem recent") {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
}

// TestLiveMemory: a program that runs for long reads from the worker, from the files while the
// worker is away, and from a worker that comes back; without one it makes changes itself.
func TestLiveMemory(t *testing.T) {
	env, _ := seeded(t)
	dataDir := env["CLAUDE_MEM_DATA_DIR"]
	a, _, _ := testApp(t, env)
	m := a.Place(dataDir).Live()
	defer m.Close()
	read := func(away bool) {
		t.Helper()
		found, err := m.Search(t.Context(), api.SearchRequest{Kinds: []string{"observation"}})
		must(t, err)
		if found.Total != 3 || m.Away() != away {
			t.Errorf("%d observations, away is %v, want %v", found.Total, m.Away(), away)
		}
	}
	read(true)
	pinned := true
	edited, err := m.EditObservation(t.Context(), api.ObservationEdit{ID: 1, ObservationEdit: memory.ObservationEdit{Pinned: &pinned}})
	must(t, err)
	if !edited.Whole().Pinned {
		t.Error("the change was not made without a worker")
	}
	for range 2 {
		worker, err := daemon.Open(t.Context(), daemon.Config{DataDir: dataDir, Version: wire.Program, Port: new(int)})
		must(t, err)
		read(false)
		must(t, worker.Close(context.Background()))
		read(true)
	}
	gone, stop := context.WithCancel(t.Context())
	stop()
	if _, err := m.Search(gone, api.SearchRequest{}); err == nil {
		t.Error("a question that nobody waits for is answered")
	}
	if _, err := a.Place(filepath.Join(t.TempDir(), "none")).Live().Search(t.Context(), api.SearchRequest{}); memory.CodeOf(err) != memory.CodeNoMemory {
		t.Errorf("without a memory: %v", err)
	}
}

func TestHomeShort(t *testing.T) {
	for path, want := range map[string]string{
		filepath.Join("/home/ada", ".claude-mem"): filepath.Join("~", ".claude-mem"), "/home/adam": "/home/adam", "/srv/m": "/srv/m",
	} {
		if got := homeShort(path, "/home/ada"); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
