package httpapi

import (
	"context"
	"sync"

	"claudemem"
)

// bookings are what was given to sessions and is not in the books yet: a host
// that has its answer may ask for the same session again before the commit.
type bookings struct {
	mu   sync.Mutex
	open map[sessionName]*booking
}

type sessionName struct {
	host claudemem.Host
	id   string
}

type booking struct {
	n    int // how many
	done chan struct{}
}

// begin announces that something is about to be given; end says that it is booked, or was not given.
func (b *bookings) begin(host claudemem.Host, id string) (end func()) {
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
func (b *bookings) wait(ctx context.Context, host claudemem.Host, id string) {
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
