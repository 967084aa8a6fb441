package api

import (
	"context"
	"net/http"

	"claudemem/internal/keep/store"
)

// Endpoint is a method of Memory with its route in the HTTP API. The fields of the
// request Q are parameters in the path and the query, or else members of the body.
type Endpoint[Q, A any] struct {
	Method, Path string
	Call         func(Memory, context.Context, Q) (A, error)
}

func endpoint[Q, A any](method, path string, call func(Memory, context.Context, Q) (A, error)) Endpoint[Q, A] {
	return Endpoint[Q, A]{method, path, call}
}

// The endpoints of Memory. Forward calls them, and httpapi serves them.
var (
	SearchEndpoint       = endpoint("GET", "/api/search", Memory.Search)
	TimelineEndpoint     = endpoint("GET", "/api/search/timeline", Memory.Timeline)
	ObservationsEndpoint = endpoint("GET", "/api/observations", Memory.Observations)
	ObservationEndpoint  = endpoint("GET", "/api/observations/{id}", Memory.Observation)
	BatchEndpoint        = endpoint("POST", "/api/observations/batch", Memory.Batch)
	SummariesEndpoint    = endpoint("GET", "/api/summaries", Memory.Summaries)
	PromptsEndpoint      = endpoint("GET", "/api/prompts", Memory.Prompts)
	SessionsEndpoint     = endpoint("GET", "/api/sessions", Memory.Sessions)
	SessionEndpoint      = endpoint("GET", "/api/sessions/{id}", Memory.Session)
	ReceiptEndpoint      = endpoint("GET", "/api/sessions/{id}/receipt", Memory.Receipt)
	ProjectsEndpoint     = endpoint("GET", "/api/projects", Memory.Projects)
	AliasesEndpoint      = endpoint("GET", "/api/projects/aliases", func(m Memory, ctx context.Context, _ struct{}) (Aliases, error) { return m.Aliases(ctx) })
	LearningsEndpoint    = endpoint("GET", "/api/learnings", Memory.Learnings)
	SymbolsEndpoint      = endpoint("GET", "/api/symbols", Memory.Symbols)
	StatsEndpoint        = endpoint("GET", "/api/stats", Memory.Stats)
	QueueEndpoint        = endpoint("GET", "/api/queue", func(m Memory, ctx context.Context, _ struct{}) (Queue, error) { return m.Queue(ctx) })
	PreviewEndpoint      = endpoint("GET", "/api/context/preview", Memory.Preview)

	AddObservationEndpoint     = endpoint("POST", "/api/observations", Memory.AddObservation)
	EditObservationEndpoint    = endpoint("PATCH", "/api/observations/{id}", Memory.EditObservation)
	HideObservationEndpoint    = endpoint("DELETE", "/api/observations/{id}", Memory.HideObservation)
	RestoreObservationEndpoint = endpoint("POST", "/api/observations/{id}/restore", Memory.RestoreObservation)
	AddLearningEndpoint        = endpoint("POST", "/api/learnings", Memory.AddLearning)
	EditLearningEndpoint       = endpoint("PATCH", "/api/learnings/{id}", Memory.EditLearning)
	AddAliasEndpoint           = endpoint("POST", "/api/projects/aliases", Memory.AddAlias)
	RemoveAliasEndpoint        = endpoint("POST", "/api/projects/unalias", Memory.RemoveAlias)
	MergeProjectsEndpoint      = endpoint("POST", "/api/projects/merge", Memory.MergeProjects)
	RetryQueueEndpoint         = endpoint("POST", "/api/queue/retry", Memory.RetryQueue)
	NoteLookupsEndpoint        = endpoint("POST", "/api/lookups", func(m Memory, ctx context.Context, n LookupNote) (Status, error) {
		return Status{"noted"}, m.NoteLookups(ctx, n)
	})
)

// Call is one call of a method of Memory: On makes it on a memory, and the other
// fields say how a worker is asked for it. Its answer is stored through Answer.
type Call struct {
	Method, Path    string
	Request, Answer any
	On              func(context.Context, Memory) error
}

// Reads reports whether the call changes nothing.
func (c *Call) Reads() bool {
	return c.Method == http.MethodGet || c.Path == BatchEndpoint.Path
}

// Forward is a Memory that passes each call to a function.
type Forward func(context.Context, Call) error

var _ Memory = Forward(nil)

// forward makes the call of endpoint e through f and returns its answer.
func forward[Q, A any](ctx context.Context, f Forward, e Endpoint[Q, A], q Q) (answer A, err error) {
	err = f(ctx, Call{e.Method, e.Path, q, &answer, func(ctx context.Context, m Memory) (err error) {
		answer, err = e.Call(m, ctx, q)
		return err
	}})
	return answer, err
}

