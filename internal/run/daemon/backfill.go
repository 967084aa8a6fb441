package daemon

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"claudemem/internal/capture/intake"
	"claudemem/internal/capture/queue"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

const (
	// pastBytes bounds the payloads of backfilled events that wait to be distilled, in bytes:
	// the database must not hold all transcripts at once.
	pastBytes = 16 << 20
	// pastWait is how long a request waits for the observer before it is answered as busy.
	pastWait = 2 * time.Second
	// pastLook is the interval of the looks at the backlog meanwhile.
	pastLook = 25 * time.Millisecond
)

// pastIntake takes in events of transcripts.
type pastIntake struct {
	known  knower
	inWork func(context.Context) (map[memory.SessionID]int, error)
	queue  *queue.Queue
	// intake and foresight have the same rules; foresight stores nothing.
	intake, foresight *intake.Intake

	mu sync.Mutex
	// sessions are those with backfilled events that may wait, nil before the first look.
	sessions map[memory.SessionID]bool
}

// knower returns which event keys are in the books.
type knower func(ctx context.Context, keys []string) (map[string]bool, error)

// foresight is a queue that stores nothing: its receipts have the status that arrivals of
// transcripts would get. With seen, the keys that it was given before are known, too.
type foresight struct {
	known knower
	seen  map[string]bool
}

// Enqueue implements intake.Queue.
func (f foresight) Enqueue(ctx context.Context, arrivals ...memory.Arrival) ([]memory.Receipt, error) {
	keys := make([]string, len(arrivals))
	for i := range arrivals {
		keys[i] = arrivals[i].Key
	}
	known, err := f.known(ctx, keys)
	if err != nil {
		return nil, err
	}
	receipts := make([]memory.Receipt, len(arrivals))
	for i := range arrivals {
		switch a := &arrivals[i]; {
		case known[a.Key] || a.Key != "" && f.seen[a.Key]:
			receipts[i].Status = memory.StatusDuplicate
		case a.SkipReason != "":
			receipts[i].Status = memory.StatusSkipped
		case a.Event.Kind == memory.KindPrompt:
			receipts[i].Status = memory.StatusProcessed
		default:
			receipts[i].Status = memory.StatusPending
		}
		if f.seen != nil {
			f.seen[arrivals[i].Key] = true
		}
	}
	return receipts, nil
}

// newPastIntake returns an intake for events of transcripts with the rules of opts.
func newPastIntake(known knower, q *queue.Queue, opts intake.Options) *pastIntake {
	return &pastIntake{known: known, queue: q, intake: intake.New(q, opts), foresight: intake.New(foresight{known: known}, opts)}
}

// waiting returns the number and the size of the backfilled events that are due to be
// distilled or being distilled. Those of an active session, whose turn may go on, and those
// that wait for a model to answer again are left out.
func (p *pastIntake) waiting(ctx context.Context) (events, bytes int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sessions != nil && len(p.sessions) == 0 {
		return 0, 0, nil
	}
	// In this order: an event goes from the backlog into work.
	backlog, err := p.queue.Backlog(ctx)
	if err != nil {
		return 0, 0, err
	}
	inWork, err := p.inWork(ctx)
	if err != nil {
		return 0, 0, err
	}
	if p.sessions == nil { // a backfill that was killed may have left some
		p.sessions = map[memory.SessionID]bool{}
		for i := range backlog {
			p.sessions[backlog[i].Session.ID] = true
		}
	}
	still := map[memory.SessionID]bool{}
	for i := range backlog {
		b := &backlog[i]
		if due := b.Tools + b.Stops; due > 0 && p.sessions[b.Session.ID] && b.Session.Status != memory.SessionActive {
			still[b.Session.ID] = true
			events, bytes = events+due, bytes+b.Bytes
		}
	}
	for id, n := range inWork {
		if p.sessions[id] {
			still[id] = true
			events += n
		}
	}
	p.sessions = still
	return events, bytes, nil
}

// roomFor reports whether there is room for more events, and how many wait. It waits a while
// for room.
func (p *pastIntake) roomFor(ctx context.Context) (room bool, events int, err error) {
	for end := time.Now().Add(pastWait); ; {
		events, bytes, err := p.waiting(ctx)
		if err != nil || bytes < pastBytes || time.Now().After(end) {
			return err == nil && bytes < pastBytes, events, err
		}
		if !pauseFor(ctx, pastLook) {
			return false, events, ctx.Err()
		}
	}
}

// take takes events in and returns their statuses.
func (p *pastIntake) take(ctx context.Context, events []memory.Event, dryRun bool) ([]memory.Status, error) {
	statuses, err := p.inBooks(ctx, events, dryRun)
	if err != nil {
		return nil, err
	}
	var fresh []memory.Event
	var places []int
	for i := range events {
		if statuses[i] == "" {
			fresh, places = append(fresh, events[i]), append(places, i)
		}
	}
	if len(fresh) == 0 {
		return statuses, nil
	}
	to := p.intake
	if dryRun {
		to = p.foresight
	}
	taken, err := to.IngestAll(ctx, fresh...)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range taken {
		statuses[places[i]] = taken[i].Status
		if taken[i].Status == memory.StatusPending && p.sessions != nil {
			p.sessions[taken[i].Session] = true
		}
	}
	return statuses, nil
}

// inBooks returns StatusDuplicate for the events that are in the books, so that a second backfill
// redacts little and commits nothing. The key of a stop is made of its redacted text: in a dry
// run it is not looked up.
func (p *pastIntake) inBooks(ctx context.Context, events []memory.Event, dryRun bool) ([]memory.Status, error) {
	keys := make([]string, len(events))
	var stops []memory.Event
	for i := range events {
		e := &events[i]
		e.Backfill, keys[i] = cmp.Or(e.Backfill, memory.BackfillOffline), intake.KeyOf(e)
		if e.Kind == memory.KindStop && !dryRun {
			stops = append(stops, *e)
		}
	}
	known, err := p.known(ctx, slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return key == "" }))
	if err != nil {
		return nil, err
	}
	foreseen, err := p.foresight.IngestAll(ctx, stops...)
	if err != nil {
		return nil, err
	}
	statuses := make([]memory.Status, len(events))
	for i := range events {
		duplicate := known[keys[i]]
		if events[i].Kind == memory.KindStop && !dryRun {
			duplicate, foreseen = foreseen[0].Status == memory.StatusDuplicate, foreseen[1:]
		}
		if duplicate {
			statuses[i] = memory.StatusDuplicate
		}
	}
	return statuses, nil
}

// Backfill implements httpapi.Worker. The events of a request are stored in one
// transaction, so that the observer sees whole turns.
func (w *Worker) Backfill(ctx context.Context, r api.BackfillRequest) (answer api.BackfillAnswer, err error) {
	answer.Statuses = []memory.Status{}
	if len(r.Events) > 0 {
		room, events, err := w.past.roomFor(ctx)
		if err != nil || !room {
			return api.BackfillAnswer{Statuses: answer.Statuses, Busy: true, Waiting: events}, err
		}
		if answer.Statuses, err = w.past.take(ctx, r.Events, false); err != nil {
			return api.BackfillAnswer{}, err
		}
	}
	answer.Waiting, _, err = w.past.waiting(ctx)
	return answer, err
}
