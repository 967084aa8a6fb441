package httpapi

import (
	"context"

	"claudemem"
)

// Ingester takes events in and returns them as they were taken in; a nil error
// means that they are durable.
type Ingester interface {
	Ingest(ctx context.Context, event claudemem.Event) (claudemem.TakenIn, error)
}

// Recaller builds context blocks and books that they were given.
type Recaller interface {
	Context(ctx context.Context, request claudemem.ContextRequest) (claudemem.ContextBlock, error)
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

// Lookups notes that observations were read in full, by which session if that is
// known: what is looked up later was worth giving.
type Lookups interface {
	RecordLookup(ctx context.Context, host claudemem.Host, hostSessionID string, ids ...claudemem.ObservationID) error
}

// Records reads what is remembered.
type Records interface {
	Observation(ctx context.Context, id claudemem.ObservationID) (claudemem.Observation, error)
	Observations(ctx context.Context, q claudemem.Query) ([]claudemem.Observation, error)
	CountObservations(ctx context.Context, q claudemem.Query) (int, error)
	Totals(ctx context.Context, projectPath string) (claudemem.Totals, error)
	Books(ctx context.Context) (claudemem.Books, error)
	// ObservationsByIDs reads in the order asked for; those that are gone or hidden
	// are left out.
	ObservationsByIDs(ctx context.Context, ids ...claudemem.ObservationID) ([]claudemem.Observation, error)
}

// Searcher finds records.
type Searcher interface {
	Search(ctx context.Context, r claudemem.SearchRequest) (claudemem.SearchResult, error)
	Timeline(ctx context.Context, r claudemem.TimelineRequest) (claudemem.Timeline, error)
}

// Sessions lists sessions and projects, the latest first.
type Sessions interface {
	Session(ctx context.Context, id claudemem.SessionID) (claudemem.Session, error)
	// Sessions lists by project, time and page; the other filters are not for sessions.
	Sessions(ctx context.Context, q claudemem.Query) ([]claudemem.SessionDigest, error)
	CountSessions(ctx context.Context, q claudemem.Query) (int, error)
	Projects(ctx context.Context) ([]claudemem.ProjectDigest, error)
}

// Keeper changes observations by hand. What it is given is somebody's own text:
// it cleans it before it keeps it.
type Keeper interface {
	AddObservation(ctx context.Context, n claudemem.NewObservation) (claudemem.Observation, error)
	EditObservation(ctx context.Context, id claudemem.ObservationID, edit claudemem.ObservationEdit) (claudemem.Observation, error)
	// HideObservation takes an observation out of everything that is shown; with purge
	// it is deleted for good at the time that is returned, else it stays hidden.
	HideObservation(ctx context.Context, id claudemem.ObservationID, purge bool) (purged claudemem.Millis, err error)
	RestoreObservation(ctx context.Context, id claudemem.ObservationID) (claudemem.Observation, error)
}

// Worker is the process that serves the API.
type Worker interface {
	// Ready returns nil once every stage is up, else what is missing.
	Ready() error
	// Flush asks the observer to look at a session now.
	Flush(host claudemem.Host, hostSessionID string)
	// Touch notes a session start: the project's other sessions are flushed.
	Touch(ctx context.Context, request claudemem.ContextRequest)
	// Stats is what GET /api/stats adds to the counts: sizes, uptime, stages; a brief
	// one has not what takes time to sum up.
	Stats(ctx context.Context, brief bool) map[string]any
	// Shutdown begins a stop that loses nothing and returns at once.
	Shutdown()
}

// Learnings are what is known of projects. What AddLearning and EditLearning are
// given is somebody's own text: they clean it before they keep it.
type Learnings interface {
	Learnings(ctx context.Context, q claudemem.LearningQuery) ([]claudemem.Learning, error)
	CountLearnings(ctx context.Context, q claudemem.LearningQuery) (int, error)
	AddLearning(ctx context.Context, l claudemem.Learning) (claudemem.Learning, error)
	EditLearning(ctx context.Context, id int64, edit claudemem.LearningEdit) (claudemem.Learning, error)
}

// Status tells what a host's status line says.
type Status interface {
	Statusline(ctx context.Context, request claudemem.StatusRequest) (claudemem.Statusline, error)
}
