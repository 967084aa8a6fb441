package httpapi

import (
	"context"
	"sync"

	"claudemem/internal/memory"
)

// bookings counts, by session, the texts that were shown and are not booked yet. A host
// that has its answer may ask for the same session again before the commit; it waits, so
// that the same records are not shown twice.
type bookings struct {
	mu   sync.Mutex
	open map[sessionName]*booking
}

type sessionName struct {
	host memory.Host
	id   string
}

type booking struct {
	n    int // texts
	done chan struct{}
}

// begin counts a text that is about to be shown to a session. end must be called when it
// is booked, or was not shown.
func (b *bookings) begin(host memory.Host, id string) (end func()) {
	name := sessionName{host, id}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open == nil {
		b.open = map[sessionName]*booking{}
	}
	of := b.open[name]
	if of == nil {
		of = &booking{done: make(chan struct{})}
		b.open[name] = of
	}
	of.n++
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if of.n--; of.n == 0 {
			close(of.done)
			delete(b.open, name)
		}
	}
}

// wait returns when the injections begun for a session are booked, or when ctx ends.
func (b *bookings) wait(ctx context.Context, host memory.Host, id string) {
	b.mu.Lock()
	of := b.open[sessionName{host, id}]
	b.mu.Unlock()
	if of == nil {
		return
	}
	select {
	case <-of.done:
	case <-ctx.Done():
	}
}
