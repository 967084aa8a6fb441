package intake

import (
	"context"

	"claudemem"
)

// Queue makes an arrival durable.
type Queue interface {
	Enqueue(ctx context.Context, arrivals ...claudemem.Arrival) ([]claudemem.Receipt, error)
}
