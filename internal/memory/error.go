package memory

import (
	"errors"
	"fmt"
)

// Code classifies an error that somebody outside has to act on. One table maps
// codes to HTTP statuses (httpapi) and one to exit codes (cmd/claude-mem).
type Code string

// The codes.
const (
	CodeInvalid     Code = "invalid"      // the input is wrong
	CodeNotFound    Code = "not_found"    // no such record
	CodeForbidden   Code = "forbidden"    // the caller may not
	CodeConflict    Code = "conflict"     // another process or state is in the way
	CodeWireVersion Code = "wire_version" // hook and worker speak different versions
	CodeUnavailable Code = "unavailable"  // not now: starting, stopping, overloaded
	CodeTooLarge    Code = "too_large"    // over a limit
	CodeNewerSchema Code = "newer_schema" // the database is of a newer claude-mem
	CodeOlderSchema Code = "older_schema" // the database waits for the worker to migrate it
	CodeNoMemory    Code = "no_memory"    // there is no database yet
	CodeStorage     Code = "storage"      // disk full, read-only, corrupt
	CodeInternal    Code = "internal"     // a fault of ours
)

// Error is an error with a code, a message and, where we know it, a hint that
// names what to do next.
type Error struct {
	Code    Code
	Message string
	Hint    string
	Err     error
}

// Errorf makes an Error; a %w among the arguments is kept as its cause.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), Err: errors.Unwrap(err)}
}

// WithHint sets the hint and returns e.
func (e *Error) WithHint(hint string) *Error {
	e.Hint = hint
	return e
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of the first Error in err's chain, CodeInternal when there is none;
// nil has none either, so a caller looks at err first.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}