// Search implements Memory.
func (f Forward) Search(ctx context.Context, q SearchRequest) (SearchPage, error) {
	return forward(ctx, f, SearchEndpoint, q)
}

// Timeline implements Memory.
func (f Forward) Timeline(ctx context.Context, q TimelineRequest) (Timeline, error) {
	return forward(ctx, f, TimelineEndpoint, q)
}

// Observations implements Memory.
func (f Forward) Observations(ctx context.Context, q ObservationsRequest) (Listing[Observation], error) {
	return forward(ctx, f, ObservationsEndpoint, q)
}

// Observation implements Memory.
func (f Forward) Observation(ctx context.Context, q ObservationRequest) (Observation, error) {
	return forward(ctx, f, ObservationEndpoint, q)
}

// Batch implements Memory.
func (f Forward) Batch(ctx context.Context, q BatchRequest) (Batch, error) {
	return forward(ctx, f, BatchEndpoint, q)
}

// Summaries implements Memory.
func (f Forward) Summaries(ctx context.Context, q RecordsRequest) (Listing[Summary], error) {
	return forward(ctx, f, SummariesEndpoint, q)
}

// Prompts implements Memory.
func (f Forward) Prompts(ctx context.Context, q RecordsRequest) (Listing[Prompt], error) {
	return forward(ctx, f, PromptsEndpoint, q)
}

// Sessions implements Memory.
func (f Forward) Sessions(ctx context.Context, q SessionsRequest) (Page[SessionDigest], error) {
	return forward(ctx, f, SessionsEndpoint, q)
}

// Session implements Memory.
func (f Forward) Session(ctx context.Context, q SessionRequest) (SessionRecords, error) {
	return forward(ctx, f, SessionEndpoint, q)
}

// Receipt implements Memory.
func (f Forward) Receipt(ctx context.Context, q ReceiptRequest) (store.SessionReceipt, error) {
	return forward(ctx, f, ReceiptEndpoint, q)
}

// Projects implements Memory.
func (f Forward) Projects(ctx context.Context, q ProjectsRequest) (Page[Project], error) {
	return forward(ctx, f, ProjectsEndpoint, q)
}

// Learnings implements Memory.
func (f Forward) Learnings(ctx context.Context, q LearningsRequest) (Page[Learning], error) {
	return forward(ctx, f, LearningsEndpoint, q)
}

// Symbols implements Memory.
func (f Forward) Symbols(ctx context.Context, q SymbolsRequest) (Page[Symbol], error) {
	return forward(ctx, f, SymbolsEndpoint, q)
}

// Stats implements Memory.
func (f Forward) Stats(ctx context.Context, q StatsRequest) (Stats, error) {
	return forward(ctx, f, StatsEndpoint, q)
}

// Queue implements Memory.
func (f Forward) Queue(ctx context.Context) (Queue, error) {
	return forward(ctx, f, QueueEndpoint, struct{}{})
}

// Preview implements Memory.
func (f Forward) Preview(ctx context.Context, q ContextRequest) (Preview, error) {
	return forward(ctx, f, PreviewEndpoint, q)
}

// AddObservation implements Memory.
func (f Forward) AddObservation(ctx context.Context, q NewObservation) (Observation, error) {
	return forward(ctx, f, AddObservationEndpoint, q)
}

// EditObservation implements Memory.
func (f Forward) EditObservation(ctx context.Context, q ObservationEdit) (Observation, error) {
	return forward(ctx, f, EditObservationEndpoint, q)
}

// HideObservation implements Memory.
func (f Forward) HideObservation(ctx context.Context, q HideRequest) (Hidden, error) {
	return forward(ctx, f, HideObservationEndpoint, q)
}

// RestoreObservation implements Memory.
func (f Forward) RestoreObservation(ctx context.Context, q RestoreRequest) (Observation, error) {
	return forward(ctx, f, RestoreObservationEndpoint, q)
}

// AddLearning implements Memory.
func (f Forward) AddLearning(ctx context.Context, q NewLearning) (Learning, error) {
	return forward(ctx, f, AddLearningEndpoint, q)
}

// EditLearning implements Memory.
func (f Forward) EditLearning(ctx context.Context, q LearningEdit) (Learning, error) {
	return forward(ctx, f, EditLearningEndpoint, q)
}

// RetryQueue implements Memory.
func (f Forward) RetryQueue(ctx context.Context, q RetryRequest) (Revived, error) {
	return forward(ctx, f, RetryQueueEndpoint, q)
}

// NoteLookups implements Memory.
func (f Forward) NoteLookups(ctx context.Context, q LookupNote) error {
	_, err := forward(ctx, f, NoteLookupsEndpoint, q)
	return err
}
