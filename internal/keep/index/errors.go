package index

import (
	"errors"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/memory"
)

var file = sqlite.File{
	Name:    "index.db",
	Damaged: "run claude-mem reindex",
	Closing: "the index is closing", Closed: errClosed,
}

func fault(what string, err error) error { return file.Fault(what, err) }

// errClosed answers calls to an index that was closed.
var errClosed = errors.New("index is closed")

// databaseFile is the name of the database where repairs are counted.
const databaseFile = "index.db"

// errUnsound answers queries of an index that is damaged or being rebuilt.
var errUnsound = memory.Errorf(memory.CodeUnavailable, "the index is damaged or being rebuilt").
	WithHint("try again in a moment; claude-mem doctor tells more")

// reasonOf returns the reason of a repair, the same for all errors of a kind.
func reasonOf(err error) string {
	switch {
	case errors.Is(err, errPages):
		return "pages were changed by the disk or another program"
	case errors.Is(err, errSchema):
		return err.Error()
	case errors.Is(err, sqlite.ErrDamaged):
		return sqlite.ErrDamaged.Error()
	default:
		return "SQLite cannot read it"
	}
}

// damaged reports whether only a new index helps.
func damaged(err error) bool {
	return sqlite.Damaged(err) || errors.Is(err, errSchema)
}
