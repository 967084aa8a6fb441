package observer

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
)

// Transient is an error that can say that the events of the batch are not its
// cause: no network, rate limit, quota, login. It costs the events no attempt; the
// queue retries later.
type Transient interface {
	error
	Transient() bool
}

// isTransient reports whether err, or one that it wraps, is Transient and says so. A nil one is not.
func isTransient(err error) bool {
	t, ok := errors.AsType[Transient](err)
	return ok && t.Transient()
}

// transientError makes err Transient: a failure of our own storage.
type transientError struct{ err error }

func (e transientError) Error() string   { return e.err.Error() }
func (e transientError) Unwrap() error   { return e.err }
func (e transientError) Transient() bool { return true }

// panicked returns the error for a recovered value. It quotes the runtime's own
// messages only: any other value may contain a piece of a payload, and errors are
// logged.
func panicked(value any) error {
	if err, ok := value.(runtime.Error); ok {
		return fmt.Errorf("panic: %w", err)
	}
	return fmt.Errorf("panic of type %T", value)
}

// stack returns the panicking goroutine's stack, at most 4 KB.
func stack() string {
	s := debug.Stack()
	return string(s[:min(len(s), 4<<10)])
}
