package queue_test

import (
	"context"
	"slices"
	"sync"

	"claudemem/internal/memory"
)

// fakeStorage keeps a queue of one session in memory, for tests that run in a
// bubble of fake time, where a real database can't be.
type fakeStorage struct {
	mu     sync.Mutex
	events []fakeEvent
	err    error // what every method fails with, when set
	heals  []healCall
	idles  []memory.Millis
	looks  int // calls of Backlog
}

type fakeEvent struct {
	key       string
	status    memory.Status
	claimer   string
	claimedAt memory.Millis
	notBefore memory.Millis
	attempts  int
	lastError string
}

type healCall struct {
	before memory.Millis
	live   []string
}

func (f *fakeStorage) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

func (f *fakeStorage) Enqueue(_ context.Context, arrivals ...memory.Arrival) ([]memory.Receipt, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return nil, f.err
	}
	receipts := make([]memory.Receipt, len(arrivals))
	for i, a := range arrivals {
		switch {
		case a.SkipReason != "":
			receipts[i] = memory.Receipt{Session: 1, Status: memory.StatusSkipped, Reason: a.SkipReason}
		case slices.ContainsFunc(f.events, func(e fakeEvent) bool { return e.key == a.Key }):
			receipts[i] = memory.Receipt{Session: 1, Status: memory.StatusDuplicate}
		case a.Event.Kind == memory.KindTool:
			f.events = append(f.events, fakeEvent{key: a.Key, status: memory.StatusPending})
			receipts[i] = memory.Receipt{Session: 1, Status: memory.StatusPending}
		default:
			receipts[i] = memory.Receipt{Session: 1, Status: memory.StatusProcessed}
		}
	}
	return receipts, nil
}

func (f *fakeStorage) Backlog(_ context.Context, now memory.Millis) ([]memory.Backlog, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looks++
	if f.err != nil {
		return nil, f.err
	}
	b := memory.Backlog{Session: memory.Session{ID: 1}}
	waiting := 0
	for _, e := range f.events {
		if e.status != memory.StatusPending {
			continue
		}
		waiting++
		if e.notBefore > now {
			if b.NextDue == 0 {
				b.NextDue = e.notBefore
			}
			continue
		}
		b.Tools++
	}
	if waiting == 0 {
		return nil, nil
	}
	return []memory.Backlog{b}, nil
}

func (f *fakeStorage) Claim(_ context.Context, claimer string, session memory.SessionID, limit int, now memory.Millis) (memory.Claim, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return memory.Claim{}, f.err
	}
	claim := memory.Claim{Claimer: claimer, Session: memory.Session{ID: session}}
	for i := range f.events {
		e := &f.events[i]
		if e.status == memory.StatusProcessing || e.notBefore > now || (limit > 0 && len(claim.Events) == limit) {
			break
		}
		if e.status == memory.StatusPending {
			e.status, e.claimer, e.claimedAt = memory.StatusProcessing, claimer, now
			claim.Events = append(claim.Events, memory.PendingEvent{Key: e.key, Attempts: e.attempts})
		}
	}
	return claim, nil
}

// give ends a claim; all its events must be held.
func (f *fakeStorage) give(claim memory.Claim, to func(*fakeEvent)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return f.err
	}
	var held []*fakeEvent
	for i := range f.events {
		e := &f.events[i]
		if e.claimer == claim.Claimer && slices.ContainsFunc(claim.Events, func(p memory.PendingEvent) bool { return p.Key == e.key }) {
			held = append(held, e)
		}
	}
	if len(held) != len(claim.Events) {
		return memory.Errorf(memory.CodeConflict, "claim of %s is lost", claim.Claimer)
	}
	for _, e := range held {
		e.claimer = ""
		to(e)
	}
	return nil
}

func (f *fakeStorage) Confirm(_ context.Context, claim memory.Claim, _ memory.Outcome) error {
	return f.give(claim, func(e *fakeEvent) { e.status = memory.StatusProcessed })
}

func (f *fakeStorage) Release(_ context.Context, claim memory.Claim, cause string, counted bool, notBefore memory.Millis) error {
	return f.give(claim, func(e *fakeEvent) {
		e.status, e.notBefore, e.lastError = memory.StatusPending, notBefore, cause
		if counted {
			e.attempts++
		}
	})
}

func (f *fakeStorage) Bury(_ context.Context, claim memory.Claim, cause string) error {
	return f.give(claim, func(e *fakeEvent) { e.status, e.lastError = memory.StatusFailed, cause })
}

func (f *fakeStorage) Skip(_ context.Context, claim memory.Claim, reason string) error {
	return f.give(claim, func(e *fakeEvent) { e.status, e.lastError = memory.StatusSkipped, reason })
}

func (f *fakeStorage) Heal(_ context.Context, before memory.Millis, live []string) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return 0, f.err
	}
	f.heals = append(f.heals, healCall{before, live})
	n := 0
	for i := range f.events {
		e := &f.events[i]
		if e.status == memory.StatusProcessing && e.claimedAt < before && !slices.Contains(live, e.claimer) {
			e.status, e.claimer = memory.StatusPending, ""
			n++
		}
	}
	return n, nil
}

func (f *fakeStorage) Hasten(context.Context) (int, error) { return 0, nil }

func (f *fakeStorage) Revive(context.Context, ...string) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for i := range f.events {
		if f.events[i].status == memory.StatusFailed {
			f.events[i].status = memory.StatusPending
			n++
		}
	}
	return n, f.err
}

func (f *fakeStorage) Interrupt(_ context.Context, idleSince memory.Millis) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.idles = append(f.idles, idleSince)
	return 0, f.err
}
