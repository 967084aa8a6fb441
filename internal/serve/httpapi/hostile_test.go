package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/serve/api"
)

// readRoutes are the routes with texts as parameters.
var readRoutes = []string{
	"/api/search", "/api/search/observations", "/api/search/sessions", "/api/search/prompts", "/api/search/by-type", "/api/search/by-file",
	"/api/search/by-concept", "/api/search/recent-context", "/api/search/timeline", "/api/search/timeline-by-query", "/api/search/help",
	"/api/sessions", "/api/summaries", "/api/prompts", "/api/projects", "/api/observations", "/api/learnings", "/api/stats", "/api/context/preview", "/api/sessions/12/receipt",
}

// For all parameters, the answer is JSON and no internal error.
func FuzzParameters(f *testing.F) {
	for _, query := range []string{
		"", "query=x", "query=%00", "query=%zz", "query=a;b", "q=%F0%9F%98%80&text=%ff%fe", `query="&explain=1`, "query=" + strings.Repeat("(", 2000), "limit=99999999999999999999",
		"dateRange={%22start%22:1e999}", "dateRange[start]=2026-03-04T12:00:00+99:99", "dateRange={", "since=-1&until=0", "since=9223372036854775807", "type=,,,&concepts=[%22a%22,1]",
		"files=[&files[]=%5B%22%5D", "anchor=S99999999999999999999&depth_before=-0", "anchor=%23&query=%20", "session_id=S", "kind=all,all", "=&&==&%", "format=%66ull&order=DATE_DESC",
		strings.Repeat("&files=a", 300), "file=../../etc/passwd&type=bugfix&concept='; DROP TABLE x; --",
	} {
		for i := range readRoutes {
			f.Add(byte(i), query)
		}
	}
	w := newFakeWorker()
	w.records, w.hits, w.around, w.sessions = someRecords(), someHits(), someTimeline(), someSessions()
	w.block, w.accounts = someBlock(), someReceipts()
	f.Fuzz(func(t *testing.T, route byte, query string) {
		w.searched, w.timelines, w.queried = nil, nil, nil
		got := asked(t, w, readRoutes[int(route)%len(readRoutes)]+"?"+query)
		if !json.Valid([]byte(got.body)) || !slices.Contains([]int{200, 400, 413}, got.status) {
			t.Fatalf("status %d: %.500s", got.status, got.body)
		}
		for _, r := range w.searched {
			// What the routes ask by themselves may be longer.
			if r.Limit < 1 || r.Limit > api.MaxLimit || r.Offset < 0 || r.Since < 0 || r.Until < 0 || r.Session < 0 || r.Since > 0 && r.Until > 0 && r.Since > r.Until || len(r.Text) > 64<<10 {
				t.Errorf("searched for %+v", r)
			}
		}
		for _, r := range w.timelines {
			if r.Anchor == "" && r.Text == "" || r.Before < 0 || r.After < 0 || r.Before > api.MaxLimit || r.After > api.MaxLimit {
				t.Errorf("timeline %+v", r)
			}
		}
	})
}

// An observation is stored complete, or refused.
func FuzzMemories(f *testing.F) {
	for _, body := range []string{
		`{"project":"p","narrative":"x"}`, `{}`, `[`, ``, `{"project":"p","title":"\u0000"}`, `{"project":"p","text":"\ud800. b","files":["", " "],"type":" BUGFIX "}`, `{"ids":[1,"#2"," 3 ",null,1e3]}`,
		`{"session_id":"S12","narrative":"y","created_at":1}`, `{"session_id":12,"narrative":"y","created_at":"2026-03-04"}`, `{"session_id":{},"narrative":"y"}`, `{"created_at":[],"narrative":"y","project":"p"}`,
		`{"title":null,"pinned":true}`, `{"pinned":1}`, `{"ids":["#"]}`, `{"ids":{}}`, `{"format":"full","ids":[9223372036854775807,9223372036854775808]}`,
	} {
		for i := range 4 {
			f.Add(byte(i), []byte(body))
		}
	}
	w := newFakeWorker()
	w.records = someRecords()
	a := newServer(w.deps(), Options{})
	h := a.guarded(a.router())
	targets := []struct{ method, path string }{{"POST", "/api/observations"}, {"POST", "/api/observations/batch"}, {"PATCH", "/api/observations/124"}, {"POST", "/api/observations/7/restore"}}
	f.Fuzz(func(t *testing.T, route byte, body []byte) {
		w.added = nil
		target := targets[int(route)%len(targets)]
		r := httptest.NewRequest(target.method, target.path, bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		ctx, cancel := contextWithLink(r)
		defer cancel()
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r.WithContext(ctx))
		if !json.Valid(rec.Body.Bytes()) || !slices.Contains([]int{http.StatusOK, http.StatusCreated, http.StatusBadRequest}, rec.Code) {
			t.Fatalf("status %d: %s", rec.Code, rec.Body)
		}
		for _, n := range w.added {
			if strings.TrimSpace(n.Title) == "" || n.ProjectPath == "" && n.Session == 0 || n.Type == "" || n.Origin == "" || n.CreatedAt < 0 {
				t.Errorf("kept %+v", n)
			}
			for _, file := range n.Files {
				if strings.TrimSpace(file.Path) == "" {
					t.Errorf("kept %+v", n)
				}
			}
		}
	})
}
