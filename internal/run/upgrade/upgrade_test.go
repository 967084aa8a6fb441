package upgrade

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"claudemem/internal/memory"
)

// What a signed release does is shown with real programs by TestUpgradeOfRelease.

func TestManager(t *testing.T) {
	for program, want := range map[string]string{
		"/home/me/.local/bin/claude-mem":                               "",
		"/home/me/.claude-mem/bin/claude-mem":                          "",
		"/usr/local/bin/claude-mem":                                    "",
		"/usr/bin/claude-mem":                                          "apt, dnf or apk, with the release's package",
		"/usr/lib/node_modules/claude-mem-go-linux-x64/bin/claude-mem": "npm update -g",
		"/opt/homebrew/Cellar/claude-mem/1.2.3/bin/claude-mem":         "brew upgrade claude-mem",
		"/home/me/scoop/apps/claude-mem/current/claude-mem.exe":        "scoop update claude-mem",
	} {
		if got := Manager(program); got != want {
			t.Errorf("%s: %q, want %q", program, got, want)
		}
	}
}

// A build that is no release, or an unsigned one, asks nobody; one whose server answers something else changes nothing.
func TestNewestRefuses(t *testing.T) {
	const key = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3" // the one in minisign's manual
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.URL.Path == "/garbage/checksums.txt" || r.URL.Path == "/garbage/checksums.txt.minisig" {
			_, _ = w.Write([]byte("<html>Please log in</html>\n\n\n\n"))
			return
		}
		http.NotFound(w, r)
	}))
	defer server.Close()
	for _, test := range []struct {
		source Source
		want   memory.Code
		asks   bool
	}{
		{Source{}, memory.CodeNotFound, false},
		{Source{Address: server.URL}, memory.CodeNotFound, false},
		{Source{server.URL, key}, memory.CodeUnavailable, true},
		{Source{server.URL + "/garbage", key}, memory.CodeForbidden, true},
		{Source{"http://127.0.0.1:1", key}, memory.CodeUnavailable, false},
	} {
		asked = 0
		if _, err := test.source.Newest(t.Context()); memory.CodeOf(err) != test.want {
			t.Errorf("%+v: %v, want %s", test.source, err, test.want)
		}
		if test.asks != (asked > 0) {
			t.Errorf("%+v: asked %d times", test.source, asked)
		}
	}
}
