package httpapi

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

const (
	// pathOpen takes the code of api.OpenPath and gives the browser its cookie.
	pathOpen = "/open"
	// PageHeader is the header in which a page sends the token that the viewer put into it.
	PageHeader = "X-Claude-Mem-Page"

	// codeTime is how long a code is valid: the start of a browser.
	codeTime = time.Minute
	// maxCodes bounds the codes that are valid at one time; the oldest give way.
	maxCodes = 16
)

// codes are the codes that let browsers in, each once.
type codes struct {
	clock  func() time.Time
	random io.Reader

	mu    sync.Mutex
	valid []api.OpenCode // the oldest first
}

// issue returns a new code.
func (c *codes) issue() (api.OpenCode, error) {
	var raw [32]byte
	if _, err := io.ReadFull(c.random, raw[:]); err != nil {
		return api.OpenCode{}, err
	}
	code := api.OpenCode{Code: hex.EncodeToString(raw[:]), Until: memory.MillisOf(c.clock().Add(codeTime))}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.valid = append(c.valid, code)
	c.valid = c.valid[max(0, len(c.valid)-maxCodes):]
	return code, nil
}

// take reports whether a code is valid; it is not any more afterwards.
func (c *codes) take(code string) bool {
	now := memory.MillisOf(c.clock())
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, known := range c.valid {
		if subtle.ConstantTimeCompare([]byte(known.Code), []byte(code)) == 1 {
			c.valid = append(c.valid[:i:i], c.valid[i+1:]...)
			return now <= known.Until
		}
	}
	return false
}

// openCode makes a code for /open.
func (a *server) openCode(context.Context, struct{}) (api.OpenCode, error) {
	if a.opts.Token == "" {
		return api.OpenCode{}, memory.Errorf(memory.CodeUnavailable, "this worker has no viewer")
	}
	return a.codes.issue()
}

// open gives a browser with a valid code its cookie and sends it to the page that the
// parameter to names; without a valid code it answers CodeForbidden.
func (a *server) open(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if r.Method != http.MethodGet || !a.codes.take(q.Get("code")) {
		a.fail(w, r, memory.Errorf(memory.CodeForbidden, "this address was valid once, for a minute").
			WithHint("run `claude-mem open` again"))
		return
	}
	http.SetCookie(w, &http.Cookie{Name: cookieName(r), Value: a.cookie(r), Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	w.Header().Set("Referrer-Policy", "no-referrer") // the code is in the address
	http.Redirect(w, r, ownPath(q.Get("to")), http.StatusSeeOther)
}

// ownPath returns a path of this server with its query, / for anything else.
func ownPath(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "//") || strings.Contains(to, `\`) {
		return "/"
	}
	return u.RequestURI()
}

// page passes a request on to the viewer, with the token of the page if its writes will be
// accepted.
func (a *server) page(w http.ResponseWriter, r *http.Request) {
	token := ""
	if a.hasCookie(r) {
		token = a.derived(r, "page")
	}
	a.Viewer.Serve(w, r, token)
}

// cookieName returns the name of the cookie: browsers send the cookies of a host to all its
// ports.
func cookieName(r *http.Request) string { return "claude_mem_" + portOf(r) }

// portOf returns the port in the Host header, which the guard has checked.
func portOf(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		return "80"
	}
	return port
}

// derived returns a secret made of the server's token, for a purpose and a port. It is the
// same after a restart, and the token cannot be found from it.
func (a *server) derived(r *http.Request, purpose string) string {
	mac := hmac.New(sha256.New, []byte(a.opts.Token))
	mac.Write([]byte("claude-mem viewer " + purpose + " " + portOf(r)))
	return hex.EncodeToString(mac.Sum(nil))
}

// cookie returns the value of the cookie.
func (a *server) cookie(r *http.Request) string { return a.derived(r, "cookie") }

// hasCookie reports whether the request has the cookie of open.
func (a *server) hasCookie(r *http.Request) bool {
	c, err := r.Cookie(cookieName(r))
	return err == nil && a.opts.Token != "" && subtle.ConstantTimeCompare([]byte(c.Value), []byte(a.cookie(r))) == 1
}

// checkWriter returns CodeForbidden for a change that a browser sends without the cookie and
// the token of its page. Other programs are known by the guard alone: only browsers send
// what pages that others wrote tell them to. A route for pages only refuses them too.
func (a *server) checkWriter(r *http.Request, rt route) error {
	browser := rt.pageOnly || r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != ""
	if !browser || rt.method == http.MethodGet || rt.path == api.BatchPath || a.hasToken(r) {
		return nil
	}
	page := []byte(r.Header.Get(PageHeader))
	if a.hasCookie(r) && subtle.ConstantTimeCompare(page, []byte(a.derived(r, "page"))) == 1 {
		return nil
	}
	return memory.Errorf(memory.CodeForbidden, "this page may only read").
		WithHint("run `claude-mem open` to make changes")
}
