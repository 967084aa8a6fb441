package httpapi

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// echo answers with the body of the request.
func echo() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = w.Write([]byte(r.Method + " " + string(body)))
	})
}

// TestMCPBehindTheGuard: the MCP server gets the requests that pass the guard, with their
// whole body, and no others.
func TestMCPBehindTheGuard(t *testing.T) {
	s := serve(t, Options{CheckPeer: peerIs(PeerSame), MaxBody: 3 << 20})
	s.api.MCP = echo()
	s.server.Handler = s.api.guarded(s.api.router())
	large := strings.Repeat("x", 2<<20)
	for _, tt := range []struct {
		name, method, body string
		edits              []edit
		status             int
		want               string
	}{
		{"a message", "POST", "{}", nil, http.StatusOK, "POST {}"},
		{"a large one", "POST", large, nil, http.StatusOK, "POST " + large},
		{"one that is too large", "POST", large + large, nil, http.StatusRequestEntityTooLarge, ""},
		{"too large, in chunks", "POST", large + large, []edit{func(r *http.Request) { r.ContentLength = -1 }}, http.StatusRequestEntityTooLarge, ""},
		{"a stream", "GET", "", nil, http.StatusOK, "GET "},
		{"100 calls", "POST", "[" + strings.Repeat("{},", 99) + "{}]", nil, http.StatusOK, ""},
		{"101 calls", "POST", "[" + strings.Repeat("{},", 100) + "{}]", nil, http.StatusRequestEntityTooLarge, ""},
		{"200,001 keys", "POST", `{"a":{` + strings.Repeat(`"k":1,`, 200_000) + `"k":1}}`, nil, http.StatusRequestEntityTooLarge, ""},
		{"400,001 elements", "POST", `{"a":[` + strings.Repeat(`{},`, 200_000) + `"k"]}`, nil, http.StatusRequestEntityTooLarge, ""},
		{"a form", "POST", "a=b", []edit{header("Content-Type", "application/x-www-form-urlencoded")}, http.StatusUnsupportedMediaType, ""},
		{"another host's name", "POST", "{}", []edit{host("evil.example")}, http.StatusForbidden, ""},
		{"another origin", "POST", "{}", []edit{header("Origin", "https://evil.example")}, http.StatusForbidden, ""},
	} {
		got := s.do(t, s.tcp, tt.method, "/mcp", tt.body, tt.edits...)
		if got.status != tt.status || tt.want != "" && got.body != tt.want {
			t.Errorf("%s: got %d %.80q, want %d %.80q", tt.name, got.status, got.body, tt.status, tt.want)
		}
	}
	s.api.opts.CheckPeer = peerIs(PeerUnknown)
	s.tcp.CloseIdleConnections()
	if got := s.do(t, s.tcp, "POST", "/mcp", "{}"); got.status != http.StatusUnauthorized {
		t.Errorf("without a token: %d, want %d", got.status, http.StatusUnauthorized)
	}
}
