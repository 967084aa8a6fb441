package recall

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"claudemem/internal/memory"
)

// Attempt is a part of a block under construction. Its goroutine ends by itself:
// its context ends with the part's time limit, and it waits for no reader. A
// part that ignores its context is not waited for; it delays nobody.
type Attempt[T any] struct {
	ctx   context.Context
	done  chan struct{} // closed once value and err are set
	value T
	err   error
}

// Try starts fn. A panic in it becomes a *fault.
func Try[T any](ctx context.Context, fn func(context.Context) (T, error)) *Attempt[T] {
	a := &Attempt[T]{ctx: ctx, done: make(chan struct{})}
	go func() {
		defer close(a.done)
		defer func() {
			if p := recover(); p != nil {
				a.err = &fault{value: p, stack: debug.Stack()}
			}
		}()
		a.value, a.err = fn(ctx)
	}()
	return a
}

// Wait returns what came of the attempt, or its context's error when that ended
// first. Any number of callers may wait. An attempt that failed gives the zero value.
func (a *Attempt[T]) Wait() (T, error) {
	var zero T
	select {
	case <-a.done:
	case <-a.ctx.Done():
		select {
		case <-a.done: // Both: what is there is taken.
		default:
			return zero, a.ctx.Err()
		}
	}
	if a.err != nil {
		return zero, a.err
	}
	return a.value, nil
}

// fault is a panic, kept as an error.
type fault struct {
	value any
	stack []byte
}

func (f *fault) Error() string { return fmt.Sprintf("panic: %v\n%s", f.value, f.stack) }

// ReasonOf returns the kind of an error in a word, as the reason why a part was left
// out.
func ReasonOf(err error) string {
	switch {
	case errors.As(err, new(*fault)):
		return "panic"
	case errors.Is(err, context.DeadlineExceeded):
		return "slow"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	default:
		return "failed: " + string(memory.CodeOf(err))
	}
}
