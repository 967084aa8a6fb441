package daemon

import (
	"context"
	"os"
	"time"

	"claudemem/internal/distil/observer"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
)

// spoolBeforeContext is how long a context request waits for the spool, whose events
// happened before the session of the request. The hook gives up after 1.2 s and reads
// the database itself.
const spoolBeforeContext = 300 * time.Millisecond

// spoolBeforeEvent is how long the arrival of an event waits for the spool.
const spoolBeforeEvent = 2 * time.Second

// Context implements api.Blocks: it stores the spool's events, for at most 300 ms, then builds a
// session's context block with what is stored by then.
func (w *Worker) Context(ctx context.Context, request memory.ContextRequest) (memory.ContextBlock, error) {
	waiting, cancel := context.WithTimeout(ctx, spoolBeforeContext+settings.Slack(os.Getenv))
	// An unreadable spool is reported by health; the block is built without it.
	_ = w.inbox.takeNew(waiting)
	cancel()
	return w.builder.Context(ctx, request)
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
		host, id := e.Host, e.HostSessionID
		w.ending.Go(func() { w.noteEnd(host, id) })
	}
}

// noteEnd takes in what of an ended session was spooled late, and lets the model provider
// release its run if none of its events wait.
func (w *Worker) noteEnd(host memory.Host, hostSessionID string) {
	select {
	case <-time.After(spoolAfterEnd):
		w.emptySpool(w.life, w.inbox.takeNew)
	case <-w.done: // the next worker takes the spool in
	}
	ctx, cancel := context.WithTimeout(w.life, lookupLimit)
	defer cancel()
	session, err := w.store.SessionByHost(ctx, host, hostSessionID)
	if err != nil || session.Status != memory.SessionCompleted || session.MemorySessionID == "" {
		return
	}
	backlog, err := w.queue.Backlog(ctx)
	if err != nil {
		w.log.Warn("look for work of an ended session", "error", err)
		return
	}
	for i := range backlog {
		if backlog[i].Session.ID == session.ID {
			return
		}
	}
	// Ended waits for a batch of the session that is in work.
	w.model.Ended(w.life, session)
}

// ingestAll takes events of the spool in, in one transaction: with an error none of them is stored.
func (w *Worker) ingestAll(ctx context.Context, events ...memory.Event) error {
	taken, err := w.intake.IngestAll(ctx, events...)
	if err == nil {
		w.noteEnds(taken...)
	}
	return err
}
