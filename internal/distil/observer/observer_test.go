package observer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"claudemem/internal/memory"
)

// The methods below are the queue.Storage of the store, observed.

func TestBatchTriggers(t *testing.T) {
	on := Options{BatchingEnabled: true}
	tests := []struct {
		name string
		opts Options
		do   func(q *harness, o *Observer)
		want string
	}{
		{"an open turn waits", on, func(q *harness, o *Observer) { q.tools(1, "a", "b") }, ""},
		{"a stop ends the turn", on, func(q *harness, o *Observer) { q.tools(1, "a", "b"); q.stop(1, "s") }, "a b s"},
		{"a stop alone", on, func(q *harness, o *Observer) { q.stop(1, "s") }, "s"},
		{"5 tools with size 3", Options{BatchingEnabled: true, BatchMaxSize: 3}, func(q *harness, o *Observer) {
			for _, k := range []string{"a", "b", "c", "d", "e"} {
				q.tools(1, k)
				synctest.Wait()
			}
			q.stop(1, "s")
		}, "a b c | d e s"},
		{"5 tools with size 3 that came at once", Options{BatchingEnabled: true, BatchMaxSize: 3}, func(q *harness, o *Observer) {
			q.tools(1, "a", "b", "c", "d", "e")
			q.stop(1, "s")
		}, "a b c | d e s"},
		{"overflow by bytes", Options{BatchingEnabled: true, BatchMaxBytes: 2500}, func(q *harness, o *Observer) {
			q.tools(1, "a", "b", "c", "d")
		}, "a b"},
		{"the next prompt ends the turn before", on, func(q *harness, o *Observer) {
			q.tools(1, "a", "b")
			synctest.Wait()
			q.prompt(1)
		}, "a b"},
		{"a turn that goes on is not torn", on, func(q *harness, o *Observer) {
			q.prompt(1)
			q.tools(1, "a")
			q.stop(1, "s")
			q.prompt(1)
			q.tools(1, "b", "c")
		}, "a s"},
		{"the session's end", on, func(q *harness, o *Observer) {
			q.tools(1, "a")
			time.Sleep(time.Minute)
			q.complete(1)
			time.Sleep(ClosingAfter)
		}, "a"},
		{"a closing message after the session's end", on, func(q *harness, o *Observer) {
			q.tools(1, "a")
			q.complete(1)
			time.Sleep(ClosingAfter - time.Millisecond)
			q.stop(1, "s")
		}, "a s"},
		{"a session that goes on after its end", on, func(q *harness, o *Observer) {
			q.tools(1, "a")
			q.complete(1)
			time.Sleep(ClosingAfter / 2)
			q.tools(1, "b")
			time.Sleep(time.Minute)
		}, ""},
		{"Flush", on, func(q *harness, o *Observer) { q.tools(1, "a"); q.tools(2, "b"); o.Flush(1) }, "a"},
		{"Flush before anything came asks for nothing", on, func(q *harness, o *Observer) {
			o.Flush(1)
			synctest.Wait()
			q.tools(1, "a")
		}, ""},
		{"FlushProject but for the session that began", on, func(q *harness, o *Observer) {
			q.tools(1, "a")
			q.tools(2, "b")
			q.paths[3] = "/other"
			q.tools(3, "c")
			o.FlushProject("/p", 2)
		}, "a"},
		{"FlushProject leaves a session that begins before the backlog can be read", on, func(q *harness, o *Observer) {
			q.mu.Lock()
			q.backlogErrs = []error{errors.New("busy")}
			q.mu.Unlock()
			o.FlushProject("/p", 0)
			time.Sleep(storageRetry / 2)
			q.tools(1, "a")
		}, ""},
		{"a flush holds for what was there", on, func(q *harness, o *Observer) {
			q.tools(1, "a")
			o.Flush(1)
			synctest.Wait()
			q.tools(1, "b")
		}, "a"},
		{"nine minutes of quiet", on, func(q *harness, o *Observer) { q.tools(1, "a"); time.Sleep(9 * time.Minute) }, ""},
		{"ten minutes of quiet", on, func(q *harness, o *Observer) { q.tools(1, "a"); time.Sleep(10 * time.Minute) }, "a"},
		{"news begin the ten minutes anew", on, func(q *harness, o *Observer) {
			q.tools(1, "a")
			time.Sleep(6 * time.Minute)
			q.tools(1, "b")
			time.Sleep(6 * time.Minute)
		}, ""},
		{"batching off", Options{}, func(q *harness, o *Observer) { q.tools(1, "a", "b", "c"); q.stop(1, "s") }, "a | b | c | s"},
		{"WaitIdle leaves the open turn", on, func(q *harness, o *Observer) {
			q.tools(1, "a")
			q.tools(2, "b")
			q.stop(2, "s")
			if err := o.WaitIdle(context.Background()); err != nil {
				panic(err)
			}
			if got := q.in("pending"); got != "a" {
				panic("pending: " + got)
			}
		}, "b s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q, d := newHarness(t), &fakeDistiller{}
				o := open(t, q, d, tt.opts)
				synctest.Wait()
				tt.do(q, o)
				synctest.Wait()
				if got := d.got(); got != tt.want {
					t.Errorf("batches: got %q, want %q", got, tt.want)
				}
				if got, want := q.in("processed"), strings.ReplaceAll(tt.want, " | ", " "); got != want {
					t.Errorf("processed: got %q, want %q", got, want)
				}
			})
		})
	}
}

func TestQuietTimePassesWhenTheClockIsSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, d := newHarness(t), &fakeDistiller{}
		var back time.Duration
		var mu sync.Mutex
		open(t, q, d, Options{BatchingEnabled: true, Clock: func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return time.Now().Add(-back)
		}})
		q.tools(1, "a")
		synctest.Wait()
		mu.Lock()
		back = 24 * time.Hour
		mu.Unlock()
		q.tools(1, "b") // seen with the time of day a day back
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if got, want := d.got(), "a b"; got != want {
			t.Errorf("batches: got %q, want %q", got, want)
		}
	})
}

func TestSignalDuringAnEmptyClaimIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, d := newHarness(t), &fakeDistiller{}
		q.tools(1, "a")
		other, err := q.queue.Claim(t.Context(), 1, 1) // holds the oldest event
		if err != nil {
			t.Fatal(err)
		}
		q.claimTakes = time.Second
		open(t, q, d, Options{BatchingEnabled: true})
		q.stop(1, "s")
		time.Sleep(500 * time.Millisecond)
		if err := q.queue.Release(t.Context(), other); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got, want := q.in("processed"), "a s"; got != want {
			t.Errorf("processed: got %q, want %q", got, want)
		}
	})
}

func TestIdleObserverAsksForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newHarness(t)
		open(t, q, &fakeDistiller{}, Options{BatchingEnabled: true})
		q.tools(1, "a")
		q.stop(1, "s")
		time.Sleep(time.Hour)
		q.mu.Lock()
		before := q.backlogs
		q.mu.Unlock()
		time.Sleep(24 * time.Hour)
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.backlogs != before {
			t.Errorf("an idle day took %d looks at the backlog, want 0", q.backlogs-before)
		}
	})
}

func TestSessionsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newHarness(t)
		var mu sync.Mutex
		running, most := 0, 0
		perSession := map[memory.SessionID]int{}
		d := &fakeDistiller{do: func(_ context.Context, b memory.Batch) error {
			mu.Lock()
			running++
			most = max(most, running)
			perSession[b.Session.ID]++
			if perSession[b.Session.ID] > 1 {
				t.Errorf("two batches of session %d at once", b.Session.ID)
			}
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			running--
			perSession[b.Session.ID]--
			mu.Unlock()
			return nil
		}}
		q.tools(1, "1a", "1b", "1c", "1d")
		q.tools(2, "2a", "2b")
		q.tools(3, "3a")
		o := open(t, q, d, Options{BatchingEnabled: true, BatchMaxSize: 1, MaxObservers: 2})
		if err := o.WaitIdle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if most != 2 {
			t.Errorf("at most %d batches at once, want 2", most)
		}
		order := strings.Split(d.got(), " | ")
		at := func(key string) int { return slices.Index(order, key) }
		if at("3a") > at("1c") {
			t.Errorf("session 3 waited for session 1 to be done: %v", order)
		}
		if !slices.IsSorted([]int{at("1a"), at("1b"), at("1c"), at("1d")}) {
			t.Errorf("session 1 out of order: %v", order)
		}
	})
}

