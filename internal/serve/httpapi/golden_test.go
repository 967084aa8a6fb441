package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files; read them before committing")

func someRecords() []memory.Observation {
	return []memory.Observation{
		{ID: 124, ULID: "01JNGZ0000000000000000000A", Session: 12, ProjectPath: "/home/ada/work/tally", PromptNumber: 3,
			Type: memory.TypeBugfix, Title: "Totals off by a cent", Subtitle: "rounded per line instead of once",
			Narrative: "Amounts were rounded <before> the sum.", Facts: []string{"`go test ./...` failed, then passed"},
			Concepts: []string{"gotcha", "problem-solution"}, DiscoveryTokens: 5100, Origin: memory.OriginOffline,
			Files: []memory.FileRef{{Path: "money/money.go", Role: memory.FileModified}, {Path: "money/money.go", Role: memory.FileRead},
				{Path: "README.md", Role: memory.FileRead}},
			Branch: "main", HeadCommit: "1f0c", Provenance: memory.FromProject, Pinned: true, CreatedAt: memory.MillisOf(noon)},
		{ID: 7, ProjectPath: `C:\Users\ada\tally`, Type: memory.TypeDiscovery, Title: "bare", CreatedAt: memory.MillisOf(noon) - 1},
	}
}

func someLearnings() []memory.Learning {
	return []memory.Learning{
		{ID: 7, ULID: "01JNGZ0000000000000000000A", ProjectPath: "/home/ada/work/tally", Category: "gotcha", Content: "Amounts are <cents>.",
			Confidence: 1, TimesSeen: 3, Active: true, CreatedAt: memory.MillisOf(noon), UpdatedAt: memory.MillisOf(noon) + 5},
		{ID: 6, ProjectPath: `C:\Users\ada\tally`, Category: "workflow", Content: "make runs it", Confidence: 0.6, TimesSeen: 1, SupersededBy: 7},
	}
}

func someSymbols() []memory.SymbolChange {
	return []memory.SymbolChange{
		{ID: 3, Session: 12, FilePath: "money/money.go", SnapshotAt: memory.MillisOf(noon), QualifiedName: "Ledger.Total", Kind: "method",
			Signature: "func (l *Ledger) Total() <-chan Cents", LineStart: 10, LineEnd: 14, BodyHash: "1f0c", ChangeType: memory.SymbolNew, RenamedFrom: "Ledger.Sum"},
		{ID: 2, Session: 12, FilePath: "money/money.go", SnapshotAt: memory.MillisOf(noon), QualifiedName: "Ledger.Sum", Kind: "method",
			Signature: "func (l *Ledger) Sum() <-chan Cents", LineStart: 10, LineEnd: 14, BeforeHash: "1f0c", ChangeType: memory.SymbolDeleted},
	}
}

