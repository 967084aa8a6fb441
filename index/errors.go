package index

import (
	"errors"

	"claudemem/sqlite"
)

var file = sqlite.File{
	Name:    "index.db",
	Damaged: "run claude-mem reindex",
	Closing: "the index is closing", Closed: errClosed,
}

func fault(what string, err error) error { return file.Fault(what, err) }

// errClosed answers calls to an index that was closed.
var errClosed = errors.New("index is closed")

// damaged reports whether only a new index helps.
func damaged(err error) bool {
	return sqlite.Damaged(err) || errors.Is(err, errSchema)
}
