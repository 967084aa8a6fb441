package main

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/memory"
)

// seeded is a memory in which there is something of everything that commands print:
// of a project, in its own directory, in which one session has found out and another
// was given it. It returns the environment of a command and the project's directory.
func seeded(t *testing.T) (env map[string]string, project string) {
	t.Helper()
	dataDir, project := t.TempDir(), t.TempDir()
	ctx := t.Context()
	// An hour ago, but not before midnight: a case searches for what was done today.
	started := time.Now()
	midnight := time.Date(started.Year(), started.Month(), started.Day(), 0, 0, 0, 0, started.Location())
	at := max(memory.MillisOf(started.Add(-time.Hour)), memory.MillisOf(midnight))
	now := at
	s, err := store.Open(ctx, access.DatabasePath(dataDir), store.Options{Clock: func() time.Time { return now.Time() }})
	must(t, err)
	defer func() { must(t, s.Close()) }()
	arrive := func(arrivals ...memory.Arrival) {
		t.Helper()
		for _, a := range arrivals {
			now++
			a.Event.DeliveryID, a.Event.OccurredAt, a.ReceivedAt = a.Key, now, now
			a.Event.Host, a.Event.ProjectPath = memory.HostClaudeCode, project
			if a.Event.HostSessionID == "" {
				a.Event.HostSessionID = "0b7c1f6e"
			}
			_, err := s.Enqueue(ctx, a)
			must(t, err)
		}
	}
	tool := func(key, name, skipped string) memory.Arrival {
		return memory.Arrival{Key: key, SkipReason: skipped, Event: memory.Event{Kind: memory.KindTool, ToolName: name, Branch: "main",
			HeadCommit: "5d41402abc4b2a76b9719d911017c592a1b2c3d4", ToolInput: json.RawMessage(`{"file_path":"limiter.go"}`), ToolResponse: json.RawMessage(`{}`)}}
	}
	claim := func() memory.Claim {
		t.Helper()
		c, err := s.Claim(ctx, "seed", 1, 100, now)
		must(t, err)
		return c
	}
	arrive(
		memory.Arrival{Key: "p1", Redacted: map[string]int{"github-pat": 1},
			Event: memory.Event{Kind: memory.KindPrompt, Prompt: "Fix the limiter's burst [redacted:github-pat]", PromptID: "q1", Branch: "main"}},
		tool("t1", "Edit", ""), tool("t2", "Glob", memory.SkipTool),
		memory.Arrival{Key: "e1", Event: memory.Event{Kind: memory.KindStop}},
	)
	must(t, s.Confirm(ctx, claim(), memory.Outcome{
		Observations: []memory.Observation{
			{Type: memory.TypeBugfix, Title: "The limiter counted its burst twice", Subtitle: "Once at the start, once at the refill", Narrative: "A bucket began full and was filled.",
				Facts: []string{"rate limiter: burst is 5"}, Concepts: []string{"gotcha"}, PromptNumber: 1, DiscoveryTokens: 1200, Branch: "main", HeadCommit: "5d41402abc4b2a76b9719d911017c592a1b2c3d4",
				Files: []memory.FileRef{{Path: "limiter.go", Role: memory.FileModified}, {Path: "bucket.go", Role: memory.FileRead}}},
			{Type: memory.TypeDecision, Title: "Tokens are whole numbers", PromptNumber: 1, DiscoveryTokens: 300},
			{Type: memory.TypeDecision, Title: "Tokens are fractions after all", PromptNumber: 1, Supersedes: []memory.ObservationID{2}},
		},
		Summaries: []memory.Summary{{PromptNumber: 1, Request: "Fix the burst", Investigated: "the limiter", Learned: "it counts twice", Completed: "fixed [redacted:jwt]",
			NextSteps: "document it", FilesRead: []string{"bucket.go"}, FilesEdited: []string{"limiter.go"}, Notes: "none"}},
		Symbols: []memory.SymbolChange{
			{FilePath: "limiter.go", QualifiedName: "Limiter.refill", Kind: "method", Signature: "func (l *Limiter) refill()", LineStart: 7, LineEnd: 9,
				ChangeType: memory.SymbolNew, RenamedFrom: "Limiter.fill"},
		},
		Learnings: []memory.Learning{
			{Category: "convention", Content: "Use floats for tokens.", Confidence: 0.8}, {Category: "convention", Content: "Don't use floats for tokens.", Confidence: 0.8}},
	}))
	arrive(tool("t3", "Bash", ""))
	must(t, s.Bury(ctx, claim(), "the model answers prose"))
	arrive(memory.Arrival{Key: "x1", Event: memory.Event{Kind: memory.KindSessionEnd}})
	must(t, s.RecordInjection(ctx, memory.Injection{Host: memory.HostClaudeCode, HostSessionID: "9d2e", ProjectPath: project, Where: "SessionStart", Source: "startup",
		Observations: []memory.ObservationID{1, 2}, Sessions: []memory.SessionID{1}, Layers: []memory.LayerCost{{Name: "observations", Tokens: 200, Items: 2}},
		Lines:   []memory.ContextLine{{Layer: "observations", Text: "- The limiter counted its burst twice (#1)", Observation: 1, Session: 1, Why: "pinned"}},
		Skipped: []memory.LayerCost{{Name: "learnings", Reason: "budget", Tokens: 20, Items: 1}}, Tokens: 300, Budget: 2000, BuildMS: 1.5, At: now}))
	arrive(
		memory.Arrival{Key: "p2", Event: memory.Event{Kind: memory.KindPrompt, HostSessionID: "9d2e", Prompt: "Document the limiter"}},
		memory.Arrival{Key: "t4", Event: memory.Event{Kind: memory.KindTool, HostSessionID: "9d2e", ToolName: "Read", ToolInput: json.RawMessage(`{}`), ToolResponse: json.RawMessage(`{}`)}},
	)
	waits, err := s.Claim(ctx, "seed", 2, 100, now)
	must(t, err)
	must(t, s.Release(ctx, waits, "overloaded", true, memory.MillisOf(time.Now().Add(time.Hour))))
	now++
	must(t, s.RecordLookup(ctx, memory.HostClaudeCode, "9d2e", 1))
	ledger, err := s.NewLedger(ctx, func() accounts.Caps { return accounts.Caps{} })
	must(t, err)
	for _, c := range []struct {
		provider string
		usd      float64
	}{{"anthropic", 0.02}, {"openrouter", 0}} {
		id, err := ledger.Reserve(ctx, memory.ModelReservation{Provider: c.provider, Model: "haiku", Kind: "turn", Session: 1, At: now.Time()})
		must(t, err)
		must(t, ledger.Charge(ctx, id, memory.ModelCharge{Outcome: "ok", Model: "haiku", Usage: memory.ModelUsage{Input: 100, Output: 10}, Known: true, USD: c.usd, At: now.Time()}))
	}
	must(t, s.AddNotice(ctx, "provider_anthropic_overloaded", "claude-mem: anthropic does not answer."))
	must(t, os.WriteFile(dataDir+"/config.json", []byte(`{"CLAUDE_MEM_WORKER_PORT":"0","CLAUDE_MEM_PROVIDER":"offline","CLAUDE_MEM_CONTEXT_BUDGET":"many"}`), 0o600))
	home := t.TempDir()
	return map[string]string{"CLAUDE_MEM_DATA_DIR": dataDir, "HOME": home, "USERPROFILE": home}, project
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// command runs a command in the project and returns what it prints.
func command(t *testing.T, env map[string]string, words ...string) (code int, stdout, stderr string) {
	t.Helper()
	a, out, errs := testApp(t, env)
	code = a.execute(context.Background(), words)
	return code, out.String(), errs.String()
}
