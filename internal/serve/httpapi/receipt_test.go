package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/memory"
)

func (f *fakeWorker) SessionNamed(_ context.Context, name, project string) (memory.Session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.named = append(f.named, name+"|"+project)
	for _, r := range f.accounts {
		if name == "last" || name == "S12" || name == "12" || strings.HasPrefix(r.HostSessionID, name) {
			return memory.Session{ID: r.ID}, f.err
		}
	}
	return memory.Session{}, memory.Errorf(memory.CodeNotFound, "there is no session %.40q", name).WithHint("`claude-mem sessions --all` lists them")
}

func (f *fakeWorker) SessionEvents(_ context.Context, id memory.SessionID, limit int) ([]accounts.SessionEvent, int, error) {
	return []accounts.SessionEvent{{At: 1_772_600_000_000, Kind: memory.KindTool, Tool: "Bash", Turn: 2, Result: memory.ResultPassed}}, limit + int(id), f.err
}

func (f *fakeWorker) SessionReceipt(_ context.Context, id memory.SessionID) (accounts.SessionReceipt, error) {
	for _, r := range f.accounts {
		if r.ID == id {
			return r, f.err
		}
	}
	return accounts.SessionReceipt{}, memory.Errorf(memory.CodeNotFound, "there is no session S%d", id)
}

func someReceipts() []accounts.SessionReceipt {
	at := memory.MillisOf(noon)
	spent := accounts.Spent{Calls: 2, TokensIn: 3100, TokensOut: 240, USD: 0.0061}
	return []accounts.SessionReceipt{{
		ID: 12, ULID: "01JNGZ0000000000000000000S", Host: memory.HostClaudeCode, HostSessionID: "0b7c1f6e-aaaa", Project: "tally",
		ProjectPath: "/home/ada/work/tally", FirstPrompt: "Why is the total off by a cent?", Status: memory.SessionCompleted, StartedAt: at - 5000, UpdatedAt: at, CompletedAt: at,
		Captured: accounts.CapturedEvents{Events: 5, Processed: 3, Skipped: 1, Failed: 1, Kinds: []accounts.EventsOf{
			{Kind: memory.KindPrompt, Events: 1}, {Kind: memory.KindTool, Tool: "Edit", Events: 2}, {Kind: memory.KindTool, Tool: "Glob", Events: 1}, {Kind: memory.KindStop, Events: 1}}},
		Skipped:  []accounts.EventsFor{{Reason: memory.SkipTool, Events: 1, Kinds: []accounts.EventsOf{{Kind: memory.KindTool, Tool: "Glob", Events: 1}}}},
		Failed:   []accounts.EventsFor{{Reason: "garbage", Events: 1, Kinds: []accounts.EventsOf{{Kind: memory.KindTool, Tool: "Edit", Events: 1}}}},
		Redacted: []accounts.RedactedRule{{Rule: "github-pat", Count: 2}},
		Stored: accounts.StoredRecords{Prompts: 1, Observations: []accounts.StoredObservation{{ID: 124, Type: memory.TypeBugfix, Title: "Totals off by a cent", PromptNumber: 1}},
			Summaries: []accounts.StoredSummary{{ID: 5, PromptNumber: 1}}},
		Given: []memory.Injection{{Host: memory.HostClaudeCode, HostSessionID: "0b7c1f6e-aaaa", Where: "SessionStart", Source: "startup",
			Observations: []memory.ObservationID{7}, Sessions: []memory.SessionID{3}, Layers: []memory.LayerCost{{Name: "observations", Tokens: 40, Items: 1}},
			Skipped: []memory.LayerCost{{Name: "learnings", Reason: "empty"}}, Tokens: 60, Budget: 2000, BuildMS: 1.5, At: at - 5000}},
		LookedUp: []accounts.LookedUp{{Observation: 7, Title: "bare", Given: true, Times: 2, ByItself: 1, LastAt: at}},
		Cost: accounts.SessionCost{Total: spent, Providers: []accounts.SpentOn{{Name: "anthropic", Spent: spent}},
			Models: []accounts.SpentOn{{Name: "haiku", Provider: "anthropic", Spent: spent}}, TokensGiven: 60, DiscoveryTokens: 5100},
	}}
}

func TestGoldenReceipts(t *testing.T) {
	setup := func(f *fakeWorker) { f.accounts = someReceipts() }
	for _, tt := range []struct{ name, method, path string }{
		{name: "receipt", path: "/api/sessions/S12/receipt"},
		{name: "receipt-missing", path: "/api/sessions/99/receipt"},
		{name: "receipt-wrong-method", method: "POST", path: "/api/sessions/12/receipt"},
	} {
		t.Run(tt.name, func(t *testing.T) { golden(t, tt.name, tt.method, tt.path, "", setup) })
	}
}

// A session's name is looked up as it was sent, with all its characters; it cannot become
// another route.
func TestReceiptNames(t *testing.T) {
	for name, status := range map[string]int{
		"12": 200, "S12": 200, "last": 200, "0b7c1f6e": 200, "99": 404, "' OR 1=1 --": 404, "a/b": 404, "..%2f..": 404, "%00": 404, "\x00": 404, "\xff": 404,
		"<script>": 404, strings.Repeat("x", 5000): 404, "☃": 404, " ": 404,
	} {
		f := newFakeWorker()
		f.accounts = someReceipts()
		r := httptest.NewRequest(http.MethodGet, "http://localhost/api/sessions/"+url.PathEscape(name)+"/receipt?project=tally", nil)
		ctx, cancel := contextWithLink(r)
		rec := httptest.NewRecorder()
		a := newServer(f.deps(), Options{})
		a.guarded(a.router()).ServeHTTP(rec, r.WithContext(ctx))
		cancel()
		if rec.Code != status || len(f.named) != 1 || f.named[0] != name+"|tally" {
			t.Errorf("%q: status %d, looked for %q: %.200s", name, rec.Code, f.named, rec.Body)
		}
	}
	f := newFakeWorker()
	f.err = memory.Errorf(memory.CodeInvalid, "%q names several sessions", "0b").WithHint("they are S12, S13: add characters, or take the number")
	f.accounts = someReceipts()
	if got := asked(t, f, "/api/sessions/0b/receipt"); got.status != 400 || !strings.Contains(got.body, "S12, S13") {
		t.Errorf("status %d: %s", got.status, got.body)
	}
}
