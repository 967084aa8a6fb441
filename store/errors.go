package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"claudemem"
)

// fault wraps err with what was attempted and gives it the code that tells
// others what to do about it. Errors that have a code keep it.
func fault(what string, err error) error {
	if err == nil {
		return nil
	}
	var coded *claudemem.Error
	if errors.As(err, &coded) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s: %w", what, err)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return claudemem.Errorf(claudemem.CodeNotFound, "%s: %w", what, err)
	}
	code, hint := classify(err)
	return claudemem.Errorf(code, "%s: %w", what, err).WithHint(hint)
}

// classify maps SQLite's result codes.
func classify(err error) (claudemem.Code, string) {
	switch primary(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return claudemem.CodeUnavailable, "another program holds a lock on memory.db; close it or wait"
	case sqlite3.SQLITE_FULL:
		return claudemem.CodeStorage, "the disk is full: free some space"
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return claudemem.CodeStorage, "memory.db can't be written: check the data directory's permissions"
	case sqlite3.SQLITE_CANTOPEN:
		return claudemem.CodeStorage, "memory.db can't be opened: check the data directory's permissions"
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return claudemem.CodeStorage, "memory.db is damaged: keep a copy of it; `claude-mem doctor` tells what to do"
	case sqlite3.SQLITE_IOERR:
		return claudemem.CodeStorage, "the disk reports an error: check it; claude-mem worker logs tells more"
	case sqlite3.SQLITE_NOMEM:
		return claudemem.CodeUnavailable, "out of memory"
	case sqlite3.SQLITE_TOOBIG:
		return claudemem.CodeTooLarge, ""
	}
	if errors.Is(err, errClosed) || errors.Is(err, sql.ErrConnDone) {
		return claudemem.CodeUnavailable, "the store is closing"
	}
	return claudemem.CodeInternal, ""
}

// primary returns SQLite's primary result code of err, 0 when it has none.
func primary(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// outside reports whether the fault lies with the disk or another program, so
// that trying the same again at once is of no use.
func outside(err error) bool {
	code, _ := classify(err)
	return code == claudemem.CodeStorage || code == claudemem.CodeUnavailable
}
