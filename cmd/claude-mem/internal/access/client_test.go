package access

import (
	"path/filepath"
	"testing"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// TestClientWakesAfterError: a read that neither a worker nor the files can answer begins the start of a
// worker; so does Wake, of any memory. There is no program to start here.
func TestClientWakesAfterError(t *testing.T) {
	t.Setenv("PATH", "")
	place := func() Place {
		return Place{DataDir: filepath.Join(t.TempDir(), "data"), Getenv: func(string) string { return "" }, Clock: time.Now}
	}
	begun := func(p Place) bool {
		mine, err := wire.ClaimStart(p.DataDir, time.Now(), false)
		if err != nil {
			t.Fatal(err)
		}
		return !mine
	}
	p := place()
	client := p.Client(t.Context())
	if _, err := client.Sessions(t.Context(), api.SessionsRequest{}); memory.CodeOf(err) != memory.CodeNoMemory {
		t.Errorf("a read of nothing: %v", err)
	}
	client.Wait()
	if !begun(p) {
		t.Error("an error of a client began no start of a worker")
	}
	for name, of := range map[string]func(Place) *Memory{"live": Place.Live, "command": Place.ForCommand} {
		p := place()
		m := of(p)
		if _, err := m.Sessions(t.Context(), api.SessionsRequest{}); memory.CodeOf(err) != memory.CodeNoMemory {
			t.Errorf("%s: a read of nothing: %v", name, err)
		}
		m.Wait()
		if begun(p) {
			t.Errorf("%s: a read began the start of a worker", name)
		}
		p = place()
		m = of(p)
		m.Wake()
		m.Wait()
		if !begun(p) {
			t.Errorf("%s: Wake began no start of a worker", name)
		}
	}
}
