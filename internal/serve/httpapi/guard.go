package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"mime"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"

	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// TokenCookie is the cookie in which a browser may send the token.
const TokenCookie = "claude_mem_token"

// guarded returns a handler that passes admitted requests on to next (docs/http-api.md, "Who
// gets in"). It sets the headers of every answer and turns a panic into an error.
func (a *server) guarded(next http.Handler) http.Handler {
	server := "claude-mem"
	if a.opts.Version != "" {
		server += "/" + a.opts.Version
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Server", server)
		h.Set(wire.Header, wire.VersionText)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		defer func() {
			switch p := recover(); p {
			case nil:
			case http.ErrAbortHandler:
				panic(p)
			default:
				a.opts.Logger.Error("handler panicked", "method", r.Method, "route", r.Pattern, "panic", p, "stack", string(debug.Stack()))
				a.fail(w, r, memory.Errorf(memory.CodeInternal, "internal error").WithHint("see claude-mem worker logs"))
			}
		}()
		if err := a.admit(r); err != nil {
			if memory.CodeOf(err) == api.CodeUnauthorized {
				h.Set("WWW-Authenticate", "Bearer")
			}
			a.fail(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// admit returns nil for a request of this machine's user, else CodeForbidden or
// api.CodeUnauthorized with the reason.
func (a *server) admit(r *http.Request) error {
	link := linkOf(r)
	if !link.unix {
		if ip := link.client.Addr(); !ip.Unmap().IsLoopback() {
			return memory.Errorf(memory.CodeForbidden, "only this machine may connect")
		}
		if !loopbackHost.MatchString(strings.ToLower(r.Host)) {
			// DNS rebinding: a web page whose name resolves to 127.0.0.1 sends that name.
			return memory.Errorf(memory.CodeForbidden, "host %q is not a loopback name", r.Host).
				WithHint("use localhost, 127.0.0.1 or [::1]")
		}
	}
	if err := sameOrigin(r); err != nil {
		return err
	}
	if link.unix {
		return nil // only its owner can open the socket
	}
	peer := link.peer(a.opts.CheckPeer)
	if peer == PeerOther {
		return memory.Errorf(memory.CodeForbidden, "the worker belongs to another user")
	}
	// The code that /open takes is a proof by itself.
	if a.needsToken(peer) && !a.hasToken(r) && !a.hasCookie(r) && r.URL.Path != pathOpen {
		return memory.Errorf(api.CodeUnauthorized, "the token is missing or wrong").
			WithHint("a browser gets in by `claude-mem open`; others send Authorization: Bearer TOKEN; it is in the file token of the data directory")
	}
	return nil
}

// needsToken reports whether a TCP client must send the token. Where the system says whose
// a client is, no setting lets in one that cannot be found: another user's, which has sent
// its request and closed the socket.
func (a *server) needsToken(peer Peer) bool {
	return a.opts.RequireToken == TokenAlways || peer == PeerUnknown || a.opts.RequireToken != TokenNever && peer != PeerSame
}

// hasToken reports whether the request has the server's token as Bearer or, without a Bearer, in
// TokenCookie, which is not the cookie of open. It is false if the server has no token. Who has the
// token may also write from a browser (checkWriter).
func (a *server) hasToken(r *http.Request) bool {
	scheme, shown, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		shown = ""
		if c, err := r.Cookie(TokenCookie); err == nil {
			shown = c.Value
		}
	}
	if a.opts.Token == "" {
		return false
	}
	// Hashes have one length: the comparison takes the same time for every token.
	got, want := sha256.Sum256([]byte(strings.TrimSpace(shown))), sha256.Sum256([]byte(a.opts.Token))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// loopbackHost matches a Host header in lower case that is localhost, 127.0.0.1 or [::1], with any
// port.
var loopbackHost = regexp.MustCompile(`^(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?$`)

// sameOrigin returns CodeForbidden for requests that a web page of another origin makes a
// browser send.
func sameOrigin(r *http.Request) error {
	refused := memory.Errorf(memory.CodeForbidden, "requests from web pages of another origin are refused")
	if origins := r.Header.Values("Origin"); len(origins) > 1 ||
		len(origins) == 1 && !strings.EqualFold(origins[0], "http://"+r.Host) {
		return refused
	}
	// Browsers send this header also with requests that have no Origin: an image, a
	// script, a page of another port of localhost.
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "" && site != "none" && site != "same-origin" {
			return refused
		}
	}
	return nil
}

// checkRoute returns an error for a request that its route does not take: over TCP
// instead of the socket, a body that is not JSON, or a hook of another wire version.
func checkRoute(r *http.Request, rt route) error {
	if rt.socketOnly && !linkOf(r).unix {
		return memory.Errorf(memory.CodeForbidden, "%s works on the socket only", rt.path).
			WithHint("use the claude-mem command")
	}
	// A DELETE has no body, and a web page needs a permission (CORS) to send one.
	if rt.method != http.MethodGet && rt.method != http.MethodDelete {
		// An HTML form cannot send this type, and a script needs a permission (CORS).
		media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if err != nil || media != "application/json" {
			return memory.Errorf(api.CodeMediaType, "the body must be JSON").WithHint("send Content-Type: application/json")
		}
	}
	if rt.hook {
		// Clients without the header are not our hooks; they follow docs/http-api.md.
		if v := r.Header.Get(wire.Header); v != "" && v != wire.VersionText {
			return memory.Errorf(memory.CodeWireVersion, "the worker speaks wire version %s, not %.20q", wire.VersionText, v).
				WithHint("claude-mem worker restart, after an update also of the plugin")
		}
	}
	return nil
}
