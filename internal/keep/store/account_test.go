package store_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/memory"
)

// called books a model call of the given tokens; price 0 is none that is known.
func called(t *testing.T, l *accounts.Ledger, session memory.SessionID, provider, model string, at time.Time, usage memory.ModelUsage, usd float64) {
	t.Helper()
	ctx := context.Background()
	id, err := l.Reserve(ctx, memory.ModelReservation{Provider: provider, Model: model, Kind: "turn", Session: session, Input: 100, Output: 100, At: at})
	if err == nil {
		err = l.Charge(ctx, id, memory.ModelCharge{Outcome: "ok", Model: model, Usage: usage, Known: true, USD: usd, Priced: usd > 0, At: at})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestAccount(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	l := m.ledger(t, accounts.Caps{})
	claim := claimed(t, m, "s1")
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.FixedZone("", -5*3600))
	called(t, l, claim.Session.ID, "anthropic", "haiku", now.AddDate(0, 0, -9), memory.ModelUsage{Input: 9999}, 9)
	called(t, l, claim.Session.ID, "anthropic", "haiku", now.AddDate(0, 0, -1), memory.ModelUsage{Input: 100, Output: 10, Cached: 50}, 0.02)
	called(t, l, claim.Session.ID, "anthropic", "haiku", now, memory.ModelUsage{Input: 200, Output: 20}, 0.01)
	called(t, l, 0, "openrouter", "haiku", now, memory.ModelUsage{Input: 1000, Output: 1}, 0)

	// A block that showed two observations, of 1200 tokens of work each.
	err := m.Confirm(ctx, claim, memory.Outcome{Observations: []memory.Observation{observation("one"), observation("two")}})
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []time.Time{now, now.AddDate(0, 0, -30)} {
		err := m.RecordInjection(ctx, memory.Injection{Host: "claude-code", HostSessionID: "s2", Where: "SessionStart",
			Observations: []memory.ObservationID{1, 2}, Tokens: 300, At: memory.MillisOf(at)})
		if err != nil {
			t.Fatal(err)
		}
	}
	// Another session was told of one of them beside a prompt and at a failure: its
	// work is credited once, however often it is shown.
	for n, where := range []string{"UserPromptSubmit", "PostToolUseFailure"} {
		err := m.RecordInjection(ctx, memory.Injection{Host: "claude-code", HostSessionID: "s3", Where: where,
			Observations: []memory.ObservationID{2}, Tokens: 40 + n, At: memory.MillisOf(now)})
		if err != nil {
			t.Fatal(err)
		}
	}

	got, err := m.Account(ctx, now, 7)
	if err != nil {
		t.Fatal(err)
	}
	today := accounts.Spent{Calls: 2, TokensIn: 1200, TokensOut: 21, USD: 0.01, Unpriced: 1}
	priced := accounts.Spent{Calls: 2, TokensIn: 300, TokensOut: 30, TokensCached: 50, USD: 0.03}
	unpriced := accounts.Spent{Calls: 1, TokensIn: 1000, TokensOut: 1, Unpriced: 1}
	want := accounts.Account{
		PeriodDays: 7, Since: memory.MillisOf(time.Date(2026, 2, 26, 0, 0, 0, 0, now.Location())), Today: today,
		Spending: accounts.Spending{
			Total: accounts.Spent{Calls: 3, TokensIn: 1300, TokensOut: 31, TokensCached: 50, USD: 0.03, Unpriced: 1},
			Days: []accounts.SpentOn{
				{Name: "2026-03-03", Spent: accounts.Spent{Calls: 1, TokensIn: 100, TokensOut: 10, TokensCached: 50, USD: 0.02}},
				{Name: "2026-03-04", Spent: today},
			},
			Providers: []accounts.SpentOn{{Name: "openrouter", Spent: unpriced}, {Name: "anthropic", Spent: priced}},
			Models: []accounts.SpentOn{
				{Name: "haiku", Provider: "openrouter", Spent: unpriced}, {Name: "haiku", Provider: "anthropic", Spent: priced},
			},
			Projects: []accounts.SpentOn{{Name: "", Spent: unpriced}, {Name: "/home/dev/shop", Spent: priced}},
		},
		Saved: accounts.Saved{Blocks: 1, TokensGiven: 300, Recollections: 2, TokensRecalled: 81, TokensOfWork: 2400, Tokens: 2019},
	}
	round := cmp.Comparer(func(a, b float64) bool { return max(a-b, b-a) < 1e-9 })
	if diff := cmp.Diff(want, got, round); diff != "" {
		t.Errorf("account (-want +got):\n%s", diff)
	}
	// No price, no figure of it.
	text, err := json.Marshal(got.Providers[0])
	if err != nil || strings.Contains(string(text), "cost_usd") {
		t.Errorf("%s, %v", text, err)
	}
}

func TestStatusline(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	now := m.clock.now().UTC()
	ask := func(session string, at time.Time) memory.Statusline {
		t.Helper()
		line, err := m.Statusline(ctx, memory.StatusRequest{Host: memory.HostClaudeCode, HostSessionID: session}, at)
		if err != nil {
			t.Fatal(err)
		}
		return line
	}
	if got := ask("s1", now); got != (memory.Statusline{}) {
		t.Errorf("empty memory: %+v", got)
	}
	claim := claimed(t, m, "s1")
	if err := m.Confirm(ctx, claim, memory.Outcome{Observations: []memory.Observation{observation("one"), observation("two")}}); err != nil {
		t.Fatal(err)
	}
	m.enqueue(t, event(memory.KindTool, "s2", "waits", 50))
	l := m.ledger(t, accounts.Caps{})
	called(t, l, claim.Session.ID, "claude", "haiku", now, memory.ModelUsage{Input: 1000, Output: 200, Cached: 34}, 0)
	called(t, l, claim.Session.ID, "claude", "haiku", now.AddDate(0, 0, -1), memory.ModelUsage{Input: 5}, 0)
	for key, text := range map[string]string{"provider_claude_rate_limit": "x", "cap_day": "y", "dead_letters": "z"} {
		if err := m.AddNotice(ctx, key, text); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.TakeNotices(ctx); err != nil {
		t.Fatal(err) // told, and still so
	}
	want := memory.Statusline{Observations: 2, Pending: 1, TokensToday: 1234, Cap: "day", Trouble: "claude busy"}
	if got := ask("s1", now); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := ask("s2", now); got.Observations != 0 || got.Pending != 1 {
		t.Errorf("another session: %+v", got)
	}
	tomorrow := now.AddDate(0, 0, 1)
	if got := ask("s1", tomorrow); got.Cap != "" || got.TokensToday != 0 || got.Trouble != "claude busy" {
		t.Errorf("tomorrow: %+v", got)
	}
	if err := m.ClearNotice(ctx, "provider_claude_rate_limit"); err != nil {
		t.Fatal(err)
	}
	if got := ask("s1", now); got.Trouble != "" {
		t.Errorf("after the trouble: %+v", got)
	}
	notices, err := m.Standing(ctx, now)
	if err != nil || len(notices) != 2 || !notices[0].Told {
		t.Errorf("notices %+v, %v", notices, err)
	}
}

func BenchmarkStatusline(b *testing.B) {
	path := b.TempDir() + "/memory.db"
	s, err := store.Open(b.Context(), path, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	l, err := s.NewLedger(b.Context(), func() accounts.Caps { return accounts.Caps{} })
	if err != nil {
		b.Fatal(err)
	}
	now := time.Now()
	for range 500 {
		id, err := l.Reserve(b.Context(), memory.ModelReservation{Provider: "p", Model: "m", Kind: "turn", Input: 10, Output: 10, At: now})
		if err == nil {
			err = l.Charge(b.Context(), id, memory.ModelCharge{Outcome: "ok", Usage: memory.ModelUsage{Input: 1}, Known: true, At: now})
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	for range b.N {
		if _, err := s.Statusline(b.Context(), memory.StatusRequest{Host: "claude-code", HostSessionID: "s1"}, now); err != nil {
			b.Fatal(err)
		}
	}
}
