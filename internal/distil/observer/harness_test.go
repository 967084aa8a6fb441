package observer

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"claudemem/internal/capture/queue"
	"claudemem/internal/keep/store"
	"claudemem/internal/memory"
)

// harness is a queue on a store, with a note of what becomes of each event.
type harness struct {
	*store.Store
	t     testing.TB
	queue *queue.Queue

	mu        sync.Mutex
	sent      memory.Millis
	prompts   int
	paths     map[memory.SessionID]string // of projects; "/p" for the others
	keys      []string                    // in the order of their arrival
	events    map[string]*eventState
	claimed   memory.Claim // the latest
	claimedAt time.Time    // when it was asked for
	outcomes  []memory.Outcome
	backlogs  int
	// claimTakes and backlogTakes delay the answer to a claim and to a look at the backlog.
	claimTakes, backlogTakes time.Duration
	// confirmErrs are returned by the next Confirm calls, in order; the others likewise.
	confirmErrs, backlogErrs, releaseErrs []error
	// readsEndlessly lets a batch be read until its context ends.
	readsEndlessly bool
}

type eventState struct {
	state             string // pending, processing, processed, failed
	counted, released int    // attempts; returns untouched
}

// newHarness opens a harness that the test closes before its bubble ends.
func newHarness(t testing.TB) *harness {
	t.Helper()
	mem, err := store.Open(context.Background(), filepath.Join(t.TempDir(), "memory.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{t: t, Store: mem, paths: map[memory.SessionID]string{}, events: map[string]*eventState{}}
	h.queue = queue.New(h, queue.Options{
		Rand: func() float64 { return 0 }, RetryBase: 2 * time.Second, HealEvery: 1000 * time.Hour,
	})
	if err := h.queue.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = h.queue.Close()
		_ = mem.Close()
	})
	return h
}

// enqueue makes one commit of events. The store numbers sessions as they come, so
// a test begins with session 1.
func (h *harness) enqueue(id memory.SessionID, kind memory.EventKind, keys ...string) {
	h.t.Helper()
	var arrivals []memory.Arrival
	h.mu.Lock()
	path := cmp.Or(h.paths[id], "/p")
	for _, key := range keys {
		now := memory.MillisOf(time.Now())
		h.sent++ // orders the events of one instant, which a test's clock makes of all
		event := memory.Event{
			Kind: kind, Host: memory.HostClaudeCode, HostSessionID: fmt.Sprint(id), DeliveryID: key,
			ProjectPath: path, WorktreeRoot: path, Cwd: path, OccurredAt: now + h.sent,
		}
		switch kind {
		case memory.KindPrompt:
			event.Prompt = key // the same words at once are one prompt
		case memory.KindTool:
			event.ToolName, event.ToolInput = "Read", json.RawMessage(`"`+strings.Repeat("x", 800)+`"`)
			fallthrough
		case memory.KindStop:
			h.keys, h.events[key] = append(h.keys, key), &eventState{state: "pending"}
		}
		arrivals = append(arrivals, memory.Arrival{Key: key, Event: event, ReceivedAt: now})
	}
	h.mu.Unlock()
	receipts, err := h.queue.Enqueue(context.Background(), arrivals...)
	if err != nil || receipts[0].Session != id {
		h.t.Fatalf("enqueue %v: %+v, %v, want session %d", keys, receipts, err, id)
	}
}

func (h *harness) prompt(id memory.SessionID) {
	h.mu.Lock()
	h.prompts++
	key := fmt.Sprintf("prompt %d", h.prompts)
	h.mu.Unlock()
	h.enqueue(id, memory.KindPrompt, key)
}

func (h *harness) complete(id memory.SessionID) { h.enqueue(id, memory.KindSessionEnd, "end") }

func (h *harness) tools(id memory.SessionID, keys ...string) {
	h.enqueue(id, memory.KindTool, keys...)
}

func (h *harness) stop(id memory.SessionID, key string) { h.enqueue(id, memory.KindStop, key) }

// in lists the events in a state, in the order of their arrival.
func (h *harness) in(state string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var keys []string
	for _, key := range h.keys {
		if h.events[key].state == state {
			keys = append(keys, key)
		}
	}
	return strings.Join(keys, " ")
}

// note changes what is known of a claim's events, unless err says that the store did not.
func (h *harness) note(claim memory.Claim, err error, change func(*eventState)) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		for _, e := range claim.Events {
			change(h.events[e.Key])
		}
	}
	return err
}

