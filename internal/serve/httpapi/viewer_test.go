package httpapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"claudemem/internal/serve/api"
)

// fakeViewer answers with the token that it was given.
type fakeViewer struct{}

func (fakeViewer) Serve(w http.ResponseWriter, _ *http.Request, token string) {
	_, _ = fmt.Fprintf(w, "page %q", token)
}

// viewed returns a server with a viewer.
func viewed(opts Options, f *fakeWorker) *server {
	return newServer(f.deps(), opts)
}

// visit sends a request past the guard's look at the connection, which httptest has not.
func visit(s *server, method, path string, edits ...edit) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:37777"+path, strings.NewReader(`{"pinned":true}`))
	r.Header.Set("Content-Type", "application/json")
	for _, e := range edits {
		e(r)
	}
	w := httptest.NewRecorder()
	s.router().ServeHTTP(w, r)
	return w
}

// opened returns the cookie that a code gives.
func opened(t *testing.T, s *server) edit {
	t.Helper()
	code, err := s.codes.issue()
	if err != nil {
		t.Fatal(err)
	}
	w := visit(s, "GET", "/open?code="+code.Code)
	cookies := w.Result().Cookies()
	if w.Code != http.StatusSeeOther || len(cookies) != 1 {
		t.Fatalf("status %d, cookies %v", w.Code, cookies)
	}
	return func(r *http.Request) { r.AddCookie(cookies[0]) }
}

func TestOpen(t *testing.T) {
	now := noon
	s := viewed(Options{Token: "secret", Clock: func() time.Time { return now }}, newFakeWorker())
	code, err := s.codes.issue()
	if err != nil {
		t.Fatal(err)
	}
	if w := visit(s, "HEAD", "/open?code="+code.Code); w.Code != http.StatusForbidden {
		t.Errorf("HEAD: status %d", w.Code)
	}
	w := visit(s, "GET", "/open?to=%2Fsearch%3Fq%3Dx&code="+code.Code)
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/search?q=x" {
		t.Errorf("status %d, to %s", w.Code, w.Header().Get("Location"))
	}
	set := w.Header().Get("Set-Cookie")
	for _, want := range []string{"claude_mem_37777=", "HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(set, want) {
			t.Errorf("the cookie %s is without %s", set, want)
		}
	}
	if strings.Contains(set, "secret") {
		t.Errorf("the cookie %s has the token", set)
	}
	for _, used := range []string{code.Code, "", "x"} {
		if w := visit(s, "GET", "/open?code="+used); w.Code != http.StatusForbidden || w.Header().Get("Set-Cookie") != "" {
			t.Errorf("code %q: status %d", used, w.Code)
		}
	}
	old, _ := s.codes.issue()
	now = now.Add(codeTime + time.Millisecond)
	if w := visit(s, "GET", "/open?code="+old.Code); w.Code != http.StatusForbidden {
		t.Errorf("an old code: status %d", w.Code)
	}
	for to, want := range map[string]string{"": "/", "//evil.example": "/", "https://evil.example/": "/", `/\evil.example`: "/", "search": "/", "/a?b#c": "/a?b"} {
		if got := ownPath(to); got != want {
			t.Errorf("to %q leads to %s", to, got)
		}
	}
}

// TestCookieOutlivesTheServer: the cookie of a server is good at the next one with the same
// token, and at no other.
func TestCookieOutlivesTheServer(t *testing.T) {
	cookie := opened(t, viewed(Options{Token: "secret"}, newFakeWorker()))
	if w := visit(viewed(Options{Token: "secret"}, newFakeWorker()), "GET", "/", cookie); w.Body.String() == `page ""` {
		t.Error("the cookie was forgotten")
	}
	for _, other := range []string{"another", ""} {
		if w := visit(viewed(Options{Token: other}, newFakeWorker()), "GET", "/", cookie); w.Body.String() != `page ""` {
			t.Errorf("a server with token %q answers %s", other, w.Body)
		}
	}
	if w := visit(viewed(Options{Token: "secret"}, newFakeWorker()), "GET", "/", cookie, host("127.0.0.1:3000")); w.Body.String() != `page ""` {
		t.Errorf("another port answers %s", w.Body)
	}
}

