package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/distil/observer"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/move/transcript"
)

// pauseAfterTrouble is how long requests do not read the spool after the storage failed;
// the timer and the next start of the worker try in spite of it.
const pauseAfterTrouble = time.Second

// inbox takes in the spool, in the order of the deliveries, each exactly once. A
// file is removed when its content is durable. After a crash in between it is taken
// in again and recognised as a duplicate by its delivery id.
type inbox struct {
	spool  wire.Spool
	ingest func(context.Context, ...memory.Event) error
	book   func(context.Context, memory.Injection) error
	log    *slog.Logger
	clock  func() time.Time

	// turn holds one token; only its holder takes files in.
	turn chan struct{}

	mu sync.Mutex
	// held are files that cannot be taken in now (written by a newer hook, or
	// unreadable); requests skip them.
	held map[string]bool
	// trouble is the error that ended the last pass early, or that of its listing, nil for none.
	trouble      error
	troubleUntil time.Time
	taken        int
}

// newInbox returns an inbox that hands the events of spool to ingest and the injections
// to book. It takes nothing in by itself.
func newInbox(
	spool wire.Spool,
	ingest func(context.Context, ...memory.Event) error,
	book func(context.Context, memory.Injection) error,
	log *slog.Logger, clock func() time.Time,
) *inbox {
	in := &inbox{spool: spool, ingest: ingest, book: book, log: log, clock: clock, held: map[string]bool{}}
	in.turn = make(chan struct{}, 1)
	in.turn <- struct{}{}
	return in
}

// takeAll takes in the whole spool, also files that are held back after an error, and
// during the pause after trouble. An error means that files are left that should have
// been taken in.
func (in *inbox) takeAll(ctx context.Context) error {
	in.mu.Lock()
	clear(in.held)
	in.troubleUntil = time.Time{}
	in.mu.Unlock()
	return in.takeNew(ctx)
}

// takeNew is takeAll for each request: an empty spool costs one directory listing, and
// files that could not be taken in before are left to the timer.
func (in *inbox) takeNew(ctx context.Context) error {
	names, err := in.waiting()
	if err != nil || len(names) == 0 {
		return err
	}
	select {
	case <-in.turn:
		defer func() { in.turn <- struct{}{} }()
	case <-ctx.Done():
		return fmt.Errorf("wait for the spool: %w", ctx.Err())
	}
	for {
		// List again under the token, until nothing is left: hooks may spool meanwhile.
		names, err := in.waiting()
		if err != nil || len(names) == 0 {
			return err
		}
		for len(names) > 0 {
			n, err := in.takeSome(ctx, names)
			if ctx.Err() != nil && err != nil {
				return err // the caller's time is over, which says nothing about the storage
			}
			if err != nil {
				in.mu.Lock()
				in.trouble, in.troubleUntil = err, in.clock().Add(pauseAfterTrouble)
				in.mu.Unlock()
				return err
			}
			names = names[n:]
		}
	}
}

// waiting returns the files that requests may take in now, the oldest first: none within
// pauseAfterTrouble, and none that is held. That the spool cannot be listed is trouble, which ends
// once nothing is left.
func (in *inbox) waiting() ([]string, error) {
	names, err := in.spool.List(in.clock())
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case err != nil:
		in.trouble = err
		return nil, err
	case in.clock().Before(in.troubleUntil):
		return nil, nil
	}
	free := slices.DeleteFunc(names, func(name string) bool { return in.held[name] })
	if len(free) == 0 {
		in.trouble = nil
	}
	return free, nil
}

// Limits of a group of files that shares a transaction. One transaction per file
// would make a session start wait too long after an outage.
const (
	groupFiles = 64
	groupBytes = 4 << 20
)

