package httpapi

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"claudemem/internal/memory"

	"github.com/google/go-cmp/cmp"
)

func at(year int, month time.Month, day, hour, minute, second, ms int) memory.Millis {
	return memory.MillisOf(time.Date(year, month, day, hour, minute, second, ms*1e6, time.UTC))
}

// All names and forms of a parameter have the same meaning.
func TestSearchParameters(t *testing.T) {
	march := memory.Query{Limit: 20, Since: at(2026, 3, 1, 0, 0, 0, 0), Until: at(2026, 3, 31, 23, 59, 59, 999)}
	since, until := strconv.FormatInt(int64(march.Since), 10), strconv.FormatInt(int64(march.Until), 10)
	files := memory.Query{Limit: 20, Files: []string{"a b.go", "src/auth"}}
	types := memory.Query{Limit: 20, Types: []memory.ObservationType{"bugfix", "decision"}}
	tests := []struct {
		query string
		want  memory.SearchRequest
	}{
		{"", memory.SearchRequest{Query: memory.Query{Limit: 20}}},
		{"q=a+b", memory.SearchRequest{Text: "a b", Query: memory.Query{Limit: 20}}},
		{"text=a&query=b", memory.SearchRequest{Text: "b", Query: memory.Query{Limit: 20}}},
		{"since=2026-03-01&until=2026-03-31", memory.SearchRequest{Query: march}},
		{"dateFrom=2026-03-01&dateTo=2026-03-31", memory.SearchRequest{Query: march}},
		{"date_start=2026-03-01&date_end=2026-03-31", memory.SearchRequest{Query: march}},
		{"dateStart=2026-03&dateEnd=2026-03", memory.SearchRequest{Query: march}},
		{"dateRange[start]=2026-03-01&dateRange[end]=2026-03-31", memory.SearchRequest{Query: march}},
		{"dateRange%5Bstart%5D=" + since + "&dateRange%5Bend%5D=" + until, memory.SearchRequest{Query: march}},
		{`dateRange={"start":"2026-03-01","end":"2026-03-31"}`, memory.SearchRequest{Query: march}},
		{`dateRange={"start":` + since + `,"end":` + until + `}`, memory.SearchRequest{Query: march}},
		{`dateRange={"start":null,"end":"2026-03-31"}&since=2026-03-01`, memory.SearchRequest{Query: march}},
		{`dateRange={"start":"2020-01-01","end":"2026-03-31"}&since=2026-03-01`, memory.SearchRequest{Query: march}},
		{"type=bugfix,decision", memory.SearchRequest{Query: types}},
		{"type=Bugfix&type=decision,bugfix", memory.SearchRequest{Query: types}},
		{"obs_type=bugfix,,+decision+", memory.SearchRequest{Query: types}},
		{"files=a+b.go,src/auth", memory.SearchRequest{Query: files}},
		{"files[]=a+b.go&files[]=src/auth", memory.SearchRequest{Query: files}},
		{`files=["a+b.go","src/auth"]`, memory.SearchRequest{Query: files}},
		{"file=app/[id].ts", memory.SearchRequest{Query: memory.Query{Limit: 20, Files: []string{"app/[id].ts"}}}},
		{"files=[id].ts", memory.SearchRequest{Query: memory.Query{Limit: 20, Files: []string{"[id].ts"}}}},
		{"concept=gotcha", memory.SearchRequest{Query: memory.Query{Limit: 20, Concepts: []string{"gotcha"}}}},
		{"kinds=sessions,prompts,summary", memory.SearchRequest{Kinds: []memory.RecordKind{"summary", "prompt"}, Query: memory.Query{Limit: 20}}},
		{"kind=all", memory.SearchRequest{Query: memory.Query{Limit: 20}}},
		{"orderBy=date_desc", memory.SearchRequest{Order: "newest", Query: memory.Query{Limit: 20}}},
		{"order=OLDEST&explain=true", memory.SearchRequest{Order: "oldest", Explain: true, Query: memory.Query{Limit: 20}}},
		{"session_db_id=S12&project_path=/p&limit=100&offset=7", memory.SearchRequest{Query: memory.Query{Session: 12, Project: "/p", Limit: 100, Offset: 7}}},
		{"something=else&explain=0", memory.SearchRequest{Query: memory.Query{Limit: 20}}},
	}
	for _, tt := range tests {
		s := newFakeWorker()
		got := asked(t, s, "/api/search?"+strings.ReplaceAll(tt.query, `"`, "%22"))
		if got.status != 200 {
			t.Errorf("%s: status %d: %s", tt.query, got.status, got.body)
			continue
		}
		if diff := cmp.Diff(tt.want, s.searched[0]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.query, diff)
		}
	}
}

