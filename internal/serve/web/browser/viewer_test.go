package browser

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// seeded is the memory of most tests.
func seeded() Memory { return Memory{Observations: 2000, Until: time.Now(), Days: 60} }

// shownIDs returns the records that a page shows, such as observation-12.
const shownIDs = `[...document.querySelectorAll("[data-id^=observation-], [data-id^=summary-], [data-id^=prompt-]")].map(r => r.dataset.id)`

// pageTurns is the number of turns on a page of the feed and of the search.
const pageTurns = 20

// hit is a record that the API finds.
type hit struct {
	Kind    string
	ID      int
	Session int `json:"session_db_id"`
	Prompt  int `json:"prompt_number"`
}

func (h hit) name() string { return fmt.Sprint(h.Kind, "-", h.ID) }

// hits returns the records that the API finds, and how many there are.
func (r *rig) hits(query string) ([]hit, int) {
	r.t.Helper()
	var page struct {
		Results []hit
		Total   int
	}
	r.get("/api/search?format=full&"+query, &page)
	return page.Results, page.Total
}

// found returns the records that the API finds, as rows name them.
func (r *rig) found(query string) (ids []string) {
	all, _ := r.hits(query)
	for _, h := range all {
		ids = append(ids, h.name())
	}
	return ids
}

// foundByTurn returns the records that the API finds as a page shows them: those of a turn together,
// observations first, of at most pageTurns turns, and of fewer without the last if more were found.
func (r *rig) foundByTurn(query string) (ids []string) {
	all, total := r.hits(query)
	var turns [][]hit
	at := map[[2]int]int{}
	for _, h := range all {
		key := [2]int{h.Session, h.Prompt}
		n, known := at[key]
		switch {
		case known && h.Session*h.Prompt != 0:
			turns[n] = append(turns[n], h)
		case len(turns) < pageTurns:
			at[key] = len(turns)
			turns = append(turns, []hit{h})
		}
	}
	if len(turns) < pageTurns && len(all) < total {
		turns = turns[:len(turns)-1]
	}
	for _, turn := range turns {
		slices.SortStableFunc(turn, func(a, b hit) int {
			besides := map[bool]int{true: 1}
			return besides[a.Kind != "observation"] - besides[b.Kind != "observation"]
		})
		for _, h := range turn {
			ids = append(ids, h.name())
		}
	}
	return ids
}

// TestTurns: twenty folded turns fit on a screen of 900 px and open in place without a request; a
// turn that comes is seen to.
func TestTurns(t *testing.T) {
	r := newRig(t, seeded())
	b := r.browser()
	b.do(chromedp.EmulateViewport(1440, 900))
	b.open("/")
	// The stream has opened, and the page is brought up to date.
	b.await(`performance.getEntriesByType("resource").some((e) => e.name.includes("fragment=1") && e.responseEnd > 0)`)
	if n := value[int](b, `document.querySelectorAll(".rows > li").length`); n != pageTurns {
		t.Errorf("the feed shows %d turns, want %d", n, pageTurns)
	}
	high := value[float64](b, `Math.max(...[...document.querySelectorAll(".rows > li")].map(e => e.getBoundingClientRect().height))`)
	if high > 44 {
		t.Errorf("a folded turn is %v px high, at most 44 are allowed", high)
	}
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".day").scrollIntoView()`))
	end := value[float64](b, `(() => { const all = [...document.querySelectorAll(".rows > li")].map(e => e.getBoundingClientRect()); return all.at(-1).bottom - all[0].top; })()`)
	if end > 900 {
		t.Errorf("%d folded turns are %v px high", pageTurns, end)
	}
	sent := len(b.sent)
	b.do(chromedp.KeyEvent("j"), chromedp.KeyEvent(kb.Enter))
	b.await(`document.querySelector(".turn > details").open && document.querySelector(".turn .records a.title").checkVisibility()`)
	if len(b.sent) != sent {
		t.Errorf("a turn that opens asked %v", b.sent[sent:])
	}
	if twice := value[bool](b, `document.querySelector(".turn .outcome").checkVisibility()`); twice {
		t.Error("the outcome of an open turn is shown beside its record")
	}
	open := value[string](b, `document.querySelector(".turn").dataset.id`)
	id := r.remember("The zeppelin docks at noon")
	b.await(fmt.Sprintf(`document.querySelector("[data-id='observation-%d'].new")`, id))
	if news := value[int](b, `document.querySelectorAll(".new").length`); news != 1 {
		t.Errorf("%d turns are marked as new", news)
	}
	b.await(fmt.Sprintf(`document.querySelector("[data-id='%s'] > details").open && document.activeElement.closest("[data-id='%s']")`, open, open))
	b.clean()
	t.Logf("%d folded turns are %.0f px high, each at most %.0f", pageTurns, end, high)
}

// pages are the addresses of all pages: those of the navigation, and of records.
func (b *tab) pages() []string {
	b.r.t.Helper()
	b.visit("/")
	all := value[[]string](b, `[...document.querySelectorAll("nav a")].map(a => a.getAttribute("href"))`)
	return append(all, "/?q=type:bugfix+project:tally", "/search?q=rate+limiter", "/observation/12", "/session/3", "/timeline?around=12", "/add", "/add?kind=learning", "/doctor", "/devices", "/team", "/static/away.html", "/nowhere")
}

// TestSessionPages: no sentence of five words or more stands twice on the page of a session.
func TestSessionPages(t *testing.T) {
	r := newRig(t, seeded())
	b := r.browser()
	for id := 1; id <= 10; id++ {
		b.visit(fmt.Sprintf("/session/%d", id))
		said := value[[]string](b, `document.querySelector("main").innerText.split(/[.!?;:]+\s|\n/).map(s => s.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ").trim()).filter(s => s.split(" ").length >= 5)`)
		slices.Sort(said)
		if all := len(said); all < 10 {
			t.Errorf("session %d has %d sentences", id, all)
		}
		for i := range said[1:] {
			if said[i] == said[i+1] {
				t.Errorf("session %d says twice: %s", id, said[i])
			}
		}
	}
	b.clean()
}

