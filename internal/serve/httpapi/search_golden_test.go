package httpapi

import (
	"testing"

	"claudemem/internal/memory"
)

// someHits are a hit of each kind, with scores and explanations.
func someHits() []memory.Hit {
	records := someRecords()
	why := &memory.Explanation{
		Parts:   []memory.ScorePart{{Name: "keyword", Value: 1, Note: "rounding, sum"}, {Name: "likeness", Value: 0.5}},
		Factors: []memory.ScorePart{{Name: "recency", Value: 1.125, Note: "8 days"}}, Words: []string{"rounding"}, Fragment: "fact_0",
	}
	return []memory.Hit{
		{RecordRef: memory.RecordRef{Kind: memory.RecordObservation, ID: 124}, ProjectPath: records[0].ProjectPath, CreatedAt: records[0].CreatedAt,
			Score: 1.6875, Why: why, Observation: &records[0]},
		{RecordRef: memory.RecordRef{Kind: memory.RecordSummary, ID: 31}, ProjectPath: records[0].ProjectPath, CreatedAt: memory.MillisOf(noon) + 60_000,
			Score: 1.00004, Summary: &memory.Summary{ID: 31, ULID: "01JNGZ0000000000000000000D", Session: 12, PromptNumber: 3, Request: "Why do the totals differ?\nBy a cent.",
				Investigated: "money/money.go", Learned: "Rounding per line adds up", Completed: "Sum first, then round", NextSteps: "Refunds",
				FilesEdited: []string{"money/money.go"}, Origin: memory.OriginOffline, CreatedAt: memory.MillisOf(noon) + 60_000}},
		{RecordRef: memory.RecordRef{Kind: memory.RecordPrompt, ID: 77}, ProjectPath: records[0].ProjectPath, CreatedAt: memory.MillisOf(noon) - 60_000,
			Score: 0.25, Prompt: &memory.Prompt{ID: 77, ULID: "01JNGZ0000000000000000000E", Session: 12, Number: 3, PromptID: "p3",
				Text:   "\n  The totals are off by a cent in every invoice that has more than two lines with a discount, and nobody has been able to tell why since March.\nFix it.",
				Branch: "main", HeadCommit: "1f0c", CreatedAt: memory.MillisOf(noon) - 60_000}},
		{RecordRef: memory.RecordRef{Kind: memory.RecordObservation, ID: 7}, ProjectPath: records[1].ProjectPath, CreatedAt: records[1].CreatedAt,
			Score: 0.125, Observation: &records[1]},
	}
}

func someTimeline() memory.Timeline {
	hits := someHits()
	item := func(h memory.Hit, anchor bool) memory.TimelineItem {
		return memory.TimelineItem{Hit: h, Session: 12, IsAnchor: anchor}
	}
	return memory.Timeline{Anchor: "124", AnchorTime: hits[0].CreatedAt, Items: []memory.TimelineItem{item(hits[2], false), item(hits[0], true), item(hits[1], false)}}
}

func someSessions() []memory.SessionDigest {
	return []memory.SessionDigest{
		{Session: memory.Session{ID: 12, ULID: "01JNGZ0000000000000000000F", Host: memory.HostClaudeCode, HostSessionID: "s1", ProjectPath: "/home/ada/work/tally", Label: "tally",
			Status: memory.SessionCompleted, Title: "Totals", PromptCount: 3, StartedAt: memory.MillisOf(noon) - 3_600_000, UpdatedAt: memory.MillisOf(noon), CompletedAt: memory.MillisOf(noon)},
			Summary: someHits()[1].Summary, LastPrompt: "Fix\nit", Observations: 1, Undistilled: 2},
		{Session: memory.Session{ID: 11, Host: memory.HostRaw, HostSessionID: "s0", ProjectPath: "label:notes", Status: memory.SessionActive, StartedAt: 1, UpdatedAt: 1}},
	}
}

