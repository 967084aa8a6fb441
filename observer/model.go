package observer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"claudemem"
	"claudemem/model"
	"claudemem/observer/answer"
	"claudemem/observer/mode"
	"claudemem/store"
)

// Choice is who distils a session and how, as the settings stand.
type Choice struct {
	// Provider is asked; nil leaves the session to the fallback.
	Provider model.Provider
	// Model, "" for the provider's default.
	Model string
	// KeepsRuns says that the provider holds a run's conversation itself and sends
	// all of it with each request, as a subprocess does.
	KeepsRuns bool
	Mode      mode.Mode
	// Language that the records are written in, "" for the user's.
	Language string
}

// ModelOptions are what a Model needs. Choose, Fallback and Store are required.
type ModelOptions struct {
	// Choose is asked for each batch, so that a changed setting holds from the next
	// one on, and by Limits: it has to be quick.
	Choose func(claudemem.Session) Choice
	// Fallback distils what no provider is chosen for, what a cap forbids, and what
	// has waited long enough for a provider that is away.
	Fallback Distiller
	// Store has the records that a fresh run begins with, the names of the runs and
	// the notices to the user.
	Store *store.Store

	// Batching allows the two questions of a small turn in one call.
	Batching bool
	// BatchMaxSize is the most events of a call; 0 is what a prompt can show.
	BatchMaxSize int
	// MergeMaxEvents is up to how many events a turn is small; 0 merges none.
	MergeMaxEvents int
	// ContextTokens is how much a run may have been shown and have answered before
	// a fresh one is begun; 0 is 12000.
	ContextTokens int
	// WaitFor is how long work waits for a provider that is away; 0 does not wait.
	WaitFor time.Duration

	Clock  func() time.Time // time.Now; its location says when the day of a cap ends
	NewRun func() string    // names a run; random UUIDs
	Logger *slog.Logger     // none
}

// Model is the Distiller that asks a model. It is used by several goroutines, by
// one at a time for each session.
type Model struct {
	opts     ModelOptions
	troubles troubles

	mu       sync.Mutex
	sessions map[claudemem.SessionID]*thread
}

// maxThreads bounds how many sessions are held in memory. One that is dropped
// goes on from its digest.
const maxThreads = 64

// thread is what is kept in memory of a session between its batches.
type thread struct {
	mu  sync.Mutex // held while a batch is worked on
	run *run       // nil before the first call
	// names are what a digest must not lose; recalled says that those of a former
	// process are among them.
	names    names
	recalled bool
	// paid are the answers of the batch that was worked on last, by question: when
	// the batch comes again, whatever failed, they are not bought twice.
	paid map[string]paidAnswer
	// observed is the number of the turn whose events were seen last, finalized of
	// the one whose checkpoint was asked for last.
	observed, finalized int
	// used is when it was worked on last; guarded by Model.mu.
	used time.Time
}

func newThread() *thread {
	return &thread{paid: map[string]paidAnswer{}, observed: noTurn, finalized: noTurn}
}

// noTurn is the number of no turn.
const noTurn = -1

type paidAnswer struct {
	key    string // of the first event that was asked about
	answer answer.Answer
}

