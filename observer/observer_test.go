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

	"claudemem"
)

// fakeQueue keeps the queue's promises in memory.
type fakeQueue struct {
	mu       sync.Mutex
	ready    chan struct{}
	sessions map[claudemem.SessionID]*claudemem.Session
	rows     []*row
	backlogs int
	outcomes []claudemem.Outcome
	// confirmErrs are returned by the next Confirm calls, in order; backlogErrs likewise.
	confirmErrs, backlogErrs, retryErrs []error
}

type row struct {
	event    claudemem.PendingEvent
	session  claudemem.SessionID
	at       time.Time
	due      time.Time
	state    string // pending, processing, processed, failed
	counted  int
	released int
}

func newFakeQueue() *fakeQueue {
	return &fakeQueue{ready: make(chan struct{}, 1), sessions: map[claudemem.SessionID]*claudemem.Session{}}
}

func (q *fakeQueue) Ready() <-chan struct{} { return q.ready }

func (q *fakeQueue) signal() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

func (q *fakeQueue) session(id claudemem.SessionID) *claudemem.Session {
	s := q.sessions[id]
	if s == nil {
		s = &claudemem.Session{ID: id, ProjectPath: "/p", Status: claudemem.SessionActive}
		q.sessions[id] = s
	}
	return s
}

func (q *fakeQueue) prompt(id claudemem.SessionID) {
	q.mu.Lock()
	q.session(id).PromptCount++
	q.mu.Unlock()
	q.signal()
}

func (q *fakeQueue) complete(id claudemem.SessionID) {
	q.mu.Lock()
	q.session(id).Status = claudemem.SessionCompleted
	q.mu.Unlock()
	q.signal()
}

func (q *fakeQueue) add(id claudemem.SessionID, kind claudemem.EventKind, keys ...string) {
	q.mu.Lock()
	for _, key := range keys {
		q.rows = append(q.rows, &row{
			event:   claudemem.PendingEvent{Key: key, PromptNumber: q.session(id).PromptCount, Event: claudemem.Event{Kind: kind}},
			session: id, at: time.Now(), state: "pending",
		})
	}
	q.mu.Unlock()
	q.signal()
}

func (q *fakeQueue) tools(id claudemem.SessionID, keys ...string) {
	q.add(id, claudemem.KindTool, keys...)
}
func (q *fakeQueue) stop(id claudemem.SessionID, key string) { q.add(id, claudemem.KindStop, key) }

func (q *fakeQueue) Backlog(context.Context) ([]claudemem.Backlog, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.backlogs++
	if len(q.backlogErrs) > 0 {
		err := q.backlogErrs[0]
		q.backlogErrs = q.backlogErrs[1:]
		return nil, err
	}
	var list []claudemem.Backlog
	for _, r := range q.rows {
		if r.state != "pending" {
			continue
		}
		i := slices.IndexFunc(list, func(b claudemem.Backlog) bool { return b.Session.ID == r.session })
		if i < 0 {
			i = len(list)
			list = append(list, claudemem.Backlog{Session: *q.session(r.session), OldestPrompt: r.event.PromptNumber})
		}
		b := &list[i]
		if r.due.After(time.Now()) {
			if at := claudemem.MillisOf(r.due); b.NextDue == 0 || at < b.NextDue {
				b.NextDue = at
			}
			continue
		}
		if r.event.Event.Kind == claudemem.KindStop {
			b.Stops++
		} else {
			b.Tools++
		}
		b.Bytes += 1000
		b.NewestPrompt = r.event.PromptNumber
		b.NewestAt = claudemem.MillisOf(r.at)
	}
	return list, nil
}

func (q *fakeQueue) Claim(_ context.Context, id claudemem.SessionID, limit int) (claudemem.Claim, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	claim := claudemem.Claim{Claimer: "c", Session: *q.session(id)}
	for _, r := range q.rows {
		if r.session != id || r.state == "processed" || r.state == "failed" {
			continue
		}
		if r.state == "processing" || r.due.After(time.Now()) || limit > 0 && len(claim.Events) == limit {
			break
		}
		r.state = "processing"
		event := r.event
		event.Attempts = r.counted
		claim.Events = append(claim.Events, event)
	}
	return claim, nil
}

func (q *fakeQueue) held(claim claudemem.Claim) ([]*row, error) {
	var rows []*row
	for _, e := range claim.Events {
		i := slices.IndexFunc(q.rows, func(r *row) bool { return r.event.Key == e.Key })
		if q.rows[i].state != "processing" {
			return nil, claudemem.Errorf(claudemem.CodeConflict, "not held")
		}
		rows = append(rows, q.rows[i])
	}
	return rows, nil
}

