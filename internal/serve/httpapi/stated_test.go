package httpapi

import (
	"cmp"
	"net/http"
	"strings"
	"testing"
)

// TestStatedRoutes has the routes as they were promised, with the status of success: 200 where
// none stands.
func TestStatedRoutes(t *testing.T) {
	const stated = `
GET /api/health /api/readiness /api/version /api/stats /api/openapi.json /api/context /api/stream /api/settings /api/queue
GET /api/search /api/search/observations /api/search/sessions /api/search/prompts /api/search/by-type /api/search/by-file /api/search/by-concept
GET /api/search/recent-context /api/search/timeline /api/search/timeline-by-query /api/search/help
GET /api/observations /api/observations/{id} /api/sessions /api/sessions/{id} /api/summaries /api/prompts /api/projects /api/symbols /api/learnings
POST /api/sessions/init=202 /api/sessions/observations=202 /api/sessions/summarize=202 /api/sessions/complete=202
POST /api/observations=201 /api/observations/batch /api/learnings=201 /api/queue/retry /api/admin/shutdown=202
PATCH /api/observations/{id} /api/learnings/{id}
DELETE /api/observations/{id} /api/learnings/{id}`
	there := map[string]route{}
	for _, r := range serve(t, Options{}).api.routes() {
		there[r.method+" "+r.path] = r
	}
	for line := range strings.Lines(strings.TrimSpace(stated)) {
		words := strings.Fields(line)
		for _, word := range words[1:] {
			path, status, _ := strings.Cut(word, "=")
			r, known := there[words[0]+" "+path]
			want := map[string]int{"": http.StatusOK, "201": http.StatusCreated, "202": http.StatusAccepted}[status]
			if got := cmp.Or(r.status, http.StatusOK); !known || got != want {
				t.Errorf("%s %s: there %t with status %d, want %d", words[0], path, known, got, want)
			}
		}
	}
	if !there["POST /api/admin/shutdown"].socketOnly {
		t.Error("a shutdown is not of the socket only")
	}
}
