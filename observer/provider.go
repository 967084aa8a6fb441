package observer

import (
	"context"

	"claudemem"
)

// Provider is a model that can be asked. An error is a *claudemem.ModelError.
type Provider interface {
	// Name is the provider's name in settings and in the ledger.
	Name() string
	Complete(ctx context.Context, request claudemem.ModelRequest) (claudemem.ModelAnswer, error)
}

// RunEnder is a Provider that keeps something for a run and wants to know when
// it is over (its session was completed, or it was compacted into another).
type RunEnder interface {
	EndRun(run string)
}
