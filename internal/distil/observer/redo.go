package observer

import (
	"context"
	"errors"
	"slices"
	"time"

	"claudemem/internal/capture/symbols"
	"claudemem/internal/keep/store/books"
	"claudemem/internal/memory"
)

// Redoer is a Distiller that can show a model a turn whose records were made without one.
type Redoer interface {
	// Redo returns the model's records of a turn's kept events. Unlike Distil it returns
	// every failure: the records that are there stay.
	Redo(ctx context.Context, batch memory.Batch) (memory.Outcome, error)
	// RedoIn returns how long a session's model is not to be asked; false if the session
	// has none.
	RedoIn(session memory.Session) (time.Duration, bool)
}

// Bounds of the redos, which give way to fresh work.
const (
	// redoPause is the time from one redo to the next.
	redoPause = 10 * time.Second
	// redoTries is how often a model is asked about a turn in vain, for a cause that lies
	// in the turn; it is a person's to try again (RetryUnread).
	redoTries = 2
	// redoRetry is the pause after a failure of another kind, redoLater that before a turn
	// is tried again.
	redoRetry = time.Minute
	redoLater = time.Hour
)

// redoState is the scheduler's view of the turns that are kept because no model has read
// them.
type redoState struct {
	// cancel ends the redo that runs, nil when none does.
	cancel context.CancelFunc
	// done gets the pause after a redo (capacity 1: at most one runs).
	done chan time.Duration
	// rest is the end of the pause after the last redo, look the time of the next look at
	// the kept turns, zero for now; both on the monotonic clock.
	rest, look time.Time
}

// noLook is far enough not to be a look: there is nothing to redo until work ends.
const noLook = 24 * time.Hour

// next starts a redo if one is due and nothing else is to be done. It returns the time
// after which to look again, 0 for never.
func (r *redoState) next(ctx context.Context, o *Observer) time.Duration {
	model, ok := o.distiller.(Redoer)
	if !ok || r.cancel != nil {
		return 0
	}
	if wait := max(time.Until(r.rest), time.Until(r.look)); wait > 0 {
		return wait
	}
	turn, wait, err := o.dueUnread(ctx, model)
	switch {
	case err != nil:
		if ctx.Err() == nil {
			o.opts.Logger.Error("look for unread turns", "error", err)
		}
		wait = redoRetry
	case turn != nil:
		var redo context.Context
		redo, r.cancel = context.WithCancel(ctx)
		go func() { r.done <- o.redo(redo, model, *turn) }()
		return 0
	}
	r.look = time.Now().Add(wait)
	return wait
}

// finished records the end of a redo, after which the next one waits for pause.
func (r *redoState) finished(pause time.Duration) {
	r.cancel()
	r.cancel = nil
	r.rest, r.look = time.Now().Add(pause), time.Time{}
}

// dueUnread returns the newest kept turn that a model can be shown now, nil for none, and
// then the time after which to look again.
func (o *Observer) dueUnread(ctx context.Context, model Redoer) (*books.UnreadTurn, time.Duration, error) {
	turns, err := o.store.UnreadTurns(ctx)
	if err != nil {
		return nil, 0, err
	}
	now := memory.MillisOf(o.opts.Clock())
	next := noLook
	waits := map[memory.SessionID]time.Duration{}
	for i := range turns {
		u := &turns[i]
		if u.Attempts >= redoTries {
			continue
		}
		wait, known := waits[u.Session]
		if !known {
			session, err := o.store.Session(ctx, u.Session)
			if err != nil {
				return nil, 0, err
			}
			var ok bool
			if wait, ok = model.RedoIn(session); !ok {
				wait = noLook
			}
			waits[u.Session] = wait
		}
		if wait = max(wait, u.DueAt.Sub(now)); wait <= 0 {
			return u, 0, nil
		}
		next = min(next, wait)
	}
	return nil, next, nil
}