// takeSome takes in the first group of the files and returns how many files it has dealt with,
// also those that were gone, set aside or held. An error means that the rest would fail as well.
func (in *inbox) takeSome(ctx context.Context, names []string) (n int, err error) {
	var group []string
	var events []memory.Event
	size := 0
	for _, name := range names {
		if len(group) == groupFiles || size >= groupBytes {
			break
		}
		n++
		entry, err := in.spool.Read(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case errors.Is(err, wire.ErrCorrupt):
			in.setAside(name, err)
			continue
		case err != nil:
			in.hold(name, err)
			continue
		case entry.Injection != nil:
			if _, err := in.take([]string{name}, func() error { return in.book(ctx, *entry.Injection) }); err != nil {
				return n, err
			}
			continue
		}
		group, events = append(group, name), append(events, *entry.Event)
		size += entry.Event.Bytes()
	}
	return n, in.takeEvents(ctx, group, events)
}

// isRefusal reports whether an error is caused by the event itself.
func isRefusal(err error) bool {
	code := memory.CodeOf(err)
	return code == memory.CodeInvalid || code == memory.CodeTooLarge || errors.Is(err, errPanic)
}

// takeEvents takes a group of files in, in one transaction, and removes them. When one
// of them is refused it takes each in by itself and sets aside those that are refused.
func (in *inbox) takeEvents(ctx context.Context, names []string, events []memory.Event) error {
	if len(events) == 0 {
		return nil
	}
	refused, err := in.take(names, func() error { return in.ingest(ctx, events...) })
	for i := 0; refused && err == nil && i < len(names); i++ {
		err = in.takeEvents(ctx, names[i:i+1], events[i:i+1])
	}
	return err
}

// take stores the content of files by store and removes them. One that is refused for its content
// is set aside; refused says that one of several is. Other errors leave the files for later.
func (in *inbox) take(names []string, store func() error) (refused bool, err error) {
	switch err := in.guarded(store); {
	case err == nil:
		for _, name := range names {
			in.done(name)
		}
	case !isRefusal(err):
		return false, fmt.Errorf("take spool in: %w", err)
	case len(names) > 1:
		return true, nil
	default:
		in.setAside(names[0], err)
	}
	return false, nil
}

// done removes a file whose content is durable.
func (in *inbox) done(name string) {
	if err := in.spool.Remove(name); err != nil {
		// It is stored; taken in again it is a duplicate.
		in.hold(name, err)
		return
	}
	in.mu.Lock()
	in.taken++
	in.mu.Unlock()
}

// errPanic marks an entry that makes our code panic. It is set aside: left in the
// spool it would end every worker at its start.
var errPanic = errors.New("panic")

// guarded runs take and returns its error, or errPanic for a panic, which it logs.
func (in *inbox) guarded(take func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			in.log.Error("panic while taking the spool in", "stack", string(debug.Stack()))
			err = errPanic
		}
	}()
	return take()
}

// setAside renames a spool file that can never be taken in, so that it is not tried
// again; if that fails it is held.
func (in *inbox) setAside(name string, cause error) {
	in.log.Warn("spool file set aside", "file", name, "error", cause)
	if err := in.spool.SetAside(name); err != nil {
		in.hold(name, err)
	}
}

// hold skips a spool file in requests until the timer's next round.
func (in *inbox) hold(name string, cause error) {
	in.log.Warn("spool file left where it is", "file", name, "error", cause)
	in.mu.Lock()
	defer in.mu.Unlock()
	in.held[name] = true
}

// state returns the error of the last pass for the health report, nil for none.
func (in *inbox) state() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.trouble
}

// count returns how many spool files this worker has taken in, and how many are held.
func (in *inbox) count() (taken, held int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.taken, len(in.held)
}

// spoolBeforeContext is how long a context request waits for the spool, whose events
// happened before the session of the request. The hook gives up after 1.2 s and reads
// the database itself.
const spoolBeforeContext = 300 * time.Millisecond

// spoolBeforeEvent is how long the arrival of an event waits for the spool.
const spoolBeforeEvent = 2 * time.Second

