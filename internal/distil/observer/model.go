package observer

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"claudemem/internal/distil/model"
	"claudemem/internal/distil/observer/answer"
	"claudemem/internal/distil/observer/mode"
	"claudemem/internal/keep/store"
	"claudemem/internal/memory"
)

// Choice is the provider and the mode for a session, by the current settings.
type Choice struct {
	// Provider answers; nil leaves the session to the fallback.
	Provider model.Provider
	// Model is the model's name, "" for the provider's default.
	Model string
	// KeepsRuns: the provider keeps the conversation of a run and sends all of it
	// with each request, as a subprocess does.
	KeepsRuns bool
	// Auto: the user has not named the provider. Work does not wait for its login.
	Auto bool
	Mode mode.Mode
	// Language of the records, "" for the user's.
	Language string
}

// ModelOptions configure a Model. Choose, Fallback and Store are required.
type ModelOptions struct {
	// Choose returns the choice for a session. It is called for each batch, so that
	// a changed setting applies from the next one on, and by Limits: it has to be
	// quick.
	Choose func(memory.Session) Choice
	// Fallback distils sessions without a provider, work that a cap forbids, and
	// work that has waited WaitFor for a failing provider.
	Fallback Distiller
	// Store has the records that a fresh run begins with, the names of the runs and
	// the notices to the user.
	Store *store.Store

	// BatchMaxSize is the most events of a call; 0 is the most that a prompt shows.
	BatchMaxSize int
	// ContextTokens is the size of a run, prompts and answers, at which a new run
	// starts; 0 is 12000.
	ContextTokens int
	// WaitFor is how long work waits for a failing provider; 0 does not wait.
	WaitFor time.Duration

	Clock  func() time.Time // default time.Now; its location decides when a cap's day ends
	Logger *slog.Logger     // none
}

// Model is the Distiller that asks a model. Several goroutines may use it, at most
// one for each session.
type Model struct {
	opts     ModelOptions
	troubles troubles

	mu       sync.Mutex
	sessions map[memory.SessionID]*thread

	// redone is the state of the last redo: an answer that could not be stored is not
	// paid for twice.
	redone *thread
}

// maxThreads bounds the sessions held in memory. A session that is dropped
// continues from its digest.
const maxThreads = 64

// thread is the state of a session between its batches.
type thread struct {
	mu  sync.Mutex // held while a batch is worked on
	run *run       // nil before the first call
	// names are the files and symbols for the digest; recalled: they include those
	// stored by an earlier process.
	names    names
	recalled bool
	// paid are the answers of the last batch by question key: when the batch comes
	// again after a failure, they are not paid for twice.
	paid map[string]paidAnswer
	// observed is the number of the turn whose events were sent last, finalized of
	// the turn whose checkpoint was asked for last.
	observed, finalized int
	// used is the time of the last use; guarded by Model.mu.
	used time.Time
}

func newThread() *thread {
	return &thread{paid: map[string]paidAnswer{}, observed: noTurn, finalized: noTurn}
}

// noTurn stands for no turn.
const noTurn = -1

type paidAnswer struct {
	key    string // of the first event in the question
	answer answer.Answer
}

// NewModel makes a Model.
func NewModel(opts ModelOptions) *Model {
	opts.ContextTokens = cmp.Or(max(opts.ContextTokens, 0), 12000)
	if opts.BatchMaxSize <= 0 || opts.BatchMaxSize > mode.MaxBatchEvents {
		opts.BatchMaxSize = mode.MaxBatchEvents
	}
	opts.Logger = cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	opts.Clock = memory.ClockOr(opts.Clock)
	m := &Model{opts: opts, sessions: make(map[memory.SessionID]*thread), redone: newThread()}
	m.troubles = troubles{
		opts: &m.opts, away: map[string]*trouble{}, met: map[string]bool{}, refusals: map[string]int{},
		cappedDay: map[memory.TokenCap]string{}, capped: map[memory.SessionID]bool{},
	}
	return m
}