// TestLiveFeed: a record shows when it is stored; after the worker was away nothing is missing
// and nothing doubled.
func TestLiveFeed(t *testing.T) {
	r := newRig(t, seeded())
	b := r.browser()
	b.open("/")
	b.await(`document.getElementById("live").hidden`)
	var slowest time.Duration
	for i := range 5 {
		id := r.remember(fmt.Sprintf("Live record %d", i))
		stored := time.Now()
		b.await(fmt.Sprintf(`document.querySelector("[data-id='observation-%d']")`, id))
		slowest = max(slowest, time.Since(stored))
	}
	t.Logf("point 1: a new observation is shown at most %v after it was stored", slowest.Round(time.Millisecond))

	r.command("worker", "stop")
	b.await(`!document.getElementById("live").hidden`)
	r.command("worker", "start")
	for i := range 5 {
		r.remember(fmt.Sprintf("Record %d while the page was away", i))
	}
	b.await(`document.getElementById("live").hidden`)
	want := r.foundByTurn("order=newest&limit=100&kind=observation,summary")
	b.await(fmt.Sprintf(`JSON.stringify(%s) === %q`, shownIDs, jsonOf(want)))
	if ids := value[[]string](b, shownIDs); len(slices.Compact(slices.Sorted(slices.Values(ids)))) != len(ids) {
		t.Errorf("a record is shown twice: %v", ids)
	}
	b.clean("status 503", "status 0")
	t.Logf("point 1: %d records after a restart, none missing or doubled", len(want))
}

// TestSearchAsYouType: what is typed is found in the API's order, and filters combine.
func TestSearchAsYouType(t *testing.T) {
	r := newRig(t, seeded())
	b := r.browser()
	b.open("/search")
	b.await(`document.activeElement.id === "q"`)
	b.do(chromedp.KeyEvent("upload queue ends early"))
	want := r.foundByTurn(url.Values{"query": {"upload queue ends early"}, "limit": {"40"}}.Encode())
	if len(want) == 0 {
		t.Fatal("the API finds nothing")
	}
	b.await(fmt.Sprintf(`JSON.stringify(%s) === %q`, shownIDs, jsonOf(want)))
	b.await(`new URL(location).searchParams.get("q") === "upload queue ends early"`)

	b.visit("/?q=" + url.QueryEscape("type:bugfix project:harbor"))
	want = r.foundByTurn("type=bugfix&project=harbor&order=newest&limit=100")
	if got := value[[]string](b, shownIDs); !slices.Equal(got, want) || len(got) == 0 {
		t.Errorf("the feed shows %v, the API %v", got, want)
	}
	b.do(chromedp.Click(chromedp.CSS(`.chip.type-decision`)))
	b.await(`new URL(location).searchParams.get("q")?.includes("type:decision")`)
	want = r.foundByTurn("type=bugfix,decision&project=harbor&order=newest&limit=100")
	b.await(fmt.Sprintf(`JSON.stringify(%s) === %q`, shownIDs, jsonOf(want)))
	b.clean()
	t.Logf("point 1: search as you type and %d combined filters show the API's order", 3)
}