// TestFlushIsOfWhatWasThere: a flush that comes while a turn is distilled, as before a compaction, does
// not distil the next turn before it has ended.
func TestFlushIsOfWhatWasThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newHarness(t)
		d := &fakeDistiller{do: func(context.Context, memory.Batch) error { time.Sleep(time.Second); return nil }}
		o := open(t, q, d, Options{BatchingEnabled: true})
		q.prompt(1)
		q.tools(1, "a")
		q.stop(1, "s")
		time.Sleep(500 * time.Millisecond) // turn 1 is being distilled
		o.Flush(1)
		time.Sleep(100 * time.Millisecond)
		q.prompt(1)
		q.tools(1, "b")
		time.Sleep(time.Minute)
		if got := q.in("processed"); strings.Contains(got, "b") {
			t.Errorf("the open turn was distilled: %s", got)
		}
		q.tools(1, "c")
		o.Flush(1) // of what is there now
		time.Sleep(time.Minute)
		if got := d.got(); got != "a s | b c" {
			t.Errorf("batches %q, want a s | b c", got)
		}
	})
}

// TestDueSessionsNeedNoLook: while the observer rests from a slow look at the backlog, the sessions
// that the look found due follow each other at once.
// TestLookAfter: arrivals are looked at together LookAfter after the first of them; whoever waits is
// not kept waiting.
func TestLookAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, d := newHarness(t), &fakeDistiller{}
		o := open(t, q, d, Options{BatchingEnabled: true, LookAfter: 10 * time.Millisecond})
		looks := func() int {
			synctest.Wait()
			q.mu.Lock()
			defer q.mu.Unlock()
			return q.backlogs
		}
		for round := range 3 {
			time.Sleep(time.Minute)
			before := looks()
			for i := range 3 { // 0, 4 and 8 ms
				q.tools(1, fmt.Sprint("a", round, i))
				q.stop(1, fmt.Sprint("s", round, i))
				if n := looks() - before; n != 0 {
					t.Errorf("round %d: %d looks after %d ms, want 0", round, n, 4*i)
				}
				time.Sleep(4 * time.Millisecond)
			}
			if n := looks() - before; n == 0 {
				t.Errorf("round %d: no look after 12 ms", round)
			}
		}
		time.Sleep(time.Minute)
		q.tools(1, "a")
		q.stop(1, "s")
		start := time.Now()
		if err := o.WaitIdle(t.Context()); err != nil || time.Since(start) != 0 {
			t.Errorf("who waits waits for %v, %v", time.Since(start), err)
		}
	})
}

func TestDueSessionsNeedNoLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newHarness(t)
		q.backlogTakes = time.Second // so it rests for 19
		for id := range memory.SessionID(4) {
			q.tools(id+1, fmt.Sprint("a", id))
			q.stop(id+1, fmt.Sprint("s", id))
		}
		start := time.Now()
		d := &fakeDistiller{do: func(context.Context, memory.Batch) error { time.Sleep(time.Second); return nil }}
		open(t, q, d, Options{BatchingEnabled: true, MaxObservers: 1})
		for strings.Count(q.in("processed"), "a") < 4 {
			time.Sleep(100 * time.Millisecond)
		}
		if took := time.Since(start); took > 6*time.Second {
			t.Errorf("four batches of a second took %v after a look", took)
		}
	})
}