// newMark returns what delimits quoted text in one request: eight random hexadecimal digits.
func newMark() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// AskAgain lets providers that failed be asked at once: the settings have changed.
func (m *Model) AskAgain() { m.troubles.askAgain() }

// MaxEvents implements Limiter: a model gets what fits into a request, the fallback
// whole turns.
func (m *Model) MaxEvents(session memory.Session) int {
	choice := m.opts.Choose(session)
	if choice.Provider == nil || m.troubles.isOffline(choice.Provider.Name(), session.ID) {
		return 0
	}
	return m.opts.BatchMaxSize
}

// Distil implements Distiller. An error is the provider's (see
// memory.ModelError), the fallback's, or that of ctx.
func (m *Model) Distil(ctx context.Context, batch memory.Batch) (memory.Outcome, error) {
	choice := m.opts.Choose(batch.Session)
	t := m.thread(batch.Session.ID)
	t.mu.Lock()
	defer t.mu.Unlock()
	w := &task{m: m, thread: t, choice: choice, batch: &batch, covered: map[string]bool{}}
	w.dropOtherAnswers()
	if choice.Provider == nil {
		m.endSessionRun(ctx, t, batch.Session) // the settings have changed
		// First, as it fills in the outcome: Go does not say which of two results comes first.
		err := w.distilEvents(ctx, batch.Events, "")
		return w.outcome, err
	}
	if slices.ContainsFunc(batch.Events, isOffline) { // no model may be shown these
		rest := slices.DeleteFunc(slices.Clone(batch.Events), isOffline)
		offline := slices.DeleteFunc(slices.Clone(batch.Events), isOnline)
		if err := w.distilEvents(ctx, offline, ""); err != nil || len(rest) == 0 {
			return w.outcome, err
		}
		batch.Events = rest // w.batch is batch
	}
	name := choice.Provider.Name()
	err := m.troubles.heldBackError(name)
	if err == nil {
		err = w.askTurns(ctx)
	}
	switch {
	case ctx.Err() != nil:
		return memory.Outcome{}, ctx.Err()
	case err == nil:
	case m.troubles.noteFailure(ctx, name, batch.Session.ID, choice.Auto, err):
		if err := w.distilEvents(ctx, w.uncovered(batch.Events), memory.UnreadReasonOf(err)); err != nil {
			return memory.Outcome{}, err
		}
	default:
		return memory.Outcome{}, err
	}
	if batch.Session.Status == memory.SessionCompleted {
		m.endSessionRun(ctx, t, batch.Session)
	}
	return w.outcome, nil
}

func isOffline(e memory.PendingEvent) bool { return e.Event.Offline() }

func isOnline(e memory.PendingEvent) bool { return !e.Event.Offline() }

// Ended forgets a session that is over and has no events waiting. Distilling the
// last batch of a session forgets it as well.
func (m *Model) Ended(ctx context.Context, session memory.Session) {
	m.mu.Lock()
	t := cmp.Or(m.sessions[session.ID], newThread())
	delete(m.sessions, session.ID)
	m.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	m.endSessionRun(ctx, t, session)
}

// endSessionRun ends a session's run: the provider forgets it, and a later batch
// starts a new one.
func (m *Model) endSessionRun(ctx context.Context, t *thread, session memory.Session) {
	choice := m.opts.Choose(session)
	id, provider, keeps := session.MemorySessionID, choice.Provider, choice.KeepsRuns
	if t.run != nil {
		id, provider, keeps = t.run.id, t.run.provider, t.run.keeps
		t.run = nil
	}
	if id == "" || provider == nil {
		return
	}
	model.EndRun(provider, id)
	if keeps { // the provider has nothing under that name any more
		m.setRun(ctx, session.ID, "")
	}
}

