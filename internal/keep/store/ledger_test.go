package store_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/memory"
)

func (m *testStore) ledger(t *testing.T, caps accounts.Caps) *accounts.Ledger {
	t.Helper()
	l, err := m.NewLedger(context.Background(), func() accounts.Caps { return caps })
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func reservation(session memory.SessionID, tokens int, at time.Time) memory.ModelReservation {
	return memory.ModelReservation{Provider: "p", Model: "m", Kind: "turn", Session: session, Input: tokens - 10, Output: 10, At: at}
}

func capOf(err error) memory.TokenCap {
	var e *memory.CapError
	if errors.As(err, &e) {
		return e.Which
	}
	return ""
}

func TestLedger(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	session := m.enqueue(t, event(memory.KindTool, "s", "a", 1))[0].Session
	l := m.ledger(t, accounts.Caps{Day: 1000, Session: 500})
	// Half an hour before midnight, east of Greenwich.
	evening := time.Date(2026, 3, 1, 23, 30, 0, 0, time.FixedZone("", 3*3600))
	id, err := l.Reserve(ctx, reservation(session, 400, evening))
	if err != nil {
		t.Fatal(err)
	}
	used := func(at time.Time, wantDay, wantSession int) {
		t.Helper()
		day, ofSession, err := m.UsedTokens(ctx, at, session)
		if err != nil || day != wantDay || ofSession != wantSession {
			t.Errorf("used %d of the day, %d of the session, %v; want %d, %d", day, ofSession, err, wantDay, wantSession)
		}
	}
	used(evening, 400, 400)
	if _, err := l.Reserve(ctx, reservation(session, 101, evening)); capOf(err) != memory.CapSession {
		t.Errorf("got %v, want the session's cap", err)
	}
	if err := l.Charge(ctx, id, memory.ModelCharge{
		Outcome: "ok", Model: "m-1", Usage: memory.ModelUsage{Input: 100, Output: 20, Cached: 30}, Known: true, USD: 0.5, Priced: true, Duration: time.Second,
	}); err != nil {
		t.Fatal(err)
	}
	used(evening, 150, 150)
	if err := l.Charge(ctx, id, memory.ModelCharge{Outcome: "ok", Known: true}); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("settled twice: got %v, want a conflict", err)
	}
	if n, err := m.RunTokens(ctx, session); err != nil || n != 150 {
		t.Errorf("RunTokens = %d, %v, want 150", n, err)
	}
	// What nobody knows the cost of goes on counting.
	if id, err = l.Reserve(ctx, reservation(session, 300, evening)); err != nil {
		t.Fatal(err)
	}
	if err := l.Charge(ctx, id, memory.ModelCharge{Outcome: "canceled"}); err != nil {
		t.Fatal(err)
	}
	used(evening, 450, 450)
	// Another day, another cap.
	used(evening.Add(time.Hour), 0, 450)

	sum, err := m.Spending(ctx, 0, evening.Location())
	if err != nil {
		t.Fatal(err)
	}
	want := accounts.Spent{Calls: 2, Failed: 1, TokensIn: 100, TokensOut: 20, TokensCached: 30, Reserved: 300, USD: 0.5}
	if sum.Total != want || len(sum.Days) != 1 || sum.Days[0].Name != "2026-03-01" || sum.Days[0].Spent != want ||
		len(sum.Providers) != 1 || sum.Providers[0].Name != "p" || len(sum.Projects) != 1 || sum.Projects[0].Name != "/home/dev/shop" {
		t.Errorf("got %+v", sum)
	}
	if sum, err := m.Spending(ctx, memory.MillisOf(evening.Add(time.Hour)), time.UTC); err != nil || sum.Total.Calls != 0 {
		t.Errorf("later: got %+v, %v, want none", sum, err)
	}
}

func TestLedgerStaysShutForTheDay(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	caps := accounts.Caps{Day: 1000}
	l, err := m.NewLedger(ctx, func() accounts.Caps { return caps })
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	open, err := l.Reserve(ctx, reservation(0, 600, now))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Reserve(ctx, reservation(0, 500, now)); capOf(err) != memory.CapDay {
		t.Errorf("got %v, want the day's cap", err)
	}
	if err := l.Charge(ctx, open, memory.ModelCharge{Outcome: "ok", Usage: memory.ModelUsage{Input: 400}, Known: true}); err != nil {
		t.Fatal(err)
	}
	if open, err = l.Reserve(ctx, reservation(0, 500, now)); err != nil {
		t.Errorf("an open reservation alone was in the way: got %v, want none now", err)
	}
	if err := l.Charge(ctx, open, memory.ModelCharge{Outcome: "ok", Usage: memory.ModelUsage{Input: 500}, Known: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Reserve(ctx, reservation(0, 200, now)); capOf(err) != memory.CapDay {
		t.Errorf("got %v, want the day's cap", err)
	}
	if _, err := l.Reserve(ctx, reservation(0, 50, now)); capOf(err) != memory.CapDay {
		t.Errorf("a smaller call: got %v, want the day to be over", err)
	}
	if _, err := l.Reserve(ctx, reservation(0, 50, now.Add(24*time.Hour))); err != nil {
		t.Errorf("the next day: %v", err)
	}
	caps.Day = 2000
	if _, err := l.Reserve(ctx, reservation(0, 50, now)); err != nil {
		t.Errorf("a raised cap: %v", err)
	}
}

func TestLedgerKeepsTheReservationsOfADeadWorker(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	id, err := m.ledger(t, accounts.Caps{}).Reserve(ctx, reservation(0, 600, now))
	if err != nil {
		t.Fatal(err)
	}
	m.reopen(t)
	l := m.ledger(t, accounts.Caps{Day: 1000})
	if _, err := l.Reserve(ctx, reservation(0, 500, now)); capOf(err) != memory.CapDay {
		t.Errorf("got %v, want the day's cap", err)
	}
	if err := l.Charge(ctx, id, memory.ModelCharge{Known: true}); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("a lost call: got %v, want a conflict", err)
	}
}

func TestLedgerNeverPassesItsCapWithMany(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	l := m.ledger(t, accounts.Caps{Day: 5000})
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				id, err := l.Reserve(ctx, reservation(0, 100, now))
				if err != nil {
					if capOf(err) == "" {
						t.Error(err)
					}
					continue
				}
				if err := l.Charge(ctx, id, memory.ModelCharge{Outcome: "ok", Usage: memory.ModelUsage{Input: 90, Output: 10}, Known: true}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	day, _, err := m.UsedTokens(ctx, now, 0)
	if err != nil || day > 5000 || day < 4900 {
		t.Errorf("used %d, %v, want nearly all of 5000 and not more", day, err)
	}
}

func TestSetRun(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	id := m.enqueue(t, event(memory.KindTool, "s", "a", 1))[0].Session
	if err := m.SetRun(ctx, id, "run-1"); err != nil {
		t.Fatal(err)
	}
	s, err := m.Session(ctx, id)
	if err != nil || s.MemorySessionID != "run-1" {
		t.Errorf("got %+v, %v", s, err)
	}
	if n, err := m.RunTokens(ctx, id); err != nil || n != 0 {
		t.Errorf("RunTokens = %d, %v, want 0", n, err)
	}
}
