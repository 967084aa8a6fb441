package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// exitCodes is the documented table of exit codes. Hook verbs always exit 0.
var exitCodes = []struct {
	exit    int
	codes   []memory.Code
	meaning string
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
	{exitBroken, nil, "`claude-mem doctor` found something broken"},
}

// exitBroken is the exit code of doctor for something broken; warnings exit 0.
const exitBroken = 9

// exitCode returns the exit code of a command that returned err: 0 for nil, by the
// error's code from exitCodes, else 1.
func exitCode(err error) int {
	if err == nil {
		return 0
	}
	if quiet, ok := errors.AsType[*quietExit](err); ok {
		return quiet.code
	}
	return exitOf(memory.CodeOf(err))
}

// exitOf returns the exit code for an error's code, 1 for one that exitCodes does not
// have.
func exitOf(code memory.Code) int {
	for _, row := range exitCodes {
		if slices.Contains(row.codes, code) {
			return row.exit
		}
	}
	return 1
}

// exitHelp returns the table for the help.
func exitHelp() string {
	var b strings.Builder
	for _, row := range exitCodes {
		fmt.Fprintf(&b, "  %d  %s\n", row.exit, row.meaning)
	}
	return b.String()
}

// quietExit ends a command with an exit code and no error message.
type quietExit struct{ code int }

// Error returns a text for tests; nobody prints it.
func (q *quietExit) Error() string { return fmt.Sprintf("exit %d", q.code) }

// quietly returns the quietExit of an error code.
func quietly(code memory.Code) error { return &quietExit{exitOf(code)} }

// report prints an error for people, or as one line of JSON, the last one of standard error.
func report(w io.Writer, err error, asJSON bool) {
	if _, quiet := errors.AsType[*quietExit](err); quiet || err == nil {
		return
	}
	var body api.ErrorBody
	body.Error.Code, body.Error.Message, body.Error.Hint = memory.CodeOf(err), err.Error(), hintOf(err)
	if asJSON {
		_ = json.NewEncoder(w).Encode(body) // as with every line of it
		return
	}
	w = terminalWriter{w: w}
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

// asksForJSON reports whether the arguments have --json, even when they are invalid.
func asksForJSON(args []string) bool {
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
