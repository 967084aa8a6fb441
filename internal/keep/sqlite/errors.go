package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"claudemem/internal/memory"
)

// A File knows how to speak of errors of one database file.
type File struct {
	// Name is the file's name, for hints.
	Name string
	// Damaged is the hint for a damaged file.
	Damaged string
	// Closing is the hint for calls that come when the file is being closed, which
	// return Closed.
	Closing string
	Closed  error
}

// Fault wraps err with what was attempted and gives it the code that tells others
// what to do about it; nil stays nil. Errors that have a code keep it, those of a caller's mistake
// also their words, and those of a context get none; a statement that was interrupted is
// context.Canceled.
func (f File) Fault(what string, err error) error {
	if err == nil {
		return nil
	}
	coded, ok := errors.AsType[*memory.Error](err)
	if ok && (coded.Code == memory.CodeNotFound || coded.Code == memory.CodeInvalid || coded.Code == memory.CodeConflict) {
		return err
	}
	if ok || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s: %w", what, err)
	}
	if Code(err) == codes.SQLITE_INTERRUPT {
		return fmt.Errorf("%s: %w", what, context.Canceled)
	}
	code, hint := f.classify(err)
	return memory.Errorf(code, "%s: %w", what, err).WithHint(hint)
}

// classify maps SQLite's result codes.
func (f File) classify(err error) (memory.Code, string) {
	if Damaged(err) {
		return memory.CodeStorage, f.Name + " is damaged: " + f.Damaged
	}
	switch Code(err) {
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
		return memory.CodeUnavailable, "another program holds a lock on " + f.Name + "; close it or wait"
	case codes.SQLITE_FULL:
		return memory.CodeStorage, "the disk is full: free some space"
	case codes.SQLITE_READONLY, codes.SQLITE_PERM:
		return memory.CodeStorage, f.Name + " can't be written: check the data directory's permissions"
	case codes.SQLITE_CANTOPEN:
		return memory.CodeStorage, f.Name + " can't be opened: check the data directory's permissions"
	case codes.SQLITE_IOERR:
		return memory.CodeStorage, "the disk reports an error: check it; claude-mem worker logs tells more"
	case codes.SQLITE_NOMEM:
		return memory.CodeUnavailable, "out of memory"
	case codes.SQLITE_TOOBIG:
		return memory.CodeTooLarge, ""
	}
	if errors.Is(err, f.Closed) || errors.Is(err, sql.ErrConnDone) {
		return memory.CodeUnavailable, f.Closing
	}
	return memory.CodeInternal, ""
}

// External reports whether the fault lies with the disk or another program, so
// that trying the same again at once is of no use.
func (f File) External(err error) bool {
	code, _ := f.classify(err)
	return code == memory.CodeStorage || code == memory.CodeUnavailable
}

// Code returns SQLite's primary result code of err, 0 when it has none.
func Code(err error) int {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// Full reports whether err says that the disk is full.
func Full(err error) bool { return Code(err) == codes.SQLITE_FULL }

// ErrDamaged is the error for rows or pages of the index that contradict each other: to SQLite
// they are sound, only their reader sees it.
var ErrDamaged = errors.New("the index is damaged")

// Damaged reports whether err says that the file is no sound database.
func Damaged(err error) bool {
	code := Code(err)
	return code == codes.SQLITE_CORRUPT || code == codes.SQLITE_NOTADB || errors.Is(err, ErrNotADatabase) || errors.Is(err, ErrDamaged)
}
