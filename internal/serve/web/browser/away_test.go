package browser

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestAway: a page that is loaded while the worker is away says what to run, in the chosen theme; the
// browser keeps no other page, and another site's link is refused as without it.
func TestAway(t *testing.T) {
	r := newRig(t, Memory{Observations: 20, Until: seeded().Until, Days: 2})
	b := r.browser()
	b.open("/")
	value[bool](b, `navigator.serviceWorker.ready.then(() => true)`)
	for _, page := range []string{"/search?q=cache", "/observation/12", "/?q=type:bugfix", "/"} {
		b.visit(page)
		b.is(`navigator.serviceWorker.controller`)
	}
	b.await(`document.getElementById("live").hidden`)
	late := r.remember("It came through beside the page that answers for the worker")
	b.await(fmt.Sprintf(`document.querySelector("[data-id='observation-%d']")`, late))
	kept := value[[]string](b, `caches.keys().then(async names => (await Promise.all(names.map(async n => (await (await caches.open(n)).keys()).map(r => new URL(r.url).pathname)))).flat())`)
	if want := []string{"/static/away.html", "/static/away.js", "/static/app.css"}; !slices.Equal(kept, want) {
		t.Errorf("the browser keeps %q, want %q", kept, want)
	}

	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<a href="`+r.origin()+`/observation/12">a link</a>`)
	}))
	t.Cleanup(stranger.Close)
	b.do(chromedp.Navigate(stranger.URL))
	b.do(chromedp.Click(chromedp.CSS("a")))
	b.await(fmt.Sprintf(`location.origin === %q && document.body?.innerText.includes("another origin are refused")`, r.origin()))

	r.command("worker", "stop")
	for _, theme := range []string{"light", "dark"} {
		for _, page := range []string{"/observation/12", "/"} {
			b.visit(page)
			b.await(`document.querySelector("main code")?.textContent === "claude-mem open"`)
			b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`window.old = true; void (document.cookie = "claude_mem_theme=%s; path=/; samesite=strict")`, theme)))
			b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("main a").click()`))
			b.await(fmt.Sprintf(`!window.old && document.readyState === "complete" && document.documentElement.dataset.theme === %q && document.querySelector("h1")?.textContent === "claude-mem is not running"`, theme))
			if dark := value[bool](b, `getComputedStyle(document.body).backgroundColor === "rgb(20, 23, 27)"`); dark != (theme == "dark") {
				t.Errorf("dark is %v with the theme %s", dark, theme)
			}
			b.is(`!document.querySelector("main h1 ~ :not(p)")`)
		}
		r.picture(b, "/away", theme, 1280)
	}
	r.command("worker", "start")
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("main a").click()`))
	b.await(fmt.Sprintf(`document.querySelector("[data-id='observation-%d']") && document.getElementById("live")?.hidden`, late))
	b.is(`!document.getElementById("read-only")`)
}
