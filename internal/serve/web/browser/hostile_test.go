package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// evil would run scripts, turn the direction of text and colour a terminal.
const evil = ` <script>window.stolen = 1</script><img src=x onerror="window.stolen = 1">"'><svg onload="window.stolen = 1">` + "\u202egpj.exe \x1b[31mred\u200b 😀 שלום"

// TestHostileText: what an attacker wrote into every field is shown as text.
func TestHostileText(t *testing.T) {
	m := seeded()
	m.Evil = evil
	r := newRig(t, m)
	b := r.browser()
	b.open("/")
	shown := 0
	all := append(b.pages(), "/observation/10", "/session/10", "/search?q=window+stolen", "/timeline?around=10", `/search?q=%3Cscript%3Ewindow.stolen%3D1%3C/script%3E`)
	for _, page := range all {
		b.visit(page)
		if value[bool](b, `"stolen" in window || document.querySelector("main img, main script, main svg[onload]") !== null`) {
			t.Errorf("%s made elements of a record's text", page)
		}
		text := value[string](b, `document.documentElement.outerHTML`)
		for _, bad := range []string{"\u202e", "\x1b", "\u200b"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s has %q", page, bad)
			}
		}
		if strings.Contains(value[string](b, `document.body.innerText`), "<script>window.stolen") {
			shown++
		}
	}
	if shown < 8 {
		t.Errorf("only %d pages show the text", shown)
	}
	b.clean("/nowhere: status 404")
	t.Logf("point 4: %d pages with hostile text, shown as text on %d, no script ran, no complaint of the policy", len(all), shown)
}

// attempts are what a page of another origin tries; each returns whether it succeeded.
var attempts = map[string]string{
	"read by fetch":       `fetch(there + "/api/search?query=cache", {credentials: "include"}).then(r => r.text()).then(t => t.length > 0, () => false)`,
	"read a page":         `fetch(there + "/", {credentials: "include"}).then(r => r.text()).then(t => t.length > 0, () => false)`,
	"read the stream":     `new Promise(end => { const s = new EventSource(there + "/api/stream", {withCredentials: true}); s.onopen = () => end(true); s.onerror = () => { s.close(); end(false); }; })`,
	"send JSON":           `fetch(there + "/api/observations", {method: "POST", credentials: "include", headers: {"Content-Type": "application/json"}, body: '{"title":"planted"}'}).then(r => r.ok, () => false)`,
	"send without CORS":   `fetch(there + "/api/observations", {method: "POST", mode: "no-cors", credentials: "include", body: '{"title":"planted"}'}).then(() => false, () => false)`,
	"erase without CORS":  `fetch(there + "/api/admin/forget", {method: "POST", mode: "no-cors", credentials: "include", body: '{"observations":[12]}'}).then(() => false, () => false)`,
	"read what is framed": `new Promise(end => { const f = document.createElement("iframe"); f.onload = () => { try { end(f.contentDocument.body.innerText.includes("claude-mem")); } catch { end(false); } }; f.src = there + "/"; document.body.append(f); })`,
}

// TestOtherOrigin: a page of another origin, in a browser that was let in, reads and changes
// nothing, nor does a name that was made to point here.
func TestOtherOrigin(t *testing.T) {
	r := newRig(t, seeded())
	b := r.browser()
	b.open("/")
	before := r.found("order=newest&limit=50&kind=observation")
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, "<!doctype html><title>elsewhere</title><body>hello")
	}))
	defer other.Close()
	// Another port of the same host is of the same site, which gets the cookie.
	for _, origin := range []string{other.URL, strings.Replace(other.URL, "127.0.0.1", "localhost", 1)} {
		b.do(chromedp.Navigate(origin + "/"))
		for what, script := range attempts {
			if value[bool](b, fmt.Sprintf("{ const there = %q; %s }", r.origin(), script)) {
				t.Errorf("%s could %s", origin, what)
			}
		}
	}
	if after := r.found("order=newest&limit=50&kind=observation"); strings.Join(after, " ") != strings.Join(before, " ") {
		t.Errorf("the newest records were %v, now %v", before, after)
	}
	var erasure struct{ State string }
	r.get("/api/admin/forget", &erasure)
	if erasure.State != "none" {
		t.Errorf("an erasure is %s", erasure.State)
	}
	for _, path := range []string{"/", "/api/search?query=cache", "/static/app.js"} {
		req, err := http.NewRequest(http.MethodGet, r.origin()+path, nil)
		must(t, err)
		req.Host = "rebound.example"
		resp, err := http.DefaultClient.Do(req)
		must(t, err)
		must(t, resp.Body.Close())
		if resp.StatusCode < 400 {
			t.Errorf("%s is answered to another host's name: %s", path, resp.Status)
		}
	}
	if t.Failed() {
		return
	}
	t.Logf("point 4: %d attempts of 2 other origins and 3 of a rebound name, none succeeded", 2*len(attempts))
}
