package daemon

import (
	"os"
	"testing"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
)

// TestBrokenSettings checks that a worker with broken settings stores no event and calls
// no model, and that it stores the spooled events once the settings are repaired.
func TestBrokenSettings(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	put := func(content string) {
		t.Helper()
		if err := os.WriteFile(settings.Path(dir), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(`{"CLAUDE_MEM_PROVIDER":"offline",,}`)
	cfg := config(dir)
	cfg.Settings = nil
	cfg.Housekeeping = 10 * time.Millisecond
	e := event("spooled", memory.KindTool)
	if err := wire.SpoolOf(dir).WriteEvent(e.DeliveryID, wire.EncodeEvent(&e)); err != nil {
		t.Fatal(err)
	}
	w := open(t, cfg)
	peer := peerOf(t, dir)
	if err := post(t.Context(), peer, event("posted", memory.KindTool)); memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("posted with broken settings: %v", err)
	}
	if choice := w.providers.choose(memory.Session{Host: memory.HostClaudeCode}); choice.Provider != nil {
		t.Errorf("a model is called: %s", choice.Provider.Name())
	}
	if b := booksOf(t, w); b.Received != 0 {
		t.Errorf("%d events received", b.Received)
	}
	put(`{"CLAUDE_MEM_PROVIDER":"offline"}`)
	if !eventually(func() bool { return booksOf(t, w).Received == 1 }) {
		t.Error("the spool is not taken in after the settings were mended")
	}
	put("")
	if err := post(t.Context(), peer, event("posted", memory.KindTool)); err != nil {
		t.Errorf("with a last good copy: %v", err)
	}
	if choice := w.providers.choose(memory.Session{Host: memory.HostClaudeCode}); choice.Provider != nil {
		t.Errorf("offline became %s", choice.Provider.Name())
	}
}
