package daemon

import (
	"context"
	"time"

	"claudemem"
)

// spoolBeforeContext is how long a context request waits for the spool: what is
// in there happened before the session that asks. The hook gives up after 1.2 s
// and reads the database itself.
const spoolBeforeContext = 300 * time.Millisecond

// spoolBeforeEvent is how long the arrival of an event goes on taking the spool in.
const spoolBeforeEvent = 2 * time.Second

// Context implements api.Blocks: a session's context block, built after the
// spool was taken in.
func (w *Worker) Context(ctx context.Context, request claudemem.ContextRequest) (claudemem.ContextBlock, error) {
	waiting, cancel := context.WithTimeout(ctx, spoolBeforeContext)
	// A spool that cannot be read shows in the health; the block is built of what is there.
	_ = w.inbox.takeNew(waiting)
	cancel()
	return w.builder.Context(ctx, request)
}

// Ingest implements httpapi.Ingester. It takes the spool in first: a session's spooled
// events happened before the one that arrives now and number its prompts.
func (w *Worker) Ingest(ctx context.Context, event claudemem.Event) (claudemem.TakenIn, error) {
	// A hook that gave up meanwhile has spooled its event, so that there is all the
	// more to take in. What the storage refuses there it refuses here as well, and
	// then tells the caller.
	taking, cancel := context.WithTimeout(context.WithoutCancel(ctx), spoolBeforeEvent)
	_ = w.inbox.takeNew(taking)
	cancel()
	taken, err := w.intake.Ingest(ctx, event)
	if err == nil {
		w.noteEnds(taken)
	}
	return taken, err
}
