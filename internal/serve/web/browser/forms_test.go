package browser

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// is fails the test unless a JavaScript expression is true.
func (b *tab) is(expression string) {
	b.r.t.Helper()
	if !value[bool](b, `Boolean(`+expression+`)`) {
		b.r.t.Errorf("not so: %s\nthe page says:\n%.1500s", expression, b.text())
	}
}

// toast waits for a message that has a text.
func (b *tab) toast(text string) {
	b.r.t.Helper()
	b.await(fmt.Sprintf(`!document.getElementById("toast").hidden && document.getElementById("toast").textContent.includes(%q)`, text))
}

// pinned reports whether the API says that an observation is pinned; gone that it is hidden.
func (r *rig) pinned(id int) (pinned, gone bool) {
	r.t.Helper()
	resp, err := http.Get(fmt.Sprintf("%s/api/observations/%d?lookup=false", r.origin(), id))
	must(r.t, err)
	must(r.t, resp.Body.Close())
	if resp.StatusCode == http.StatusNotFound {
		return false, true
	}
	var o struct{ Pinned bool }
	r.get(fmt.Sprintf("/api/observations/%d?lookup=false", id), &o)
	return o.Pinned, false
}

// TestRowKeys: p, x and e act on the row that has the focus, u takes it back; a page that may only
// read says so.
func TestRowKeys(t *testing.T) {
	r := newRig(t, seeded())
	b := r.browser()
	b.visit("/")
	b.do(chromedp.KeyEvent("jp"))
	b.toast("Read only")
	b.open("/?q=type:bugfix")
	b.await(`document.getElementById("live").hidden`)
	b.do(chromedp.KeyEvent("j"))
	first := `document.querySelectorAll("[data-id^=observation-]")[0]`
	id := value[int](b, `Number(document.activeElement.closest("[data-id]").dataset.id.split("-")[1])`)
	b.do(chromedp.KeyEvent("p"))
	b.toast("is pinned")
	b.await(first + `.querySelector("[data-pinned]")`)
	if pinned, _ := r.pinned(id); !pinned {
		t.Error("p did not pin it")
	}
	b.do(chromedp.KeyEvent("u"))
	b.toast("Undone")
	b.await(`!` + first + `.querySelector("[data-pinned]")`)
	if pinned, _ := r.pinned(id); pinned {
		t.Error("u did not unpin it")
	}
	b.await(fmt.Sprintf(`document.activeElement.closest("[data-id]")?.dataset.id === "observation-%d"`, id))
	b.do(chromedp.KeyEvent("x"))
	b.toast("is hidden")
	if _, gone := r.pinned(id); !gone {
		t.Error("x did not hide it")
	}
	b.await(fmt.Sprintf(`document.activeElement.closest("[data-id]") && document.activeElement.closest("[data-id]").dataset.id !== "observation-%d"`, id))
	b.do(chromedp.KeyEvent("u"))
	b.toast("Undone")
	if _, gone := r.pinned(id); gone {
		t.Error("u did not restore it")
	}
	b.visit("/?q=type:bugfix")
	b.do(chromedp.KeyEvent("je"))
	b.await(fmt.Sprintf(`location.pathname === "/observation/%d" && document.getElementById("edit")?.open`, id))
	b.clean(fmt.Sprintf("/api/observations/%d?lookup=false: status 404", id))
}

// TestPalette: Ctrl-K leads to pages, projects, settings, records and words, and presses buttons.
func TestPalette(t *testing.T) {
	r := newRig(t, seeded())
	b := r.browser()
	b.open("/")
	for _, c := range [][2]string{
		{"stats", `location.pathname === "/stats"`},
		{"project tally", `new URL(location).searchParams.get("q") === "project:tally"`},
		{"context_budget", `location.pathname === "/settings" && location.hash === "#CONTEXT_BUDGET"`},
		{"#12", `location.pathname === "/observation/12"`},
		{"s3", `location.pathname === "/session/3"`},
		{"upload queue", `location.pathname === "/search" && new URL(location).searchParams.get("q") === "upload queue"`},
		{"add a learning", `location.pathname === "/add" && location.search === "?kind=learning"`},
	} {
		b.do(chromedp.Evaluate[chromedp.Void](`document.dispatchEvent(new KeyboardEvent("keydown", {key: "k", ctrlKey: true, bubbles: true})); document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "k", ctrlKey: true, bubbles: true}))`))
		b.await(`document.getElementById("palette").open && document.activeElement.getAttribute("role") === "combobox"`)
		b.await(`document.querySelectorAll("#palette [role=option]").length === 12`) // all is loaded
		b.do(chromedp.KeyEvent(c[0]))
		b.await(`document.getElementById(document.querySelector("#palette input").getAttribute("aria-activedescendant"))?.getAttribute("aria-selected") === "true"`)
		b.do(chromedp.KeyEvent(kb.Enter))
		b.await(c[1] + ` && document.readyState === "complete"`)
		b.is(`!document.getElementById("palette").open`)
	}
	b.clean()
}

