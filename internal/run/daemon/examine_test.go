package daemon

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"claudemem/internal/memory"
)

// TestExamine: a doctor that says nothing usable is an error, a fresh report is shown again, and
// who has no time is told.
func TestExamine(t *testing.T) {
	noLeaks(t)
	cfg := config(t.TempDir())
	runs := 0
	cfg.Command = func(ctx context.Context, args ...string) (*exec.Cmd, error) {
		runs++
		return exec.CommandContext(ctx, os.Args[0], "-test.no-such-flag"), nil
	}
	w := open(t, cfg)
	if _, err := w.Examine(t.Context()); memory.CodeOf(err) != memory.CodeUnavailable || runs != 1 {
		t.Errorf("%v after %d runs", err, runs)
	}
	<-w.examined
	w.examined <- examined{[]byte(`{"status":"ok"}`), w.cfg.Clock()}
	if report, err := w.Examine(t.Context()); err != nil || string(report) != `{"status":"ok"}` || runs != 1 {
		t.Errorf("%s, %v after %d runs", report, err, runs)
	}
	last := <-w.examined // another request has the doctor
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := w.Examine(ended); memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("while it looks: %v", err)
	}
	last.at = last.at.Add(-examineAge)
	w.examined <- last
	if _, err := w.Examine(t.Context()); err == nil || runs != 2 {
		t.Errorf("%v after %d runs", err, runs)
	}
}