// The routes for a type, a file, a concept or a kind search with it as a filter.
func TestSearchRoutes(t *testing.T) {
	observations := []memory.RecordKind{memory.RecordObservation}
	tests := []struct {
		path string
		want memory.SearchRequest
	}{
		{"/api/search/observations?query=x&kind=prompt", memory.SearchRequest{Text: "x", Kinds: observations, Query: memory.Query{Limit: 20}}},
		{"/api/search/sessions?query=x", memory.SearchRequest{Text: "x", Kinds: []memory.RecordKind{"summary"}, Query: memory.Query{Limit: 20}}},
		{"/api/search/prompts?query=x", memory.SearchRequest{Text: "x", Kinds: []memory.RecordKind{"prompt"}, Query: memory.Query{Limit: 20}}},
		{"/api/search/by-type?type=bugfix&query=x", memory.SearchRequest{Text: "x", Kinds: observations, Query: memory.Query{Types: []memory.ObservationType{"bugfix"}, Limit: 20}}},
		{"/api/search/by-file?filePath=a.go,b.go", memory.SearchRequest{Kinds: observations, Query: memory.Query{Files: []string{"a.go", "b.go"}, Limit: 20}}},
		{"/api/search/by-concept?concept=gotcha&since=1772323200", memory.SearchRequest{Kinds: observations, Query: memory.Query{Concepts: []string{"gotcha"}, Since: 1772323200000, Limit: 20}}},
	}
	for _, tt := range tests {
		s := newFakeWorker()
		if got := asked(t, s, tt.path); got.status != 200 {
			t.Errorf("%s: status %d: %s", tt.path, got.status, got.body)
		} else if diff := cmp.Diff(tt.want, s.searched[0]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.path, diff)
		}
	}
}

// The error of a wrong parameter has a hint with the right form.
func TestWrongParameters(t *testing.T) {
	for _, path := range []string{
		"/api/search?limit=0", "/api/search?limit=101", "/api/search?limit=ten", "/api/search?offset=-1", "/api/search?offset=2147483648", "/api/search?format=xml",
		"/api/search?explain=perhaps", "/api/search?order=best", "/api/search?kind=tweet", "/api/search?session_id=0", "/api/search?session_id=S", "/api/search?session_id=-3",
		"/api/search?since=soon", "/api/search?dateTo=2026-02-30", "/api/search?dateRange[start]=x", "/api/search?dateRange=[1,2]", "/api/search?dateRange=7",
		"/api/search?dateRange={%22start%22:{}}", "/api/search?dateRange={%22start%22:%22x%22}", "/api/search?dateRange=null", "/api/search?since=2026-03-02&until=2026-03-01",
		"/api/search?query=%zz", "/api/search?query=a;b=c", "/api/search/by-type?type=,", "/api/search/by-file", "/api/search/by-concept?query=x",
		"/api/search/timeline", "/api/search/timeline?anchor=1&depth_before=101", "/api/search/timeline-by-query", "/api/search/recent-context?limit=0",
		"/api/sessions?limit=x", "/api/sessions/0", "/api/summaries?session_id=x", "/api/projects?offset=x", "/api/observations/0", "/api/observations/%23x",
	} {
		got := asked(t, newFakeWorker(), path)
		if got.status != 400 || !strings.Contains(got.body, `"hint":"`) {
			t.Errorf("%s: status %d: %s", path, got.status, got.body)
		}
	}
	if got := asked(t, newFakeWorker(), "/api/search?query="+strings.Repeat("x", 64<<10+1)); got.status != 413 {
		t.Errorf("a text over 64 KB: status %d: %.100s", got.status, got.body)
	}
}