func TestPageWrites(t *testing.T) {
	f := newFakeWorker()
	f.records = someRecords()
	s := viewed(Options{Token: "secret"}, f)
	cookie := opened(t, s)
	var page string
	if _, err := fmt.Sscanf(visit(s, "GET", "/", cookie).Body.String(), "page %q", &page); err != nil || page == "" {
		t.Fatalf("no token: %v", err)
	}
	browser := header("Origin", "http://127.0.0.1:37777")
	fetch := header("Sec-Fetch-Site", "same-origin")
	tests := []struct {
		name  string
		edits []edit
		want  int
	}{
		{"cookie and page", []edit{browser, fetch, cookie, header(PageHeader, page)}, 200},
		{"no cookie", []edit{browser, header(PageHeader, page)}, 403},
		{"no page", []edit{browser, cookie}, 403},
		{"another page", []edit{browser, cookie, header(PageHeader, page[1:])}, 403},
		{"the cookie's value as page", []edit{fetch, cookie, header(PageHeader, s.cookie(httptest.NewRequest(http.MethodGet, "http://127.0.0.1:37777/", nil)))}, 403},
		{"without Origin", []edit{fetch}, 403},
		{"token", []edit{browser, header("Authorization", "Bearer secret")}, 200},
		{"a program", nil, 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f.edited = nil
			w := visit(s, "PATCH", "/api/observations/124", tt.edits...)
			if w.Code != tt.want || (len(f.edited) > 0) != (tt.want == 200) {
				t.Errorf("status %d, want %d, %d edits: %s", w.Code, tt.want, len(f.edited), w.Body)
			}
			var body api.ErrorBody
			if tt.want == 403 && (json.Unmarshal(w.Body.Bytes(), &body) != nil || !strings.Contains(body.Error.Hint, "claude-mem open")) {
				t.Errorf("no hint: %s", w.Body)
			}
		})
	}
}

// TestViewerBehindTheGuard: /open alone is reached without the token, where that is needed.
func TestViewerBehindTheGuard(t *testing.T) {
	s := viewed(Options{Token: "secret", CheckPeer: peerIs(PeerSame), RequireToken: TokenAlways}, newFakeWorker())
	handler := s.guarded(s.router())
	local := func(path string, edits ...edit) int {
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:37777"+path, nil)
		r.RemoteAddr = "127.0.0.1:5"
		for _, e := range edits {
			e(r)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Code
	}
	cookie := opened(t, s)
	for _, tt := range []struct {
		path  string
		edits []edit
		want  int
	}{
		{"/", nil, 401}, {"/open?code=x", nil, 403}, {"/", []edit{cookie}, 200}, {"/api/health", []edit{cookie}, 200},
		{"/", []edit{cookie, host("evil.example:37777")}, 403}, {"/", []edit{cookie, header("Sec-Fetch-Site", "cross-site")}, 403},
		{"/", []edit{cookie, header("Origin", "https://evil.example")}, 403}, {"/api/nothing", []edit{cookie}, 404},
	} {
		if got := local(tt.path, tt.edits...); got != tt.want {
			t.Errorf("%s: status %d, want %d", tt.path, got, tt.want)
		}
	}
}

// TestForgetByPagesOnly: no program without the token, and no page without the cookie and its
// token, erases; the answer does not wait for the end.
func TestForgetByPagesOnly(t *testing.T) {
	f := newFakeWorker()
	s := viewed(Options{Token: "secret"}, f)
	cookie := opened(t, s)
	var page string
	if _, err := fmt.Sscanf(visit(s, "GET", "/", cookie).Body.String(), "page %q", &page); err != nil {
		t.Fatal(err)
	}
	body := func(r *http.Request) {
		r.Body = io.NopCloser(strings.NewReader(`{"observations":[12],"sessions":[3]}`))
	}
	for name, tt := range map[string]struct {
		edits []edit
		want  int
	}{
		"a program":        {nil, 403},
		"cookie alone":     {[]edit{cookie}, 403},
		"page alone":       {[]edit{header(PageHeader, page)}, 403},
		"cookie and page":  {[]edit{cookie, header(PageHeader, page), header("Origin", "http://127.0.0.1:37777")}, 202},
		"the user's token": {[]edit{header("Authorization", "Bearer secret")}, 202},
	} {
		f.forgotten = nil
		w := visit(s, "POST", api.ForgetPath, append(tt.edits, body)...)
		if w.Code != tt.want || (len(f.forgotten) == 1) != (tt.want == 202) {
			t.Errorf("%s: status %d, want %d, %v: %s", name, w.Code, tt.want, f.forgotten, w.Body)
		}
	}
}
