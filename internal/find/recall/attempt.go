package recall

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"claudemem/internal/memory"
)

// attempt is a part of a block under construction. Its goroutine ends by itself:
// its context ends with the part's time limit, and it waits for no reader. A
// part that ignores its context is not waited for; it delays nobody.
type attempt[T any] struct {
	ctx   context.Context
	done  chan struct{} // closed once value and err are set
	value T
	err   error
}

// try starts fn. A panic in it becomes a *fault.
func try[T any](ctx context.Context, fn func(context.Context) (T, error)) *attempt[T] {
	a := &attempt[T]{ctx: ctx, done: make(chan struct{})}
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

// wait returns what came of the attempt, or its context's error when that ended
// first. Any number of callers may wait. An attempt that failed gives the zero value.
func (a *attempt[T]) wait() (T, error) {
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

// reasonOf returns the kind of an error in a word, as the reason why a part was left
// out.
func reasonOf(err error) string {
	var f *fault
	switch {
	case errors.As(err, &f):
		return "panic"
	case errors.Is(err, context.DeadlineExceeded):
		return "slow"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	default:
		return "failed: " + string(memory.CodeOf(err))
	}
}