func (q *fakeQueue) Confirm(_ context.Context, claim claudemem.Claim, outcome claudemem.Outcome) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.confirmErrs) > 0 {
		err := q.confirmErrs[0]
		q.confirmErrs = q.confirmErrs[1:]
		if err != nil {
			return err
		}
	}
	rows, err := q.held(claim)
	if err != nil {
		return err
	}
	for _, r := range rows {
		r.state = "processed"
	}
	q.outcomes = append(q.outcomes, outcome)
	return nil
}

func (q *fakeQueue) back(claim claudemem.Claim, change func(*row)) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.retryErrs) > 0 {
		err := q.retryErrs[0]
		q.retryErrs = q.retryErrs[1:]
		return err
	}
	rows, err := q.held(claim)
	if err != nil {
		return err
	}
	for _, r := range rows {
		r.state = "pending"
		change(r)
	}
	return nil
}

func (q *fakeQueue) Retry(_ context.Context, claim claudemem.Claim, _ error, counted bool) error {
	delay := time.Minute
	err := q.back(claim, func(r *row) {
		if counted {
			r.counted++
			delay = time.Second << r.counted
		}
		r.due = time.Now().Add(delay)
	})
	time.AfterFunc(delay, q.signal)
	return err
}

func (q *fakeQueue) Release(_ context.Context, claim claudemem.Claim) error {
	defer q.signal()
	return q.back(claim, func(r *row) { r.released++ })
}

func (q *fakeQueue) Bury(_ context.Context, claim claudemem.Claim, _ error) error {
	return q.back(claim, func(r *row) { r.state = "failed" })
}

func (q *fakeQueue) in(state string) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	var keys []string
	for _, r := range q.rows {
		if r.state == state {
			keys = append(keys, r.event.Key)
		}
	}
	return strings.Join(keys, " ")
}

type noRecorder struct{}

func (noRecorder) Turns(context.Context, claudemem.SessionID, int, int) ([]claudemem.Prompt, []claudemem.Observation, error) {
	return nil, nil, nil
}

// fakeDistiller notes the batches it got and answers with do.
type fakeDistiller struct {
	mu      sync.Mutex
	batches []string
	do      func(ctx context.Context, batch claudemem.Batch) error
}

func keysOf(batch claudemem.Batch) string {
	var keys []string
	for _, e := range batch.Events {
		keys = append(keys, e.Key)
	}
	return strings.Join(keys, " ")
}

func (d *fakeDistiller) Distil(ctx context.Context, batch claudemem.Batch) (claudemem.Outcome, error) {
	d.mu.Lock()
	d.batches = append(d.batches, keysOf(batch))
	d.mu.Unlock()
	if d.do != nil {
		if err := d.do(ctx, batch); err != nil {
			return claudemem.Outcome{}, err
		}
	}
	return claudemem.Outcome{Observations: []claudemem.Observation{{Title: keysOf(batch), Session: 999, ProjectPath: "/elsewhere"}}}, nil
}

func (d *fakeDistiller) got() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.batches, " | ")
}

// open starts an observer that the test closes before its bubble ends.
func open(t *testing.T, q *fakeQueue, d Distiller, opts Options) *Observer {
	t.Helper()
	o := New(q, noRecorder{}, d, opts)
	if err := o.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.Close() })
	return o
}

