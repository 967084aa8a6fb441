package web

import (
	"strings"
	"testing"

	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// learnings returns a page of f.total learnings of two projects, of which those with odd numbers
// are retired, the last one because of another.
func (f *fake) learnings(q api.LearningsRequest) api.Page[api.Learning] {
	out := api.Page[api.Learning]{Total: f.total, Limit: q.Limit, Offset: q.Offset}
	for n := q.Offset; n < min(f.total, q.Offset+q.Limit); n++ {
		l := memory.Learning{ID: int64(n), ProjectPath: f.text, Category: f.text, Content: f.text, Confidence: 0.876, TimesSeen: 2, Provenance: memory.FromUser,
			Active: n%2 == 0, CreatedAt: memory.MillisOf(noon), UpdatedAt: memory.MillisOf(noon)}
		if n == f.total-1 && !l.Active {
			l.SupersededBy = 2
		}
		out.Results = append(out.Results, api.Learning{Project: f.text, Learning: l})
	}
	out.Count = len(out.Results)
	return out
}

// TestLearnings: a learning says how sure it is, leads to the records that speak of it, and if
// it is not in use, why.
func TestLearnings(t *testing.T) {
	body := (&fake{text: "Run make", total: 4}).get(t, "/learnings?all=true&category=gotcha").Body.String()
	rows := strings.Split(body, `<li class="row`)[1:]
	if len(rows) != 4 {
		t.Fatalf("%d rows, want 4", len(rows))
	}
	for i, want := range [][]string{
		{`id="learning-0"`, "88 % sure", "seen 2 times", "from user", "/search?q=project%3A%22Run&#43;make%22&#43;Run&#43;make", ">Retire<"},
		{`id="learning-1"`, ">retired<", ">Use again<"},
		{`id="learning-2"`, ">Retire<"},
		{`id="learning-3"`, `href="/learnings?all=true#learning-2">replaced by 2<`, ">Use again<"},
	} {
		for _, part := range want {
			if !strings.Contains(rows[i], part) {
				t.Errorf("row %d has no %s: %s", i, part, rows[i])
			}
		}
	}
	for _, want := range []string{`href="/learnings?all=true" aria-current="true">gotcha<`, `href="/learnings?category=gotcha" aria-current="true">also retired`,
		`href="/learnings?all=true&amp;category=convention"`, `href="/api/learnings?all=true&amp;category=gotcha&amp;limit=50&amp;offset=0"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page has no %s", want)
		}
	}
}