// TestChooseSeveral: what is chosen is pinned or hidden together, and one undo is for all of it; the
// choice outlives a change of the live feed.
func TestChooseSeveral(t *testing.T) {
	r := newRig(t, seeded())
	b := r.browser()
	b.visit("/")
	b.is(`document.getElementById("choose").hidden`)
	b.open("/?q=kind:observation")
	b.await(`document.getElementById("live").hidden`)
	b.do(chromedp.Click(chromedp.CSS(`#choose`)))
	ids := value[[]int](b, `[...document.querySelectorAll("[data-id^=observation-]")].slice(0, 3).map(r => Number(r.dataset.id.split("-")[1]))`)
	for _, id := range ids {
		b.do(chromedp.Click(chromedp.CSS(fmt.Sprintf(`[data-id="observation-%d"] input.choice`, id))))
	}
	late := r.remember("It came while others were chosen")
	b.await(fmt.Sprintf(`document.querySelector('[data-id="observation-%d"] input.choice')`, late))
	b.is(`document.querySelector("#bulk output").value === "3 chosen" && document.querySelectorAll("input.choice:checked").length === 3`)
	press := func(action, said string) {
		t.Helper()
		b.do(chromedp.Click(chromedp.CSS(`[data-bulk=` + action + `]`)))
		b.toast(said)
	}
	press("pin", "3 records are pinned")
	for _, id := range ids {
		if pinned, _ := r.pinned(id); !pinned {
			t.Errorf("#%d is not pinned", id)
		}
	}
	press("hide", "3 records are hidden")
	b.await(`document.querySelector("#bulk output").value === "0 chosen"`)
	b.do(chromedp.Click(chromedp.CSS(`#toast button`)))
	b.toast("Undone")
	for _, id := range ids {
		if _, gone := r.pinned(id); gone {
			t.Errorf("#%d stays hidden", id)
		}
	}
	same := []int{r.remember("Totals are summed in cents"), r.remember("All totals are sums of cents")}
	for i, id := range same {
		b.await(fmt.Sprintf(`document.querySelector('[data-id="observation-%d"] input.choice')`, id))
		b.do(chromedp.Click(chromedp.CSS(fmt.Sprintf(`[data-id="observation-%d"] input.choice`, id))))
		b.is(fmt.Sprintf(`document.querySelector("[data-bulk=merge]").disabled === %v`, i == 0))
	}
	press("merge", fmt.Sprintf("#%d merged into #%d", same[0], same[1]))
	b.await(fmt.Sprintf(`document.querySelector('[data-id="observation-%d"]')?.textContent.includes("superseded by #%d")`, same[0], same[1]))
	b.do(chromedp.Click(chromedp.CSS(`#toast button`)))
	b.toast("Undone")
	b.await(fmt.Sprintf(`!document.querySelector('[data-id="observation-%d"]').textContent.includes("superseded")`, same[0]))
	b.clean()
}

// TestAdd: a record and a learning are added by forms, as the user's.
func TestAdd(t *testing.T) {
	r := newRig(t, seeded())
	b := r.browser()
	b.visit("/add")
	b.is(`document.querySelector("#add button").disabled && document.querySelector("#add button").title.includes("claude-mem open")`)
	b.open("/add")
	b.do(chromedp.SetValue(chromedp.CSS(`#add [name=narrative]`), "Ports above 50000 are free on the build machine."), chromedp.SetValue(chromedp.CSS(`#add [name=project]`), "tally"),
		chromedp.Click(chromedp.CSS(`#add button`)))
	b.await(`location.pathname.startsWith("/observation/") && document.querySelector("h1")?.textContent.includes("Ports above 50000")`)
	b.is(`document.querySelector(".pairs").textContent.includes("user") && document.querySelector("#observation header").textContent.includes("tally")`)
	b.visit("/add?kind=learning")
	b.do(chromedp.SetValue(chromedp.CSS(`#add [name=content]`), "The build machine is rebooted on Mondays."), chromedp.SetValue(chromedp.CSS(`#add [name=project]`), "tally"),
		chromedp.Click(chromedp.CSS(`#add button`)))
	b.await(`location.pathname === "/learnings" && document.querySelector(location.hash)?.textContent.includes("rebooted on Mondays")`)
	b.clean()
}

