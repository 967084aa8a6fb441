package daemon

import (
	"context"
	"os"
	"time"

	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
)

// spoolBeforeContext is how long a context request waits for the spool, whose events
// happened before the session of the request. The hook gives up after 1.2 s and reads
// the database itself.
const spoolBeforeContext = 300 * time.Millisecond

// spoolBeforeEvent is how long the arrival of an event waits for the spool.
const spoolBeforeEvent = 2 * time.Second

// Context implements api.Blocks: it stores the spool's events, then builds a session's
// context block.
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