func TestGoldenSearch(t *testing.T) {
	setup := func(f *fakeWorker) {
		f.records, f.hits, f.around, f.sessions = someRecords(), someHits(), someTimeline(), someSessions()
		f.projects = []memory.ProjectDigest{{ProjectPath: "/home/ada/work/tally", Label: "tally", Sessions: 1, Observations: 1, LastAt: memory.MillisOf(noon)},
			{ProjectPath: "label:notes", Label: "notes", Sessions: 1}}
	}
	understood := func(f *fakeWorker) {
		f.understood = memory.Understood{Text: "ruonding", Since: 1772323200000, Until: 1774915199999, Types: []memory.ObservationType{"bugfix"},
			Corrected: map[string]string{"ruonding": "rounding"}, Notes: []string{"the index is 3 changes behind"}}
	}
	none := func(f *fakeWorker) {
		f.hits, f.sessions, f.projects, f.around = nil, nil, nil, memory.Timeline{Anchor: "124"}
	}
	tests := []struct {
		name, method, path, body string
		change                   func(*fakeWorker)
	}{
		{name: "search", path: "/api/search?query=rounding"},
		{name: "search-full", path: "/api/search?query=rounding&format=full"},
		{name: "search-explain", path: "/api/search?query=rounding&explain=1&limit=1"},
		{name: "search-understood", path: "/api/search?query=ruonding+bugs+in+March&kind=observation&limit=1", change: understood},
		{name: "search-filter-only", path: "/api/search?project=tally&limit=2&offset=1"},
		{name: "search-none", path: "/api/search?query=zebra", change: none},
		{name: "search-bad-kind", path: "/api/search?query=x&kind=tweet"},
		{name: "search-bad-date", path: "/api/search?query=x&since=tomorrow"},
		{name: "search-bad-range", path: "/api/search?query=x&dateRange=March"},
		{name: "search-backwards", path: "/api/search?query=x&since=2026-04-01&until=2026-03-01"},
		{name: "search-bad-order", path: "/api/search?query=x&order=best"},
		{name: "search-bad-session", path: "/api/search?query=x&session_id=abc"},
		{name: "search-bad-encoding", path: "/api/search?query=100%25;rm"},
		{name: "search-unavailable", path: "/api/search?query=x", change: func(f *fakeWorker) {
			f.searchErr = memory.Errorf(memory.CodeUnavailable, "the index is not open: disk full").WithHint("free some space; claude-mem reindex")
		}},
		{name: "search-observations", path: "/api/search/observations?query=rounding&type=bugfix&concepts=gotcha&files=money.go&dateRange[start]=2026-03-01&dateRange[end]=2026-03-31"},
		{name: "search-sessions", path: "/api/search/sessions?query=totals"},
		{name: "search-sessions-full", path: "/api/search/sessions?query=totals&format=full"},
		{name: "search-prompts", path: "/api/search/prompts?query=totals"},
		{name: "search-prompts-full", path: "/api/search/prompts?query=totals&format=full"},
		{name: "search-by-type", path: "/api/search/by-type?type=bugfix,discovery"},
		{name: "search-by-type-without", path: "/api/search/by-type"},
		{name: "search-by-file", path: "/api/search/by-file?file=money/money.go&query=rounding"},
		{name: "search-by-concept", path: "/api/search/by-concept?concept=gotcha"},
		{name: "timeline", path: "/api/search/timeline?anchor=124&depth_before=1&depth_after=1"},
		{name: "timeline-moment", path: "/api/search/timeline?anchor=2026-03-04T12:00:00Z", change: func(f *fakeWorker) {
			f.around.Anchor = "2026-03-04T12:00:00.000Z"
			f.around.Items[1] = memory.TimelineItem{Hit: memory.Hit{RecordRef: memory.RecordRef{Kind: "anchor"}, CreatedAt: memory.MillisOf(noon)}, IsAnchor: true}
		}},
		{name: "timeline-nothing", path: "/api/search/timeline", change: none},
		{name: "timeline-empty", path: "/api/search/timeline?anchor=124", change: none},
		{name: "timeline-missing", path: "/api/search/timeline?anchor=9", change: func(f *fakeWorker) {
			f.searchErr = memory.Errorf(memory.CodeNotFound, "there is no observation #9")
		}},
		{name: "timeline-by-query", path: "/api/search/timeline-by-query?query=rounding&depth_before=1&depth_after=1"},
		{name: "timeline-by-query-without", path: "/api/search/timeline-by-query?anchor=124"},
		{name: "recent-context", path: "/api/search/recent-context?project=/home/ada/work/tally"},
		{name: "recent-context-none", path: "/api/search/recent-context?limit=5", change: none},
		{name: "sessions", path: "/api/sessions?project=tally&limit=2"},
		{name: "session", path: "/api/sessions/S12"},
		{name: "session-missing", path: "/api/sessions/99"},
		{name: "session-bad", path: "/api/sessions/abc"},
		{name: "summaries", path: "/api/summaries"},
		{name: "prompts", path: "/api/prompts?format=index"},
		{name: "projects", path: "/api/projects"},
		{name: "projects-none", path: "/api/projects?offset=9", change: none},
		{name: "batch", method: "POST", path: "/api/observations/batch", body: `{"ids":[7,"#124","9",124],"format":"index"}`},
		{name: "batch-nothing", method: "POST", path: "/api/observations/batch", body: `{}`},
		{name: "batch-text", method: "POST", path: "/api/observations/batch", body: `{"ids":"7, #124,9","format":"index"}`},
		{name: "batch-bad", method: "POST", path: "/api/observations/batch", body: `{"ids":[1,{"id":2}]}`},
		{name: "memory-add", method: "POST", path: "/api/observations", body: `{"project":"/home/ada/work/tally","text":"Amounts are whole cents. Never use floats.","facts":["int64"],"concepts":["pattern"],` +
			`"files":["money/money.go"],"files_read":["README.md"],"type":"Decision","session_id":"S12","created_at":"2026-03-01","origin":"agent"}`},
		{name: "memory-add-nothing", method: "POST", path: "/api/observations", body: `{"project":"tally"}`},
		{name: "memory-add-nowhere", method: "POST", path: "/api/observations", body: `{"narrative":"x"}`},
		{name: "memory-add-bad-time", method: "POST", path: "/api/observations", body: `{"project":"p","narrative":"x","created_at":"yesterday"}`},
		{name: "memory-add-origin", method: "POST", path: "/api/observations", body: `{"project":"p","narrative":"x","origin":"observer"}`},
		{name: "memory-add-type", method: "POST", path: "/api/observations", body: `{"project":"p","narrative":"x","type":"bug fix"}`},
		{name: "memory-edit-type", method: "PATCH", path: "/api/observations/124", body: `{"type":""}`},
		{name: "memory-edit", method: "PATCH", path: "/api/observations/124", body: `{"title":"Totals were off by a cent"}`},
		{name: "memory-edit-nothing", method: "PATCH", path: "/api/observations/124", body: `{"hidden":true}`},
		{name: "memory-edit-title", method: "PATCH", path: "/api/observations/124", body: `{"title":" "}`},
		{name: "memory-edit-missing", method: "PATCH", path: "/api/observations/9", body: `{"pinned":true}`},
		{name: "memory-hide", method: "DELETE", path: "/api/observations/124"},
		{name: "memory-hide-missing", method: "DELETE", path: "/api/observations/9"},
		{name: "memory-restore", method: "POST", path: "/api/observations/7/restore", body: `{}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { golden(t, tt.name, tt.method, tt.path, tt.body, setup, tt.change) })
	}
}
