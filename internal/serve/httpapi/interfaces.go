package httpapi

import (
	"context"
	"net/http"

	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// Ingester stores events and returns them as stored; a nil error means that they are
// durable.
type Ingester interface {
	Ingest(ctx context.Context, event memory.Event) (memory.TakenIn, error)
}

// Reminder finds records to show a session at a prompt, a file read or a failure
// (memory.Event.Moment). It gets events that were just stored, without ToolResponse,
// so that a file's content does not stay in memory.
type Reminder interface {
	// Recall returns the text to show, "" for none. It does not return the same records
	// again for that session unless Forget is called.
	Recall(ctx context.Context, event memory.Event, session memory.SessionID) (memory.Recollection, error)
	// Forget makes a recollection that did not reach its session available again.
	Forget(memory.Recollection)
}

// Books are the store's records of shown texts and of notices. The worker implements them over
// the store, fakeWorker in the tests.
type Books interface {
	// RecordInjection books a text that was shown to a session.
	RecordInjection(ctx context.Context, injection memory.Injection) error
	// TakeNotices returns the notices for the next session start and deletes them.
	TakeNotices(ctx context.Context) ([]string, error)
}

// Worker is the process that serves the API.
type Worker interface {
	// Ready returns nil once every stage runs, else an error that names what is missing.
	Ready() error
	// Flush makes the observer process a session now.
	Flush(host memory.Host, hostSessionID string)
	// Touch notes a session start: the project's other sessions are flushed.
	Touch(ctx context.Context, request memory.ContextRequest)
	// Stats returns what GET /api/stats adds to the counts: sizes, uptime, stages.
	Stats(ctx context.Context) map[string]any
	// Settings returns every setting with the value that the worker uses, secrets masked.
	Settings() []settings.View
	// Statusline returns the counts for a host's status line.
	Statusline(ctx context.Context, request memory.StatusRequest) (memory.Statusline, error)
	// StartReindex begins to rebuild the search index in the background; CodeConflict when a
	// rebuild is running.
	StartReindex() error
	// Reindexing returns the progress of the running rebuild, or else of the last one.
	Reindexing() api.Reindexing
	// StartForget begins to erase records for good, in a process that stops the worker
	// meanwhile; CodeConflict while another erasure runs.
	StartForget(ctx context.Context, r api.ForgetRequest) (api.Erasure, error)
	// Erasure returns how the last one went.
	Erasure() (api.Erasure, error)
	// Backfill takes in events of transcripts.
	Backfill(ctx context.Context, r api.BackfillRequest) (api.BackfillAnswer, error)
	// Shutdown starts the stop and returns at once; accepted events are kept.
	Shutdown()
	// Done is closed when the worker stops.
	Done() <-chan struct{}
}

// Changes is the store's ordered feed of changes. fakeChanges in the tests is another one.
type Changes interface {
	// Follow returns a channel that receives after each commit that has changes.
	Follow() (changed <-chan struct{}, stop func())
	// Changes returns at most limit changes with numbers above after, in order.
	Changes(ctx context.Context, after int64, limit int) ([]memory.Change, error)
	// ChangeRange returns the lowest number that is still known and the highest.
	ChangeRange(ctx context.Context) (oldest, newest int64, err error)
}

// Viewer serves pages and their files.
type Viewer interface {
	// Serve answers a request. token is what the page's writes send as PageHeader; "" for a
	// visitor that may only read.
	Serve(w http.ResponseWriter, r *http.Request, token string)
}
