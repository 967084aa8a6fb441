package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// preview returns a block with a heading, a line of observations and one of a session.
func (f *fake) preview(q api.ContextRequest) api.Preview {
	budget := q.Budget
	if budget == 0 || budget > 2000 {
		budget = 2000
	}
	p := api.Preview{Text: "## Past Work\n- " + f.text + " (#7, #8)\n\n- " + f.text + " (S3)", Tokens: 90, Budget: q.Budget, EffectiveBudget: budget, Source: q.Source, ProjectPath: q.ProjectPath,
		Layers: []memory.LayerCost{{Name: f.text, Tokens: 80, Items: 2}}, Skipped: []memory.LayerCost{{Name: f.text, Tokens: 300, Reason: f.text}},
		Lines: []api.PreviewLine{
			{Number: 2, ContextLine: memory.ContextLine{Text: f.text, Tokens: 40, Observation: 7, Observations: []memory.ObservationID{7, 8}, Why: "pinned " + f.text}},
			{Number: 4, ContextLine: memory.ContextLine{Text: f.text, Tokens: 30, Session: 3, Why: "newest session"}},
		},
		LeftOut: []memory.ContextLine{{Text: f.text, Why: f.text}}}
	if f.block != nil {
		f.block(&p)
	}
	return p
}

// TestLongBlock: a page has at most 200 lines of a block and 50 of what it leaves out, and says how many
// more there are.
func TestLongBlock(t *testing.T) {
	f := &fake{text: "x"}
	f.block = func(p *api.Preview) {
		p.Text = "- x" + strings.Repeat("\n- x", 4999)
		p.Lines = make([]api.PreviewLine, 5000)
		for i := range p.Lines {
			p.Lines[i] = api.PreviewLine{Number: i + 1, ContextLine: memory.ContextLine{Layer: "x", Observation: 7, Why: "newest"}}
		}
		p.LeftOut = slices.Repeat(p.LeftOut, 60)
	}
	body := f.get(t, "/context").Body.String()
	for want, n := range map[string]int{`<li id="line-`: 200, "The text is cut here, 4,800 lines before its end;": 1, "10 lines more in the JSON.": 1} {
		if got := strings.Count(body, want); got != n {
			t.Errorf("the page has %d times %q, want %d", got, want, n)
		}
	}
	if len(body) > 100<<10 {
		t.Errorf("the page has %d bytes", len(body))
	}
}

// TestContextLines: each line of the block stands with its reason and its records, as the text
// has it.
func TestContextLines(t *testing.T) {
	body := (&fake{text: "Totals <b>"}).get(t, "/context").Body.String()
	_, lines, _ := strings.Cut(body, `<ol class="block"`)
	lines, _, _ = strings.Cut(lines, "</ol>")
	for i, want := range [][]string{
		{`class="blank"`, "## Past Work"},
		{"- Totals &lt;b&gt; (#7, #8)", "pinned Totals", `href="/observation/7">#7<`, `href="/observation/8">#8<`, "40 tokens"},
		{`class="blank"`},
		{"- Totals &lt;b&gt; (S3)", "newest session", `href="/session/3">S3<`},
	} {
		got := strings.Split(lines, "<li")[i+1]
		for _, part := range want {
			if !strings.Contains(got, part) {
				t.Errorf("line %d has no %s: %s", i+1, part, got)
			}
		}
	}
}

// TestContextRequest: what the form sends, and what it leaves out, reaches the builder; the
// JSON is asked for the same.
func TestContextRequest(t *testing.T) {
	place := func(r *api.ContextRequest) { r.WorktreeRoot = "/tree" }
	for _, tt := range []struct {
		path string
		want url.Values
	}{
		{"/context", url.Values{"project_path": {"tally"}, "source": {"startup"}, "budget": {"0"}, "host": {"claude-code"}, "worktree_root": {"/tree"}}},
		{"/context?project=tally&budget=500&source=clear&host=codex", url.Values{"project_path": {"tally"}, "source": {"clear"}, "budget": {"500"}, "host": {"codex"}, "worktree_root": {"/tree"}}},
		{"/context?project_path=/elsewhere", url.Values{"project_path": {"/elsewhere"}, "source": {"startup"}, "budget": {"0"}, "host": {"claude-code"}}},
		{"/context?source=resume", url.Values{"project_path": {"tally"}, "source": {"resume"}, "budget": {"0"}, "host": {"tally"}, "session_id": {"ses"}, "worktree_root": {"/tree"}}},
	} {
		f := &fake{text: "tally", hostSession: "ses"}
		v := New(f.memory(), Options{Clock: func() time.Time { return noon }, Location: time.UTC, Place: place})
		w := httptest.NewRecorder()
		v.Serve(w, httptest.NewRequest(http.MethodGet, tt.path, nil), "")
		asked := f.asked[len(f.asked)-1]
		if want := "/api/context/preview" + "?" + tt.want.Encode(); asked != want {
			t.Errorf("%s asked for %s, want %s", tt.path, asked, want)
		}
		if link := strings.ReplaceAll(asked, "&", "&amp;"); !strings.Contains(w.Body.String(), `href="`+link+`" rel="nofollow">This page as JSON`) {
			t.Errorf("%s does not link %s", tt.path, link)
		}
	}
}

// TestBudgetBar: the layers are parts of the bar of the budget and rows of the table, with the same tokens,
// and lead to their first line; what frames them is the rest of the block.
func TestBudgetBar(t *testing.T) {
	p := (&fake{text: "x"}).preview(api.ContextRequest{Budget: 1000})
	p.Layers = append(p.Layers, memory.LayerCost{Name: "closing", Tokens: 5})
	p.Lines[1].Layer = "x"
	want := []segment{
		{LayerCost: p.Layers[0], Class: "level-5", Href: "#line-4", Width: 80},
		{LayerCost: p.Layers[1], Class: "level-4", X: 80, Width: 5},
		{LayerCost: memory.LayerCost{Name: "frame", Tokens: 5}, Class: "level-3", X: 85, Width: 5},
	}
	if got := segmentsOf(&p); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	body := (&fake{text: "x"}).get(t, "/context?budget=1000").Body.String()
	for _, want := range []string{"<h2>90 of 1,000 tokens</h2>", `<rect class="level-5" x="0" width="80" height="10"><title>x: 80 tokens`, `<rect class="level-4" x="80" width="10" height="10"><title>frame: 10 tokens`,
		"of its budget of 1,000 tokens: x 80, frame 10</title>", `<th scope="row">x</th><td>80</td><td>2</td>`, `<th scope="row">frame</th><td>10</td>`, `<th scope="row">block</th><td>90</td>`, `<li id="line-4"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page has no %s", want)
		}
	}
}
