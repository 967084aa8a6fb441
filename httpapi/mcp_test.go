package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"claudemem"
)

// echo answers with what it was sent.
func echo(_ *Local) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = w.Write([]byte(r.Method + " " + string(body)))
	})
}

// TestMCPBehindTheGuard: the MCP server gets what the rules of every route let through,
// whole, and nothing else.
func TestMCPBehindTheGuard(t *testing.T) {
	s := serve(t, Options{CheckPeer: peerIs(PeerSame), MaxBody: 3 << 20})
	if got := s.do(t, s.unix, "POST", "/mcp", "{}"); got.status != http.StatusNotFound {
		t.Errorf("without a server: %d", got.status)
	}
	s.api.mcp = echo(nil)
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

// TestLocal: the API for its own process has the rules of the others and their errors.
func TestLocal(t *testing.T) {
	f := newFakeWorker()
	f.records = someRecords()
	f.lookups = make(chan string, 10)
	local := NewLocal(f.deps(), Options{RequireToken: TokenAlways})
	ctx := t.Context()
	var page batchPage
	if err := local.Do(ctx, "POST", "/api/observations/batch", "claude-code:s1", map[string]any{"ids": []string{"#124", "9"}}, &page); err != nil {
		t.Fatal(err)
	}
	if page.Count != 1 || len(page.Missing) != 1 {
		t.Errorf("got %+v", page)
	}
	select {
	case noted := <-f.lookups:
		if !strings.Contains(noted, "s1") {
			t.Errorf("noted %q, want the session", noted)
		}
	default:
		t.Error("what was read in full was not noted")
	}
	if err := local.Do(ctx, "POST", "/api/observations/batch", "", map[string]any{"ids": []int{124}, "lookup": false}, &page); err != nil {
		t.Fatal(err)
	}
	select {
	case noted := <-f.lookups:
		t.Errorf("noted %q of a client that does so itself", noted)
	default:
	}
	err := local.Do(ctx, "GET", "/api/observations/9", "", nil, nil)
	var known *claudemem.Error
	if !errors.As(err, &known) || known.Code != claudemem.CodeNotFound || known.Message == "" {
		t.Errorf("a record that is not there: %v", err)
	}
	if err := local.Do(ctx, "GET", "/api/nothing at all", "", nil, nil); err == nil {
		t.Error("a target that is none: no error")
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := local.Do(gone, "GET", "/api/health", "", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("for a client that has left: %v", err)
	}
}