func TestFailures(t *testing.T) {
	bad := func(key string) func(context.Context, memory.Batch) error {
		return func(_ context.Context, b memory.Batch) error {
			if strings.Contains(keysOf(b), key) {
				return errors.New("cannot")
			}
			return nil
		}
	}
	panics := func(context.Context, memory.Batch) error { panic("payload text") }
	tests := []struct {
		name           string
		do, fall       func(context.Context, memory.Batch) error
		noFallback     bool
		batches        string
		fallback       string
		processed, bad string
	}{
		{name: "one bad event does not sink its batch", do: bad("c"),
			batches: "a b c d s | a b c d s | a b | c d s | c | d s", fallback: "c", processed: "a b c d s"},
		{name: "only what the fallback cannot do is buried", do: bad("c"), fall: bad("c"),
			batches: "a b c d s | a b c d s | a b | c d s | c | d s", fallback: "c", processed: "a b d s", bad: "c"},
		{name: "no fallback", do: bad("c"), noFallback: true,
			batches: "a b c d s | a b c d s | a b | c d s | c | d s | c", processed: "a b d s", bad: "c"},
		{name: "the bad event comes last", do: bad("s"),
			batches: "a b c d s | a b c d s | a b | c d s | c | d s | d | s", fallback: "s", processed: "a b c d s"},
		{name: "a panic is a failure of its batch", do: panics,
			batches: "a b c d s | a b c d s | a b | c d s", fallback: "a b | c d s", processed: "a b c d s"},
		{name: "panics everywhere", do: panics, fall: panics,
			batches: "a b c d s | a b c d s | a b | c d s", fallback: "a b | a | b | c d s | c | d s | d | s", bad: "a b c d s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q, d, f := newHarness(t), &fakeDistiller{do: tt.do}, &fakeDistiller{do: tt.fall}
				opts := Options{BatchingEnabled: true, Fallback: f}
				if tt.noFallback {
					opts.Fallback = nil
				}
				open(t, q, d, opts)
				q.tools(1, "a", "b", "c", "d")
				q.stop(1, "s")
				time.Sleep(time.Hour)
				synctest.Wait()
				if got := d.got(); got != tt.batches {
					t.Errorf("batches: got %q, want %q", got, tt.batches)
				}
				if got := f.got(); got != tt.fallback {
					t.Errorf("fallback: got %q, want %q", got, tt.fallback)
				}
				if got := q.in("processed"); got != tt.processed {
					t.Errorf("processed: got %q, want %q", got, tt.processed)
				}
				if got := q.in("failed"); got != tt.bad {
					t.Errorf("failed: got %q, want %q", got, tt.bad)
				}
			})
		})
	}
}

func TestTransientFailuresDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newHarness(t)
		tries := 0
		d := &fakeDistiller{do: func(context.Context, memory.Batch) error {
			if tries++; tries <= 20 {
				return fmt.Errorf("ask model: %w", transientError{errors.New("429")})
			}
			return nil
		}}
		open(t, q, d, Options{BatchingEnabled: true})
		q.tools(1, "a")
		q.stop(1, "s")
		time.Sleep(time.Hour)
		synctest.Wait()
		if got, want := q.in("processed"), "a s"; got != want {
			t.Errorf("processed: got %q, want %q", got, want)
		}
		for key, e := range q.events {
			if e.counted != 0 {
				t.Errorf("event %s: %d attempts counted, want 0", key, e.counted)
			}
		}
	})
}

func TestStorageFailureCostsNoSecondCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, d := newHarness(t), &fakeDistiller{}
		full := memory.Errorf(memory.CodeStorage, "disk full")
		q.backlogErrs = []error{full, full}
		q.confirmErrs = []error{full, full}
		open(t, q, d, Options{BatchingEnabled: true})
		q.stop(1, "s")
		time.Sleep(time.Minute)
		synctest.Wait()
		if got, want := d.got(), "s"; got != want {
			t.Errorf("batches: got %q, want %q", got, want)
		}
		if got, want := q.in("processed"), "s"; got != want {
			t.Errorf("processed: got %q, want %q", got, want)
		}
	})
}

func TestLongStorageFailureKeepsEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, d := newHarness(t), &fakeDistiller{}
		full := memory.Errorf(memory.CodeStorage, "disk full")
		q.confirmErrs = slices.Repeat([]error{full}, 6)
		q.releaseErrs = []error{full, full, full}
		open(t, q, d, Options{BatchingEnabled: true})
		q.stop(1, "s")
		time.Sleep(time.Hour)
		synctest.Wait()
		if got, want := q.in("processed"), "s"; got != want {
			t.Errorf("processed: got %q, want %q", got, want)
		}
		if n := q.events["s"].counted; n != 0 {
			t.Errorf("attempts: got %d, want 0", n)
		}
	})
}

func TestConflictIsIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, d := newHarness(t), &fakeDistiller{}
		d.do = func(context.Context, memory.Batch) error { // somebody else confirms meanwhile
			return q.Store.Confirm(context.Background(), q.claimed, memory.Outcome{})
		}
		open(t, q, d, Options{BatchingEnabled: true})
		q.stop(1, "s")
		time.Sleep(time.Hour)
		synctest.Wait()
		if got, want := d.got(), "s"; got != want {
			t.Errorf("batches: got %q, want %q", got, want)
		}
	})
}

// TestCloseReleasesClaims: what is being distilled when the observer closes is due at once, whatever its
// end is called where it is noticed.
func TestCloseReleasesClaims(t *testing.T) {
	for name, of := range map[string]func(context.Context) error{
		"the context's error": context.Context.Err,
		"a failed write":      func(ctx context.Context) error { return transientError{ctx.Err()} },
		"a failed read":       nil,
	} {
		t.Run(name, func(t *testing.T) { closeReleasesClaims(t, of) })
	}
}

// closeReleasesClaims closes the observer while it distils, which ends with the error of, or while it reads.
func closeReleasesClaims(t *testing.T, of func(context.Context) error) {
	synctest.Test(t, func(t *testing.T) {
		q := newHarness(t)
		q.readsEndlessly = of == nil
		d := &fakeDistiller{do: func(ctx context.Context, _ memory.Batch) error {
			<-ctx.Done()
			return of(ctx)
		}}
		o := open(t, q, d, Options{BatchingEnabled: true})
		q.tools(1, "a")
		q.stop(1, "s")
		synctest.Wait()
		if got, want := q.in("processing"), "a s"; got != want {
			t.Fatalf("processing: got %q, want %q", got, want)
		}
		if err := o.Close(); err != nil {
			t.Fatal(err)
		}
		if got, want := q.in("pending"), "a s"; got != want {
			t.Errorf("pending: got %q, want %q", got, want)
		}
		for key, e := range q.events {
			if e.counted != 0 || e.released != 1 {
				t.Errorf("event %s: counted %d, released %d, want 0, 1", key, e.counted, e.released)
			}
		}
		if err := o.WaitIdle(t.Context()); memory.CodeOf(err) != memory.CodeUnavailable {
			t.Errorf("WaitIdle after Close: got %v, want code %s", err, memory.CodeUnavailable)
		}
	})
}

func TestOutcomeGetsItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newHarness(t)
		open(t, q, &fakeDistiller{}, Options{BatchingEnabled: true})
		q.stop(1, "s")
		synctest.Wait()
		got := q.outcomes[0].Observations[0]
		if got.Session != 1 || got.ProjectPath != "/p" {
			t.Errorf("got session %d of %s, want 1 of /p", got.Session, got.ProjectPath)
		}
	})
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newHarness(t)
		d := &fakeDistiller{do: func(ctx context.Context, _ memory.Batch) error { <-ctx.Done(); return ctx.Err() }}
		o := open(t, q, d, Options{BatchingEnabled: true})
		q.stop(1, "s")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := o.WaitIdle(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want deadline exceeded", err)
		}
	})
}

func TestNotOpen(t *testing.T) {
	q := newHarness(t)
	o := New(q.queue, q.Store, &fakeDistiller{}, Options{})
	if err := o.WaitIdle(t.Context()); memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("WaitIdle: got %v, want code %s", err, memory.CodeUnavailable)
	}
	if err := o.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// BenchmarkWakeUp measures the way of a stop from its commit in the queue to the
// claim of a free observer, whose commit is the store's cost. 5 ms are the limit.
func BenchmarkWakeUp(b *testing.B) {
	q := newHarness(b)
	arrived := make(chan struct{})
	o := New(q.queue, q.Store, &fakeDistiller{do: func(context.Context, memory.Batch) error {
		arrived <- struct{}{}
		return nil
	}}, AllCaptured(Options{BatchingEnabled: true}))
	if err := o.Open(b.Context()); err != nil {
		b.Fatal(err)
	}
	defer o.Close()
	total := time.Duration(0)
	for i := range b.N {
		q.stop(1, fmt.Sprint(i))
		enqueued := time.Now()
		<-arrived
		q.mu.Lock()
		total += max(0, q.claimedAt.Sub(enqueued))
		q.mu.Unlock()
		if err := o.WaitIdle(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(total.Microseconds())/float64(b.N), "µs-to-claim")
}
