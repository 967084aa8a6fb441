package httpapi

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"claudemem/internal/capture/wire"
)

const (
	toolBody     = `{"host_session_id":"s1","tool_name":"Edit"}`
	learningBody = `{"project_path":"/p","category":"gotcha","content":"mind the gap"}`
)

func TestGuard(t *testing.T) {
	const token = "3b1f8a"
	tests := []struct {
		name         string
		opts         Options
		socket       bool
		method, path string
		body         string
		edits        []edit
		want         int
	}{
		{name: "same user", want: 200},
		{name: "localhost", edits: []edit{host("localhost:37777")}, want: 200},
		{name: "LocalHost without port", edits: []edit{host("LocalHost")}, want: 200},
		{name: "IPv6 loopback", edits: []edit{host("[::1]:1")}, want: 200},

		{name: "rebound name", edits: []edit{host("evil.example:37777")}, want: 403},
		{name: "loopback as a prefix", edits: []edit{host("127.0.0.1.evil.example")}, want: 403},
		{name: "localhost as a prefix", edits: []edit{host("localhost.evil.example")}, want: 403},
		{name: "a name below localhost", edits: []edit{host("evil.localhost")}, want: 403},
		{name: "other loopback address", edits: []edit{host("127.0.0.2")}, want: 403},
		{name: "any address", edits: []edit{host("0.0.0.0:37777")}, want: 403},
		{name: "port that is none", edits: []edit{host("localhost:80a")}, want: 403},
		{name: "port that no port is", edits: []edit{host("127.0.0.1:99999999999")}, want: 403},
		{name: "empty port", edits: []edit{host("localhost:")}, want: 403},
		{name: "IPv6 without brackets", edits: []edit{host("::1")}, want: 403},
		{name: "final dot", edits: []edit{host("localhost.")}, want: 403},

		{name: "own origin", edits: []edit{host("localhost:37777"), header("Origin", "http://localhost:37777")}, want: 200},
		{name: "foreign origin", edits: []edit{header("Origin", "https://evil.example")}, want: 403},
		{name: "null origin", edits: []edit{header("Origin", "null")}, want: 403},
		{name: "other port's origin", edits: []edit{host("localhost:37777"), header("Origin", "http://localhost:3000")}, want: 403},
		{name: "two origins", edits: []edit{host("localhost:1"), func(r *http.Request) {
			r.Header["Origin"] = []string{"http://localhost:1", "https://evil.example"}
		}}, want: 403},
		{name: "image on a foreign page", edits: []edit{header("Sec-Fetch-Site", "cross-site")}, want: 403},
		{name: "script on another port", edits: []edit{header("Sec-Fetch-Site", "same-site")}, want: 403},
		{name: "second site behind an innocent one", edits: []edit{header("Sec-Fetch-Site", "same-origin"), func(r *http.Request) {
			r.Header.Add("Sec-Fetch-Site", "cross-site")
		}}, want: 403},
		{name: "own page", edits: []edit{header("Sec-Fetch-Site", "same-origin")}, want: 200},
		{name: "foreign origin on the socket", socket: true, edits: []edit{header("Origin", "https://evil.example")}, want: 403},
		{name: "any host on the socket", socket: true, edits: []edit{host("whatever")}, want: 200},

		{name: "other user", opts: Options{CheckPeer: peerIs(PeerOther), Token: token}, want: 403},
		{name: "other user with token", opts: Options{CheckPeer: peerIs(PeerOther), Token: token}, edits: []edit{header("Authorization", "Bearer "+token)}, want: 403},
		{name: "other user, no token wanted", opts: Options{CheckPeer: peerIs(PeerOther), RequireToken: TokenNever}, want: 403},
		{name: "unknown user", opts: Options{CheckPeer: peerIs(PeerUnknown), Token: token}, want: 401},
		{name: "unknown user with token", opts: Options{CheckPeer: peerIs(PeerUnknown), Token: token}, edits: []edit{header("Authorization", "Bearer "+token)}, want: 200},
		{name: "unknown user with cookie", opts: Options{CheckPeer: peerIs(PeerUnknown), Token: token}, edits: []edit{header("Cookie", TokenCookie+"="+token)}, want: 200},
		{name: "unknown user with token, scheme in lower case", opts: Options{CheckPeer: peerIs(PeerUnknown), Token: token}, edits: []edit{header("Authorization", "bearer "+token)}, want: 200},
		{name: "unknown user with wrong token", opts: Options{CheckPeer: peerIs(PeerUnknown), Token: token}, edits: []edit{header("Authorization", "Bearer 3b1f8b")}, want: 401},
		{name: "unknown user with empty token", opts: Options{CheckPeer: peerIs(PeerUnknown)}, edits: []edit{header("Authorization", "Bearer ")}, want: 401},
		{name: "unknown user, no token wanted", opts: Options{CheckPeer: peerIs(PeerUnknown), RequireToken: TokenNever, Token: token}, want: 401},
		{name: "unknown user with token, no token wanted", opts: Options{CheckPeer: peerIs(PeerUnknown), RequireToken: TokenNever, Token: token}, edits: []edit{header("Authorization", "Bearer "+token)}, want: 200},
		{name: "system that does not say the user", opts: Options{CheckPeer: peerIs(PeerUnsaid), Token: token}, want: 401},
		{name: "system that does not say the user, no token wanted", opts: Options{CheckPeer: peerIs(PeerUnsaid), RequireToken: TokenNever}, want: 200},
		{name: "token always", opts: Options{CheckPeer: peerIs(PeerSame), RequireToken: TokenAlways, Token: token}, want: 401},
		{name: "token always, on the socket", socket: true, opts: Options{RequireToken: TokenAlways, Token: token}, want: 200},

		{name: "unknown route", path: "/api/nothing", want: 404},
		{name: "root", path: "/", want: 200},
		{name: "wrong method", method: "POST", want: 405},
		{name: "get on a write", path: wire.PathObservation, want: 405},
		{name: "preflight", method: "OPTIONS", path: wire.PathObservation, want: 405},
		{name: "delete", method: "DELETE", path: "/api/stats", want: 405},
		{name: "head", method: "HEAD", want: 200},
		{name: "head of a context", method: "HEAD", path: wire.PathContext + "?project_path=/p", want: 405},

		{name: "no content type", method: "POST", path: wire.PathObservation, edits: []edit{func(r *http.Request) { r.Header.Del("Content-Type") }}, want: 415},
		{name: "form", method: "POST", path: wire.PathObservation, edits: []edit{header("Content-Type", "application/x-www-form-urlencoded")}, want: 415},
		{name: "text", method: "POST", path: wire.PathObservation, edits: []edit{header("Content-Type", "text/plain; charset=application/json")}, want: 415},
		{name: "json with charset", method: "POST", path: wire.PathObservation, edits: []edit{header("Content-Type", "application/json; charset=utf-8")}, want: 202},

		{name: "this wire version", method: "POST", path: wire.PathObservation, edits: []edit{header(wire.Header, wire.VersionText)}, want: 202},
		{name: "other wire version", method: "POST", path: wire.PathObservation, edits: []edit{header(wire.Header, "999")}, want: 409},
		{name: "other wire version of a context", path: wire.PathContext + "?project_path=/p", edits: []edit{header(wire.Header, "0")}, want: 409},
		{name: "other wire version elsewhere", edits: []edit{header(wire.Header, "999")}, want: 200},

		{name: "add a learning", method: "POST", path: "/api/learnings", body: learningBody, want: 201},
		{name: "add a learning by a form", method: "POST", path: "/api/learnings", body: learningBody, edits: []edit{header("Content-Type", "text/plain")}, want: 415},
		{name: "add a learning from a page", method: "POST", path: "/api/learnings", body: learningBody, edits: []edit{header("Origin", "https://evil.example")}, want: 403},
		{name: "add a learning as another user", opts: Options{CheckPeer: peerIs(PeerOther)}, method: "POST", path: "/api/learnings", body: learningBody, want: 403},
		{name: "edit a learning", method: "PATCH", path: "/api/learnings/7", body: `{"active":true}`, want: 200},
		{name: "edit a learning by a form", method: "PATCH", path: "/api/learnings/7", body: `{"active":true}`, edits: []edit{header("Content-Type", "text/plain")}, want: 415},
		{name: "retire a learning", method: "DELETE", path: "/api/learnings/7", edits: []edit{func(r *http.Request) { r.Header.Del("Content-Type") }}, want: 200},
		{name: "retire a learning from a page", method: "DELETE", path: "/api/learnings/7", edits: []edit{header("Origin", "https://evil.example")}, want: 403},
		{name: "retire a learning from another port's page", method: "DELETE", path: "/api/learnings/7", edits: []edit{header("Sec-Fetch-Site", "same-site")}, want: 403},
		{name: "retire a learning, user unknown", opts: Options{CheckPeer: peerIs(PeerUnknown), Token: token}, method: "DELETE", path: "/api/learnings/7", want: 401},
		{name: "all learnings at once", method: "DELETE", path: "/api/learnings", want: 405},
		{name: "list learnings", path: "/api/learnings", want: 200},
		{name: "list learnings from a page", path: "/api/learnings", edits: []edit{header("Sec-Fetch-Site", "cross-site")}, want: 403},
		{name: "status line", path: wire.PathStatusline, want: 200},
		{name: "status line of another wire version", path: wire.PathStatusline, edits: []edit{header(wire.Header, "999")}, want: 409},
		{name: "memory", method: "POST", path: "/api/observations", body: `{"project":"p","narrative":"x"}`, want: 201},
		{name: "memory as a form", method: "POST", path: "/api/observations", edits: []edit{header("Content-Type", "text/plain")}, want: 415},
		{name: "memory from a page", method: "POST", path: "/api/observations", body: `{"project":"p","narrative":"x"}`, edits: []edit{header("Origin", "https://evil.example")}, want: 403},
		{name: "hide from a page", method: "DELETE", path: "/api/observations/124", edits: []edit{header("Origin", "https://evil.example")}, want: 403},
		{name: "hide by another user", opts: Options{CheckPeer: peerIs(PeerOther)}, method: "DELETE", path: "/api/observations/124", want: 403},
		{name: "search from a page", path: "/api/search?query=x", edits: []edit{header("Sec-Fetch-Site", "cross-site")}, want: 403},
		{name: "search without the token", opts: Options{RequireToken: TokenAlways, Token: "t"}, path: "/api/search?query=x", want: 401},

		{name: "status line from a page", path: wire.PathStatusline, edits: []edit{header("Origin", "https://evil.example")}, want: 403},

		{name: "shutdown over TCP", method: "POST", path: "/api/admin/shutdown", want: 403},
		{name: "reindex over TCP", method: "POST", path: "/api/admin/reindex", want: 403},
		{name: "reindex over the socket", socket: true, method: "POST", path: "/api/admin/reindex", want: 202},
		{name: "shutdown over the socket", socket: true, method: "POST", path: "/api/admin/shutdown", want: 202},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.opts.CheckPeer == nil {
				tt.opts.CheckPeer = peerIs(PeerSame)
			}
			s := serve(t, tt.opts)
			s.learnings = someLearnings()
			client := s.tcp
			if tt.socket {
				client = s.unix
			}
			method, path := tt.method, tt.path
			if method == "" {
				method = "GET"
			}
			if path == "" {
				path = "/api/health"
			}
			body := tt.body
			if method == "POST" && body == "" {
				body = toolBody
			}
			got := s.do(t, client, method, path, body, tt.edits...)
			if got.status != tt.want {
				t.Fatalf("status %d, want %d: %s", got.status, tt.want, got.body)
			}
			if got.header.Get(wire.Header) != wire.VersionText || got.header.Get("Server") != "claude-mem/1.2.3" {
				t.Errorf("version headers missing: %v", got.header)
			}
			for name := range got.header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("answer has %s", name)
				}
			}
			if got.status >= 400 && method != "HEAD" && !strings.HasPrefix(got.body, `{"error":{"code":"`) {
				t.Errorf("error body %q", got.body)
			}
			if refused := got.status == 403 || got.status == 401; refused && (len(s.events) > 0 || len(s.stopped) > 0 || len(s.edits) > 0 || len(s.learnings) > 2) {
				t.Error("a refused request had an effect")
			}
		})
	}
}