// fault takes the next error off a list.
func (h *harness) fault(errs *[]error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(*errs) == 0 {
		return nil
	}
	err := (*errs)[0]
	*errs = (*errs)[1:]
	return err
}

func (h *harness) Backlog(ctx context.Context, now memory.Millis) ([]memory.Backlog, error) {
	h.mu.Lock()
	h.backlogs++
	h.mu.Unlock()
	if err := h.fault(&h.backlogErrs); err != nil {
		return nil, err
	}
	time.Sleep(h.backlogTakes)
	return h.Store.Backlog(ctx, now)
}

func (h *harness) Claim(ctx context.Context, claimer string, id memory.SessionID, limit int, now memory.Millis) (memory.Claim, error) {
	h.mu.Lock()
	h.claimedAt = time.Now()
	h.mu.Unlock()
	claim, err := h.Store.Claim(ctx, claimer, id, limit, now)
	time.Sleep(h.claimTakes)
	h.mu.Lock()
	h.claimed = claim
	h.mu.Unlock()
	return claim, h.note(claim, err, func(e *eventState) { e.state = "processing" })
}

func (h *harness) Confirm(ctx context.Context, claim memory.Claim, outcome memory.Outcome) error {
	if err := h.fault(&h.confirmErrs); err != nil {
		return err
	}
	err := h.Store.Confirm(ctx, claim, outcome)
	if err == nil {
		h.mu.Lock()
		h.outcomes = append(h.outcomes, outcome)
		h.mu.Unlock()
	}
	return h.note(claim, err, func(e *eventState) { e.state = "processed" })
}

// Batch is that of the observer's store.
func (h *harness) Batch(ctx context.Context, session memory.Session, events []memory.PendingEvent) (memory.Batch, error) {
	if h.readsEndlessly {
		<-ctx.Done()
		return memory.Batch{}, ctx.Err()
	}
	return h.Store.Batch(ctx, session, events)
}

func (h *harness) Release(ctx context.Context, claim memory.Claim, cause string, counted bool, notBefore memory.Millis) error {
	if err := h.fault(&h.releaseErrs); err != nil {
		return err
	}
	err := h.Store.Release(ctx, claim, cause, counted, notBefore)
	return h.note(claim, err, func(e *eventState) {
		e.state = "pending"
		if counted {
			e.counted++
		}
		if notBefore == 0 {
			e.released++
		}
	})
}

func (h *harness) Bury(ctx context.Context, claim memory.Claim, cause string) error {
	err := h.Store.Bury(ctx, claim, cause)
	return h.note(claim, err, func(e *eventState) { e.state = "failed" })
}

func (h *harness) Skip(ctx context.Context, claim memory.Claim, reason string) error {
	err := h.Store.Skip(ctx, claim, reason)
	return h.note(claim, err, func(e *eventState) { e.state = "skipped" })
}

// fakeDistiller notes the batches it got and answers with do.
type fakeDistiller struct {
	mu      sync.Mutex
	batches []string
	do      func(ctx context.Context, batch memory.Batch) error
}

func keysOf(batch memory.Batch) string {
	var keys []string
	for _, e := range batch.Events {
		keys = append(keys, e.Key)
	}
	return strings.Join(keys, " ")
}

func (d *fakeDistiller) Distil(ctx context.Context, batch memory.Batch) (memory.Outcome, error) {
	d.mu.Lock()
	d.batches = append(d.batches, keysOf(batch))
	d.mu.Unlock()
	if d.do != nil {
		if err := d.do(ctx, batch); err != nil {
			return memory.Outcome{}, err
		}
	}
	return memory.Outcome{Observations: []memory.Observation{{Type: "change", Title: keysOf(batch), Session: 999, ProjectPath: "/elsewhere"}}}, nil
}

func (d *fakeDistiller) got() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.batches, " | ")
}

// AllCaptured returns options by which events are captured as they are, as far as opts do not say otherwise.
func AllCaptured(opts Options) Options {
	if opts.Forbidden == nil {
		opts.Forbidden = func(*memory.Event) bool { return false }
	}
	if opts.Renew == nil {
		opts.Renew = func(*memory.PendingEvent) string { return "" }
	}
	if opts.Mark == nil {
		opts.Mark = func(memory.SessionID, []memory.PendingEvent) {}
	}
	return opts
}

// open starts an observer that the test closes before its bubble ends.
func open(t *testing.T, q *harness, d Distiller, opts Options) *Observer {
	t.Helper()
	o := New(q.queue, q.Store, d, AllCaptured(opts))
	if err := o.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.Close() })
	return o
}
