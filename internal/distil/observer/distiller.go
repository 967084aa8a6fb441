package observer

import (
	"context"

	"claudemem/internal/memory"
)

// Distiller makes records of a batch of events. An empty outcome is a good answer.
type Distiller interface {
	Distil(ctx context.Context, batch memory.Batch) (memory.Outcome, error)
}

// Limiter is a Distiller that bounds its batches: a model's request is limited,
// and the offline distiller wants whole turns.
type Limiter interface {
	// MaxEvents returns the most events of a session in a batch; 0 leaves that to
	// Options. It is called at every look at the backlog and has to be quick.
	MaxEvents(session memory.Session) int
}
