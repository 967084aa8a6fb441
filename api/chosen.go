package api

import (
	"context"

	"claudemem"
	"claudemem/store"
)

// Chosen is a Memory that asks another one: Read and Write choose it for each call
// and make the call, more than once where the first memory cannot answer.
type Chosen struct {
	Read, Write func(ctx context.Context, call func(context.Context, Memory) error) error
}

var _ Memory = Chosen{}

func choose[Q, A any](ctx context.Context, by func(context.Context, func(context.Context, Memory) error) error, q Q,
	call func(Memory, context.Context, Q) (A, error),
) (out A, err error) {
	err = by(ctx, func(ctx context.Context, m Memory) (err error) {
		out, err = call(m, ctx, q)
		return err
	})
	return out, err
}

// Search implements Memory.
func (c Chosen) Search(ctx context.Context, q SearchRequest) (SearchPage, error) {
	return choose(ctx, c.Read, q, Memory.Search)
}

// Timeline implements Memory.
func (c Chosen) Timeline(ctx context.Context, q TimelineRequest) (Timeline, error) {
	return choose(ctx, c.Read, q, Memory.Timeline)
}

// Observations implements Memory.
func (c Chosen) Observations(ctx context.Context, q ObservationsRequest) (Listing[Observation], error) {
	return choose(ctx, c.Read, q, Memory.Observations)
}

// Batch implements Memory.
func (c Chosen) Batch(ctx context.Context, q BatchRequest) (Batch, error) {
	return choose(ctx, c.Read, q, Memory.Batch)
}

// Summaries implements Memory.
func (c Chosen) Summaries(ctx context.Context, q RecordsRequest) (Listing[Summary], error) {
	return choose(ctx, c.Read, q, Memory.Summaries)
}

// Prompts implements Memory.
func (c Chosen) Prompts(ctx context.Context, q RecordsRequest) (Listing[Prompt], error) {
	return choose(ctx, c.Read, q, Memory.Prompts)
}

// Sessions implements Memory.
func (c Chosen) Sessions(ctx context.Context, q SessionsRequest) (Page[SessionDigest], error) {
	return choose(ctx, c.Read, q, Memory.Sessions)
}

// Session implements Memory.
func (c Chosen) Session(ctx context.Context, q SessionRequest) (SessionRecords, error) {
	return choose(ctx, c.Read, q, Memory.Session)
}

// Receipt implements Memory.
func (c Chosen) Receipt(ctx context.Context, q ReceiptRequest) (store.SessionReceipt, error) {
	return choose(ctx, c.Read, q, Memory.Receipt)
}

// Projects implements Memory.
func (c Chosen) Projects(ctx context.Context, q ProjectsRequest) (Page[Project], error) {
	return choose(ctx, c.Read, q, Memory.Projects)
}

// Learnings implements Memory.
func (c Chosen) Learnings(ctx context.Context, q LearningsRequest) (Page[Learning], error) {
	return choose(ctx, c.Read, q, Memory.Learnings)
}

// Stats implements Memory.
func (c Chosen) Stats(ctx context.Context, q StatsRequest) (Stats, error) {
	return choose(ctx, c.Read, q, Memory.Stats)
}

// Queue implements Memory.
func (c Chosen) Queue(ctx context.Context) (Queue, error) {
	return choose(ctx, c.Read, nil, func(m Memory, ctx context.Context, _ any) (Queue, error) { return m.Queue(ctx) })
}

// Preview implements Memory.
func (c Chosen) Preview(ctx context.Context, q ContextRequest) (Preview, error) {
	return choose(ctx, c.Read, q, Memory.Preview)
}

// AddObservation implements Memory.
func (c Chosen) AddObservation(ctx context.Context, n NewObservation) (Observation, error) {
	return choose(ctx, c.Write, n, Memory.AddObservation)
}

// EditObservation implements Memory.
func (c Chosen) EditObservation(ctx context.Context, id claudemem.ObservationID, edit claudemem.ObservationEdit) (Observation, error) {
	return choose(ctx, c.Write, id, func(m Memory, ctx context.Context, id claudemem.ObservationID) (Observation, error) {
		return m.EditObservation(ctx, id, edit)
	})
}

// HideObservation implements Memory.
func (c Chosen) HideObservation(ctx context.Context, id claudemem.ObservationID, purge bool) (Hidden, error) {
	return choose(ctx, c.Write, id, func(m Memory, ctx context.Context, id claudemem.ObservationID) (Hidden, error) {
		return m.HideObservation(ctx, id, purge)
	})
}

// RestoreObservation implements Memory.
func (c Chosen) RestoreObservation(ctx context.Context, id claudemem.ObservationID) (Observation, error) {
	return choose(ctx, c.Write, id, Memory.RestoreObservation)
}

// AddLearning implements Memory.
func (c Chosen) AddLearning(ctx context.Context, n NewLearning) (Learning, error) {
	return choose(ctx, c.Write, n, Memory.AddLearning)
}

// EditLearning implements Memory.
func (c Chosen) EditLearning(ctx context.Context, id int64, edit claudemem.LearningEdit) (Learning, error) {
	return choose(ctx, c.Write, id, func(m Memory, ctx context.Context, id int64) (Learning, error) { return m.EditLearning(ctx, id, edit) })
}

// RetryQueue implements Memory.
func (c Chosen) RetryQueue(ctx context.Context, q RetryRequest) (Revived, error) {
	return choose(ctx, c.Write, q, Memory.RetryQueue)
}

// NoteLookups implements Memory.
func (c Chosen) NoteLookups(ctx context.Context, n LookupNote) error {
	return c.Write(ctx, func(ctx context.Context, m Memory) error { return m.NoteLookups(ctx, n) })
}
