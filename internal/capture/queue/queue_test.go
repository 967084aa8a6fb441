package queue_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"claudemem/internal/capture/intake"
	"claudemem/internal/capture/queue"
	"claudemem/internal/memory"
)

var (
	_ intake.Queue = (*queue.Queue)(nil)
)

func tool(key string) memory.Arrival {
	return memory.Arrival{Key: key, Event: memory.Event{Kind: memory.KindTool}}
}

func openQueue(t *testing.T, f *fakeStorage) *queue.Queue {
	t.Helper()
	q := queue.New(f, queue.Options{Claimer: "me", Rand: func() float64 { return 0 }})
	if err := q.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	})
	return q
}

// announced waits for what is running and reports whether the queue signalled.
func announced(q *queue.Queue) bool {
	synctest.Wait()
	select {
	case <-q.Ready():
		return true
	default:
		return false
	}
}

func wantAnnounced(t *testing.T, q *queue.Queue, want bool, when string) {
	t.Helper()
	if got := announced(q); got != want {
		t.Errorf("%s: announced %v, want %v", when, got, want)
	}
}

func mustClaim(t *testing.T, q *queue.Queue) memory.Claim {
	t.Helper()
	claim, err := q.Claim(t.Context(), 1, 0)
	if err != nil || len(claim.Events) == 0 {
		t.Fatalf("claimed %+v %v, want events", claim, err)
	}
	return claim
}

func mustEnqueue(t *testing.T, q *queue.Queue, arrivals ...memory.Arrival) {
	t.Helper()
	if _, err := q.Enqueue(t.Context(), arrivals...); err != nil {
		t.Fatal(err)
	}
}

func TestSignals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeStorage{}
		q := openQueue(t, f)
		wantAnnounced(t, q, false, "an empty queue")
		mustEnqueue(t, q, tool("a"))
		wantAnnounced(t, q, true, "a tool event")
		mustEnqueue(t, q, tool("a"))
		wantAnnounced(t, q, false, "a duplicate")
		skipped := tool("b")
		skipped.SkipReason = memory.SkipTool
		mustEnqueue(t, q, skipped)
		wantAnnounced(t, q, false, "a skipped event")
		mustEnqueue(t, q, memory.Arrival{Key: "p", Event: memory.Event{Kind: memory.KindPrompt}})
		wantAnnounced(t, q, true, "a prompt, which ends the turn before it")
		mustEnqueue(t, q, tool("c"), tool("d"))
		mustEnqueue(t, q, tool("e"))
		wantAnnounced(t, q, true, "several")
		wantAnnounced(t, q, false, "several, once")

		claim := mustClaim(t, q)
		mustEnqueue(t, q, tool("f"))
		wantAnnounced(t, q, true, "an event while the session is held")
		if err := q.Confirm(t.Context(), claim, memory.Outcome{}); err != nil {
			t.Fatal(err)
		}
		wantAnnounced(t, q, true, "a session that can be claimed again")
		if err := q.Release(t.Context(), mustClaim(t, q)); err != nil {
			t.Fatal(err)
		}
		wantAnnounced(t, q, true, "released events")
		if err := q.Bury(t.Context(), mustClaim(t, q), errors.New("garbage")); err != nil {
			t.Fatal(err)
		}
		announced(q)
		if n, err := q.Revive(t.Context()); err != nil || n != 1 {
			t.Errorf("revived %d %v, want 1", n, err)
		}
		wantAnnounced(t, q, true, "revived events")
	})
}

func TestIdleQueueOnlyHeals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeStorage{}
		q := openQueue(t, f)
		time.Sleep(10*time.Minute + time.Second)
		synctest.Wait()
		f.mu.Lock()
		defer f.mu.Unlock()
		if got, want := len(f.heals), 1+20; got != want {
			t.Errorf("healed %d times in ten minutes, want %d", got, want)
		}
		if got, want := f.looks, 1+20; got != want {
			t.Errorf("looked %d times in ten minutes, want %d", got, want)
		}
		now := memory.MillisOf(time.Now())
		last, idle := f.heals[len(f.heals)-1], f.idles[len(f.idles)-1]
		if age := now.Sub(last.before); age < time.Minute || age > time.Minute+2*time.Second {
			t.Errorf("heals what was claimed %v ago, want 60s", age)
		}
		if age := now.Sub(idle); age < 24*time.Hour || age > 24*time.Hour+2*time.Second {
			t.Errorf("interrupts what was idle for %v, want 24h", age)
		}
		_ = q
	})
}

type limited struct{ pause time.Duration }

