package queue_test

import (
	"context"
	"slices"
	"sync"

	"claudemem"
)

// fakeStorage keeps a queue of one session in memory, for tests that run in a
// bubble of fake time, where a real database can't be.
type fakeStorage struct {
	mu     sync.Mutex
	events []fakeEvent
	err    error // what every method fails with, when set
	heals  []healCall
	idles  []claudemem.Millis
	looks  int // calls of Backlog
}

type fakeEvent struct {
	key       string
	status    claudemem.Status
	claimer   string
	claimedAt claudemem.Millis
	notBefore claudemem.Millis
	attempts  int
	lastError string
}

type healCall struct {
	before claudemem.Millis
	live   []string
}

func (f *fakeStorage) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

func (f *fakeStorage) Enqueue(_ context.Context, arrivals ...claudemem.Arrival) ([]claudemem.Receipt, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return nil, f.err
	}
	receipts := make([]claudemem.Receipt, len(arrivals))
	for i, a := range arrivals {
		switch {
		case a.SkipReason != "":
			receipts[i] = claudemem.Receipt{Session: 1, Status: claudemem.StatusSkipped, Reason: a.SkipReason}
		case slices.ContainsFunc(f.events, func(e fakeEvent) bool { return e.key == a.Key }):
			receipts[i] = claudemem.Receipt{Session: 1, Status: claudemem.StatusDuplicate}
		case a.Event.Kind == claudemem.KindTool:
			f.events = append(f.events, fakeEvent{key: a.Key, status: claudemem.StatusPending})
			receipts[i] = claudemem.Receipt{Session: 1, Status: claudemem.StatusPending}
		default:
			receipts[i] = claudemem.Receipt{Session: 1, Status: claudemem.StatusProcessed}
		}
	}
	return receipts, nil
}

func (f *fakeStorage) Backlog(_ context.Context, now claudemem.Millis) ([]claudemem.Backlog, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looks++
	if f.err != nil {
		return nil, f.err
	}
	b := claudemem.Backlog{Session: claudemem.Session{ID: 1}}
	waiting := 0
	for _, e := range f.events {
		if e.status != claudemem.StatusPending {
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
	return []claudemem.Backlog{b}, nil
}

func (f *fakeStorage) Claim(_ context.Context, claimer string, session claudemem.SessionID, limit int, now claudemem.Millis) (claudemem.Claim, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return claudemem.Claim{}, f.err
	}
	claim := claudemem.Claim{Claimer: claimer, Session: claudemem.Session{ID: session}}
	for i := range f.events {
		e := &f.events[i]
		if e.status == claudemem.StatusProcessing || e.notBefore > now || (limit > 0 && len(claim.Events) == limit) {
			break
		}
		if e.status == claudemem.StatusPending {
			e.status, e.claimer, e.claimedAt = claudemem.StatusProcessing, claimer, now
			claim.Events = append(claim.Events, claudemem.PendingEvent{Key: e.key, Attempts: e.attempts})
		}
	}
	return claim, nil
}

// give ends a claim; all its events must be held.
func (f *fakeStorage) give(claim claudemem.Claim, to func(*fakeEvent)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return f.err
	}
	var held []*fakeEvent
	for i := range f.events {
		e := &f.events[i]
		if e.claimer == claim.Claimer && slices.ContainsFunc(claim.Events, func(p claudemem.PendingEvent) bool { return p.Key == e.key }) {
			held = append(held, e)
		}
	}
	if len(held) != len(claim.Events) {
		return claudemem.Errorf(claudemem.CodeConflict, "claim of %s is lost", claim.Claimer)
	}
	for _, e := range held {
		e.claimer = ""
		to(e)
	}
	return nil
}

func (f *fakeStorage) Confirm(_ context.Context, claim claudemem.Claim, _ claudemem.Outcome) error {
	return f.give(claim, func(e *fakeEvent) { e.status = claudemem.StatusProcessed })
}

func (f *fakeStorage) Release(_ context.Context, claim claudemem.Claim, cause string, counted bool, notBefore claudemem.Millis) error {
	return f.give(claim, func(e *fakeEvent) {
		e.status, e.notBefore, e.lastError = claudemem.StatusPending, notBefore, cause
		if counted {
			e.attempts++
		}
	})
}

func (f *fakeStorage) Bury(_ context.Context, claim claudemem.Claim, cause string) error {
	return f.give(claim, func(e *fakeEvent) { e.status, e.lastError = claudemem.StatusFailed, cause })
}

func (f *fakeStorage) Skip(_ context.Context, claim claudemem.Claim, reason string) error {
	return f.give(claim, func(e *fakeEvent) { e.status, e.lastError = claudemem.StatusSkipped, reason })
}

func (f *fakeStorage) Heal(_ context.Context, before claudemem.Millis, live []string) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return 0, f.err
	}
	f.heals = append(f.heals, healCall{before, live})
	n := 0
	for i := range f.events {
		e := &f.events[i]
		if e.status == claudemem.StatusProcessing && e.claimedAt < before && !slices.Contains(live, e.claimer) {
			e.status, e.claimer = claudemem.StatusPending, ""
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
		if f.events[i].status == claudemem.StatusFailed {
			f.events[i].status = claudemem.StatusPending
			n++
		}
	}
	return n, f.err
}

func (f *fakeStorage) Interrupt(_ context.Context, idleSince claudemem.Millis) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.idles = append(f.idles, idleSince)
	return 0, f.err
}
