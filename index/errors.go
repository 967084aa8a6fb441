package index

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
	if errors.As(err, &coded) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s: %w", what, err)
	}
	if primary(err) == sqlite3.SQLITE_INTERRUPT {
		return fmt.Errorf("%s: %w", what, context.Canceled)
	}
	code, hint := classify(err)
	return claudemem.Errorf(code, "%s: %w", what, err).WithHint(hint)
}

func classify(err error) (claudemem.Code, string) {
	switch primary(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return claudemem.CodeUnavailable, "another program holds a lock on index.db; close it or wait"
	case sqlite3.SQLITE_FULL:
		return claudemem.CodeStorage, "the disk is full: free some space"
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN:
		return claudemem.CodeStorage, "index.db can't be opened or written: check the data directory's permissions"
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return claudemem.CodeStorage, "index.db is damaged: run claude-mem reindex"
	case sqlite3.SQLITE_IOERR:
		return claudemem.CodeStorage, "the disk reports an error: check it; claude-mem worker logs tells more"
	case sqlite3.SQLITE_NOMEM:
		return claudemem.CodeUnavailable, "out of memory"
	}
	if errors.Is(err, sql.ErrConnDone) || errors.Is(err, errClosed) {
		return claudemem.CodeUnavailable, "the index is closing"
	}
	return claudemem.CodeInternal, ""
}

// errClosed answers calls to an index that was closed.
var errClosed = errors.New("index is closed")

// errDamaged says that what the database holds contradicts itself.
var errDamaged = errors.New("index is damaged")

// primary returns SQLite's primary result code of err, 0 when it has none.
func primary(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// damaged reports whether only a new index helps.
func damaged(err error) bool {
	code := primary(err)
	return code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB || errors.Is(err, errDamaged) || errors.Is(err, errSchema)
}
