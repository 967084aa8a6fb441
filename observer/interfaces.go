package observer

import (
	"context"

	"claudemem"
)

// Queue is the durable work, as the observer sees it.
type Queue interface {
	// Ready receives (capacity 1, later signals merge) when work has arrived or
	// has become due.
	Ready() <-chan struct{}
	Backlog(ctx context.Context) ([]claudemem.Backlog, error)
	// Claim takes up to limit of a session's oldest due events, 0 = all.
	Claim(ctx context.Context, session claudemem.SessionID, limit int) (claudemem.Claim, error)
	Confirm(ctx context.Context, claim claudemem.Claim, outcome claudemem.Outcome) error
	// Retry gives the claim back after a failure: counted failures back off
	// exponentially, uncounted ones (not the events' fault) wait a fixed time.
	Retry(ctx context.Context, claim claudemem.Claim, cause error, counted bool) error
	// Release gives the claim back untouched and due at once.
	Release(ctx context.Context, claim claudemem.Claim) error
	// Bury makes dead letters of the claim's events.
	Bury(ctx context.Context, claim claudemem.Claim, cause error) error
}

// Recorder tells what is already known of a session's turns.
type Recorder interface {
	// Turns returns the prompts with numbers from..to and the observations that
	// were stored for them, both in order.
	Turns(ctx context.Context, session claudemem.SessionID, from, to int) ([]claudemem.Prompt, []claudemem.Observation, error)
}

// Distiller turns a batch into what is worth remembering. An empty outcome is a good answer.
type Distiller interface {
	Distil(ctx context.Context, batch claudemem.Batch) (claudemem.Outcome, error)
}

// Limiter is a Distiller whose batches have a size of its own: a model's request
// is bounded, and offline extraction wants whole turns.
type Limiter interface {
	// Limits returns the most events of a session, and about how much payload in
	// bytes, in a batch; 0 leaves it to Options. It is asked at every look at the
	// backlog and has to be quick.
	Limits(session claudemem.Session) (events, bytes int)
}
