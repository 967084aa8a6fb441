package daemon

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// TestForgetCommandFails: a command that ends without a word of its own leaves a reason, and
// another erasure may begin.
func TestForgetCommandFails(t *testing.T) {
	noLeaks(t)
	cfg := config(t.TempDir())
	var given [][]string
	cfg.Command = func(ctx context.Context, args ...string) (*exec.Cmd, error) {
		given = append(given, args)
		return exec.CommandContext(ctx, os.Args[0], "-test.no-such-flag"), nil
	}
	w := open(t, cfg)
	if _, err := w.StartForget(t.Context(), api.ForgetRequest{}); memory.CodeOf(err) != memory.CodeInvalid {
		t.Errorf("of nothing: %v", err)
	}
	if e, err := w.Erasure(); err != nil || e.State != api.ErasureNone {
		t.Errorf("before: %+v, %v", e, err)
	}
	for range 2 {
		asked := api.ForgetRequest{Observations: []memory.ObservationID{12}, Sessions: []memory.SessionID{3}}
		if e, err := w.StartForget(t.Context(), asked); err != nil || e.State != api.ErasureRunning {
			t.Fatalf("%+v, %v", e, err)
		}
		var e api.Erasure
		if !eventually(func() bool { e, _ = w.Erasure(); return e.State == api.ErasureFailed }) {
			t.Fatalf("the failure is not noted: %+v", e)
		}
		if !strings.Contains(e.Message, "exit status 2") || e.Hint != "claude-mem forget --yes 12 S3" {
			t.Errorf("%+v", e)
		}
	}
	if !slices.Equal(given[0], []string{"forget", "--yes", "--report", "12", "S3"}) {
		t.Errorf("started with %q", given[0])
	}
}

// TestOneErasureAtATime: while a command has not reported, no other one begins; one that died
// with its worker does not stand in the way for ever.
func TestOneErasureAtATime(t *testing.T) {
	noLeaks(t)
	cfg := config(t.TempDir())
	cfg.Command = func(ctx context.Context, _ ...string) (*exec.Cmd, error) {
		return exec.CommandContext(ctx, os.Args[0], "-test.run=^$"), nil // it ends well and reports nothing
	}
	w := open(t, cfg)
	one := api.ForgetRequest{Observations: []memory.ObservationID{1}}
	if _, err := w.StartForget(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	if _, err := w.StartForget(t.Context(), one); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("a second one: %v", err)
	}
	if err := ReportErasure(w.cfg.DataDir, &Forgetting{Left: []string{"logs: in use"}}, nil); err != nil {
		t.Fatal(err)
	}
	if e, err := w.Erasure(); err != nil || e.State != api.ErasureDone || len(e.Left) != 1 || len(e.Observations) != 1 {
		t.Errorf("%+v, %v", e, err)
	}
	died := api.Erasure{State: api.ErasureRunning, AskedAt: memory.MillisOf(time.Now().Add(-erasureLimit)), ForgetRequest: one}
	if err := writeErasure(w.cfg.DataDir, died); err != nil {
		t.Fatal(err)
	}
	if _, err := w.StartForget(t.Context(), one); err != nil {
		t.Errorf("after one that died %v ago: %v", erasureLimit, err)
	}
}

func TestReportErasureFailed(t *testing.T) {
	dir := t.TempDir()
	if err := ReportErasure(dir, &Forgetting{}, memory.Errorf(memory.CodeUnavailable, "the worker does not stop").WithHint("kill 12")); err != nil {
		t.Fatal(err)
	}
	if e, err := readErasure(dir); err != nil || e.State != api.ErasureFailed || e.Message != "the worker does not stop" || e.Hint != "kill 12" {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestLeftoversOfKilledProcesses: a process that is killed while it writes a plan to forget, or a
// trained table, leaves a temporary file. The next worker deletes it.
func TestLeftoversOfKilledProcesses(t *testing.T) {
	dir := t.TempDir()
	var left []string
	for _, name := range []string{"forgetting.json", "index.table.new"} {
		path := filepath.Join(dir, "."+name+".claude-mem-123-abc")
		left = append(left, path)
		if err := os.WriteFile(path, []byte("part of"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	indexed(t, open(t, config(dir)))
	for _, path := range left {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is left", path)
		}
	}
}
