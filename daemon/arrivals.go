package daemon

import (
	"context"
	"time"

	"claudemem"
	"claudemem/recall"
)

// spoolBeforeContext is how long a context request waits for the spool: what is
// in there happened before the session that asks. The hook gives up after 1.2 s
// and reads the database itself.
const spoolBeforeContext = 300 * time.Millisecond

// spoolBeforeEvent is how long the arrival of an event goes on taking the spool in.
const spoolBeforeEvent = 2 * time.Second

// spoolThenBlocks is api.Blocks: the builder's blocks, with the spool taken in first.
type spoolThenBlocks struct {
	inbox   *inbox
	builder *recall.Builder
}

func (r spoolThenBlocks) Context(ctx context.Context, request claudemem.ContextRequest) (claudemem.ContextBlock, error) {
	waiting, cancel := context.WithTimeout(ctx, spoolBeforeContext)
	// A spool that cannot be read shows in the health; the block is built of what is there.
	_ = r.inbox.takeNew(waiting)
	cancel()
	return r.builder.Context(ctx, request)
}

// ingester is httpapi.Ingester: intake, with the spool taken in first, since a
// session's spooled events happened before the one that arrives now and number
// its prompts.
type ingester struct {
	inbox  *inbox
	ingest func(context.Context, claudemem.Event) (claudemem.TakenIn, error)
}

func (i ingester) Ingest(ctx context.Context, event claudemem.Event) (claudemem.TakenIn, error) {
	// A hook that gave up meanwhile has spooled its event, so that there is all the
	// more to take in. What the storage refuses there it refuses here as well, and
	// then tells the caller.
	taking, cancel := context.WithTimeout(context.WithoutCancel(ctx), spoolBeforeEvent)
	_ = i.inbox.takeNew(taking)
	cancel()
	return i.ingest(ctx, event)
}