// Context implements api.Blocks: it stores the spool's events, for at most 300 ms (and
// settings.Slack), then builds a session's context block with what is stored by then. The user's line
// gets the address at which the block can be read.
func (w *Worker) Context(ctx context.Context, request memory.ContextRequest) (memory.ContextBlock, error) {
	waiting, cancel := context.WithTimeout(ctx, spoolBeforeContext+settings.Slack(os.Getenv))
	// An unreadable spool is reported by health; the block is built without it.
	_ = w.inbox.takeNew(waiting)
	cancel()
	block, err := w.builder.Context(ctx, request)
	if block.Text != "" && block.SystemMessage != "" && w.port != 0 {
		block.SystemMessage += fmt.Sprintf("\nWhat the agent was given: http://127.0.0.1:%d/given", w.port)
	}
	return block, err
}

// Ingest implements httpapi.Ingester. It stores the spool's events first: they happened
// before this one, and the session's prompts are numbered in order.
func (w *Worker) Ingest(ctx context.Context, event memory.Event) (memory.TakenIn, error) {
	// Without the caller's cancellation: a hook that gives up spools its event. An error
	// of the storage occurs again below, where the caller gets it.
	taking, cancel := context.WithTimeout(context.WithoutCancel(ctx), spoolBeforeEvent)
	_ = w.inbox.takeNew(taking)
	cancel()
	taken, err := w.intake.Ingest(ctx, event)
	if err == nil {
		w.noteEnds(taken)
	}
	return taken, err
}

// spoolAfterEnd is how long after a session's end the spool is taken in: before the
// observer distils an open turn without its closing message, and when a file that a hook
// has left without its name is old enough.
const spoolAfterEnd = observer.ClosingAfter - 500*time.Millisecond

// noteEnds has the spool taken in after the session ends among taken, which are stored, and
// tells the observer of them. A session of which events still wait then is left out:
// distilling the last of them ends its run.
func (w *Worker) noteEnds(taken ...memory.TakenIn) {
	for i := range taken {
		e := &taken[i].Event
		if e.Kind != memory.KindSessionEnd {
			continue
		}
		host, id, file := e.Host, e.HostSessionID, e.Transcript
		w.ending.Go(func() { w.noteEnd(host, id, file) })
	}
}

// noteEnd takes in what of an ended session was spooled late, notes the tokens that its transcript tells, and lets the model
// provider release its run if none of its events wait.
func (w *Worker) noteEnd(host memory.Host, hostSessionID, file string) {
	select {
	case <-time.After(spoolAfterEnd):
		w.emptySpool(w.life, w.inbox.takeNew)
	case <-w.done: // the next worker takes the spool in
	}
	ctx, cancel := context.WithTimeout(w.life, lookupLimit)
	defer cancel()
	session, err := w.store.SessionByHost(ctx, host, hostSessionID)
	if err == nil {
		w.noteTokens(w.life, &session, file)
	}
	if err != nil || session.Status != memory.SessionCompleted || session.MemorySessionID == "" {
		return
	}
	backlog, err := w.queue.Backlog(ctx)
	if err != nil {
		w.log.Warn("look for work of an ended session", "error", err)
		return
	}
	if slices.ContainsFunc(backlog, func(b memory.Backlog) bool { return b.Session.ID == session.ID }) {
		return
	}
	// Ended waits for a batch of the session that is in work.
	w.model.Ended(w.life, session)
}

// noteTokens notes the tokens of a session of Claude Code that ended while a trial runs, if the file is its transcript.
func (w *Worker) noteTokens(ctx context.Context, s *memory.Session, file string) {
	t, err := w.store.Trial(ctx)
	if err != nil || !t.Runs() || s.Host != memory.HostClaudeCode || !filepath.IsAbs(file) || filepath.Base(file) != s.HostSessionID+".jsonl" {
		return
	}
	tokens, err := transcript.Tokens(file)
	if err == nil {
		err = w.store.NoteTokens(ctx, s.ID, tokens)
	}
	w.warn(ctx, "read the tokens of a session from its transcript", err)
}

// ingestAll takes events of the spool in, in one transaction: with an error none of them is stored.
func (w *Worker) ingestAll(ctx context.Context, events ...memory.Event) error {
	taken, err := w.intake.IngestAll(ctx, events...)
	if err == nil {
		w.noteEnds(taken...)
	}
	return err
}
