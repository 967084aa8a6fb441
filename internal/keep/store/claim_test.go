package store_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/care"
	"claudemem/internal/memory"
)

func TestClaimIsInOrder(t *testing.T) {
	m := newMemory(t)
	// Arrived out of order; two at the same time are told apart by the delivery id.
	m.enqueue(t, event(memory.KindTool, "s", "d", 30), event(memory.KindTool, "other", "z", 1))
	m.enqueue(t, event(memory.KindStop, "s", "e", 40), event(memory.KindTool, "s", "c", 20), event(memory.KindTool, "s", "b", 20))
	m.enqueue(t, event(memory.KindTool, "s", "a", 10))
	if got, want := keys(m.claim(t, 1, 3).Events), "a b c"; got != want {
		t.Errorf("claimed %q, want %q", got, want)
	}
	if got := keys(m.claim(t, 1, 0).Events); got != "" {
		t.Errorf("a second claimer got %q of a session that is held", got)
	}
	if got, want := keys(m.claim(t, 2, 0).Events), "z"; got != want {
		t.Errorf("claimed %q of the other session, want %q", got, want)
	}
}

func TestTwoClaimersOneWins(t *testing.T) {
	m := newMemory(t)
	for i := range 50 {
		m.enqueue(t, event(memory.KindTool, "s", fmt.Sprintf("t%02d", i), memory.Millis(i)))
	}
	const claimers = 8
	var mu sync.Mutex
	won := map[string]int{}
	var group sync.WaitGroup
	for c := range claimers {
		group.Go(func() {
			claim, err := m.Claim(context.Background(), fmt.Sprint("claimer", c), 1, 10, m.clock.at)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if len(claim.Events) > 0 {
				won[claim.Claimer] = len(claim.Events)
			}
		})
	}
	group.Wait()
	if len(won) != 1 {
		t.Errorf("got winners %v, want exactly one", won)
	}
	if got := m.books(t); got.Processing != 10 || got.Pending != 40 {
		t.Errorf("got %+v, want 10 processing, 40 pending", got)
	}
}

func TestReleaseAndDue(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	m.enqueue(t, event(memory.KindTool, "s", "a", 1), event(memory.KindTool, "s", "b", 2))
	claim := m.claim(t, 1, 0)
	if err := m.Release(ctx, claim, "no network", true, m.clock.at+5000); err != nil {
		t.Fatal(err)
	}
	m.enqueue(t, event(memory.KindTool, "s", "c", 3))
	if got := keys(m.claim(t, 1, 0).Events); got != "" {
		t.Errorf("claimed %q ahead of events that wait for their retry", got)
	}
	backlog, err := m.Backlog(ctx, m.clock.at)
	if err != nil || len(backlog) != 1 {
		t.Fatalf("got %+v %v, want one session", backlog, err)
	}
	if b := backlog[0]; b.NextDue != m.clock.at+5000 || b.Tools != 0 || b.Bytes != 0 {
		t.Errorf("got %+v, want nothing due before %d", b, m.clock.at+5000)
	}
	m.clock.at += 5000
	claim = m.claim(t, 1, 0)
	if got, want := keys(claim.Events), "a b c"; got != want {
		t.Errorf("claimed %q when due, want %q", got, want)
	}
	if claim.Events[0].Attempts != 1 || claim.Events[2].Attempts != 0 {
		t.Errorf("got attempts %d and %d, want 1 and 0", claim.Events[0].Attempts, claim.Events[2].Attempts)
	}
	if err := m.Release(ctx, claim, "login", false, 0); err != nil {
		t.Fatal(err)
	}
	if claim = m.claim(t, 1, 0); claim.Events[0].Attempts != 1 {
		t.Errorf("an uncounted failure counted: %d attempts", claim.Events[0].Attempts)
	}
	// A part of a claim may be given back on its own.
	part := claim
	part.Events = claim.Events[2:]
	if err := m.Release(ctx, part, "", false, 0); err != nil {
		t.Fatal(err)
	}
	wantCode(t, m.Release(ctx, claim, "", false, 0), memory.CodeConflict)
	if got := m.books(t); got.Processing != 2 || got.Pending != 1 {
		t.Errorf("got %+v, want 2 processing, 1 pending", got)
	}
	m.audited(t)
}

