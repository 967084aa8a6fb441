package index

import (
	"context"
	"database/sql"
	"errors"

	"claudemem/internal/keep/sqlite"
)

// content is a row of contents, valid until the next one is read.
type content struct {
	words, pieces sql.RawBytes
}

// readContents calls fn with the words and pieces of documents, in any order; one without a row is
// left out. sqlite.ErrDamaged for a row that was not written as it is.
func (b *base) readContents(ctx context.Context, documents []uint32, fn func(document uint32, row content) error) error {
	var d uint32
	var row content
	return b.read.each(sqlite.Brief(ctx), "SELECT document, words, pieces FROM contents WHERE document IN (SELECT value FROM json_each(?))", func(scan sqlite.Scan) error {
		if err := scan(&d, &row.words, &row.pieces); err != nil {
			return err
		}
		var failed, failed2 error
		row.words, failed = unsealed(d, row.words)
		row.pieces, failed2 = unsealed(d, row.pieces)
		if err := errors.Join(failed, failed2); err != nil {
			return err
		}
		return fn(d, row)
	}, jsonList(documents))
}
