package index

import (
	"context"

	"claudemem/internal/memory"
)

// Feed is the change feed that the index follows. The store implements it, memoryFeed in the
// tests, for feeds with gaps and failures, and corpusFeed in the benchmarks.
type Feed interface {
	// Changes returns up to limit entries of the change feed with numbers above
	// after, in order.
	Changes(ctx context.Context, after int64, limit int) ([]memory.Change, error)
	// ChangeRange returns the lowest number that the feed still has and the highest
	// that it ever gave; a position below oldest-1 has missed changes.
	ChangeRange(ctx context.Context) (oldest, newest int64, err error)
	// Follow returns a channel that receives after each commit that appended to the
	// feed, and once at the start.
	Follow() (changed <-chan struct{}, stop func())
	// Documents reads records; those that are gone or hidden are left out.
	Documents(ctx context.Context, refs ...memory.RecordRef) ([]memory.Document, error)
	// DocumentsAfter reads up to limit records of a kind with numbers above after, in order.
	DocumentsAfter(ctx context.Context, kind memory.RecordKind, after int64, limit int) ([]memory.Document, error)
	// Totals counts the records of a project, "" for all, for a progress bar.
	Totals(ctx context.Context, project string) (memory.Totals, error)
}

// Embedder turns texts into vectors of unit length that can be compared with
// each other, but not with those of another model.
type Embedder interface {
	// Model names the model; vectors of different names are never compared.
	Model() string
	// Embed returns a vector of the same number of dimensions for each text; a text
	// without meaning to the model has a vector of zeros.
	Embed(ctx context.Context, texts ...string) ([][]float32, error)
}