// NewModel makes a Model.
func NewModel(opts ModelOptions) *Model {
	if opts.ContextTokens <= 0 {
		opts.ContextTokens = 12000
	}
	if opts.BatchMaxSize <= 0 || opts.BatchMaxSize > mode.MaxBatchEvents {
		opts.BatchMaxSize = mode.MaxBatchEvents
	}
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	if opts.NewRun == nil {
		opts.NewRun = newUUID
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	m := &Model{opts: opts, sessions: make(map[claudemem.SessionID]*thread)}
	m.troubles.init(&m.opts)
	return m
}

// newUUID makes a random UUID (RFC 9562, version 4), the form in which providers
// want a conversation named.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, says its documentation
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Limits implements Limiter: a model gets what fits into a request, and the
// fallback whole turns. Bytes are left to the memory's bound: payloads are cut
// before they are shown, and what still does not fit is asked about in parts.
func (m *Model) Limits(session claudemem.Session) (events, bytes int) {
	choice := m.opts.Choose(session)
	if choice.Provider == nil || m.troubles.isOffline(choice.Provider.Name(), session.ID) {
		return 0, 0
	}
	return m.opts.BatchMaxSize, 0
}

// Distil implements Distiller. An error is the provider's (see
// claudemem.ModelError), the fallback's, or that of ctx.
func (m *Model) Distil(ctx context.Context, batch claudemem.Batch) (claudemem.Outcome, error) {
	choice := m.opts.Choose(batch.Session)
	t := m.thread(batch.Session.ID)
	t.mu.Lock()
	defer t.mu.Unlock()
	w := &task{m: m, thread: t, choice: choice, batch: &batch, covered: map[string]bool{}}
	w.dropOtherAnswers()
	defer w.noteNames() // those of this batch are in its own requests anyway
	if choice.Provider == nil {
		m.endSessionRun(ctx, t, batch.Session) // the settings were changed
		return w.outcome, w.distilRest(ctx)
	}
	name := choice.Provider.Name()
	err := m.troubles.heldBackError(name)
	if err == nil {
		err = w.askTurns(ctx)
	}
	switch {
	case ctx.Err() != nil:
		return claudemem.Outcome{}, ctx.Err()
	case err == nil:
		if w.asked {
			m.troubles.providerAnswered(ctx, name, batch.Session.ID)
		}
	case m.troubles.noteFailure(ctx, name, batch.Session.ID, err):
		if err := w.distilRest(ctx); err != nil {
			return claudemem.Outcome{}, err
		}
	default:
		return claudemem.Outcome{}, err
	}
	if batch.Session.Status == claudemem.SessionCompleted {
		m.endSessionRun(ctx, t, batch.Session)
	}
	return w.outcome, nil
}

// Ended lets go of what is kept for a session that is over. It is for a session
// of which nothing waits; distilling the last batch of one does it by itself.
func (m *Model) Ended(ctx context.Context, session claudemem.Session) {
	m.mu.Lock()
	t := m.sessions[session.ID]
	delete(m.sessions, session.ID)
	m.mu.Unlock()
	if t == nil {
		t = newThread()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	m.endSessionRun(ctx, t, session)
}

// endSessionRun ends a session's run: its provider forgets it, and a later one begins anew.
func (m *Model) endSessionRun(ctx context.Context, t *thread, session claudemem.Session) {
	choice := m.opts.Choose(session)
	id, provider, keeps := session.MemorySessionID, choice.Provider, choice.KeepsRuns
	if t.run != nil {
		id, provider, keeps = t.run.id, t.run.provider, t.run.keeps
		t.run = nil
	}
	if id == "" || provider == nil {
		return
	}
	if ender, ok := provider.(model.RunEnder); ok {
		ender.EndRun(id)
	}
	if keeps { // there is nothing left under that name
		m.setRun(ctx, session.ID, "")
	}
}

// setRun notes a session's run. That it could not be written costs at most a
// fresh run after a restart.
func (m *Model) setRun(ctx context.Context, session claudemem.SessionID, run string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), detachedTimeout)
	defer cancel()
	if err := m.opts.Store.SetRun(ctx, session, run); err != nil {
		m.opts.Logger.Warn("note observer run", "session", session, "error", err)
	}
}

// thread returns what is known of a session.
func (m *Model) thread(id claudemem.SessionID) *thread {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.sessions[id]
	if t == nil {
		if len(m.sessions) >= maxThreads {
			m.dropOldest()
		}
		t = newThread()
		m.sessions[id] = t
	}
	t.used = m.opts.Clock()
	return t
}

// dropOldest forgets the session that was not worked on for the longest time. One
// that is in work keeps its thread until it is done.
func (m *Model) dropOldest() {
	var oldest claudemem.SessionID
	var at time.Time
	for id, t := range m.sessions {
		if at.IsZero() || t.used.Before(at) {
			oldest, at = id, t.used
		}
	}
	delete(m.sessions, oldest)
}

// task is a batch that is being distilled.
type task struct {
	m       *Model
	thread  *thread
	choice  Choice
	batch   *claudemem.Batch
	outcome claudemem.Outcome
	// covered are the keys of the events that outcome speaks for.
	covered map[string]bool
	// asked says that the provider answered.
	asked bool
}

// dropOtherAnswers drops the answers that are not of this batch.
func (w *task) dropOtherAnswers() {
	keys := make(map[string]bool, len(w.batch.Events))
	for i := range w.batch.Events {
		keys[w.batch.Events[i].Key] = true
	}
	for question, p := range w.thread.paid {
		if !keys[p.key] {
			delete(w.thread.paid, question)
		}
	}
}

// distilRest has the fallback distil what no model was asked about.
func (w *task) distilRest(ctx context.Context) error {
	rest := *w.batch
	rest.Events = nil
	for _, e := range w.batch.Events {
		if !w.covered[e.Key] {
			rest.Events = append(rest.Events, e)
		}
	}
	if len(rest.Events) == 0 {
		return nil
	}
	rest.Earlier = append(append([]claudemem.Observation(nil), rest.Earlier...), w.outcome.Observations...)
	out, err := w.m.opts.Fallback.Distil(ctx, rest)
	if err != nil {
		return err
	}
	w.outcome.Observations = append(w.outcome.Observations, out.Observations...)
	w.outcome.Summaries = append(w.outcome.Summaries, out.Summaries...)
	w.outcome.Learnings = append(w.outcome.Learnings, out.Learnings...)
	w.outcome.Symbols = append(w.outcome.Symbols, out.Symbols...)
	return nil
}

// fallbackSummary is the checkpoint that the fallback makes of a turn, for a
// model that was asked for one and wrote something else.
func (w *task) fallbackSummary(ctx context.Context, t *turn) ([]claudemem.Summary, error) {
	batch := *w.batch
	batch.Events = t.events
	batch.Earlier = append(append([]claudemem.Observation(nil), batch.Earlier...), w.outcome.Observations...)
	out, err := w.m.opts.Fallback.Distil(ctx, batch)
	return out.Summaries, err
}

// modelFailure makes a provider's failure of an error that is not one already.
func modelFailure(provider string, err error) error {
	var failed *claudemem.ModelError
	if errors.As(err, &failed) || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &claudemem.ModelError{Provider: provider, Class: claudemem.ClassTransient, Err: err}
}