func TestWhenABatchIsTaken(t *testing.T) {
	on := Options{BatchingEnabled: true}
	tests := []struct {
		name string
		opts Options
		do   func(q *fakeQueue, o *Observer)
		want string
	}{
		{"an open turn waits", on, func(q *fakeQueue, o *Observer) { q.tools(1, "a", "b") }, ""},
		{"a stop ends the turn", on, func(q *fakeQueue, o *Observer) { q.tools(1, "a", "b"); q.stop(1, "s") }, "a b s"},
		{"a stop alone", on, func(q *fakeQueue, o *Observer) { q.stop(1, "s") }, "s"},
		{"5 tools with size 3", Options{BatchingEnabled: true, BatchMaxSize: 3}, func(q *fakeQueue, o *Observer) {
			for _, k := range []string{"a", "b", "c", "d", "e"} {
				q.tools(1, k)
				synctest.Wait()
			}
			q.stop(1, "s")
		}, "a b c | d e s"},
		{"5 tools with size 3 that came at once", Options{BatchingEnabled: true, BatchMaxSize: 3}, func(q *fakeQueue, o *Observer) {
			q.tools(1, "a", "b", "c", "d", "e")
			q.stop(1, "s")
		}, "a b c | d e s"},
		{"overflow by bytes", Options{BatchingEnabled: true, BatchMaxBytes: 2500}, func(q *fakeQueue, o *Observer) {
			q.tools(1, "a", "b", "c", "d")
		}, "a b"},
		{"the next prompt ends the turn before", on, func(q *fakeQueue, o *Observer) {
			q.tools(1, "a", "b")
			synctest.Wait()
			q.prompt(1)
		}, "a b"},
		{"a turn that goes on is not torn", on, func(q *fakeQueue, o *Observer) {
			q.prompt(1)
			q.tools(1, "a")
			q.stop(1, "s")
			q.prompt(1)
			q.tools(1, "b", "c")
		}, "a s"},
		{"the session's end", on, func(q *fakeQueue, o *Observer) { q.tools(1, "a"); synctest.Wait(); q.complete(1) }, "a"},
		{"Flush", on, func(q *fakeQueue, o *Observer) { q.tools(1, "a"); q.tools(2, "b"); o.Flush(1) }, "a"},
		{"Flush before anything came asks for nothing", on, func(q *fakeQueue, o *Observer) {
			o.Flush(1)
			synctest.Wait()
			q.tools(1, "a")
		}, ""},
		{"FlushProject but for the session that began", on, func(q *fakeQueue, o *Observer) {
			q.tools(1, "a")
			q.tools(2, "b")
			q.session(3).ProjectPath = "/other"
			q.tools(3, "c")
			o.FlushProject("/p", 2)
		}, "a"},
		{"a flush holds for what was there", on, func(q *fakeQueue, o *Observer) {
			q.tools(1, "a")
			o.Flush(1)
			synctest.Wait()
			q.tools(1, "b")
		}, "a"},
		{"nine minutes of quiet", on, func(q *fakeQueue, o *Observer) { q.tools(1, "a"); time.Sleep(9 * time.Minute) }, ""},
		{"ten minutes of quiet", on, func(q *fakeQueue, o *Observer) { q.tools(1, "a"); time.Sleep(10 * time.Minute) }, "a"},
		{"news begin the ten minutes anew", on, func(q *fakeQueue, o *Observer) {
			q.tools(1, "a")
			time.Sleep(6 * time.Minute)
			q.tools(1, "b")
			time.Sleep(6 * time.Minute)
		}, ""},
		{"batching off", Options{}, func(q *fakeQueue, o *Observer) { q.tools(1, "a", "b", "c"); q.stop(1, "s") }, "a | b | c | s"},
		{"Settle leaves the open turn", on, func(q *fakeQueue, o *Observer) {
			q.tools(1, "a")
			q.tools(2, "b")
			q.stop(2, "s")
			if err := o.Settle(context.Background()); err != nil {
				panic(err)
			}
			if got := q.in("pending"); got != "a" {
				panic("pending: " + got)
			}
		}, "b s"},
		{"Drain takes the open turns", on, func(q *fakeQueue, o *Observer) {
			q.tools(1, "a")
			q.tools(2, "b")
			if err := o.Drain(context.Background()); err != nil {
				panic(err)
			}
			if got := q.in("processed"); got != "a b" {
				panic("processed: " + got)
			}
		}, "a | b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q, d := newFakeQueue(), &fakeDistiller{}
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
		q, d := newFakeQueue(), &fakeDistiller{}
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

// slowClaims answers a claim with what was there a second before.
type slowClaims struct{ *fakeQueue }

func (q slowClaims) Claim(ctx context.Context, id claudemem.SessionID, limit int) (claudemem.Claim, error) {
	claim, err := q.fakeQueue.Claim(ctx, id, limit)
	time.Sleep(time.Second)
	return claim, err
}

func TestSignalDuringAnEmptyClaimIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, d := newFakeQueue(), &fakeDistiller{}
		q.tools(1, "a")
		q.rows[0].state = "processing" // a claimer that is gone holds the oldest
		o := New(slowClaims{q}, noRecorder{}, d, Options{BatchingEnabled: true})
		if err := o.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		q.stop(1, "s")
		time.Sleep(500 * time.Millisecond)
		q.mu.Lock()
		q.rows[0].state = "pending" // healed
		q.mu.Unlock()
		q.signal()
		time.Sleep(time.Minute)
		synctest.Wait()
		if got, want := q.in("processed"), "a s"; got != want {
			t.Errorf("processed: got %q, want %q", got, want)
		}
	})
}

func TestIdleObserverAsksForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newFakeQueue()
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
		q := newFakeQueue()
		var mu sync.Mutex
		running, most := 0, 0
		perSession := map[claudemem.SessionID]int{}
		d := &fakeDistiller{do: func(_ context.Context, b claudemem.Batch) error {
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
		if err := o.Drain(t.Context()); err != nil {
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

func TestFailures(t *testing.T) {
	bad := func(key string) func(context.Context, claudemem.Batch) error {
		return func(_ context.Context, b claudemem.Batch) error {
			if strings.Contains(keysOf(b), key) {
				return errors.New("cannot")
			}
			return nil
		}
	}
	panics := func(context.Context, claudemem.Batch) error { panic("payload text") }
	tests := []struct {
		name           string
		do, fall       func(context.Context, claudemem.Batch) error
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
				q, d, f := newFakeQueue(), &fakeDistiller{do: tt.do}, &fakeDistiller{do: tt.fall}
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
		q := newFakeQueue()
		tries := 0
		d := &fakeDistiller{do: func(context.Context, claudemem.Batch) error {
			if tries++; tries <= 20 {
				return fmt.Errorf("ask model: %w", notTheirs{errors.New("429")})
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
		for _, r := range q.rows {
			if r.counted != 0 {
				t.Errorf("event %s: %d attempts counted, want 0", r.event.Key, r.counted)
			}
		}
	})
}

func TestStorageTroubleAsksNoModelTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, d := newFakeQueue(), &fakeDistiller{}
		full := claudemem.Errorf(claudemem.CodeStorage, "disk full")
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

func TestLongStorageTroubleKeepsTheEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, d := newFakeQueue(), &fakeDistiller{}
		full := claudemem.Errorf(claudemem.CodeStorage, "disk full")
		q.confirmErrs = slices.Repeat([]error{full}, 6)
		q.retryErrs = []error{full, full, full}
		open(t, q, d, Options{BatchingEnabled: true})
		q.stop(1, "s")
		time.Sleep(time.Hour)
		synctest.Wait()
		if got, want := q.in("processed"), "s"; got != want {
			t.Errorf("processed: got %q, want %q", got, want)
		}
		if q.rows[0].counted != 0 {
			t.Errorf("attempts: got %d, want 0", q.rows[0].counted)
		}
	})
}

func TestConflictIsDroppedQuietly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, d := newFakeQueue(), &fakeDistiller{}
		d.do = func(context.Context, claudemem.Batch) error { // somebody else confirms meanwhile
			q.mu.Lock()
			defer q.mu.Unlock()
			q.rows[0].state = "processed"
			return nil
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

func TestCloseReleasesWhatIsInWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newFakeQueue()
		d := &fakeDistiller{do: func(ctx context.Context, _ claudemem.Batch) error {
			<-ctx.Done()
			return ctx.Err()
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
		for _, r := range q.rows {
			if r.counted != 0 || r.released != 1 {
				t.Errorf("event %s: counted %d, released %d, want 0, 1", r.event.Key, r.counted, r.released)
			}
		}
		if err := o.Drain(t.Context()); claudemem.CodeOf(err) != claudemem.CodeUnavailable {
			t.Errorf("Drain after Close: got %v, want code %s", err, claudemem.CodeUnavailable)
		}
	})
}

func TestOutcomeSpeaksOfItsOwnSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newFakeQueue()
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
		q := newFakeQueue()
		d := &fakeDistiller{do: func(ctx context.Context, _ claudemem.Batch) error { <-ctx.Done(); return ctx.Err() }}
		o := open(t, q, d, Options{BatchingEnabled: true})
		q.stop(1, "s")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := o.Drain(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want deadline exceeded", err)
		}
	})
}

func TestNotOpen(t *testing.T) {
	o := New(newFakeQueue(), noRecorder{}, &fakeDistiller{}, Options{})
	if err := o.Drain(t.Context()); claudemem.CodeOf(err) != claudemem.CodeUnavailable {
		t.Errorf("Drain: got %v, want code %s", err, claudemem.CodeUnavailable)
	}
	if err := o.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// signalling tells when a batch was confirmed.
type signalling struct {
	*fakeQueue
	confirmed chan struct{}
}

func (q signalling) Confirm(ctx context.Context, claim claudemem.Claim, outcome claudemem.Outcome) error {
	err := q.fakeQueue.Confirm(ctx, claim, outcome)
	q.confirmed <- struct{}{}
	return err
}

// BenchmarkWakeUp is the way of a stop from the queue's signal to its confirmation
// by a free observer, storage and model apart. SPEC 4 allows 5 ms.
func BenchmarkWakeUp(b *testing.B) {
	q := signalling{newFakeQueue(), make(chan struct{})}
	o := New(q, noRecorder{}, &fakeDistiller{}, Options{BatchingEnabled: true})
	if err := o.Open(b.Context()); err != nil {
		b.Fatal(err)
	}
	defer o.Close()
	for b.Loop() {
		q.mu.Lock()
		q.rows = q.rows[:0]
		q.mu.Unlock()
		q.stop(1, "s")
		<-q.confirmed
	}
}
