package httpapi

import (
	"context"

	"claudemem"
	"claudemem/api"
)

// Ingester takes events in and returns them as they were taken in; a nil error
// means that they are durable.
type Ingester interface {
	Ingest(ctx context.Context, event claudemem.Event) (claudemem.TakenIn, error)
}

// Reminder gives a session a few lines at a moment that calls for them
// (claudemem.Event.Moment). It is asked about events that were just taken in, and
// gets them without ToolResponse: a file's whole content need not stay in memory for it.
type Reminder interface {
	// Recall returns an empty Text for silence. What it returns is not given again
	// in that session unless Forget takes it back.
	Recall(ctx context.Context, event claudemem.Event, session claudemem.SessionID) (claudemem.Recollection, error)
	// Forget says that a recollection did not reach its session.
	Forget(claudemem.Recollection)
}

// Books are the store's records of what was captured, given and told.
type Books interface {
	// RecordInjection books what a session was given.
	RecordInjection(ctx context.Context, injection claudemem.Injection) error
	// TakeNotices returns what the user is to be told once, at the next session
	// start, and forgets it.
	TakeNotices(ctx context.Context) ([]string, error)
}

// Worker is the process that serves the API.
type Worker interface {
	// Ready returns nil once every stage is up, else what is missing.
	Ready() error
	// Flush asks the observer to look at a session now.
	Flush(host claudemem.Host, hostSessionID string)
	// Touch notes a session start: the project's other sessions are flushed.
	Touch(ctx context.Context, request claudemem.ContextRequest)
	// Stats returns what GET /api/stats adds to the counts: sizes, uptime, stages.
	Stats(ctx context.Context) map[string]any
	// Statusline returns what a host's status line says.
	Statusline(ctx context.Context, request claudemem.StatusRequest) (claudemem.Statusline, error)
	// Shutdown begins a stop that loses nothing and returns at once.
	Shutdown()
}

// Reindexer rebuilds the search index in the background.
type Reindexer interface {
	// StartReindex begins; CodeConflict when a rebuild is running.
	StartReindex() error
	// Reindexing returns the progress of the running rebuild, or else of the last one.
	Reindexing() api.Reindexing
}
