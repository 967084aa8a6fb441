package store

import (
	"database/sql"
	"errors"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/memory"
)

var file = sqlite.File{
	Name:    "memory.db",
	Damaged: damagedHint,
	Closing: "the store is closing", Closed: errClosed,
}

const damagedHint = "keep a copy of it; `claude-mem doctor` tells what to do"

// fault returns err as a coded error that begins with what, as sqlite.File.Fault does;
// sql.ErrNoRows is CodeNotFound. nil stays nil.
func fault(what string, err error) error {
	if errors.Is(err, sql.ErrNoRows) && memory.CodeOf(err) == memory.CodeInternal {
		return memory.Errorf(memory.CodeNotFound, "%s: %w", what, err)
	}
	return file.Fault(what, err)
}

// wrap is fault for a deferred call: it replaces the error that a method returns.
func wrap(err *error, what string) { *err = fault(what, *err) }

// Damaged reports whether an error says that the file is damaged or no database of
// claude-mem, so that another try would fail too.
func Damaged(err error) bool {
	return sqlite.Damaged(err) || errors.Is(err, errNegativeSchema) || errors.Is(err, errForeign)
}
