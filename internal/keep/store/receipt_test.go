package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/memory"
)

func tool(name string) func(*memory.Arrival) {
	return func(a *memory.Arrival) { a.Event.ToolName = name }
}

func prompted(text string) func(*memory.Arrival) {
	return func(a *memory.Arrival) { a.Event.Prompt = text }
}

func redactedBy(rule string, n int) func(*memory.Arrival) {
	return func(a *memory.Arrival) { a.Redacted = map[string]int{rule: n} }
}

func (m *testStore) receipt(t *testing.T, id memory.SessionID) accounts.SessionReceipt {
	t.Helper()
	r, err := m.SessionReceipt(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (m *testStore) record(t *testing.T, in memory.Injection) {
	t.Helper()
	if err := m.RecordInjection(context.Background(), in); err != nil {
		t.Fatal(err)
	}
}

func (m *testStore) lookUp(t *testing.T, at memory.Millis, session memory.SessionID, data any) {
	t.Helper()
	if err := m.LogLookup(session, at, data); err != nil {
		t.Fatal(err)
	}
}

// read is the data of a lookup.
type read struct {
	Observations []memory.ObservationID `json:"observations"`
}

// worked is a memory of two sessions: s1 found something out, s2 was given it.
func worked(t *testing.T) *testStore {
	t.Helper()
	ctx := context.Background()
	m := newMemory(t)
	m.enqueue(t,
		event(memory.KindPrompt, "s1", "p1", 1, prompted("Use [redacted:github-pat] and [redacted:github-pat]"), redactedBy("github-pat", 2)),
		event(memory.KindTool, "s1", "t1", 2, tool("Edit")),
		event(memory.KindTool, "s1", "t2", 3),
		event(memory.KindTool, "s1", "t3", 4),
		event(memory.KindTool, "s1", "t4", 5, tool("Grep"), skipped(memory.SkipTool)),
		event(memory.KindTool, "s1", "t5", 6, tool("Glob"), skipped(memory.SkipTool)),
		event(memory.KindTool, "s1", "t6", 7, tool("Glob"), skipped(memory.SkipTool)),
		event(memory.KindTool, "s1", "t7", 8, tool("Bash"), skipped(memory.SkipOwn)),
		event(memory.KindStop, "s1", "e1", 9),
	)
	m.clock.at = base + 10
	err := m.Confirm(ctx, m.claim(t, 1, 0), memory.Outcome{
		Observations: []memory.Observation{
			{Type: memory.TypeBugfix, Title: "Totals", Narrative: "with [redacted:jwt]", PromptNumber: 1, DiscoveryTokens: 1200},
			{Type: memory.TypeDecision, Title: "Cents", PromptNumber: 1, DiscoveryTokens: 300},
			{Type: memory.TypeChange, Title: "Gone", Narrative: "[redacted:jwt]", PromptNumber: 1, DiscoveryTokens: 7},
		},
		Summaries: []memory.Summary{{PromptNumber: 1, Request: "[redacted:", Completed: "no rule: [redacted:]"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Hide(3); err != nil {
		t.Fatal(err)
	}
	m.enqueue(t, event(memory.KindTool, "s1", "t8", 20))
	if err := m.Bury(ctx, m.claim(t, 1, 0), "garbage"); err != nil {
		t.Fatal(err)
	}
	m.enqueue(t, event(memory.KindTool, "s1", "t9", 21), event(memory.KindTool, "s1", "t10", 22), event(memory.KindSessionEnd, "s1", "x", 23))
	m.claim(t, 1, 1)

	// The second session's block came before anything of it was known.
	m.record(t, memory.Injection{Host: memory.HostClaudeCode, HostSessionID: "s2", ProjectPath: "/home/dev/shop",
		Where: "SessionStart", Source: "startup", Observations: []memory.ObservationID{1, 2}, Sessions: []memory.SessionID{1},
		Layers: []memory.LayerCost{{Name: "observations", Tokens: 200, Items: 2}}, Skipped: []memory.LayerCost{{Name: "learnings", Reason: "empty"}},
		Tokens: 300, Budget: 2000, BuildMS: 1.5, At: base + 100})
	m.enqueue(t, event(memory.KindPrompt, "s2", "p2", 101))
	m.record(t, memory.Injection{Host: memory.HostClaudeCode, HostSessionID: "s2", Where: "PostToolUse", Source: "file",
		Observations: []memory.ObservationID{2}, Tokens: 40, At: base + 110})
	m.lookUp(t, base+50, 1, read{[]memory.ObservationID{1}})          // before it was given to s2
	m.lookUp(t, base+120, 2, read{[]memory.ObservationID{2, 99}})     // by s2
	m.lookUp(t, base+130, 0, read{[]memory.ObservationID{2, 3}})      // by nobody knows whom
	m.lookUp(t, base+140, 0, map[string]string{"observations": "no"}) // damaged
	return m
}

func TestSessionReceipt(t *testing.T) {
	m := worked(t)
	l := m.ledger(t, accounts.Caps{})
	at := base.Time()
	called(t, l, 1, "anthropic", "haiku", at, memory.ModelUsage{Input: 100, Output: 10, Cached: 50}, 0.02)
	called(t, l, 1, "anthropic", "opus", at, memory.ModelUsage{Input: 10, Output: 1}, 0.01)
	called(t, l, 1, "openrouter", "haiku", at, memory.ModelUsage{Input: 1000}, 0)
	called(t, l, 2, "openrouter", "haiku", at, memory.ModelUsage{Input: 5}, 0)

	anthropic := accounts.Spent{Calls: 2, TokensIn: 110, TokensOut: 11, TokensCached: 50, USD: 0.03}
	other := accounts.Spent{Calls: 1, TokensIn: 1000, Unpriced: 1}
	total := anthropic
	total.Add(other)
	got := m.receipt(t, 1)
	want := accounts.SessionReceipt{
		ID: 1, ULID: got.ULID, Host: memory.HostClaudeCode, HostSessionID: "s1", Project: "shop", ProjectPath: "/home/dev/shop",
		Title:       "Use [redacted:github-pat] and [redacted:github-pat]",
		FirstPrompt: "Use [redacted:github-pat] and [redacted:github-pat]",
		Status:      memory.SessionCompleted, StartedAt: base + 1, UpdatedAt: base + 23, CompletedAt: base + 23,
		Captured: accounts.CapturedEvents{
			Events: 13, Processed: 6, Skipped: 4, Failed: 1, Pending: 1, Processing: 1,
			Kinds: []accounts.EventsOf{
				{Kind: memory.KindPrompt, Events: 1},
				{Kind: memory.KindTool, Tool: "Bash", Events: 6}, {Kind: memory.KindTool, Tool: "Glob", Events: 2},
				{Kind: memory.KindTool, Tool: "Edit", Events: 1}, {Kind: memory.KindTool, Tool: "Grep", Events: 1},
				{Kind: memory.KindStop, Events: 1}, {Kind: memory.KindSessionEnd, Events: 1},
			},
		},
		Skipped: []accounts.EventsFor{
			{Reason: memory.SkipTool, Events: 3, Kinds: []accounts.EventsOf{
				{Kind: memory.KindTool, Tool: "Glob", Events: 2}, {Kind: memory.KindTool, Tool: "Grep", Events: 1}}},
			{Reason: memory.SkipOwn, Events: 1, Kinds: []accounts.EventsOf{{Kind: memory.KindTool, Tool: "Bash", Events: 1}}},
		},
		Failed:   []accounts.EventsFor{{Reason: "garbage", Events: 1, Kinds: []accounts.EventsOf{{Kind: memory.KindTool, Tool: "Bash", Events: 1}}}},
		Redacted: []accounts.RedactedRule{{Rule: "github-pat", Count: 2}, {Rule: "jwt", Count: 1}},
		Stored: accounts.StoredRecords{
			Prompts: 1, Hidden: 1,
			Observations: []accounts.StoredObservation{
				{ID: 1, Type: memory.TypeBugfix, Title: "Totals", PromptNumber: 1}, {ID: 2, Type: memory.TypeDecision, Title: "Cents", PromptNumber: 1}},
			Summaries: []accounts.StoredSummary{{ID: 1, PromptNumber: 1}},
		},
		Given: []memory.Injection{},
		LookedUp: []accounts.LookedUp{
			{Observation: 1, Title: "Totals", Made: true, Times: 1, ByItself: 1, LastAt: base + 50},
			{Observation: 2, Title: "Cents", Made: true, Times: 2, LastAt: base + 130},
		},
		Cost: accounts.SessionCost{
			Total:     total,
			Providers: []accounts.SpentOn{{Name: "openrouter", Spent: other}, {Name: "anthropic", Spent: anthropic}},
			Models: []accounts.SpentOn{{Name: "haiku", Provider: "openrouter", Spent: other},
				{Name: "haiku", Provider: "anthropic", Spent: accounts.Spent{Calls: 1, TokensIn: 100, TokensOut: 10, TokensCached: 50, USD: 0.02}},
				{Name: "opus", Provider: "anthropic", Spent: accounts.Spent{Calls: 1, TokensIn: 10, TokensOut: 1, USD: 0.01}}},
			DiscoveryTokens: 1500,
		},
	}
	round := cmp.Comparer(func(a, b float64) bool { return max(a-b, b-a) < 1e-9 })
	if diff := cmp.Diff(want, got, round); diff != "" {
		t.Errorf("receipt (-want +got):\n%s", diff)
	}
	c := got.Captured
	if c.Events != c.Processed+c.Skipped+c.Failed+c.Pending+c.Processing+c.Forgotten {
		t.Errorf("the receipt's books do not balance: %+v", c)
	}
}

// A block is given before the host tells of the session's first event; what was
// read before it was given was not read because of it.
func TestReceiptOfWhatWasGiven(t *testing.T) {
	m := worked(t)
	got := m.receipt(t, 2)
	want := []memory.Injection{
		{Host: memory.HostClaudeCode, HostSessionID: "s2", ProjectPath: "/home/dev/shop", Where: "SessionStart", Source: "startup",
			Observations: []memory.ObservationID{1, 2}, Sessions: []memory.SessionID{1},
			Layers:  []memory.LayerCost{{Name: "observations", Tokens: 200, Items: 2}},
			Skipped: []memory.LayerCost{{Name: "learnings", Reason: "empty"}}, Tokens: 300, Budget: 2000, BuildMS: 1.5, At: base + 100},
		{Host: memory.HostClaudeCode, HostSessionID: "s2", Where: "PostToolUse", Source: "file", Observations: []memory.ObservationID{2},
			Tokens: 40, At: base + 110},
	}
	if diff := cmp.Diff(want, got.Given); diff != "" {
		t.Errorf("given (-want +got):\n%s", diff)
	}
	looked := []accounts.LookedUp{{Observation: 2, Title: "Cents", Given: true, Times: 2, ByItself: 1, LastAt: base + 130}}
	if diff := cmp.Diff(looked, got.LookedUp); diff != "" {
		t.Errorf("looked up (-want +got):\n%s", diff)
	}
	if got.Cost.TokensGiven != 340 || got.Cost.DiscoveryTokens != 0 {
		t.Errorf("cost %+v", got.Cost)
	}
}

// A session that was only opened has a receipt of nothing, without a null; one in
// an excluded project has none, as nothing of it is known.
func TestReceiptOfNothing(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	excluded := m.enqueue(t, event(memory.KindPrompt, "secret", "p", 1, skipped(memory.SkipExcluded)))[0]
	if excluded.Session != 0 {
		t.Fatalf("an excluded project's session became known: %+v", excluded)
	}
	_, err := m.SessionNamed(ctx, "secret", "")
	wantCode(t, err, memory.CodeNotFound)
	_, err = m.SessionReceipt(ctx, 1)
	wantCode(t, err, memory.CodeNotFound)

	r := m.enqueue(t, event(memory.KindSessionEnd, "s1", "x", 2))[0]
	got := m.receipt(t, r.Session)
	if got.Captured.Events != 1 || got.Skipped == nil || got.Failed == nil || got.Redacted == nil || got.Given == nil || got.LookedUp == nil ||
		got.Stored.Observations == nil || got.Stored.Summaries == nil || got.Cost.Providers == nil || got.Cost.Models == nil {
		t.Errorf("got %+v", got)
	}
	// The project was excluded later: what was skipped since then is told.
	m.enqueue(t, event(memory.KindPrompt, "s1", "p2", 3, skipped(memory.SkipExcluded)))
	if got := m.receipt(t, r.Session); len(got.Skipped) != 1 || got.Skipped[0].Reason != memory.SkipExcluded || got.Stored.Prompts != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestReceiptTotals(t *testing.T) {
	ctx := context.Background()
	m := worked(t)
	m.enqueue(t, event(memory.KindPrompt, "elsewhere", "p", 200, skipped(memory.SkipExcluded)))
	m.record(t, memory.Injection{Host: memory.HostRaw, HostSessionID: "old", Where: "SessionStart", Observations: []memory.ObservationID{1},
		Tokens: 9, At: base - 1000})
	got, err := m.ReceiptTotals(ctx, base)
	if err != nil {
		t.Fatal(err)
	}
	b := m.books(t)
	if c := got.Captured; c.Events != b.Received || c.Processed != b.Processed || c.Skipped != b.Skipped || c.Failed != b.Failed ||
		c.Pending != b.Pending || c.Processing != b.Processing {
		t.Errorf("captured %+v, books %+v", c, b)
	}
	var reasons []string
	for _, s := range got.Skipped {
		reasons = append(reasons, fmt.Sprint(s.Reason, " ", s.Events))
	}
	if got, want := strings.Join(reasons, ", "), "tool 3, excluded 1, own 1"; got != want {
		t.Errorf("skipped %q, want %q", got, want)
	}
	// The mark of what was hidden is not shown of its session, but was counted when it came.
	if diff := cmp.Diff([]accounts.RedactedRule{{Rule: "github-pat", Count: 2}}, got.Redacted); diff != "" {
		t.Errorf("redacted (-want +got):\n%s", diff)
	}
	given := []accounts.GivenIn{{Where: "block", Times: 1, Tokens: 300, Observations: 2}, {Where: "file", Times: 1, Tokens: 40, Observations: 1}}
	if diff := cmp.Diff(given, got.Given); diff != "" {
		t.Errorf("given (-want +got):\n%s", diff)
	}
	// #1 was read before it was given, #2 after, #3 and #99 were never given.
	if got.ObservationsGiven != 2 || got.ObservationsLookedUp != 1 || got.Lookups != 5 {
		t.Errorf("%d given, %d of them looked up, %d lookups; want 2, 1, 5", got.ObservationsGiven, got.ObservationsLookedUp, got.Lookups)
	}
	all, err := m.ReceiptTotals(ctx, 0)
	if err != nil || all.Given[0].Times != 2 || all.ObservationsLookedUp != 2 {
		t.Errorf("since ever: %+v %v", all, err)
	}
}

func TestSessionNamed(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	in := func(host memory.Host, project string) func(*memory.Arrival) {
		return func(a *memory.Arrival) { a.Event.Host, a.Event.ProjectPath = host, project }
	}
	for n, e := range []struct {
		session string
		change  func(*memory.Arrival)
	}{
		{"0b7c1f6e-aaaa", in(memory.HostClaudeCode, "/home/dev/shop")},
		{"0b7c1f6e-bbbb", in(memory.HostClaudeCode, "/home/dev/blog")},
		{"7", in(memory.HostRaw, "/home/dev/shop")},
		{"2", in(memory.HostRaw, "/home/dev/shop")},
		{"same", in(memory.HostRaw, "/home/dev/blog")},
		{"same", in(memory.HostClaudeCode, "/home/dev/blog")},
		{"%_*", in(memory.HostRaw, "/home/dev/blog")},
	} {
		m.enqueue(t, event(memory.KindPrompt, e.session, fmt.Sprint("p", n), memory.Millis(n*1000), e.change))
	}
	third, err := m.Session(ctx, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, project string
		want          memory.SessionID
		code          memory.Code
	}{
		{name: "1", want: 1}, {name: "S1", want: 1}, {name: " s1 ", want: 1},
		{name: "2", want: 2}, // a number is our own before it is a host's
		{name: "S7", want: 7}, {name: "0b7c1f6e-a", want: 1}, {name: "0b7c1f6e-bbbb", want: 2},
		{name: "0b7c", code: memory.CodeInvalid}, {name: "same", code: memory.CodeInvalid},
		{name: string(third.ULID), want: 3}, {name: strings.ToLower(string(third.ULID)), want: 3},
		{name: "last", want: 7}, {name: "LAST", project: "shop", want: 4}, {name: "last", project: "/home/dev/shop", want: 4},
		{name: "last", project: "nowhere", code: memory.CodeNotFound},
		{name: "%_", want: 7}, {name: "%", want: 7}, {name: "_", code: memory.CodeNotFound},
		{name: "", code: memory.CodeInvalid}, {name: "  ", code: memory.CodeInvalid},
		{name: "S0", code: memory.CodeNotFound}, {name: "-1", code: memory.CodeNotFound}, {name: "99", code: memory.CodeNotFound},
		{name: "S99999999999999999999", code: memory.CodeNotFound}, {name: "\x00", code: memory.CodeNotFound},
		{name: "\xff", code: memory.CodeNotFound}, {name: "' OR 1=1 --", code: memory.CodeNotFound},
		{name: strings.Repeat("x", 600), code: memory.CodeInvalid},
	} {
		got, err := m.SessionNamed(ctx, test.name, test.project)
		if test.code != "" {
			if memory.CodeOf(err) != test.code || err == nil {
				t.Errorf("%q: got S%d %v, want %s", test.name, got.ID, err, test.code)
			}
			continue
		}
		if err != nil || got.ID != test.want {
			t.Errorf("%q: got S%d %v, want S%d", test.name, got.ID, err, test.want)
		}
	}
}

// What people call a session is somebody's text: an error or a session, never a
// fault, and what is found does go by that name.
func FuzzSessionNamed(f *testing.F) {
	for _, name := range []string{"", "1", "S1", "last", "s1", "%", "\x00", "\xff\xfe", "01JNGZ0000000000000000000A", "S-1", "９"} {
		f.Add(name)
	}
	s, err := store.Open(context.Background(), f.TempDir()+"/memory.db", store.Options{Clock: func() time.Time { return base.Time() }})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	if _, err := s.Enqueue(context.Background(), event(memory.KindPrompt, "s1", "p", 1), event(memory.KindPrompt, "\xe2\x82\xac2", "q", 2)); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got, err := s.SessionNamed(t.Context(), name, "")
		if err != nil {
			if code := memory.CodeOf(err); code != memory.CodeInvalid && code != memory.CodeNotFound {
				t.Fatalf("%q: %v", name, err)
			}
			return
		}
		name = strings.TrimSpace(name)
		number := strings.TrimLeft(strings.TrimPrefix(strings.ToLower(name), "s"), "+0")
		if !strings.HasPrefix(got.HostSessionID, name) && number != fmt.Sprint(got.ID) && !strings.EqualFold(name, string(got.ULID)) && !strings.EqualFold(name, "last") {
			t.Errorf("%q found S%d %q", name, got.ID, got.HostSessionID)
		}
	})
}

// TestSessionEvents: what was captured of a session in the order in which it occurred, whatever became of it,
// but nothing forgotten and nothing of another session.
func TestSessionEvents(t *testing.T) {
	m := newMemory(t)
	went := func(r memory.Result) func(*memory.Arrival) { return func(a *memory.Arrival) { a.Result = r } }
	m.enqueue(t,
		event(memory.KindPrompt, "s1", "p1", 1),
		event(memory.KindTool, "s1", "t2", 3, tool("Bash"), went(memory.ResultPassed)),
		event(memory.KindTool, "s1", "t1", 2, tool("Bash"), went(memory.ResultFailed)),
		event(memory.KindTool, "s1", "t3", 4, tool("Read"), skipped(memory.SkipTool)),
		event(memory.KindTool, "s2", "t4", 5, tool("Bash"), went(memory.ResultFailed)),
	)
	want := []accounts.SessionEvent{{At: base + 1, Kind: memory.KindPrompt, Turn: 1}, {At: base + 2, Kind: memory.KindTool, Tool: "Bash", Turn: 1, Result: memory.ResultFailed},
		{At: base + 3, Kind: memory.KindTool, Tool: "Bash", Turn: 1, Result: memory.ResultPassed}, {At: base + 4, Kind: memory.KindTool, Tool: "Read", Turn: 1}}
	check := func(limit, first, all int) {
		t.Helper()
		list, total, err := m.SessionEvents(t.Context(), 1, limit)
		if diff := cmp.Diff(want[:first], list); diff != "" || total != all || err != nil {
			t.Errorf("%d, %v: %s", total, err, diff)
		}
	}
	check(9, 4, 4)
	check(2, 2, 4)
	rawExec(t, m.path, "UPDATE events SET outcome = 'failed' WHERE occurred_at = "+fmt.Sprint(int64(base+2)))
	check(9, 4, 4)
	rawExec(t, m.path, "UPDATE events SET outcome = 'forgotten' WHERE occurred_at = "+fmt.Sprint(int64(base+4)))
	check(9, 3, 3)
}