func (e limited) Error() string             { return "429" }
func (e limited) RetryAfter() time.Duration { return e.pause }

func TestRetryPauses(t *testing.T) {
	plain := errors.New("no answer")
	tests := []struct {
		name    string
		cause   error
		counted bool
		before  int // counted failures before this one
		random  float64
		want    time.Duration
	}{
		{"first", plain, true, 0, 0, 5 * time.Second},
		{"second", plain, true, 1, 0, 10 * time.Second},
		{"fifth", plain, true, 4, 0, 80 * time.Second},
		{"hundredth", plain, true, 99, 0, 10 * time.Minute},
		{"most jitter", plain, true, 1, 0.999999, 5 * time.Second},
		{"not the events' fault", plain, false, 0, 0, time.Minute},
		{"not the events' fault, again", plain, false, 0, 0.9, time.Minute},
		{"asked to wait", limited{90 * time.Second}, true, 0, 0, 90 * time.Second},
		{"asked to wait, wrapped", fmt.Errorf("call: %w", limited{90 * time.Second}), false, 0, 0, 90 * time.Second},
		{"asked to wait shorter", limited{time.Second}, true, 0, 0, 5 * time.Second},
		{"asked to wait for ever", limited{1000 * time.Hour}, true, 0, 0, time.Hour},
		{"asked nonsense", limited{-time.Hour}, true, 0, 0, 5 * time.Second},
		{"no cause", nil, true, 0, 0, 5 * time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fakeStorage{events: []fakeEvent{{key: "a", status: memory.StatusPending, attempts: test.before}}}
				q := queue.New(f, queue.Options{Rand: func() float64 { return test.random }})
				if err := q.Open(t.Context()); err != nil {
					t.Fatal(err)
				}
				defer func() { _ = q.Close() }()
				wantAnnounced(t, q, true, "what waited at the start")
				claim := mustClaim(t, q)
				began := time.Now()
				if err := q.Retry(t.Context(), claim, test.cause, test.counted); err != nil {
					t.Fatal(err)
				}
				wantAnnounced(t, q, false, "before the pause is over")
				<-q.Ready()
				if got := time.Since(began); got < test.want || got > test.want+10*time.Millisecond {
					t.Errorf("announced after %v, want %v", got, test.want)
				}
				again := mustClaim(t, q)
				counted := test.before
				if test.counted {
					counted++
				}
				if again.Events[0].Attempts != counted {
					t.Errorf("got %d attempts, want %d", again.Events[0].Attempts, counted)
				}
			})
		})
	}
}

// Two retries, the later one put off first: each is announced at its time.
func TestSeveralRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeStorage{}
		q := openQueue(t, f)
		mustEnqueue(t, q, tool("a"))
		announced(q)
		began := time.Now()
		if err := q.Retry(t.Context(), mustClaim(t, q), limited{40 * time.Second}, true); err != nil {
			t.Fatal(err)
		}
		f.mu.Lock()
		f.events = append([]fakeEvent{{key: "b", status: memory.StatusPending}}, f.events...)
		f.mu.Unlock()
		if err := q.Retry(t.Context(), mustClaim(t, q), limited{20 * time.Second}, true); err != nil {
			t.Fatal(err)
		}
		for _, want := range []time.Duration{20 * time.Second, 40 * time.Second} {
			<-q.Ready()
			if got := time.Since(began); got < want || got > want+20*time.Millisecond {
				t.Errorf("announced after %v, want %v", got, want)
			}
		}
	})
}

// A retry that a former process put off is announced by this one.
func TestOpenFindsRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		due := memory.MillisOf(time.Now().Add(3 * time.Minute))
		f := &fakeStorage{events: []fakeEvent{{key: "a", status: memory.StatusPending, notBefore: due}}}
		q := openQueue(t, f)
		announced(q) // at the start, in any case
		began := time.Now()
		<-q.Ready()
		if got := time.Since(began); got < 3*time.Minute || got > 3*time.Minute+10*time.Millisecond {
			t.Errorf("announced after %v, want 3m", got)
		}
	})
}

func TestOpenHealsWhatADeadProcessHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeStorage{events: []fakeEvent{{
			key: "a", status: memory.StatusProcessing, claimer: "dead", claimedAt: memory.MillisOf(time.Now()),
		}}}
		q := openQueue(t, f)
		wantAnnounced(t, q, true, "what a dead process held")
		mustClaim(t, q)
	})
}

