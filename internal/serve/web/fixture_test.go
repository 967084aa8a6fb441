package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claudemem/internal/find/recall/block"
	"claudemem/internal/find/search"
	"claudemem/internal/keep/index"
	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/care"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/move/exchange"
	"claudemem/internal/serve/api"
	"claudemem/internal/serve/web"
)

var update = flag.Bool("update", false, "write the fixture pages anew")

// afternoon is when the fixture pages are looked at: an hour after the last of their records.
var afternoon = time.Date(2026, 3, 4, 11, 40, 0, 0, time.UTC)

// fixtures are the pages whose outlines are in testdata/pages, by file name: each view with the
// records of testdata/memory.jsonl and, with "empty", of a memory without any.
var fixtures = map[string]string{
	"feed":           "/",
	"feed-filtered":  "/?q=type%3Abugfix+project%3Ainvoice",
	"search":         "/search?q=rounding+of+totals",
	"search-nothing": "/search?q=type%3Arefactor+kubernetes",
	"search-start":   "/search",
	"sessions":       "/sessions",
	"session":        "/session/9",
	"timeline":       "/timeline?around=%2324",
	"observation":    "/observation/25",
	"learnings":      "/learnings",
	"given":          "/given?project=ratelimit",
	"code":           "/code",
	"stats":          "/stats",
	"context":        "/context?project_path=/home/ada/ratelimit",
	"queue":          "/queue",
	"doctor":         "/doctor",
	"impact":         "/impact",
	"devices":        "/devices",
	"team":           "/team",
	"settings":       "/settings",
	"logs":           "/logs",
	"not-found":      "/observation/4711",
}

// canBeEmpty are those that look otherwise without records.
var canBeEmpty = []string{"feed", "sessions", "timeline", "learnings", "given", "code", "stats", "context", "logs", "devices", "team"}

// TestFixturePages compares the main part of each page with its outline in testdata/pages, and
// testdata/observation.html with a page as a whole.
func TestFixturePages(t *testing.T) {
	full, empty := fixture(t, "testdata/memory.jsonl"), fixture(t, "")
	for name, path := range fixtures {
		compare(t, name, outline(t, page(full, path)))
		if slices.Contains(canBeEmpty, name) {
			compare(t, name+"-empty", outline(t, page(empty, path)))
		}
	}
	compare(t, "../observation.html", page(full, fixtures["observation"]))
	files, err := filepath.Glob("testdata/pages/*")
	must(t, err)
	for _, file := range files {
		if _, ok := fixtures[strings.TrimSuffix(filepath.Base(file), "-empty")]; !ok {
			t.Errorf("%s is of no view", file)
		}
	}
}

// versioned is what changes an address of a static file with its content.
var versioned = regexp.MustCompile(`"/static/([a-z.]+)\?v=[0-9a-f]+"`)

// page returns the page at a path. In a browser it finds its styles and scripts from testdata.
func page(v *web.Viewer, path string) string {
	w := httptest.NewRecorder()
	v.Serve(w, httptest.NewRequest(http.MethodGet, path, nil), "token of the page")
	return versioned.ReplaceAllString(w.Body.String(), `"../static/$1"`)
}

