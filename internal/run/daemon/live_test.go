package daemon

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"testing"
	"time"

	"claudemem/internal/leaf/settings"
)

// TestSettingsChangeDuringStart changes the settings between their reading and the end of
// the start: the worker uses the new ones.
func TestSettingsChangeDuringStart(t *testing.T) {
	for _, before := range []string{"", `{"PROVIDER": "offline", "SKIP_TOOLS": "Read"}`} {
		dir := t.TempDir()
		if before != "" {
			writeSettings(t, dir, before)
		}
		first, err := settings.LoadForWorker(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		writeSettings(t, dir, `{"PROVIDER": "offline", "SKIP_TOOLS": "Bash"}`)
		cfg := config(dir)
		cfg.Settings = first
		w := open(t, cfg)
		if got, want := w.settings.get().Text(settings.KeySkipTools), "Bash"; got != want {
			t.Errorf("before %q: skipped tools %q, want %q", before, got, want)
		}
	}
}

// TestUnreadableSettings: settings that could not be opened hold once they can be, though neither
// their time nor their size has changed. It needs a user that file modes bind.
func TestUnreadableSettings(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads every file")
	}
	dir := t.TempDir()
	writeSettings(t, dir, `{"SKIP_TOOLS": "Read"}`)
	first, err := settings.LoadForWorker(dir, nil)
	failOn(t, err)
	l := newLive(dir, first, slog.New(slog.DiscardHandler))
	writeSettings(t, dir, `{"SKIP_TOOLS": "Bash,Grep"}`)
	failOn(t, os.Chmod(settings.Path(dir), 0))
	if got := l.get().Text(settings.KeySkipTools); got != "Read" {
		t.Fatalf("skipped tools %q, want those of before", got)
	}
	failOn(t, os.Chmod(settings.Path(dir), 0o600))
	if got := l.get().Text(settings.KeySkipTools); got != "Bash,Grep" {
		t.Errorf("skipped tools %q, want the new ones", got)
	}
}

// TestInterruptedWaitForLock: a command that is interrupted while it waits for the lock says so.
func TestInterruptedWaitForLock(t *testing.T) {
	dir := t.TempDir()
	err := withLock(t.Context(), dir, time.Second, func() error {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		return withLock(ctx, dir, time.Minute, func() error { return nil })
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want an interrupt", err)
	}
}
