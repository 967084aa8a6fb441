package daemon

import (
	"net/http"
	"testing"

	"claudemem/internal/run/control"
)

// TestBriefStats checks that brief stats have the fields of a status, without the sums
// that take time.
func TestBriefStats(t *testing.T) {
	dir := t.TempDir()
	open(t, config(dir))
	peer := peerOf(t, dir)
	for path, summedUp := range map[string]bool{"/api/stats": true, "/api/stats?brief=1": false} {
		var stats map[string]any
		if err := peer.Do(t.Context(), http.MethodGet, path, nil, &stats); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"stages", "notices", "queue", "pid", "index"} {
			if stats[name] == nil {
				t.Errorf("%s has no %s", path, name)
			}
		}
		for _, name := range []string{"ledger", "receipts"} {
			if got := stats[name] != nil; got != summedUp {
				t.Errorf("%s has %s: %v, want %v", path, name, got, summedUp)
			}
		}
	}
	status, err := control.Look(t.Context(), dir)
	if err != nil || !status.Running || status.Stages["store"] != "ok" || status.Notices == nil {
		t.Errorf("status %+v, %v", status, err)
	}
}
