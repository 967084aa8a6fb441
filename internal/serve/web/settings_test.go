package web

import (
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
