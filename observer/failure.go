package observer

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
)

// Transient is an error that may say of itself that it is not the fault of the
// events in the batch: no network, rate limit, quota, login. Such a failure costs
// the events no attempt; the queue waits.
type Transient interface {
	error
	Transient() bool
}

func isTransient(err error) bool {
	var t Transient
	return errors.As(err, &t) && t.Transient()
}

// transientError marks a failure of ours as Transient.
type transientError struct{ err error }

func (e transientError) Error() string   { return e.err.Error() }
func (e transientError) Unwrap() error   { return e.err }
func (e transientError) Transient() bool { return true }

// panicked makes an error of a recovered value. Only the runtime's own messages
// are quoted: any other value may hold a piece of a payload, and errors are logged.
func panicked(value any) error {
	if err, ok := value.(runtime.Error); ok {
		return fmt.Errorf("panic: %w", err)
	}
	return fmt.Errorf("panic of type %T", value)
}

// stack is the panicking goroutine's stack, cut to what a log line can bear.
func stack() string {
	s := debug.Stack()
	return string(s[:min(len(s), 4<<10)])
}
