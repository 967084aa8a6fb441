package main

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"claudemem"
	"claudemem/mcpserver"
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
			socket := filepath.Join(shortDir(t), "s")
			listener, err := net.Listen("unix", socket)
			must(t, err)
			t.Cleanup(func() { _ = listener.Close() }) // nobody accepts
			must(t, wire.WriteWorkerInfo(dataDir, wire.WorkerInfo{PID: 1, Version: version, Wire: wire.Version, Socket: socket}))
		}
		api := &workerOrFiles{app: a, dataDir: dataDir, life: t.Context(), patience: 50 * time.Millisecond}
		do := func(method, target string, body, out any) error {
			return api.Do(t.Context(), mcpserver.Request{Method: method, Target: target, Body: body}, out)
		}
		var page struct {
			Total   int              `json:"total"`
			Results []map[string]any `json:"results"`
		}
		if err := do(http.MethodGet, "/api/search?type=bugfix&project="+project, nil, &page); err != nil || page.Total != 1 {
			t.Errorf("mute %t: search: %+v, %v", mute, page, err)
		}
		if err := do(http.MethodPost, "/api/observations/batch", map[string]any{"ids": []int{1, 99}, "lookup": false}, &page); err != nil || len(page.Results) != 1 {
			t.Errorf("mute %t: batch: %+v, %v", mute, page, err)
		}
		if err := do(http.MethodGet, "/api/observations/99", nil, nil); claudemem.CodeOf(err) != claudemem.CodeNotFound {
			t.Errorf("mute %t: a record that is not there: %v", mute, err)
		}
		for method, target := range map[string]string{http.MethodPost: "/api/observations", http.MethodDelete: "/api/observations/1?purge=false"} {
			if err := do(method, target, map[string]any{"narrative": "x", "project": project}, nil); claudemem.CodeOf(err) != claudemem.CodeUnavailable {
				t.Errorf("mute %t: %s %s: %v, want unavailable", mute, method, target, err)
			}
		}
		if err := do(http.MethodGet, "/api/observations/1", nil, nil); err != nil {
			t.Errorf("mute %t: after a refused write: %v", mute, err)
		}
		api.waking.Wait()
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
