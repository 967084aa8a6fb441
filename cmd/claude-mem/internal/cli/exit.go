package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// WithHint returns an error's text, with its hint in brackets.
func WithHint(err error) string {
	hint := hintOf(err)
	return err.Error() + print.If(hint != "", " ("+hint+")")
}

// ExitCodes is the documented table of exit codes. Hook verbs always exit 0.
var ExitCodes = []struct {
	Exit    int
	Codes   []memory.Code
	Meaning string
}{
	{0, nil, "success"},
	{1, []memory.Code{memory.CodeInternal}, "a fault of claude-mem"},
	{2, []memory.Code{memory.CodeInvalid, memory.CodeTooLarge}, "wrong usage or input"},
	{3, []memory.Code{memory.CodeNotFound, memory.CodeNoMemory}, "no such record"},
	{4, []memory.Code{memory.CodeConflict}, "another process or state is in the way"},
	{5, []memory.Code{memory.CodeUnavailable, memory.CodeWireVersion}, "no worker, or it cannot answer now"},
	{6, []memory.Code{memory.CodeForbidden}, "not allowed"},
	{7, []memory.Code{memory.CodeStorage}, "disk full, read-only or a damaged database"},
	{8, []memory.Code{memory.CodeNewerSchema, memory.CodeOlderSchema}, "the database is of another version"},
	{ExitBroken, nil, "`claude-mem doctor` found something broken"},
}

// ExitBroken is the exit code of doctor for something broken; warnings exit 0.
const ExitBroken = 9

// ExitCode returns the exit code of a command that returned err: 0 for nil, by the
// error's code from ExitCodes, else 1.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	if quiet, ok := errors.AsType[*QuietExit](err); ok {
		return quiet.Code
	}
	return ExitOf(memory.CodeOf(err))
}

// ExitOf returns the exit code for an error's code, 1 for one that ExitCodes does not
// have.
func ExitOf(code memory.Code) int {
	for _, row := range ExitCodes {
		if slices.Contains(row.Codes, code) {
			return row.Exit
		}
	}
	return 1
}

// QuietExit ends a command with an exit code and no error message.
type QuietExit struct{ Code int }

// Error returns a text for tests; nobody prints it.
func (q *QuietExit) Error() string { return fmt.Sprintf("exit %d", q.Code) }

// Quietly returns the QuietExit of an error code.
func Quietly(code memory.Code) error { return &QuietExit{ExitOf(code)} }

// Report prints an error and its hint for people, or as one line of JSON, the last one of standard
// error; nothing for nil and a QuietExit.
func Report(w io.Writer, err error, asJSON bool) {
	if _, quiet := errors.AsType[*QuietExit](err); quiet || err == nil {
		return
	}
	var body api.ErrorBody
	body.Error.Code, body.Error.Message, body.Error.Hint = memory.CodeOf(err), err.Error(), hintOf(err)
	if asJSON {
		_ = json.NewEncoder(w).Encode(body) // as with every line of it
		return
	}
	w = print.Terminal{W: w}
	_, _ = fmt.Fprintf(w, "error: %s\n", err)
	if body.Error.Hint != "" {
		_, _ = fmt.Fprintf(w, "hint: %s\n", body.Error.Hint)
	}
}

// hintOf returns the hint of an error; "" for none.
func hintOf(err error) string {
	if e, ok := errors.AsType[*memory.Error](err); ok {
		return e.Hint
	}
	return ""
}

// AsksForJSON reports whether the arguments have --json, even when they are invalid.
func AsksForJSON(args []string) bool {
	for _, arg := range args {
		if arg == "--" {
			return false
		}
		if arg == "--json" || arg == "--json=true" {
			return true
		}
	}
	return false
}
