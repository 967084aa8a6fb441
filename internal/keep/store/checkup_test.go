package store_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/memory"
)

func TestActivity(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "memory.db")
	now := time.UnixMilli(1_700_000_000_000)
	s, err := store.Open(ctx, path, store.Options{Clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if a, err := s.Activity(ctx, 0); err != nil || len(a.Hosts)+a.Stuck+len(a.LastCalls) > 0 || a.NewestReceived+a.OldestPending != 0 {
		t.Fatalf("of an empty memory: %+v, %v", a, err)
	}
	at := func(d time.Duration) memory.Millis { return memory.MillisOf(now.Add(d)) }
	arrive := func(key, session string, host memory.Host, occurred, received memory.Millis) {
		t.Helper()
		_, err := s.Enqueue(ctx, memory.Arrival{Key: key, ReceivedAt: received, Event: memory.Event{
			DeliveryID: key, Kind: memory.KindTool, Host: host, HostSessionID: session, ProjectPath: "/p", ToolName: "Edit", ToolUseID: key, OccurredAt: occurred,
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	arrive("a", "one", memory.HostClaudeCode, at(-time.Hour), at(-time.Hour))
	arrive("b", "two", memory.HostRaw, at(-2*time.Hour), at(time.Hour)) // by a clock that was ahead
	arrive("c", "three", memory.HostClaudeCode, at(-time.Minute), at(-time.Minute))
	session, err := s.SessionByHost(ctx, memory.HostClaudeCode, "one")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Claim(ctx, "worker", session.ID, 0, at(-30*time.Minute)); err != nil {
		t.Fatal(err)
	}
	a, err := s.Activity(ctx, at(-15*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Hosts) != 2 || a.Hosts[0] != (accounts.HostActivity{Host: memory.HostClaudeCode, Sessions: 2, LastAt: at(-time.Minute), HeardAt: a.Hosts[0].HeardAt}) || a.Hosts[0].HeardAt < a.Hosts[0].LastAt {
		t.Errorf("hosts %+v", a.Hosts)
	}
	if a.NewestReceived != at(time.Hour) {
		t.Errorf("newest received %d, want %d", a.NewestReceived, at(time.Hour))
	}
	if a.OldestPending != at(-time.Minute) {
		t.Errorf("oldest pending %d, want %d", a.OldestPending, at(-time.Minute))
	}
	if a.Stuck != 1 {
		t.Errorf("stuck %d, want 1", a.Stuck)
	}
	if a, err = s.Activity(ctx, at(-time.Hour)); err != nil || a.Stuck != 0 {
		t.Errorf("stuck %d before the claim, %v", a.Stuck, err)
	}
}

// The newest call of each provider that has ended; one under way says nothing yet.
func TestLastCalls(t *testing.T) {
	ctx := t.Context()
	s, err := store.Open(ctx, filepath.Join(t.TempDir(), "memory.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	ledger, err := s.NewLedger(ctx, func() accounts.Caps { return accounts.Caps{} })
	if err != nil {
		t.Fatal(err)
	}
	book := func(provider, outcome string, ended bool) {
		t.Helper()
		id, err := ledger.Reserve(ctx, memory.ModelReservation{Provider: provider, Kind: "summary", At: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		if !ended {
			return
		}
		if err := ledger.Charge(ctx, id, memory.ModelCharge{Outcome: outcome, Known: true, At: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	book("claude", "ok", true)
	book("claude", "login", true)
	book("openai", "transient", true)
	book("openai", "ok", true)
	book("claude", "", false)
	a, err := s.Activity(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range a.LastCalls {
		got = append(got, c.Provider+" "+c.Outcome)
	}
	if want := "claude login, openai ok"; strings.Join(got, ", ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestQuickCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.db")
	fill := func() {
		s, err := store.Open(t.Context(), path, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 50 {
			key := strings.Repeat("k", i+1)
			if _, err := s.Enqueue(t.Context(), memory.Arrival{Key: key, Event: memory.Event{
				DeliveryID: key, Kind: memory.KindPrompt, Host: memory.HostRaw, HostSessionID: "s", Prompt: strings.Repeat("words ", 500),
			}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	fill()
	check := func() ([]string, error) {
		s, err := store.OpenReadOnly(t.Context(), path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = s.Close() }()
		return s.QuickCheck(context.Background())
	}
	if found, err := check(); err != nil || len(found) > 0 {
		t.Fatalf("of a sound database: %q, %v", found, err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err == nil {
		_, err = f.WriteAt([]byte(strings.Repeat("damage! ", 4096)), info.Size()/2/4096*4096)
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	if found, err := check(); len(found) == 0 && !db.Damaged(err) {
		t.Errorf("of a damaged database: %q, %v", found, err)
	}
	if err := os.WriteFile(path, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := check(); !db.Damaged(err) {
		t.Errorf("of no database: %v", err)
	}
	if _, err := store.Open(t.Context(), path, store.Options{}); !db.Damaged(err) {
		t.Errorf("open no database: %v", err)
	}
	if db.Damaged(nil) || db.Damaged(os.ErrPermission) {
		t.Error("what is no damage counts as damage")
	}
}