func TestLiveClaimIsNeverHealed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeStorage{}
		q := openQueue(t, f)
		mustEnqueue(t, q, tool("a"), tool("b"))
		claim := mustClaim(t, q)
		time.Sleep(3 * time.Hour)
		// A part is given back, the rest is still held.
		part := claim
		part.Events = claim.Events[:1]
		if err := q.Confirm(t.Context(), part, memory.Outcome{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Hour)
		part.Events = claim.Events[1:]
		if err := q.Confirm(t.Context(), part, memory.Outcome{}); err != nil {
			t.Errorf("the claim was taken away: %v", err)
		}
	})
}

// The disk is full when the claim is to be given back: it is healed later.
func TestClaimThatCannotBeGivenBackIsHealed(t *testing.T) {
	give := map[string]func(*queue.Queue, memory.Claim) error{
		"retry": func(q *queue.Queue, c memory.Claim) error {
			return q.Retry(context.Background(), c, errors.New("x"), true)
		},
		"release": func(q *queue.Queue, c memory.Claim) error { return q.Release(context.Background(), c) },
		"bury":    func(q *queue.Queue, c memory.Claim) error { return q.Bury(context.Background(), c, errors.New("x")) },
	}
	for name, give := range give {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fakeStorage{}
				q := openQueue(t, f)
				mustEnqueue(t, q, tool("a"))
				claim := mustClaim(t, q)
				f.fail(memory.Errorf(memory.CodeStorage, "disk full"))
				if err := give(q, claim); memory.CodeOf(err) != memory.CodeStorage {
					t.Errorf("got %v, want the storage's error", err)
				}
				time.Sleep(5*time.Minute + time.Second) // healing fails as well, and goes on
				announced(q)
				f.fail(nil)
				time.Sleep(2 * time.Minute)
				wantAnnounced(t, q, true, "once the disk has room")
				mustClaim(t, q)
			})
		})
	}
}

func TestConfirmThatFailsKeepsTheClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeStorage{}
		q := openQueue(t, f)
		mustEnqueue(t, q, tool("a"))
		claim := mustClaim(t, q)
		f.fail(memory.Errorf(memory.CodeStorage, "disk full"))
		if err := q.Confirm(t.Context(), claim, memory.Outcome{}); memory.CodeOf(err) != memory.CodeStorage {
			t.Fatalf("got %v, want the storage's error", err)
		}
		f.fail(nil)
		time.Sleep(time.Hour)
		if err := q.Confirm(t.Context(), claim, memory.Outcome{}); err != nil {
			t.Errorf("the claim was taken away: %v", err)
		}
		if err := q.Confirm(t.Context(), claim, memory.Outcome{}); memory.CodeOf(err) != memory.CodeConflict {
			t.Errorf("got %v, want a conflict", err)
		}
	})
}

// The wall clock is set back by a day while a retry waits.
func TestRetryAfterTheClockWasSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var back atomic.Int64
		f := &fakeStorage{events: []fakeEvent{{key: "a", status: memory.StatusPending}}}
		q := queue.New(f, queue.Options{Clock: func() time.Time { return time.Now().Add(-time.Duration(back.Load())) }, Rand: func() float64 { return 0 }})
		if err := q.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		announced(q)
		if err := q.Retry(t.Context(), mustClaim(t, q), nil, true); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		back.Store(int64(24 * time.Hour))
		began := time.Now()
		<-q.Ready()
		if got := time.Since(began); got > time.Minute {
			t.Errorf("announced after %v, want within a minute", got)
		}
		if err := q.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeStorage{}
		q := queue.New(f, queue.Options{})
		if err := q.Close(); err != nil { // never opened
			t.Fatal(err)
		}
		if err := q.Open(t.Context()); err == nil {
			t.Error("a closed queue was opened")
		}
		q = queue.New(f, queue.Options{})
		if err := q.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := q.Open(t.Context()); memory.CodeOf(err) != memory.CodeConflict {
			t.Errorf("opened twice: %v", err)
		}
		for range 2 {
			if err := q.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := q.Enqueue(t.Context(), tool("a")); memory.CodeOf(err) != memory.CodeUnavailable {
			t.Errorf("got %v, want unavailable", err)
		}
	})
}

func TestOpenFailsWithTheStorage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeStorage{err: memory.Errorf(memory.CodeStorage, "disk full")}
		q := queue.New(f, queue.Options{})
		if err := q.Open(t.Context()); memory.CodeOf(err) != memory.CodeStorage {
			t.Errorf("got %v, want the storage's error", err)
		}
		f.fail(nil)
		if err := q.Open(t.Context()); err != nil {
			t.Errorf("a second try: %v", err)
		}
		if err := q.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