// The clock was set back after a retry was put off: it must not wait for years.
func TestRetryAfterTheClockWasSetBack(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	m.enqueue(t, event(memory.KindTool, "s", "a", 1))
	if err := m.Release(ctx, m.claim(t, 1, 0), "x", true, m.clock.at+5000); err != nil {
		t.Fatal(err)
	}
	m.clock.at -= 365 * 24 * 3600 * 1000
	if got := keys(m.claim(t, 1, 0).Events); got != "a" {
		t.Errorf("claimed %q, want the event", got)
	}
}

func TestBacklog(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	if backlog, err := m.Backlog(ctx, m.clock.at); err != nil || len(backlog) != 0 {
		t.Errorf("got %v %v of an empty queue", backlog, err)
	}
	m.enqueue(t,
		event(memory.KindPrompt, "s", "p1", 1), event(memory.KindTool, "s", "a", 2), event(memory.KindTool, "s", "b", 3),
		event(memory.KindStop, "s", "c", 4), event(memory.KindPrompt, "s", "p2", 5), event(memory.KindTool, "s", "d", 6),
		event(memory.KindTool, "s", "skip", 7, skipped(memory.SkipTool)), event(memory.KindPrompt, "quiet", "q", 8))
	backlog, err := m.Backlog(ctx, m.clock.at)
	if err != nil || len(backlog) != 1 {
		t.Fatalf("got %+v %v, want one session", backlog, err)
	}
	b := backlog[0]
	if b.Tools != 3 || b.Stops != 1 || b.OldestPrompt != 1 || b.NewestPrompt != 2 || b.NewestAt != base+6 || b.NextDue != 0 {
		t.Errorf("got %+v", b)
	}
	if b.Session.HostSessionID != "s" || b.Session.PromptCount != 2 || b.Session.Label != "shop" {
		t.Errorf("got session %+v", b.Session)
	}
	if want := rawRows(t, m.path, "SELECT sum(bytes) FROM events")[0][0].(int64); int64(b.Bytes) != want || want == 0 {
		t.Errorf("got %d bytes, want %d", b.Bytes, want)
	}
	m.claim(t, 1, 2)
	if backlog, err = m.Backlog(ctx, m.clock.at); err != nil || len(backlog) != 1 || backlog[0].Tools != 1 || backlog[0].Stops != 1 {
		t.Errorf("after claiming two got %+v %v, want one tool and one stop", backlog, err)
	}
}

// TestBacklogAfterEveryWrite: whatever becomes of events, and whoever does it, the next look at
// the backlog counts what is pending, and shows the sessions as they are.
func TestBacklogAfterEveryWrite(t *testing.T) {
	ctx := t.Context()
	m := newMemory(t)
	reader, err := store.OpenReadOnly(ctx, m.path) // of another process
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	second, err := store.Open(ctx, m.path, store.Options{Clock: m.clock.now})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = second.Close() }()
	want := func(after, want string) {
		t.Helper()
		for _, s := range []*store.Store{m.Store, reader, second} {
			backlog, err := s.Backlog(ctx, m.clock.at)
			var got []string
			for _, b := range backlog {
				got = append(got, fmt.Sprintf("%s %s %d+%d/%d", b.Session.HostSessionID, b.Session.Status, b.Tools, b.Stops, b.Pending))
			}
			if joined := strings.Join(got, ", "); err != nil || joined != want {
				t.Errorf("after %s got %q %v, want %q", after, joined, err, want)
			}
		}
	}
	m.enqueue(t, event(memory.KindTool, "s", "a", 1), event(memory.KindTool, "s", "b", 2), event(memory.KindStop, "s", "c", 3),
		event(memory.KindTool, "s", "d", 4), event(memory.KindTool, "other", "e", 5), event(memory.KindTool, "third", "f", 6))
	want("enqueue", "s active 3+1/4, other active 1+0/1, third active 1+0/1")
	claim := m.claim(t, 1, 1)
	want("claim", "s active 2+1/3, other active 1+0/1, third active 1+0/1")
	if err := m.Confirm(ctx, claim, memory.Outcome{}); err != nil {
		t.Fatal(err)
	}
	want("confirm", "s active 2+1/3, other active 1+0/1, third active 1+0/1")
	if claim, err = second.Claim(ctx, "second", 1, 1, m.clock.at); err != nil {
		t.Fatal(err)
	}
	want("claim by another process", "s active 1+1/2, other active 1+0/1, third active 1+0/1")
	if err := second.Bury(ctx, claim, "garbage"); err != nil {
		t.Fatal(err)
	}
	want("failing", "s active 1+1/2, other active 1+0/1, third active 1+0/1")
	if _, err := m.Revive(ctx); err != nil {
		t.Fatal(err)
	}
	want("revival", "s active 2+1/3, other active 1+0/1, third active 1+0/1")
	if err := m.Release(ctx, m.claim(t, 1, 1), "no answer", true, m.clock.at+60_000); err != nil {
		t.Fatal(err)
	}
	want("release until later", "s active 0+0/3, other active 1+0/1, third active 1+0/1")
	if _, err := second.Hasten(ctx); err != nil {
		t.Fatal(err)
	}
	want("haste", "s active 2+1/3, other active 1+0/1, third active 1+0/1")
	if err := m.Skip(ctx, m.claim(t, 2, 0), memory.SkipExcluded); err != nil {
		t.Fatal(err)
	}
	want("skip", "s active 2+1/3, third active 1+0/1")
	if _, err := m.Forget(ctx, memory.Forgetting{Sessions: []memory.SessionID{1}}, func(*care.Erasure) error { return nil }); err != nil {
		t.Fatal(err)
	}
	want("forgetting", "third active 1+0/1")
	if _, err := second.Enqueue(ctx, event(memory.KindSessionEnd, "third", "end", 7)); err != nil {
		t.Fatal(err)
	}
	want("the end of a session", "third completed 1+0/1")
}