// TestChanges: edit, pin, hide, undo and forget, each seen by the search.
func TestChanges(t *testing.T) {
	r := newRig(t, seeded())
	b := r.browser()
	id := r.remember("The zeppelin docks at noon")
	here := fmt.Sprintf("/observation/%d", id)
	zeppelin := func(want int) {
		t.Helper()
		for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
			var page struct{ Results []struct{ Title string } }
			r.get("/api/search?query=zeppelin&limit=5", &page)
			got := 0
			for _, hit := range page.Results { // it finds what is near in meaning, too
				if strings.Contains(hit.Title, "zeppelin") {
					got++
				}
			}
			if got == want {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("the search finds %d records of that title, want %d", got, want)
			}
		}
	}
	zeppelin(1)
	b.open(strings.TrimPrefix(here, "/"))
	press := func(action string) { t.Helper(); b.do(chromedp.Click(chromedp.CSS(`button[data-do=` + action + `]`))) }
	undo := func() {
		t.Helper()
		b.await(`document.querySelector("#toast button")`)
		b.do(chromedp.Click(chromedp.CSS(`#toast button`)))
		b.await(`document.getElementById("toast").textContent === "Undone"`)
	}

	press("edit")
	b.do(chromedp.SetValue(chromedp.CSS(`#edit [name=title]`), "The airship docks at noon"), chromedp.Click(chromedp.CSS(`#edit button[value=save]`)))
	b.await(`document.querySelector("h1").textContent.includes("airship")`)
	zeppelin(0)
	undo()
	zeppelin(1)

	press("pin")
	b.await(`document.querySelector("[data-observation]").dataset.pinned === "true"`)
	undo()
	b.await(`document.querySelector("[data-observation]").dataset.pinned === "false"`)

	press("hide")
	zeppelin(0)
	undo()
	zeppelin(1)
	b.await(`document.querySelector("[data-observation]:not([hidden])")`)

	b.do(chromedp.Click(chromedp.CSS(`button[data-forget]`)), chromedp.Click(chromedp.CSS(`#forget button[value=forget]`)))
	b.await(`document.querySelector("#main h1")?.textContent.includes("is forgotten")`)
	zeppelin(0)
	must(t, filepath.WalkDir(r.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		body, err := os.ReadFile(path)
		if strings.Contains(strings.ToLower(string(body)), "zeppelin") {
			t.Errorf("%s has the forgotten text", path)
		}
		return err
	}))
	// The page that stayed open may go on making changes after the worker's restart.
	b.visit("/observation/12")
	press("pin")
	b.await(`document.querySelector("[data-observation]").dataset.pinned === "true"`)
	b.clean("ERR_", "status 503", "/api/admin/forget")
	t.Log("point 1: edit, pin, hide, undo and forget reach the search")
}

// TestKeyboard: all is done by keys, and the focus is always seen.
func TestKeyboard(t *testing.T) {
	r := newRig(t, seeded())
	b := r.browser()
	b.open("/")
	for _, page := range value[[][]string](b, `[...document.querySelectorAll("nav a[data-key]")].map(a => [a.dataset.key, a.getAttribute("href")])`) {
		b.do(chromedp.KeyEvent("g" + page[0]))
		b.await(fmt.Sprintf(`location.pathname === %q && document.readyState === "complete"`, page[1]))
		b.do(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`))
	}
	b.visit("/")
	b.do(chromedp.KeyEvent("jj"))
	b.await(`document.activeElement === document.querySelectorAll("summary.row")[1]`)
	b.await(`getComputedStyle(document.activeElement).outlineStyle !== "none"`)
	b.do(chromedp.KeyEvent(kb.Enter))
	b.await(`document.activeElement.parentElement.open`)
	b.do(chromedp.KeyEvent("j"))
	b.await(`document.activeElement === document.querySelectorAll(".turn")[1].querySelector("a.title")`)
	to := value[string](b, `document.activeElement.getAttribute("href")`)
	b.do(chromedp.KeyEvent(kb.Enter))
	b.await(fmt.Sprintf(`location.pathname + location.search + location.hash === %q`, to))
	b.visit("/")
	b.do(chromedp.KeyEvent("/"))
	b.await(`document.activeElement.id === "q"`)
	b.do(chromedp.KeyEvent("type:bugfix"), chromedp.KeyEvent(kb.Enter))
	b.await(`location.search.includes("bugfix") && document.readyState === "complete"`)
	b.do(chromedp.KeyEvent("?"))
	b.await(`document.getElementById("help").open`)
	b.do(chromedp.KeyEvent(kb.Escape))
	b.await(`!document.getElementById("help").open`)
	b.clean()
	t.Log("point 1: every page, the filter and the records by keys alone")
}

// TestEveryPage: nothing leaves the worker's origin, no key is shown, nothing is wider than a
// phone, and both themes are themes. Pictures are taken of all.
func TestEveryPage(t *testing.T) {
	r := newRig(t, seeded())
	b := r.browser()
	b.open("/")
	all := b.pages()
	findings, widths := 0, []int64{1440, 390}
	if *pictures != "" {
		widths = []int64{1440, 1024, 390}
	}
	for _, theme := range []string{"light", "dark"} {
		b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void (document.cookie = "claude_mem_theme=%s; path=/; samesite=strict")`, theme)))
		for _, width := range widths {
			b.do(chromedp.EmulateViewport(width, 844))
			for _, page := range all {
				b.visit(page)
				if wide := value[int64](b, `document.documentElement.scrollWidth`); wide > width {
					t.Errorf("%s is %d px wide on a screen of %d", page, wide, width)
				}
				if body := value[string](b, `document.documentElement.outerHTML`); strings.Contains(body, secretKey) || strings.Contains(body, secretKey[13:40]) {
					t.Errorf("%s shows a key", page)
				}
				if dark := value[bool](b, `(getComputedStyle(document.body).backgroundColor.match(/\d+/g) ?? []).slice(0, 3).every(c => c < 64)`); dark != (theme == "dark") {
					t.Errorf("%s: dark is %v with the theme %s", page, dark, theme)
				}
				r.picture(b, page, theme, width)
				findings += r.axe(b, page, theme)
			}
		}
	}
	b.clean("/nowhere: status 404")
	t.Logf("point 1: %d pages at %v px in both themes, none wider than its screen, no key shown", len(all), widths)
	t.Logf("point 5: %d requests, all to the worker's origin", len(b.sent))
	if *axeFile != "" {
		t.Logf("point 2: axe-core finds %d things on %d pages in both themes and all widths", findings, len(all))
	}
}