// redo shows the model a kept turn and stores its records in place of those that were made
// without it. It returns the pause before the next redo.
func (o *Observer) redo(ctx context.Context, model Redoer, turn books.UnreadTurn) time.Duration {
	log := o.opts.Logger.With("session", turn.Session, "turn", turn.PromptNumber)
	batch, err := o.store.UnreadBatch(ctx, turn.Session, turn.PromptNumber)
	if err != nil {
		return redoRetry
	}
	if slices.ContainsFunc(batch.Events, o.forbidden) {
		if err := o.DropForbidden(ctx); err != nil {
			log.Error("drop unread turns", "error", err)
			return redoRetry
		}
		return redoPause
	}
	if len(batch.Events) == 0 {
		return redoPause
	}
	outcome, err := distil(ctx, Marking{redoing{model}, o.store}, batch)
	if err == nil {
		symbols.About(outcome.Observations, batch.Events)
		assignToSession(batch.Session, batch.Events, &outcome)
		err = persist(ctx, func(ctx context.Context) error { return o.store.Redo(ctx, batch, outcome) })
	}
	switch {
	case err == nil:
		log.Info("turn read by a model", "events", len(batch.Events))
		return redoPause
	case ctx.Err() != nil, memory.CodeOf(err) == memory.CodeConflict: // the turn has changed: it is looked at anew
		return redoPause
	case errors.As(err, new(*memory.CapError)):
		o.postponeRedo(ctx, turn, redoLater, false)
		return redoRetry
	case isTransient(err):
		// The model's own pauses come on top.
		log.Warn("redo turn later", "error", err)
		return redoRetry
	}
	log.Warn("redo turn", "error", err)
	o.postponeRedo(ctx, turn, redoLater, true)
	return redoRetry
}

// redoing is a Redoer as a Distiller, for distil.
type redoing struct{ Redoer }

func (r redoing) Distil(ctx context.Context, b memory.Batch) (memory.Outcome, error) {
	return r.Redo(ctx, b)
}

// postponeRedo makes a kept turn due later; counted adds to its attempts.
func (o *Observer) postponeRedo(ctx context.Context, turn books.UnreadTurn, wait time.Duration, counted bool) {
	due := memory.MillisOf(o.opts.Clock().Add(wait))
	err := detached(ctx, func(ctx context.Context) error {
		return o.store.PostponeUnread(ctx, turn.Session, turn.PromptNumber, due, counted)
	})
	if err != nil { // it is asked about again sooner
		o.opts.Logger.Error("postpone unread turn", "session", turn.Session, "error", err)
	}
}

// RetryUnread has the kept turns shown to a model as soon as one answers, also those that
// were tried in vain, and returns how many events they have. It does not wait.
func (o *Observer) RetryUnread(ctx context.Context) (int, error) {
	n, err := o.store.HastenUnread(ctx)
	if err == nil && n > 0 {
		o.unread.Store(true)
		o.signal()
	}
	return n, err
}

// DropForbidden takes the waiting events off the queue that the user no longer wants
// captured, and deletes what is kept of the turns with such an event.
func (o *Observer) DropForbidden(ctx context.Context) error {
	n, err := o.store.SkipWaiting(ctx, o.opts.Renew)
	if n > 0 {
		o.opts.Logger.Info("waiting events skipped: no longer captured", "events", n)
		o.signal()
	}
	if err != nil {
		return err
	}
	n, err = o.store.DropUnread(ctx, func(e *memory.PendingEvent) bool { return o.forbidden(*e) })
	if n > 0 {
		o.opts.Logger.Info("turns dropped that were kept for a model: no longer captured", "turns", n)
	}
	return err
}

// forbidden reports whether the settings no longer allow an event to be captured.
func (o *Observer) forbidden(e memory.PendingEvent) bool { return o.opts.Forbidden(&e.Event) }

// Redo implements Redoer. It asks in a run of its own, which ends with it. One call runs at a time;
// answers of the last one to the same questions are used again.
func (m *Model) Redo(ctx context.Context, batch memory.Batch) (memory.Outcome, error) {
	choice := m.opts.Choose(batch.Session)
	if choice.Provider == nil {
		return memory.Outcome{}, transientError{memory.Errorf(memory.CodeUnavailable, "redo turn: no model is chosen")}
	}
	name := choice.Provider.Name()
	if err := m.troubles.heldBackError(name); err != nil {
		return memory.Outcome{}, err
	}
	t := newThread()
	t.paid = m.redone.paid
	m.redone = t
	w := &task{m: m, thread: t, choice: choice, batch: &batch, covered: map[string]bool{}, redo: true}
	w.dropOtherAnswers()
	err := w.askTurns(ctx)
	if t.run != nil {
		t.run.end()
		t.run = nil
	}
	switch {
	case ctx.Err() != nil:
		return memory.Outcome{}, ctx.Err()
	case err == nil:
		return w.outcome, nil
	case isTransient(err) && !errors.As(err, new(*memory.CapError)):
		m.troubles.noteFailure(ctx, name, batch.Session.ID, choice.Auto, err)
	}
	return memory.Outcome{}, err
}

// RedoIn implements Redoer.
func (m *Model) RedoIn(session memory.Session) (time.Duration, bool) {
	choice := m.opts.Choose(session)
	if choice.Provider == nil {
		return 0, false
	}
	m.troubles.mu.Lock()
	defer m.troubles.mu.Unlock()
	return m.troubles.heldFor(choice.Provider.Name()), true
}