// TestBacklogOfAPostponedBatch: events that wait for a retry are not due, and pending
// all the same.
func TestBacklogOfAPostponedBatch(t *testing.T) {
	m := newMemory(t)
	m.enqueue(t, event(memory.KindTool, "s", "a", 1), event(memory.KindStop, "s", "b", 2))
	if err := m.Release(t.Context(), m.claim(t, 1, 0), "no answer", false, m.clock.at+60_000); err != nil {
		t.Fatal(err)
	}
	backlog, err := m.Backlog(t.Context(), m.clock.at)
	if err != nil || len(backlog) != 1 {
		t.Fatalf("got %+v %v, want one session", backlog, err)
	}
	if b := backlog[0]; b.Pending != 2 || b.Tools != 0 || b.Stops != 0 || b.NextDue != m.clock.at+60_000 {
		t.Errorf("got %+v, want 2 pending and none due", b)
	}
}

// TestSkipWaiting: pending events are skipped by what they are; claimed ones stay with their
// claimer.
func TestSkipWaiting(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	m.enqueue(t, event(memory.KindTool, "s", "a", 1), event(memory.KindTool, "s", "b", 2), event(memory.KindTool, "s", "c", 3),
		event(memory.KindTool, "other", "d", 4))
	claim := m.claim(t, 1, 1)
	var asked []string
	n, err := m.SkipWaiting(ctx, func(e *memory.PendingEvent) string {
		asked = append(asked, e.Key)
		if e.Event.HostSessionID == "s" && !strings.HasSuffix(e.Key, "c") {
			return memory.SkipExcluded
		}
		return ""
	})
	if slices.Sort(asked); err != nil || n != 1 || strings.Join(asked, " ") != "tool:other:d tool:s:b tool:s:c" {
		t.Errorf("skipped %d, %v, asked about %q", n, err, asked)
	}
	if got := m.books(t); got.Skipped != 1 || got.Pending != 2 || got.Processing != 1 || !got.Balanced() {
		t.Errorf("got %+v", got)
	}
	if err := m.Confirm(ctx, claim, memory.Outcome{}); err != nil {
		t.Error(err)
	}
	if got := keys(m.claim(t, 1, 0).Events); got != "c" {
		t.Errorf("claimed %q, want c", got)
	}
	m.audited(t)
}

