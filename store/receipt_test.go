package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claudemem"
	"claudemem/store"
)

func tool(name string) func(*claudemem.Arrival) {
	return func(a *claudemem.Arrival) { a.Event.ToolName = name }
}

func prompted(text string) func(*claudemem.Arrival) {
	return func(a *claudemem.Arrival) { a.Event.Prompt = text }
}

func redactedBy(rule string, n int) func(*claudemem.Arrival) {
	return func(a *claudemem.Arrival) { a.Redacted = map[string]int{rule: n} }
}

func (m *memory) receipt(t *testing.T, id claudemem.SessionID) store.SessionReceipt {
	t.Helper()
	r, err := m.SessionReceipt(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (m *memory) record(t *testing.T, in claudemem.Injection) {
	t.Helper()
	if err := m.RecordInjection(context.Background(), in); err != nil {
		t.Fatal(err)
	}
}

func (m *memory) lookUp(t *testing.T, at claudemem.Millis, session claudemem.SessionID, data any) {
	t.Helper()
	if err := m.LogLookup(session, at, data); err != nil {
		t.Fatal(err)
	}
}

// read is the data of a lookup.
type read struct {
	Observations []claudemem.ObservationID `json:"observations"`
}

// worked is a memory of two sessions: s1 found something out, s2 was given it.
func worked(t *testing.T) *memory {
	t.Helper()
	ctx := context.Background()
	m := newMemory(t)
	m.enqueue(t,
		event(claudemem.KindPrompt, "s1", "p1", 1, prompted("Use [redacted:github-pat] and [redacted:github-pat]"), redactedBy("github-pat", 2)),
		event(claudemem.KindTool, "s1", "t1", 2, tool("Edit")),
		event(claudemem.KindTool, "s1", "t2", 3),
		event(claudemem.KindTool, "s1", "t3", 4),
		event(claudemem.KindTool, "s1", "t4", 5, tool("Grep"), skipped(claudemem.SkipTool)),
		event(claudemem.KindTool, "s1", "t5", 6, tool("Glob"), skipped(claudemem.SkipTool)),
		event(claudemem.KindTool, "s1", "t6", 7, tool("Glob"), skipped(claudemem.SkipTool)),
		event(claudemem.KindTool, "s1", "t7", 8, tool("Bash"), skipped(claudemem.SkipOwn)),
		event(claudemem.KindStop, "s1", "e1", 9),
	)
	m.clock.at = base + 10
	err := m.Confirm(ctx, m.claim(t, 1, 0), claudemem.Outcome{
		Observations: []claudemem.Observation{
			{Type: claudemem.TypeBugfix, Title: "Totals", Narrative: "with [redacted:jwt]", PromptNumber: 1, DiscoveryTokens: 1200},
			{Type: claudemem.TypeDecision, Title: "Cents", PromptNumber: 1, DiscoveryTokens: 300},
			{Type: claudemem.TypeChange, Title: "Gone", Narrative: "[redacted:jwt]", PromptNumber: 1, DiscoveryTokens: 7},
		},
		Summaries: []claudemem.Summary{{PromptNumber: 1, Request: "[redacted:", Completed: "no rule: [redacted:]"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Hide(3); err != nil {
		t.Fatal(err)
	}
	m.enqueue(t, event(claudemem.KindTool, "s1", "t8", 20))
	if err := m.Bury(ctx, m.claim(t, 1, 0), "garbage"); err != nil {
		t.Fatal(err)
	}
	m.enqueue(t, event(claudemem.KindTool, "s1", "t9", 21), event(claudemem.KindTool, "s1", "t10", 22), event(claudemem.KindSessionEnd, "s1", "x", 23))
	m.claim(t, 1, 1)

	// The second session's block came before anything of it was known.
	m.record(t, claudemem.Injection{Host: claudemem.HostClaudeCode, HostSessionID: "s2", ProjectPath: "/home/dev/shop",
		Where: "SessionStart", Source: "startup", Observations: []claudemem.ObservationID{1, 2}, Sessions: []claudemem.SessionID{1},
		Layers: []claudemem.LayerCost{{Name: "observations", Tokens: 200, Items: 2}}, Skipped: []claudemem.LayerCost{{Name: "learnings", Reason: "empty"}},
		Tokens: 300, Budget: 2000, BuildMS: 1.5, At: base + 100})
	m.enqueue(t, event(claudemem.KindPrompt, "s2", "p2", 101))
	m.record(t, claudemem.Injection{Host: claudemem.HostClaudeCode, HostSessionID: "s2", Where: "PostToolUse", Source: "file",
		Observations: []claudemem.ObservationID{2}, Tokens: 40, At: base + 110})
	m.lookUp(t, base+50, 1, read{[]claudemem.ObservationID{1}})       // before it was given to s2
	m.lookUp(t, base+120, 2, read{[]claudemem.ObservationID{2, 99}})  // by s2
	m.lookUp(t, base+130, 0, read{[]claudemem.ObservationID{2, 3}})   // by nobody knows whom
	m.lookUp(t, base+140, 0, map[string]string{"observations": "no"}) // damaged
	return m
}

func TestSessionReceipt(t *testing.T) {
	m := worked(t)
	l := m.ledger(t, store.Caps{})
	at := base.Time()
	called(t, l, 1, "anthropic", "haiku", at, claudemem.ModelUsage{Input: 100, Output: 10, Cached: 50}, 0.02)
	called(t, l, 1, "anthropic", "opus", at, claudemem.ModelUsage{Input: 10, Output: 1}, 0.01)
	called(t, l, 1, "openrouter", "haiku", at, claudemem.ModelUsage{Input: 1000}, 0)
	called(t, l, 2, "openrouter", "haiku", at, claudemem.ModelUsage{Input: 5}, 0)

	anthropic := store.Spent{Calls: 2, TokensIn: 110, TokensOut: 11, TokensCached: 50, USD: 0.03}
	other := store.Spent{Calls: 1, TokensIn: 1000, Unpriced: 1}
	total := anthropic
	total.Add(other)
	got := m.receipt(t, 1)
	want := store.SessionReceipt{
		ID: 1, ULID: got.ULID, Host: claudemem.HostClaudeCode, HostSessionID: "s1", Project: "shop", ProjectPath: "/home/dev/shop",
		FirstPrompt: "Use [redacted:github-pat] and [redacted:github-pat]",
		Status:      claudemem.SessionCompleted, StartedAt: base + 1, UpdatedAt: base + 23, CompletedAt: base + 23,
		Captured: store.CapturedEvents{
			Events: 13, Processed: 6, Skipped: 4, Failed: 1, Pending: 1, Processing: 1,
			Kinds: []store.EventsOf{
				{Kind: claudemem.KindPrompt, Events: 1},
				{Kind: claudemem.KindTool, Tool: "Bash", Events: 6}, {Kind: claudemem.KindTool, Tool: "Glob", Events: 2},
				{Kind: claudemem.KindTool, Tool: "Edit", Events: 1}, {Kind: claudemem.KindTool, Tool: "Grep", Events: 1},
				{Kind: claudemem.KindStop, Events: 1}, {Kind: claudemem.KindSessionEnd, Events: 1},
			},
		},
		Skipped: []store.EventsFor{
			{Reason: claudemem.SkipTool, Events: 3, Kinds: []store.EventsOf{
				{Kind: claudemem.KindTool, Tool: "Glob", Events: 2}, {Kind: claudemem.KindTool, Tool: "Grep", Events: 1}}},
			{Reason: claudemem.SkipOwn, Events: 1, Kinds: []store.EventsOf{{Kind: claudemem.KindTool, Tool: "Bash", Events: 1}}},
		},
		Failed:   []store.EventsFor{{Reason: "garbage", Events: 1, Kinds: []store.EventsOf{{Kind: claudemem.KindTool, Tool: "Bash", Events: 1}}}},
		Redacted: []store.RedactedRule{{Rule: "github-pat", Count: 2}, {Rule: "jwt", Count: 1}},
		Stored: store.StoredRecords{
			Prompts: 1, Hidden: 1,
			Observations: []store.StoredObservation{
				{ID: 1, Type: claudemem.TypeBugfix, Title: "Totals", PromptNumber: 1}, {ID: 2, Type: claudemem.TypeDecision, Title: "Cents", PromptNumber: 1}},
			Summaries: []store.StoredSummary{{ID: 1, PromptNumber: 1}},
		},
		Given: []claudemem.Injection{},
		LookedUp: []store.LookedUp{
			{Observation: 1, Title: "Totals", Made: true, Times: 1, ByItself: 1, LastAt: base + 50},
			{Observation: 2, Title: "Cents", Made: true, Times: 2, LastAt: base + 130},
		},
		Cost: store.SessionCost{
			Total:     total,
			Providers: []store.SpentOn{{Name: "openrouter", Spent: other}, {Name: "anthropic", Spent: anthropic}},
			Models: []store.SpentOn{{Name: "haiku", Provider: "openrouter", Spent: other},
				{Name: "haiku", Provider: "anthropic", Spent: store.Spent{Calls: 1, TokensIn: 100, TokensOut: 10, TokensCached: 50, USD: 0.02}},
				{Name: "opus", Provider: "anthropic", Spent: store.Spent{Calls: 1, TokensIn: 10, TokensOut: 1, USD: 0.01}}},
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
	want := []claudemem.Injection{
		{Host: claudemem.HostClaudeCode, HostSessionID: "s2", ProjectPath: "/home/dev/shop", Where: "SessionStart", Source: "startup",
			Observations: []claudemem.ObservationID{1, 2}, Sessions: []claudemem.SessionID{1},
			Layers:  []claudemem.LayerCost{{Name: "observations", Tokens: 200, Items: 2}},
			Skipped: []claudemem.LayerCost{{Name: "learnings", Reason: "empty"}}, Tokens: 300, Budget: 2000, BuildMS: 1.5, At: base + 100},
		{Host: claudemem.HostClaudeCode, HostSessionID: "s2", Where: "PostToolUse", Source: "file", Observations: []claudemem.ObservationID{2},
			Tokens: 40, At: base + 110},
	}
	if diff := cmp.Diff(want, got.Given); diff != "" {
		t.Errorf("given (-want +got):\n%s", diff)
	}
	looked := []store.LookedUp{{Observation: 2, Title: "Cents", Given: true, Times: 2, ByItself: 1, LastAt: base + 130}}
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
	excluded := m.enqueue(t, event(claudemem.KindPrompt, "secret", "p", 1, skipped(claudemem.SkipExcluded)))[0]
	if excluded.Session != 0 {
		t.Fatalf("an excluded project's session became known: %+v", excluded)
	}
	_, err := m.SessionNamed(ctx, "secret", "")
	wantCode(t, err, claudemem.CodeNotFound)
	_, err = m.SessionReceipt(ctx, 1)
	wantCode(t, err, claudemem.CodeNotFound)

	r := m.enqueue(t, event(claudemem.KindSessionEnd, "s1", "x", 2))[0]
	got := m.receipt(t, r.Session)
	if got.Captured.Events != 1 || got.Skipped == nil || got.Failed == nil || got.Redacted == nil || got.Given == nil || got.LookedUp == nil ||
		got.Stored.Observations == nil || got.Stored.Summaries == nil || got.Cost.Providers == nil || got.Cost.Models == nil {
		t.Errorf("got %+v", got)
	}
	// The project was excluded later: what was skipped since then is told.
	m.enqueue(t, event(claudemem.KindPrompt, "s1", "p2", 3, skipped(claudemem.SkipExcluded)))
	if got := m.receipt(t, r.Session); len(got.Skipped) != 1 || got.Skipped[0].Reason != claudemem.SkipExcluded || got.Stored.Prompts != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestReceiptTotals(t *testing.T) {
	ctx := context.Background()
	m := worked(t)
	m.enqueue(t, event(claudemem.KindPrompt, "elsewhere", "p", 200, skipped(claudemem.SkipExcluded)))
	m.record(t, claudemem.Injection{Host: claudemem.HostRaw, HostSessionID: "old", Where: "SessionStart", Observations: []claudemem.ObservationID{1},
		Tokens: 9, At: base - 1000})
	got, err := m.ReceiptTotals(ctx, base)
	if err != nil {
		t.Fatal(err)
	}
	books := m.books(t)
	if c := got.Captured; c.Events != books.Received || c.Processed != books.Processed || c.Skipped != books.Skipped || c.Failed != books.Failed ||
		c.Pending != books.Pending || c.Processing != books.Processing {
		t.Errorf("captured %+v, books %+v", c, books)
	}
	var reasons []string
	for _, s := range got.Skipped {
		reasons = append(reasons, fmt.Sprint(s.Reason, " ", s.Events))
	}
	if got, want := strings.Join(reasons, ", "), "tool 3, excluded 1, own 1"; got != want {
		t.Errorf("skipped %q, want %q", got, want)
	}
	// The mark of what was hidden is not shown of its session, but was counted when it came.
	if diff := cmp.Diff([]store.RedactedRule{{Rule: "github-pat", Count: 2}}, got.Redacted); diff != "" {
		t.Errorf("redacted (-want +got):\n%s", diff)
	}
	given := []store.GivenIn{{Where: "block", Times: 1, Tokens: 300, Observations: 2}, {Where: "file", Times: 1, Tokens: 40, Observations: 1}}
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
	in := func(host claudemem.Host, project string) func(*claudemem.Arrival) {
		return func(a *claudemem.Arrival) { a.Event.Host, a.Event.ProjectPath = host, project }
	}
	for n, e := range []struct {
		session string
		change  func(*claudemem.Arrival)
	}{
		{"0b7c1f6e-aaaa", in(claudemem.HostClaudeCode, "/home/dev/shop")},
		{"0b7c1f6e-bbbb", in(claudemem.HostClaudeCode, "/home/dev/blog")},
		{"7", in(claudemem.HostRaw, "/home/dev/shop")},
		{"2", in(claudemem.HostRaw, "/home/dev/shop")},
		{"same", in(claudemem.HostRaw, "/home/dev/blog")},
		{"same", in(claudemem.HostClaudeCode, "/home/dev/blog")},
		{"%_*", in(claudemem.HostRaw, "/home/dev/blog")},
	} {
		m.enqueue(t, event(claudemem.KindPrompt, e.session, fmt.Sprint("p", n), claudemem.Millis(n*1000), e.change))
	}
	third, err := m.Session(ctx, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, project string
		want          claudemem.SessionID
		code          claudemem.Code
	}{
		{name: "1", want: 1}, {name: "S1", want: 1}, {name: " s1 ", want: 1},
		{name: "2", want: 2}, // a number is our own before it is a host's
		{name: "S7", want: 7}, {name: "0b7c1f6e-a", want: 1}, {name: "0b7c1f6e-bbbb", want: 2},
		{name: "0b7c", code: claudemem.CodeInvalid}, {name: "same", code: claudemem.CodeInvalid},
		{name: string(third.ULID), want: 3}, {name: strings.ToLower(string(third.ULID)), want: 3},
		{name: "last", want: 7}, {name: "LAST", project: "shop", want: 4}, {name: "last", project: "/home/dev/shop", want: 4},
		{name: "last", project: "nowhere", code: claudemem.CodeNotFound},
		{name: "%_", want: 7}, {name: "%", want: 7}, {name: "_", code: claudemem.CodeNotFound},
		{name: "", code: claudemem.CodeInvalid}, {name: "  ", code: claudemem.CodeInvalid},
		{name: "S0", code: claudemem.CodeNotFound}, {name: "-1", code: claudemem.CodeNotFound}, {name: "99", code: claudemem.CodeNotFound},
		{name: "S99999999999999999999", code: claudemem.CodeNotFound}, {name: "\x00", code: claudemem.CodeNotFound},
		{name: "\xff", code: claudemem.CodeNotFound}, {name: "' OR 1=1 --", code: claudemem.CodeNotFound},
		{name: strings.Repeat("x", 600), code: claudemem.CodeInvalid},
	} {
		got, err := m.SessionNamed(ctx, test.name, test.project)
		if test.code != "" {
			if claudemem.CodeOf(err) != test.code || err == nil {
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
	if _, err := s.Enqueue(context.Background(), event(claudemem.KindPrompt, "s1", "p", 1), event(claudemem.KindPrompt, "\xe2\x82\xac2", "q", 2)); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got, err := s.SessionNamed(t.Context(), name, "")
		if err != nil {
			if code := claudemem.CodeOf(err); code != claudemem.CodeInvalid && code != claudemem.CodeNotFound {
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