// compare compares a text with its file.
func compare(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "pages", name)
	if *update {
		must(t, os.WriteFile(file, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	must(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; go test ./internal/serve/web -run TestFixturePages -update writes it):\n%s", file, diff)
	}
}

// fixture returns a viewer of the records of a file, or of none.
func fixture(t *testing.T, records string) *web.Viewer {
	t.Helper()
	dir := t.TempDir()
	clock := func() time.Time { return afternoon }
	s, err := store.Open(t.Context(), filepath.Join(dir, "memory.db"), store.Options{Clock: clock})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	if records != "" {
		load(t, s, records)
		give(t, s)
	}
	ix, err := index.Open(t.Context(), filepath.Join(dir, "index.db"), s, index.Options{Clock: clock})
	must(t, err)
	t.Cleanup(func() { must(t, ix.Close()) })
	must(t, ix.CatchUp(t.Context()))
	searcher := search.New(s, ix, search.Options{Clock: clock, Location: time.UTC, RecencyDays: func() int { return 90 }})
	// With a minute no part of a block is late on a loaded machine.
	builder := block.New(s, block.Options{Clock: clock, Finder: searcher, Timeout: time.Minute})
	log := web.Log{Name: "worker", Path: "testdata/worker.log"}
	if records == "" {
		log.Path = filepath.Join(dir, "worker.log") // there is none yet
	}
	return web.New((&api.Local{Store: s, Searcher: searcher, Blocks: builder, Clock: clock,
		Vocabulary: func() (types, concepts []string) {
			return []string{"bugfix", "feature", "refactor", "change", "discovery", "decision"}, []string{"gotcha", "pattern"}
		}}).Memory(),
		web.Options{Version: "0.1.0", Clock: clock, Location: time.UTC, Worker: worker{records == ""}, InTeam: func() bool { return records != "" }, Logs: []web.Log{log}})
}

// give books what session 9 was given at its start and at a failure, and a verdict.
func give(t *testing.T, s *store.Store) {
	t.Helper()
	for i, in := range []memory.Injection{
		{Where: "SessionStart", Source: "startup", Tokens: 60, Lines: []memory.ContextLine{
			{Layer: memory.LayerSessions, Text: "- [1h ago] The limiter was written (S8)", Session: 8, Why: "session 1 of 1, summary of turn 1"},
			{Layer: "observations", Text: "- The bucket is capped at its burst (#24)", Observation: 24, Session: 8, Why: "fits the latest summary: words bucket, burst"},
			{Layer: "symbols", Text: "limiter.go: func refill", Session: 8, Why: "changed"}}},
		{Where: "PostToolUseFailure", Source: "failure", Tokens: 31, Observations: []memory.ObservationID{24}, Lines: []memory.ContextLine{
			{Layer: "failure", Text: "- The bucket is capped at its burst: <b>error</b> then (#24)", Observation: 24, Session: 8, Why: "the same test failed"}}},
	} {
		in.Host, in.HostSessionID, in.ProjectPath = memory.HostClaudeCode, "6f1c2a80-4b1e-4d55-9a3e-0c5b7a1d2e01", "/home/ada/ratelimit"
		in.At = memory.MillisOf(afternoon.Add(time.Duration(i) * time.Minute))
		must(t, s.RecordInjection(t.Context(), in))
	}
	must(t, s.Judge(t.Context(), memory.Judgement{RecordRef: memory.RecordRef{Kind: memory.RecordObservation, ID: 24}, By: memory.OriginUser, Verdict: memory.Up}))
}

// load imports the records of a file.
func load(t *testing.T, s *store.Store, file string) {
	t.Helper()
	f, err := os.Open(file)
	must(t, err)
	defer f.Close()
	r, _, err := exchange.NewReader(f)
	must(t, err)
	var all []memory.Portable
	for {
		p, _, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		all = append(all, p)
	}
	outcomes, err := s.Import(t.Context(), all, func(string) bool { return true }, memory.ImportOptions{Mine: true})
	must(t, err)
	for i := range outcomes {
		if outcomes[i].Status != memory.ImportAdded {
			t.Fatalf("record %d: %+v", i, outcomes[i])
		}
	}
}

// worker is that of the fixture pages.
type worker struct {
	// alone says that the memory is on one device.
	alone bool
}

// Settings implements web.Worker: some settings, for a new one shall not change a page here.
func (worker) Settings() []settings.View {
	return []settings.View{
		{Key: "CLAUDE_MEM_PROVIDER", Group: "observer", Value: "offline", Default: "auto", Origin: settings.FromFile, Choices: "auto claude anthropic offline", Help: "what makes records of captured events"},
		{Key: "CLAUDE_MEM_ANTHROPIC_API_KEY", Group: "observer", Value: "…6789", Origin: settings.FromFile, Help: "API key for the provider anthropic"},
		{Key: "CLAUDE_MEM_MODEL", Group: "observer", Origin: settings.FromDefault, Help: "model of the provider; empty: the provider's default"},
		{Key: "CLAUDE_MEM_CONTEXT_BUDGET", Group: "context", Value: "2000", Default: "2000", Origin: settings.FromDefault, Help: "largest context block, in tokens"},
		{Key: "CLAUDE_MEM_RECENCY_DAYS", Group: "search", Value: "ninety", Default: "90", Origin: settings.FromFile, Help: "how far back hits by meaning may be", Error: "not a number"},
	}
}

// Stats implements web.Worker.
func (worker) Stats(context.Context) map[string]any {
	return map[string]any{"pid": 4242, "started_at": memory.MillisOf(afternoon.Add(-3 * time.Hour)), "data_dir": "/home/ada/.claude-mem",
		"stages": map[string]string{"store": "ok", "observer": "ok", "index": "ok"}, "sizes": map[string]int64{"total": 1_460_000, "memory": 820_000, "index": 610_000, "logs": 30_000},
		"index": map[string]any{"state": "ok", "documents": 88, "model": "builtin-static-v2-128"}}
}

// DevicesStatus implements web.Worker: the memory with records is on three devices.
func (w worker) DevicesStatus(context.Context) (*memory.DevicesStatus, error) {
	if w.alone {
		return nil, memory.Errorf(memory.CodeNotFound, "this memory is on one device")
	}
	ago := func(d time.Duration) memory.Millis { return memory.MillisOf(afternoon.Add(-d)) }
	return &memory.DevicesStatus{Folder: "/home/ada/Sync/memory", Device: "0123456789abcdef", Label: "tower", SyncedAt: ago(time.Minute), Fault: "write to the folder of devices: no space left on device",
		Devices: []memory.Device{{Device: "a1", Label: "laptop", SeenAt: ago(2 * time.Minute)}, {Device: "b2", Label: "old <laptop>", SeenAt: ago(400 * time.Hour), Retired: true, Behind: 3},
			{Device: "c3", Label: "studio", SeenAt: ago(50 * time.Hour), Missing: 2, Behind: 1, Lost: true}},
		Refused: []memory.RefusedFile{{Name: "00ff.cm", Reason: "it was changed, is not whole, or belongs to another memory"}},
		Contested: []memory.Contested{
			{RecordRef: memory.RecordRef{Kind: memory.RecordObservation, ID: 25}, Text: "Totals are rounded once", Others: []memory.Version{{Device: "c3", Title: "Totals are rounded at the end"}, {Device: "0123456789abcdef", Title: "Totals are not rounded"}}},
			{RecordRef: memory.RecordRef{Kind: memory.RecordLearning, ID: 2}, Text: "Run make lint", Others: []memory.Version{{Device: "gone", Title: "Run make check"}}}}}, nil
}

// TeamStatus implements web.Worker: the memory with records is in a team whose server is away.
func (w worker) TeamStatus(context.Context) (*care.TeamStatus, error) {
	if w.alone {
		return nil, memory.Errorf(memory.CodeNotFound, "this memory is in no team")
	}
	ago := func(d time.Duration) memory.Millis { return memory.MillisOf(afternoon.Add(-d)) }
	ref := func(kind memory.RecordKind, id int64) memory.RecordRef { return memory.RecordRef{Kind: kind, ID: id} }
	return &care.TeamStatus{Member: "ada", Address: "postgres://ada@db.example.org/team", SyncedAt: ago(26 * time.Hour), Behind: 1200, Fault: "connect to the team's server: the connection failed", Hint: "is the server up?",
		Policies: []care.TeamPolicy{{Project: "github.com/acme/tally", Summaries: true}}, Muted: []string{"eve", "github.com/acme/<old>"}, Refused: []string{"a record of mallory has no form"},
		TeamCounts: care.TeamCounts{Shared: 120, Edited: 1, Pulled: 1003, Unsent: 2, Authors: []care.TeamAuthor{{Member: "bob", Records: 1000, LastAt: ago(30 * time.Hour)}, {Member: "carol", Records: 3}},
			Leaving: []care.TeamLeaving{{RecordRef: ref(memory.RecordObservation, 25), Title: "Totals are rounded <once>", Project: "github.com/acme/tally", Holders: []string{"ada"}, How: "share", At: ago(time.Hour), Waits: true},
				{RecordRef: ref(memory.RecordLearning, 2), Title: "Run make lint", Project: "github.com/acme/tally", Holders: []string{"ada"}, How: "policy", At: ago(2 * time.Hour)},
				{RecordRef: ref(memory.RecordObservation, 24), Title: "Use whole cents", Project: "named:notes", Holders: []string{"bob", "carol"}, How: "edit", At: ago(3 * time.Hour)},
				{RecordRef: ref(memory.RecordSession, 3), Title: "Parser done", Project: "github.com/acme/tally", Holders: []string{"ada"}, How: "elsewhere", At: ago(50 * time.Hour)},
				{RecordRef: ref(memory.RecordObservation, 23), Title: "Before it was noted how", Project: "github.com/acme/tally", Holders: []string{"ada"}}}}}, nil
}

// Examine implements web.Worker.
func (worker) Examine(context.Context) ([]byte, error) {
	type finding map[string]any
	return json.Marshal(map[string]any{"status": "warn", "counts": map[string]int{"ok": 2, "warn": 1}, "findings": []finding{
		{"check": "worker", "name": "worker", "status": "ok", "text": "the worker runs (pid 4242, port 37777)"},
		{"check": "hooks", "name": "hooks", "status": "ok", "text": "Claude Code ran a hook 4 minutes ago"},
		{"check": "provider", "name": "provider", "status": "warn", "text": "no model: records are made without one", "fix": "claude-mem config set PROVIDER auto"},
	}})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
