package web

import (
	"net/http"
	"strings"
	"testing"
)

func TestSettingsChanged(t *testing.T) {
	f := &fake{text: "x"}
	for path, want := range map[string]bool{"/settings": true, "/settings?changed=1": false} {
		body := f.get(t, path).Body.String()
		if !strings.Contains(body, `id="MODE"`) || strings.Contains(body, `id="RECALL"`) != want {
			t.Errorf("%s: %s", path, body)
		}
	}
}

// TestWithoutWorker: a viewer that no worker serves says so on the pages about it.
func TestWithoutWorker(t *testing.T) {
	for _, path := range workerPaths {
		w := serve(New((&fake{}).memory(), Options{}), path)
		if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "claude-mem worker start") {
			t.Errorf("%s: status %d", path, w.Code)
		}
	}
}
