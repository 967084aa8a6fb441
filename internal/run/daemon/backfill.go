package daemon

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"claudemem/internal/capture/intake"
	"claudemem/internal/capture/queue"
	"claudemem/internal/keep/store"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/serve/api"
)

const (
	// pastBytes bounds the payloads of backfilled events that wait to be distilled, in bytes:
	// the database must not hold all transcripts at once, and each look at the backlog counts it.
	pastBytes = 1 << 20
	// pastWait is how long a request waits for the observer before it is answered as busy.
	pastWait = 2 * time.Second
	// pastLook is the pause between two looks at the backlog meanwhile: a look takes a few milliseconds.
	pastLook = 100 * time.Millisecond
)

// pastIntake takes in events of transcripts.
type pastIntake struct {
	known  knower
	undone func(context.Context) (backlog []memory.Backlog, inWork map[memory.SessionID]int, err error)
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
	known, err := f.known(ctx, collect.MapPtr(arrivals, func(a *memory.Arrival) string { return a.Key }))
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

// newPastIntake returns an intake for events of transcripts with the rules of opts. q may be nil
// if it only takes in dry runs; undone is set by a worker, which alone asks what waits.
func newPastIntake(known knower, q *queue.Queue, opts intake.Options) *pastIntake {
	return &pastIntake{known: known, intake: intake.New(q, opts), foresight: intake.New(foresight{known: known}, opts)}
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
	backlog, inWork, err := p.undone(ctx)
	if err != nil {
		return 0, 0, err
	}
	if p.sessions == nil { // a backfill that was killed may have left some
		p.sessions = collect.Set(collect.MapPtr(backlog, func(b *memory.Backlog) memory.SessionID { return b.Session.ID }))
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

// roomFor reports whether there is room for more events, and how many wait. It waits up to
// pastWait for room; that there is none by then is no error.
func (p *pastIntake) roomFor(ctx context.Context) (room bool, events int, err error) {
	for end := time.Now().Add(pastWait); ; {
		events, bytes, err := p.waiting(ctx)
		if err != nil || bytes < pastBytes || time.Now().After(end) {
			return err == nil && bytes < pastBytes, events, err
		}
		if !control.Pause(ctx, pastLook) {
			return false, events, ctx.Err()
		}
	}
}

// take takes events in, those that are not in the books in one transaction, and returns their
// statuses, in order. In a dry run nothing is stored, and the statuses are what they would get. It
// sets the Backfill of the caller's events that have none.
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
// redacts little and commits nothing, and "" for the others. The key of a stop is made of its
// redacted text: in a dry run it is not looked up, since take foresees all events then.
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
	foreseen, err2 := p.foresight.IngestAll(ctx, stops...)
	if err := cmp.Or(err, err2); err != nil {
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
// transaction, so that the observer sees whole turns, or not at all: Busy then says that too much
// waits, and the client sends them again. Without events it only tells how many wait.
func (w *Worker) Backfill(ctx context.Context, r api.BackfillRequest) (answer api.BackfillAnswer, err error) {
	if len(r.Events) == 0 {
		if answer.Waiting, _, err = w.past.waiting(ctx); err == nil && r.End && answer.Waiting == 0 {
			err = w.store.NumberImport(ctx, &r.ImportNumber)
		}
		answer.Statuses, answer.Import = []memory.Status{}, r.Import
		return answer, err
	}
	room, waiting, err := w.past.roomFor(ctx)
	if err != nil || !room {
		return api.BackfillAnswer{Statuses: []memory.Status{}, Busy: true, Waiting: waiting}, err
	}
	if err := w.store.NumberImport(ctx, &r.ImportNumber); err != nil {
		return api.BackfillAnswer{}, err
	}
	for i := range r.Events {
		r.Events[i].Import = r.Import
	}
	statuses, err := w.past.take(ctx, r.Events, false)
	if err != nil {
		return api.BackfillAnswer{}, err
	}
	waiting += collect.Count(statuses, func(status memory.Status) bool { return status == memory.StatusPending })
	return api.BackfillAnswer{Statuses: statuses, Waiting: waiting, Import: r.Import}, nil
}

const (
	// A request has whole turns until it has partEvents or partBytes; a turn that is larger than
	// partMost or turnBytes is split, as the observer would do.
	partEvents = 200
	partBytes  = 256 << 10
	partMost   = 1000
	turnBytes  = 4 << 20
	// partLimit bounds one request. A busy worker answers at once.
	partLimit = 2 * time.Minute
	// A worker that has gone away is looked for reconnects times, after reconnectAfter each.
	reconnects     = 5
	reconnectAfter = 500 * time.Millisecond
)

// Backfilled counts what became of the events of transcripts, by kind.
type Backfilled struct {
	Prompts int `json:"prompts"`
	Tools   int `json:"tools"`
	Stops   int `json:"stops"`
}

// add counts an event.
func (b *Backfilled) add(kind memory.EventKind) {
	switch kind {
	case memory.KindPrompt:
		b.Prompts++
	case memory.KindTool:
		b.Tools++
	case memory.KindStop:
		b.Stops++
	}
}

// Total returns the number of events.
func (b Backfilled) Total() int { return b.Prompts + b.Tools + b.Stops }

// Backfiller hands events of transcripts to the worker. Without a running one this process is
// the worker, until Close.
type Backfiller struct {
	// Added are taken in, Present are here already, Skipped are what is never captured.
	Added, Present, Skipped Backfilled
	// Outcome is called with the status of each event, if set.
	Outcome func(e *memory.Event, status memory.Status)
	// Source names what is read: an import of it that was broken off goes on with its number. Import is the
	// number, 0 if nothing was taken in.
	Source string
	Import int64
	// Busy is called while the worker distils what it has, if set.
	Busy func(waiting int)

	send   func(context.Context, api.BackfillRequest) (api.BackfillAnswer, error)
	cfg    Config
	worker *Worker // of this process
	end    func() error
	dryRun bool

	// events were added and not sent yet, with their size in bytes; closed says that the last one
	// ends a turn.
	events []memory.Event
	bytes  int
	closed bool
}

// OpenBackfill returns a Backfiller of a data directory. cfg is that of the worker that this
// process becomes if none runs. The codes of its errors: those of Open.
func OpenBackfill(ctx context.Context, cfg Config) (*Backfiller, error) {
	b := &Backfiller{cfg: cfg}
	return b, b.connect(ctx)
}

// connect finds a worker, or makes this process the worker. If a hook has started one meanwhile,
// it looks again, up to three times, half a second apart.
func (b *Backfiller) connect(ctx context.Context) error {
	for try := 0; ; try++ {
		if remote, _, missing := askPeer(ctx, b.cfg.DataDir); missing == nil {
			b.send = func(ctx context.Context, r api.BackfillRequest) (answer api.BackfillAnswer, err error) {
				err = remote.DoWithin(ctx, partLimit, http.MethodPost, api.BackfillPath, r, &answer)
				if memory.CodeOf(err) == memory.CodeNotFound {
					err = memory.Errorf(memory.CodeConflict, "the running worker cannot read transcripts").WithHint("`claude-mem worker restart` replaces it by this version")
				}
				return answer, err
			}
			return nil
		}
		w, err := Open(ctx, b.cfg)
		if err == nil {
			b.worker = w
			b.send = func(ctx context.Context, r api.BackfillRequest) (api.BackfillAnswer, error) {
				select {
				case <-w.Done(): // another worker wants to take over
					return api.BackfillAnswer{}, memory.Errorf(memory.CodeUnavailable, "the worker stops")
				default:
					return w.Backfill(ctx, r)
				}
			}
			return nil
		}
		// A hook may have started a worker meanwhile.
		if memory.CodeOf(err) != memory.CodeConflict || try == 3 || !control.Pause(ctx, reconnectAfter) {
			return err
		}
	}
}

// ask sends a request. When the worker has gone away, it is sent again to the next one: what
// was taken in already is found to be here.
func (b *Backfiller) ask(ctx context.Context, r api.BackfillRequest) (api.BackfillAnswer, error) {
	for try := 0; ; try++ {
		answer, err := b.send(ctx, r)
		if memory.CodeOf(err) != memory.CodeUnavailable || try == reconnects || !control.Pause(ctx, reconnectAfter) {
			return answer, err
		}
		if closing := b.Close(ctx); closing != nil {
			return answer, closing
		}
		b.worker = nil
		if err := b.connect(ctx); err != nil {
			return answer, err
		}
	}
}

// KnownSessions returns which sessions of the agents with forks the memory in a data directory has or has
// forgotten, by their ids there, with numbers in the order in which they came; an empty map without a
// memory. The codes of its errors: those of Export.
func KnownSessions(ctx context.Context, dataDir string, ids []string) (map[string]int64, error) {
	known, err := readMemory(ctx, dataDir, func(s *store.Store) (map[string]int64, error) {
		return s.KnownSessions(ctx, []memory.Host{memory.HostClaudeCode, memory.HostCodex}, ids)
	})
	if memory.CodeOf(err) == memory.CodeNoMemory {
		return map[string]int64{}, nil
	}
	return known, err
}

// readMemory reads something of the database of a data directory.
func readMemory[T any](ctx context.Context, dataDir string, read func(*store.Store) (T, error)) (T, error) {
	s, err := store.OpenReadOnly(ctx, filepath.Join(dataDir, control.Database))
	if err != nil {
		return *new(T), err
	}
	defer func() { _ = s.Close() }() // it has only read
	return read(s)
}

// ForeseeBackfill returns a Backfiller that takes nothing in and counts what would be. It reads
// the database itself, beside a worker or without one; where nothing was ever captured,
// everything would be added. The codes of its errors: those of Export.
func ForeseeBackfill(ctx context.Context, cfg Config) (*Backfiller, error) {
	known := func(context.Context, []string) (map[string]bool, error) { return nil, nil }
	b := &Backfiller{dryRun: true, end: func() error { return nil }}
	s, err := store.OpenReadOnly(ctx, filepath.Join(cfg.DataDir, control.Database))
	switch {
	case err == nil:
		known, b.end = s.Known, s.Close
	case memory.CodeOf(err) != memory.CodeNoMemory:
		return nil, err
	}
	policy := newLive(cfg.DataDir, cfg.Settings, slog.New(slog.DiscardHandler)).policy
	opts := intake.Options{Policy: policy, DataDir: cfg.DataDir}
	past := newPastIntake(known, nil, opts)
	past.foresight = intake.New(foresight{known: known, seen: map[string]bool{}}, opts)
	b.send = func(ctx context.Context, r api.BackfillRequest) (answer api.BackfillAnswer, err error) {
		answer.Statuses, err = past.take(ctx, r.Events, true)
		return answer, err
	}
	return b, nil
}

// Close ends the worker of this process, if there is one, and waits up to CloseLimit for that, also
// when ctx has ended. It may be called more than once.
func (b *Backfiller) Close(ctx context.Context) error {
	if b.end != nil {
		return b.end()
	}
	if b.worker == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), CloseLimit)
	defer cancel()
	return b.worker.Close(ctx)
}

// Add takes an event in, sooner or later: see Flush. CodeUnavailable when ctx ends or the
// worker goes away; what was sent is kept.
func (b *Backfiller) Add(ctx context.Context, e memory.Event) error {
	begins := e.Kind == memory.KindPrompt || len(b.events) > 0 && b.events[len(b.events)-1].HostSessionID != e.HostSessionID
	full := len(b.events) >= partEvents || b.bytes >= partBytes
	// A large part ends between two turns, unless a turn is larger than a request may be.
	size := 512 + e.Bytes()
	if full && (begins || b.closed) || len(b.events) >= partMost || b.bytes+size > turnBytes {
		if err := b.Flush(ctx); err != nil {
			return err
		}
	}
	b.events, b.bytes, b.closed = append(b.events, e), b.bytes+size, e.Kind == memory.KindStop
	return nil
}

// Flush sends what was added since the last call, and waits while the worker is busy. It counts
// what became of each event. With an error the events are kept, and the next call sends them again.
func (b *Backfiller) Flush(ctx context.Context) error {
	if len(b.events) == 0 {
		return interruption(ctx.Err())
	}
	answer := api.BackfillAnswer{Busy: true}
	for answer.Busy {
		if ctx.Err() != nil {
			return interruption(ctx.Err())
		}
		var err error
		if answer, err = b.ask(ctx, api.BackfillRequest{Events: b.events, ImportNumber: memory.ImportNumber{Source: b.Source, Import: b.Import}}); err != nil {
			return cmp.Or(interruption(ctx.Err()), err)
		}
		if answer.Busy {
			b.report(answer.Waiting)
		}
	}
	b.Import = answer.Import
	if len(answer.Statuses) != len(b.events) {
		return memory.Errorf(memory.CodeInternal, "%d of %d events have a status", len(answer.Statuses), len(b.events))
	}
	for i := range b.events {
		e, status := &b.events[i], answer.Statuses[i]
		switch status {
		case memory.StatusDuplicate:
			b.Present.add(e.Kind)
		case memory.StatusSkipped:
			b.Skipped.add(e.Kind)
		default:
			b.Added.add(e.Kind)
		}
		if b.Outcome != nil {
			b.Outcome(e, status)
		}
	}
	clear(b.events)
	b.events, b.bytes = b.events[:0], 0
	return nil
}

func (b *Backfiller) report(waiting int) {
	if b.Busy != nil {
		b.Busy(waiting)
	}
}

// interruption returns an error of code CodeUnavailable for the end of a context, nil for nil.
func interruption(err error) error {
	if err == nil {
		return nil
	}
	return memory.Errorf(memory.CodeUnavailable, "interrupted: %w", err).WithHint("run the same command again: it goes on where it was")
}

// Finish sends the rest and waits until all backfilled events are distilled; one that takes
// nothing in does not wait. CodeUnavailable when ctx ends: the worker distils the rest.
func (b *Backfiller) Finish(ctx context.Context) error {
	if err := b.Flush(ctx); err != nil || b.dryRun {
		return err
	}
	for last := -1; ; {
		answer, err := b.ask(ctx, api.BackfillRequest{Events: []memory.Event{}, ImportNumber: memory.ImportNumber{Import: b.Import, End: b.Import != 0}})
		switch {
		case ctx.Err() != nil:
			return memory.Errorf(memory.CodeUnavailable, "interrupted: %w", ctx.Err()).WithHint("everything was taken in; the worker distils the rest")
		case err != nil || answer.Waiting == 0:
			b.Import = answer.Import
			return err
		}
		if answer.Waiting != last {
			b.report(answer.Waiting)
		}
		last = answer.Waiting
		control.Pause(ctx, pastLook)
	}
}