// picture takes a picture of the page into the folder of -pictures.
func (r *rig) picture(b *tab, page, theme string, width int64) {
	r.t.Helper()
	if *pictures == "" {
		return
	}
	name := strings.Trim(strings.NewReplacer("/", "-", "?", "-", "=", "-", ":", "-", "+", "-").Replace(page), "-")
	if name == "" {
		name = "feed"
	}
	png, err := chromedp.Run(b, chromedp.CaptureScreenshot())
	must(r.t, err)
	must(r.t, os.MkdirAll(*pictures, 0o755))
	must(r.t, os.WriteFile(filepath.Join(*pictures, fmt.Sprintf("%s-%d-%s.png", name, width, theme)), png, 0o644))
}

// axe runs axe-core on the page and returns the number of findings, of any weight.
func (r *rig) axe(b *tab, page, theme string) int {
	r.t.Helper()
	if *axeFile == "" {
		return 0
	}
	script, err := os.ReadFile(*axeFile)
	must(r.t, err)
	b.do(chromedp.Evaluate[chromedp.Void](string(script) + "; void 0"))
	findings := value[[]string](b, `axe.run(document, {rules: {"target-size": {enabled: true}}}).then(r => r.violations
		.map(v => v.id + ": " + v.help + " " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 200)).join(" | ")))`)
	for _, f := range findings {
		r.t.Errorf("%s (%s): %s", page, theme, f)
	}
	return len(findings)
}

// TestPicture takes the picture of README into the file of -picture: the feed on the fixture's
// memory, as if its last session had just ended.
func TestPicture(t *testing.T) {
	if *picture == "" {
		t.Skip("no file is named by -picture")
	}
	r := newRig(t, Memory{})
	records, err := os.ReadFile(filepath.Join("..", "testdata", "memory.jsonl"))
	must(t, err)
	file := filepath.Join(r.home, "memory.jsonl")
	must(t, os.WriteFile(file, recent(records), 0o600))
	r.command("import", "--yes", file)
	b := r.browser()
	b.do(chromedp.EmulateViewport(1120, 760))
	b.open("/")
	b.await(`document.querySelectorAll(".turn").length >= 10`)
	png, err := chromedp.Run(b, chromedp.CaptureScreenshot())
	must(t, err)
	must(t, os.WriteFile(*picture, png, 0o644))
	t.Logf("%s: %d kB", *picture, len(png)/1000)
}

// times are those of records.
var times = regexp.MustCompile(`_at":(\d{13})`)

// recent moves all times of records so that the latest is now.
func recent(records []byte) []byte {
	var latest int64
	for _, m := range times.FindAllSubmatch(records, -1) {
		at, _ := strconv.ParseInt(string(m[1]), 10, 64) // thirteen digits
		latest = max(latest, at)
	}
	ahead := time.Now().UnixMilli() - latest
	return times.ReplaceAllFunc(records, func(m []byte) []byte {
		at, _ := strconv.ParseInt(string(m[len(`_at":`):]), 10, 64)
		return fmt.Appendf(nil, `_at":%d`, at+ahead)
	})
}