func TestGoldenAnswers(t *testing.T) {
	setup := func(f *fakeWorker) {
		f.records, f.learnings, f.symbols = someRecords(), someLearnings(), someSymbols()
		f.line = memory.Statusline{Observations: 3, Pending: 2, TokensToday: 1234, Cap: "day", Trouble: "claude login"}
		f.dead = []memory.DeadLetter{{Key: "tool:claude-code:s1:t1", Session: 12, Kind: memory.KindTool, ToolName: "Bash",
			OccurredAt: memory.MillisOf(noon), Attempts: 3, LastError: "distil batch: no answer"}}
		f.block = memory.ContextBlock{Text: "<claude-mem-context>\n## Recent Sessions\n- [2h ago] x\n</claude-mem-context>", Tokens: 21,
			Layers: []memory.LayerCost{{Name: "sessions", Tokens: 9, Items: 1}}, Skipped: []memory.LayerCost{{Name: "observations", Reason: "slow"}}, BuildMS: 1.25}
		f.notices = []string{"claude-mem: 2 events wait for a person, see claude-mem queue", "second"}
	}
	tests := []struct {
		name, method, path, body string
		change                   func(*fakeWorker)
	}{
		{name: "health", path: "/api/health"},
		{name: "readiness", path: "/api/readiness"},
		{name: "readiness-not", path: "/api/readiness", change: func(f *fakeWorker) { f.notReady = errors.New("observer is starting") }},
		{name: "version", path: "/api/version"},
		{name: "settings", path: "/api/settings"},
		{name: "erasure-none", path: "/api/admin/forget"},
		{name: "erasure-done", path: "/api/admin/forget", change: func(f *fakeWorker) {
			f.forgotten = []api.ForgetRequest{{Observations: []memory.ObservationID{12}}}
		}},
		{name: "forget-refused", method: "POST", path: "/api/admin/forget", body: `{"observations":[12]}`},
		{name: "stats", path: "/api/stats"},
		{name: "init", method: "POST", path: "/api/sessions/init", body: `{"contentSessionId":"s1","project":"/p","prompt":"hello"}`},
		{name: "observation", method: "POST", path: "/api/sessions/observations", body: toolBody},
		{name: "observation-skipped", method: "POST", path: "/api/sessions/observations", body: toolBody,
			change: func(f *fakeWorker) {
				f.receipt.Status, f.receipt.Reason = memory.StatusSkipped, memory.SkipTool
			}},
		{name: "observation-duplicate", method: "POST", path: "/api/sessions/observations", body: toolBody,
			change: func(f *fakeWorker) { f.receipt.Status, f.receipt.Reason = memory.StatusDuplicate, "event_key" }},
		{name: "observation-without-session", method: "POST", path: "/api/sessions/observations", body: `{"tool_name":"Edit"}`},
		{name: "observation-not-json", method: "POST", path: "/api/sessions/observations", body: `{"tool_name":`},
		{name: "observation-wrong-type", method: "POST", path: "/api/sessions/observations", body: `{"host_session_id":"s","occurred_at":"2026-03-04T12:00:00Z"}`},
		{name: "observation-disk-full", method: "POST", path: "/api/sessions/observations", body: toolBody,
			change: func(f *fakeWorker) {
				f.err = memory.Errorf(memory.CodeStorage, "the disk is full").WithHint("free some space")
			}},
		{name: "observation-fault", method: "POST", path: "/api/sessions/observations", body: toolBody,
			change: func(f *fakeWorker) { f.err = errors.New("a text that may hold content") }},
		{name: "observation-panic", method: "POST", path: "/api/sessions/observations", body: toolBody,
			change: func(f *fakeWorker) { f.panicValue = "index out of range" }},
		{name: "flush", method: "POST", path: "/api/sessions/summarize", body: `{"kind":"flush","host":"claude-code","session_id":"s1"}`},
		{name: "complete", method: "POST", path: "/api/sessions/complete", body: `{"session":"s1","reason":"other"}`},
		{name: "context", path: "/api/context?project_path=/p&host=claude-code&session_id=s1&source=startup&budget=500"},
		{name: "context-empty", path: "/api/context?project=/p", change: func(f *fakeWorker) {
			f.block = memory.ContextBlock{Layers: []memory.LayerCost{}, Skipped: []memory.LayerCost{}}
			f.notices = nil
		}},
		{name: "context-without-project", path: "/api/context"},
		{name: "context-bad-budget", path: "/api/context?project_path=/p&budget=lots"},
		{name: "observations-index", path: "/api/observations"},
		{name: "observations-full", path: "/api/observations?format=full&limit=1"},
		{name: "observations-page", path: "/api/observations?offset=1&limit=5"},
		{name: "observations-past-the-end", path: "/api/observations?offset=50"},
		{name: "observations-bad-limit", path: "/api/observations?limit=101"},
		{name: "observations-bad-format", path: "/api/observations?format=xml"},
		{name: "observation-get", path: "/api/observations/124"},
		{name: "observation-get-missing", path: "/api/observations/9"},
		{name: "observation-get-bad", path: "/api/observations/abc"},
		{name: "learnings", path: "/api/learnings?project=tally&category=gotcha&all=true&limit=2"},
		{name: "learnings-bad-all", path: "/api/learnings?all=maybe"},
		{name: "learnings-none", path: "/api/learnings", change: func(f *fakeWorker) { f.learnings = nil }},
		{name: "learning-add", method: "POST", path: "/api/learnings", body: `{"project_path":"/home/ada/work/tally","category":"convention","content":"Errors are wrapped once."}`},
		{name: "learning-add-unsure", method: "POST", path: "/api/learnings", body: `{"project":"tally","category":"convention","content":"x","confidence":0.4}`},
		{name: "learning-add-nowhere", method: "POST", path: "/api/learnings", body: `{"category":"convention","content":"x"}`},
		{name: "learning-add-category", method: "POST", path: "/api/learnings", body: `{"project":"tally","category":"misc","content":"x"}`},
		{name: "learning-add-wrong-type", method: "POST", path: "/api/learnings", body: `{"project":"tally","confidence":"high"}`},
		{name: "learning-edit", method: "PATCH", path: "/api/learnings/7", body: `{"content":"Amounts are whole cents."}`},
		{name: "learning-edit-nothing", method: "PATCH", path: "/api/learnings/7", body: `{"id":8}`},
		{name: "learning-edit-missing", method: "PATCH", path: "/api/learnings/9", body: `{"active":true}`},
		{name: "learning-retire", method: "DELETE", path: "/api/learnings/7"},
		{name: "learning-retire-bad", method: "DELETE", path: "/api/learnings/seven"},
		{name: "learning-wrong-method", path: "/api/learnings/7"},
		{name: "symbols", path: "/api/symbols?file=money&name=Total&since=2026-03-01&limit=1", change: func(f *fakeWorker) {
			f.sessions = []memory.SessionDigest{{Session: memory.Session{ID: 12, ProjectPath: "/home/ada/work/tally"}}}
		}},
		{name: "symbols-page", path: "/api/symbols?offset=1"},
		{name: "symbols-none", path: "/api/symbols?session=S12", change: func(f *fakeWorker) { f.symbols = nil }},
		{name: "symbols-bad-session", path: "/api/symbols?session_id=last"},
		{name: "symbols-bad-range", path: "/api/symbols?since=2026-03-02&until=2026-03-01"},
		{name: "statusline", path: "/api/statusline?session_id=s1&host=claude-code&project_path=/p"},
		{name: "queue", path: "/api/queue"},
		{name: "queue-retry", method: "POST", path: "/api/queue/retry", body: `{}`},
		{name: "shutdown", method: "POST", path: "/api/admin/shutdown", body: `{}`},
		{name: "reindex", method: "POST", path: "/api/admin/reindex", body: `{}`},
		{name: "reindex-twice", method: "POST", path: "/api/admin/reindex", body: `{}`, change: func(f *fakeWorker) { f.reindexing.Running = true }},
		{name: "reindexing", path: "/api/admin/reindex", change: func(f *fakeWorker) { f.reindexing = api.Reindexing{Done: 120, Total: 120, Error: "the disk is full"} }},
		{name: "no-route", path: "/api/nothing"},
		{name: "wrong-method", method: "DELETE", path: "/api/stats"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			golden(t, tt.name, tt.method, tt.path, tt.body, setup, tt.change)
		})
	}
}

// golden compares an answer with the file of its name.
func golden(t *testing.T, name, method, path, body string, setup ...func(*fakeWorker)) {
	t.Helper()
	s := serve(t, Options{})
	for _, change := range setup {
		if change != nil {
			change(s.fakeWorker)
		}
	}
	if method == "" {
		method = "GET"
	}
	got := s.do(t, s.unix, method, path, body)
	if ct := got.header.Get("Content-Type"); ct != "application/json" {
		t.Errorf("content type %q", ct)
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, []byte(got.body), "", "  "); err != nil {
		t.Fatalf("body %q: %v", got.body, err)
	}
	text := fmt.Sprintf("%s %s\n%s\n%d\n%s", method, path, body, got.status, pretty.String())
	file := filepath.Join("testdata", "answers", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("answer differs from %s (-want +got):\n%s", file, diff)
	}
}