// TestTypo: the search keeps going while a filter is typed, and the suggestion is a link.
func TestTypo(t *testing.T) {
	r := newRig(t, seeded())
	b := r.browser()
	b.open("/search?q=" + url.QueryEscape("queue type:bugfx"))
	b.await(`document.querySelector("#not-understood mark")?.textContent === "bugfx"`)
	b.is(`document.getElementById("q").value === "queue type:bugfx" || document.getElementById("q").value === "type:bugfx queue"`)
	b.do(chromedp.Click(chromedp.CSS(`#not-understood a`)))
	b.await(`new URL(location).searchParams.get("q") === "type:bugfix queue" && document.querySelectorAll(".row.type-bugfix").length > 0`)
	b.is(`!document.getElementById("not-understood")`)
	b.visit("/search")
	b.do(chromedp.KeyEvent("queue kind:obs"))
	b.await(`document.querySelector("#not-understood a")?.textContent === "observation" && document.querySelector(".row")`)
	if said := strings.Join(b.said, " "); strings.Contains(said, "exception") {
		t.Errorf("the page said %s", said)
	}
}

// TestSettings: a setting is changed on the page, with its undo, as by config set; the block shows
// what a value would change before it is saved; what decides where text goes has no control.
func TestSettings(t *testing.T) {
	r := newRig(t, seeded())
	b := r.browser()
	set := func(name string) string {
		t.Helper()
		return strings.TrimSpace(string(r.command("config", "get", name)))
	}
	b.visit("/settings")
	b.is(`[...document.querySelectorAll("form[data-setting] [name=value]")].every(c => c.disabled && c.title.includes("claude-mem open"))`)
	b.open("settings")
	for _, name := range []string{"PROVIDER", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "EMBEDDER", "WITHHOLD_FILES", "REQUIRE_TOKEN"} {
		b.is(fmt.Sprintf(`document.getElementById(%q) && !document.querySelector("#%s form")`, name, name))
	}
	status := value[int](b, `fetch("/api/admin/settings", {method: "POST", headers: {"Content-Type": "application/json", "X-Claude-Mem-Page": document.querySelector("meta[name=page-token]").content}, body: JSON.stringify({key: "PROVIDER", value: "openai"})}).then(r => r.status)`)
	if status != http.StatusForbidden || set("PROVIDER") != "offline" {
		t.Errorf("status %d for the provider, which is %s", status, set("PROVIDER"))
	}
	fill := func(name, to string) {
		t.Helper()
		b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => { const c = document.querySelector("#%s [name=value]"); c.value = %q; c.dispatchEvent(new Event("input", {bubbles: true})); })()`, name, to)))
	}
	tokens := `Number(document.querySelector("#preview .budget h2")?.textContent.match(/^[0-9,]+/)?.[0].replace(",", ""))`
	fill("CONTEXT_MAX_SESSIONS", "9")
	b.await(tokens + ` > 300`)
	fill("CONTEXT_BUDGET", "300")
	b.await(tokens + ` > 0 && ` + tokens + ` <= 300`)
	if set("CONTEXT_BUDGET") != "2000" {
		t.Error("looking changed the setting")
	}
	b.do(chromedp.Click(chromedp.CSS(`#CONTEXT_BUDGET button:not([data-default])`)))
	b.toast("CONTEXT_BUDGET is 300")
	b.is(`document.getElementById("CONTEXT_BUDGET").matches(".changed") && document.querySelector("#CONTEXT_MAX_SESSIONS [name=value]").value === "9"`)
	var block struct {
		Budget int `json:"effective_budget"`
	}
	r.get("/api/context/preview?project_path=%2Fhome%2Fada%2Ftally", &block)
	if block.Budget != 300 || set("CONTEXT_BUDGET") != "300" {
		t.Errorf("a session that starts now has a budget of %d, the setting is %s", block.Budget, set("CONTEXT_BUDGET"))
	}
	b.do(chromedp.Click(chromedp.CSS(`#toast button`)))
	b.toast("Undone")
	if set("CONTEXT_BUDGET") != "2000" {
		t.Errorf("after the undo it is %s", set("CONTEXT_BUDGET"))
	}
	fill("RECENCY_DAYS", "30")
	press := func(button string) { // the row may be below the bar at the top
		t.Helper()
		b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector(%q).click()`, button)))
	}
	press(`#RECENCY_DAYS button:not([data-default])`)
	b.toast("RECENCY_DAYS is 30")
	press(`#RECENCY_DAYS [data-default]`)
	b.toast("RECENCY_DAYS is 90")
	b.clean("/api/admin/settings: status 403")
}
