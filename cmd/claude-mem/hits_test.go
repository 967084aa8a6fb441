package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem"

	"github.com/google/go-cmp/cmp"
)

func TestPrintHits(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) claudemem.Millis { return claudemem.MillisOf(now.Add(-d)) }
	hits := []hitJSON{
		{recordJSON: recordJSON{Kind: "observation", ID: 12, Type: claudemem.TypeBugfix, Title: "Round the total once", Subtitle: "sum first",
			Project: "tally", SessionDBID: 4, CreatedAtEpoch: ago(2 * time.Hour)},
			Why: &claudemem.Explanation{Parts: []claudemem.ScorePart{{Name: "keyword", Value: .5}, {Name: "likeness", Value: .25}},
				Factors: []claudemem.ScorePart{{Name: "recency", Value: 1.2}}, Words: []string{"round", "total"}, Fragment: "fact_0"}},
		{recordJSON: recordJSON{Kind: "summary", ID: 3, Title: "Fix the totals", Project: "tally", SessionDBID: 4, CreatedAtEpoch: ago(26 * time.Hour)},
			Learned: "Half cents\nadd up."},
		{recordJSON: recordJSON{Kind: "prompt", ID: 9, Title: "why \x1b[31mdrift?", Project: "tally", SessionDBID: 4, CreatedAtEpoch: ago(27 * time.Hour)},
			Text: "why drift?\nby a cent"},
	}
	tests := []struct {
		name  string
		print func(p *printer, h *hitJSON)
		want  string
	}{
		{"list", func(p *printer, h *hitJSON) { p.hit(h, false) }, "" +
			"    2h ago  ● Round the total once #12\n" +
			"              sum first\n" +
			" yesterday  § Fix the totals S4\n" +
			" yesterday  › why [31mdrift? S4\n"},
		{"all projects", func(p *printer, h *hitJSON) { p.hitLine("▶ ", h, true) }, "" +
			"▶     2h ago  ● Round the total once #12 tally\n" +
			"▶  yesterday  § Fix the totals S4 tally\n" +
			"▶  yesterday  › why [31mdrift? S4 tally\n"},
		{"in full", func(p *printer, h *hitJSON) { p.hitInFull(h) }, "" +
			"● Round the total once  #12\nsum first\nbugfix · 2h ago · tally · S4\n" +
			"§ Fix the totals  S4\nsummary · yesterday · tally\n   Learned: Half cents add up.\n" +
			"› why [31mdrift?  S4\nprompt · yesterday · tally\n\nwhy drift?\nby a cent\n"},
		{"explained", func(p *printer, h *hitJSON) {
			if h.Why != nil {
				p.explanation(h.Why)
			}
		}, "              0.900 = (keyword 0.500 + likeness 0.250) × recency 1.200; words round total; nearest fact_0\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			p := &printer{w: &out, now: now}
			for i := range hits {
				tt.print(p, &hits[i])
			}
			if diff := cmp.Diff(tt.want, out.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	found := foundJSON{Results: hits}
	if got, want := found.shown(3), []string{"12", "S4"}; !slices.Equal(got, want) {
		t.Errorf("shown(3) = %v, want %v", got, want)
	}
}

func TestUnderstoodNotes(t *testing.T) {
	day := func(d int) claudemem.Millis {
		return claudemem.MillisOf(time.Date(2026, 3, d, 12, 0, 0, 0, time.Local))
	}
	tests := []struct {
		name string
		u    *claudemem.Understood
		want []string
	}{
		{"word for word", nil, nil},
		{"only the text", &claudemem.Understood{Text: "x"}, nil},
		{"a range", &claudemem.Understood{Since: day(2), Until: day(8)}, []string{"Understood: 2026-03-02 to 2026-03-08."}},
		{"since", &claudemem.Understood{Since: day(2)}, []string{"Understood: since 2026-03-02."}},
		{"until and types", &claudemem.Understood{Until: day(2), Types: []claudemem.ObservationType{"bugfix", "change"}},
			[]string{"Understood: until 2026-03-02.", "Understood: only bugfix, change."}},
		{"typing errors", &claudemem.Understood{Corrected: map[string]string{"totl": "total", "cnet": "cent"}},
			[]string{`No record has "cnet"; taken for "cent".`, `No record has "totl"; taken for "total".`}},
		{"notes", &claudemem.Understood{Notes: []string{"no vectors\x1b at the moment"}}, []string{"no vectors at the moment"}},
	}
	for _, tt := range tests {
		if got := understoodNotes(tt.u); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestTimelineTarget(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	tests := []struct{ text, path, key, value string }{
		{"12", "/api/search/timeline", "anchor", "12"},
		{"#12", "/api/search/timeline", "anchor", "#12"},
		{"s3", "/api/search/timeline", "anchor", "s3"},
		{"", "/api/search/timeline", "anchor", "2026-11-20T12:00:00.000Z"},
		{"2d", "/api/search/timeline", "anchor", "2026-11-18T12:00:00.000Z"},
		{"2026-03-01", "/api/search/timeline", "anchor", "2026-03-01T00:00:00.000Z"},
		{"2026-03-01T10:00:00+01:00", "/api/search/timeline", "anchor", "2026-03-01T09:00:00.000Z"},
		{"2026", "/api/search/timeline", "anchor", "2026"}, // a number is an id
		{" why totals drift ", "/api/search/timeline-by-query", "query", "why totals drift"},
		{"S3 and S4", "/api/search/timeline-by-query", "query", "S3 and S4"},
	}
	for _, tt := range tests {
		path, params := timelineTarget(tt.text, now)
		if path != tt.path || params.Get(tt.key) != tt.value || len(params) != 1 {
			t.Errorf("timelineTarget(%q) = %s %v, want %s %s=%s", tt.text, path, params, tt.path, tt.key, tt.value)
		}
	}
}

func TestSearchParams(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	f := searchFlags{
		scope: &scope{named: "shop"}, page: &page{limit: 5, offset: 10}, since: "2026-11-01", until: "2026-11-01", types: []string{"bugfix", "change"}, files: []string{"./src/auth.ts"},
		concepts: []string{"gotcha"}, kinds: []string{"observation"}, order: "newest", full: true, explain: true,
	}
	got, err := f.params(" rate  limiter ", now)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"query": "rate  limiter", "project": "shop", "type": "bugfix,change", "files": "./src/auth.ts", "concepts": "gotcha", "kind": "observation",
		"limit": "5", "offset": "10", "order": "newest", "format": "full", "explain": "true",
		"dateRange[start]": "1793491200000", "dateRange[end]": "1793577599999",
	}
	flat := map[string]string{}
	for key, values := range got {
		flat[key] = strings.Join(values, "|")
	}
	if diff := cmp.Diff(want, flat); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, bad := range []searchFlags{
		{page: &page{limit: 10}}, {page: &page{}, types: []string{"x"}}, {page: &page{limit: 1, offset: -1}, types: []string{"x"}}, {page: &page{limit: 1}, since: "soon"},
	} {
		bad.scope = &scope{all: true}
		if _, err := bad.params("", now); claudemem.CodeOf(err) != claudemem.CodeInvalid {
			t.Errorf("params of %+v: %v, want an error with code invalid", bad, err)
		}
	}
}
