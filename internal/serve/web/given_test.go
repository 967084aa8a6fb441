package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// given returns f.total texts that were given, each with a line of a record and one of none.
func (f *fake) given(q api.GivenRequest) api.Page[accounts.Given] {
	out := api.Page[accounts.Given]{Count: min(f.total, q.Limit), Total: f.total}
	for range out.Count {
		out.Results = append(out.Results, accounts.Given{ID: 1, Place: "block", Source: f.text, Session: 3, Title: f.text, HostSessionID: f.text, At: memory.MillisOf(noon), Tokens: 40, Lines: []accounts.GivenLine{
			{Record: "#12", Words: f.text, Why: f.text, Person: memory.Down, Agent: memory.Up, Opened: new(true), Touched: new(false), Cured: new(true)},
			{Record: "L7"}, {Words: f.text, Why: f.text}}})
	}
	return out
}

// TestGiven: a line says why it was given and what became of it; its verdicts are buttons, disabled with a reason where
// the page may only read. The page of a session has the same lines.
func TestGiven(t *testing.T) {
	f := &fake{text: "Run make", total: 1}
	for _, path := range []string{"/given", "/session/3"} {
		body := f.get(t, path).Body.String()
		for _, want := range []string{
			`<a class="title" href="/observation/12" dir="auto">Run make</a>`, `<span class="flag">opened</span> <span class="flag">the cure was run</span> <span class="flag">thumbed up by an agent</span>`,
			`data-judge="#12" data-verdict="up" data-session="3" aria-pressed="false" aria-label="Thumb #12 up"`, `data-judge="#12" data-verdict="down" data-session="3" aria-pressed="true"`,
			`href="/learnings?all=true#learning-7"`, "its words are erased", `src="/static/given.js?v=`,
		} {
			if !strings.Contains(body, want) {
				t.Errorf("%s has no %s", path, want)
			}
		}
		if n := strings.Count(body, "data-judge="); n != 4 {
			t.Errorf("%s has %d thumbs, want 4", path, n)
		}
		const disabled = ` disabled title="Run claude-mem open to make changes">thumb`
		if n := strings.Count(body, disabled); n != 4 {
			t.Errorf("%s: %d thumbs are disabled for a reader", path, n)
		}
		w := httptest.NewRecorder()
		New(f.memory(), Options{}).Serve(w, httptest.NewRequest(http.MethodGet, path, nil), "token")
		if strings.Contains(w.Body.String(), disabled) {
			t.Errorf("%s: thumbs are disabled for a writer", path)
		}
	}
}