// TestSkip: events that are skipped while they wait are booked like those that were skipped
// when they came, and their payloads are gone.
func TestSkip(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	m.enqueue(t, event(memory.KindTool, "s", "a", 1), event(memory.KindTool, "s", "b", 2), event(memory.KindTool, "s", "c", 3))
	claim := m.claim(t, 1, 0)
	part := claim
	part.Events = claim.Events[:2]
	if err := m.Skip(ctx, part, memory.SkipExcluded); err != nil {
		t.Fatal(err)
	}
	if err := m.Skip(ctx, part, memory.SkipExcluded); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("skipped again: %v, want CodeConflict", err)
	}
	if got := m.books(t); got.Skipped != 2 || got.Processing != 1 || !got.Balanced() {
		t.Errorf("got %+v, want two skipped and one processing", got)
	}
	receipt := m.receipt(t, 1)
	if len(receipt.Skipped) != 1 || receipt.Skipped[0].Reason != memory.SkipExcluded || receipt.Skipped[0].Events != 2 {
		t.Errorf("the receipt says skipped %+v", receipt.Skipped)
	}
	part.Events = claim.Events[2:]
	if err := m.Confirm(ctx, part, memory.Outcome{}); err != nil {
		t.Errorf("the rest of the claim: %v", err)
	}
	m.audited(t)
}

func TestBuryAndRevive(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	m.enqueue(t, event(memory.KindTool, "s", "a", 1), event(memory.KindTool, "s", "b", 2), event(memory.KindTool, "s", "c", 3))
	if err := m.Bury(ctx, m.claim(t, 1, 2), "the answer is garbage"); err != nil {
		t.Fatal(err)
	}
	m.audited(t)
	letters, err := m.DeadLetters(ctx, 10)
	if err != nil || len(letters) != 2 {
		t.Fatalf("got %+v %v, want two dead letters", letters, err)
	}
	want := memory.DeadLetter{
		Key: "tool:s:a", Session: 1, Kind: memory.KindTool, ToolName: "Bash", OccurredAt: base + 1, Attempts: 1, LastError: "the answer is garbage",
	}
	if letters[0] != want {
		t.Errorf("got %+v, want %+v", letters[0], want)
	}
	// They don't stand in the way of the others.
	if got := keys(m.claim(t, 1, 0).Events); got != "c" {
		t.Errorf("claimed %q, want c", got)
	}
	if n, err := m.Revive(ctx, "tool:s:b", "tool:s:c", "unknown"); err != nil || n != 1 {
		t.Errorf("revived %d %v, want 1", n, err)
	}
	if got := m.books(t); got.Failed != 1 || got.Pending != 1 || got.Processing != 1 {
		t.Errorf("got %+v, want one failed, one pending, one processing", got)
	}
	if n, err := m.Revive(ctx); err != nil || n != 1 {
		t.Errorf("revived %d %v, want 1", n, err)
	}
	m.audited(t)
}

func TestUnreadablePayloadIsBuried(t *testing.T) {
	m := newMemory(t)
	m.enqueue(t, event(memory.KindTool, "s", "a", 1), event(memory.KindTool, "s", "b", 2))
	rawExec(t, m.path, "UPDATE pending_messages SET payload = 'garbage' WHERE event_id = 1")
	if got := keys(m.claim(t, 1, 0).Events); got != "b" {
		t.Errorf("claimed %q, want b", got)
	}
	if got := m.books(t); got.Failed != 1 {
		t.Errorf("got %+v, want one failed", got)
	}
	m.audited(t)
}

func TestHeal(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	claims := map[string]memory.Claim{}
	for i, name := range []string{"dead", "live", "fresh"} {
		session := m.enqueue(t, event(memory.KindTool, name, name+"1", 1), event(memory.KindTool, name, name+"2", 2))[0].Session
		m.clock.at = base + memory.Millis(i)*40_000
		claim, err := m.Claim(ctx, name, session, 0, m.clock.at)
		if err != nil {
			t.Fatal(err)
		}
		claims[name] = claim
	}
	n, err := m.Heal(ctx, base+60_000, []string{"live"})
	if err != nil || n != 2 {
		t.Fatalf("healed %d %v, want the two of the dead claimer", n, err)
	}
	m.audited(t)
	wantCode(t, m.Confirm(ctx, claims["dead"], memory.Outcome{}), memory.CodeConflict)
	for _, name := range []string{"live", "fresh"} {
		if err := m.Confirm(ctx, claims[name], memory.Outcome{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	again := m.claim(t, claims["dead"].Session.ID, 0)
	if got := keys(again.Events); got != "dead1 dead2" {
		t.Errorf("claimed %q after healing, want both", got)
	}
	// A process that starts heals everything.
	if n, err := m.Heal(ctx, math.MaxInt64, nil); err != nil || n != 2 {
		t.Errorf("healed %d %v, want 2", n, err)
	}
	m.audited(t)
}
