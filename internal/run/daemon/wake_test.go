package daemon

import (
	"testing"
	"time"

	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
)

// TestProviderChangeRetriesEvents checks that events that wait for a provider without a
// key are processed as soon as the settings name another provider.
func TestProviderChangeRetriesEvents(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	if err := settings.Set(dir, settings.KeyProvider, "openai"); err != nil {
		t.Fatal(err)
	}
	cfg := config(dir)
	cfg.Settings = nil
	cfg.Housekeeping = time.Hour
	now := time.Now()
	cfg.Clock = func() time.Time { return now } // stands still: no retry becomes due
	w := open(t, cfg)
	peer := peerOf(t, dir)
	for _, kind := range []memory.EventKind{memory.KindPrompt, memory.KindTool, memory.KindStop} {
		if err := post(t.Context(), peer, event("s", kind)); err != nil {
			t.Fatal(err)
		}
	}
	postponed := func() bool {
		backlog, err := w.queue.Backlog(t.Context())
		return err == nil && len(backlog) == 1 && backlog[0].NextDue > memory.MillisOf(now)
	}
	if !eventually(postponed) {
		t.Fatal("the events do not wait for the provider")
	}
	if err := settings.Set(dir, settings.KeyProvider, "offline"); err != nil {
		t.Fatal(err)
	}
	if _, err := control.Look(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if !eventually(func() bool { b := booksOf(t, w); return b.Pending+b.Processing == 0 }) {
		t.Error("the events still wait")
	}
}