// A request of HTTP/1.0 may have no Host: it is accepted on the socket, which browsers
// cannot use, and refused on TCP.
func TestGuardWithoutHost(t *testing.T) {
	s := serve(t, Options{CheckPeer: peerIs(PeerSame)})
	for _, tt := range []struct {
		network, address string
		want             int
	}{{"unix", s.socketPath, 200}, {"tcp", s.port, 403}} {
		c, err := net.Dial(tt.network, tt.address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprint(c, "GET /api/health HTTP/1.0\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != tt.want {
			t.Errorf("%s: status %d, want %d", tt.network, resp.StatusCode, tt.want)
		}
		_ = resp.Body.Close()
		_ = c.Close()
	}
}

// On a server that NewServer did not make, no client counts as a socket client or as the
// same user.
func TestGuardWithoutConnContext(t *testing.T) {
	h := New(newFakeWorker().deps(), Options{})
	for remote, want := range map[string]int{"127.0.0.1:5": 401, "192.0.2.1:5": 403, "@": 403, "": 403} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost/api/health", nil)
		r.RemoteAddr = remote
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("from %q: status %d, want %d", remote, w.Code, want)
		}
	}
}

// The peer is looked up once for each connection, not for each request.
func TestPeerIsLookedUpOnceAConnection(t *testing.T) {
	n := 0
	s := serve(t, Options{CheckPeer: func(server, client addrPort) Peer {
		n++
		if server.String() == client.String() || !server.Addr().IsLoopback() {
			t.Errorf("looked up %v at %v", client, server)
		}
		return PeerSame
	}})
	for range 3 {
		if got := s.do(t, s.tcp, "GET", "/api/health", ""); got.status != 200 {
			t.Fatalf("status %d", got.status)
		}
	}
	if n != 1 {
		t.Errorf("looked up %d times, want once", n)
	}
}