// setRun stores the name of a session's run. A failure costs at most a new run
// after a restart.
func (m *Model) setRun(ctx context.Context, session memory.SessionID, run string) {
	err := detached(ctx, func(ctx context.Context) error { return m.opts.Store.SetRun(ctx, session, run) })
	if err != nil {
		m.opts.Logger.Warn("note observer run", "session", session, "error", err)
	}
}

// thread returns the state of a session, new when there is none: then the least recently used one
// goes if there are maxThreads.
func (m *Model) thread(id memory.SessionID) *thread {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.sessions[id]
	if t == nil {
		if len(m.sessions) >= maxThreads {
			// The least recently used. One that is being distilled keeps its thread until it is done.
			delete(m.sessions, slices.MinFunc(slices.Collect(maps.Keys(m.sessions)), func(a, b memory.SessionID) int {
				return m.sessions[a].used.Compare(m.sessions[b].used)
			}))
		}
		t = newThread()
		m.sessions[id] = t
	}
	t.used = m.opts.Clock()
	return t
}

// task is a batch that is being distilled.
type task struct {
	m       *Model
	thread  *thread
	choice  Choice
	batch   *memory.Batch
	outcome memory.Outcome
	// covered are the keys of the events that outcome accounts for.
	covered map[string]bool
	// asked: the provider answered.
	asked bool
	// redo: the records of the turn were made without a model before. The session's own
	// run and the fallback have no part in it.
	redo bool
}

// dropOtherAnswers forgets paid answers to questions about other batches.
func (w *task) dropOtherAnswers() {
	maps.DeleteFunc(w.thread.paid, func(_ string, p paidAnswer) bool {
		return !slices.ContainsFunc(w.batch.Events, func(e memory.PendingEvent) bool { return e.Key == p.key })
	})
}

// uncovered returns the events that the outcome does not account for yet.
func (w *task) uncovered(events []memory.PendingEvent) []memory.PendingEvent {
	return slices.DeleteFunc(slices.Clone(events), func(e memory.PendingEvent) bool { return w.covered[e.Key] })
}

// distilEvents has the fallback distil events that no model has read, for a reason; ""
// when none was to read them.
func (w *task) distilEvents(ctx context.Context, events []memory.PendingEvent, reason memory.UnreadReason) error {
	if len(events) == 0 {
		return nil
	}
	out, err := w.distilOffline(ctx, events)
	if err != nil {
		return err
	}
	w.outcome.Observations = append(w.outcome.Observations, out.Observations...)
	w.outcome.Summaries = append(w.outcome.Summaries, out.Summaries...)
	w.outcome.Learnings = append(w.outcome.Learnings, out.Learnings...)
	w.outcome.Lines = append(w.outcome.Lines, out.Lines...)
	w.noteNames(events)
	w.markCovered(events)
	if reason != "" {
		w.outcome.Unread = markUnread(w.outcome.Unread, events, reason)
	}
	return nil
}

// markUnread adds events to the reasons why no model has read them, by key, and returns the map: a
// new one for nil.
func markUnread(unread map[string]memory.UnreadReason, events []memory.PendingEvent, reason memory.UnreadReason) map[string]memory.UnreadReason {
	if unread == nil {
		unread = make(map[string]memory.UnreadReason, len(events))
	}
	for i := range events {
		unread[events[i].Key] = reason
	}
	return unread
}

// distilOffline returns the fallback's outcome for events of the batch.
func (w *task) distilOffline(ctx context.Context, events []memory.PendingEvent) (memory.Outcome, error) {
	batch := *w.batch
	batch.Events = events
	batch.Earlier = slices.Concat(batch.Earlier, w.outcome.Observations)
	return w.m.opts.Fallback.Distil(ctx, batch)
}

// modelFailure returns err as a ModelError if it is a missed deadline, else
// unchanged.
func modelFailure(provider string, err error) error {
	if errors.As(err, new(*memory.ModelError)) || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &memory.ModelError{Provider: provider, Class: memory.ClassTransient, Err: err}
}
