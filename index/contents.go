package index

import (
	"context"
	"database/sql"

	"claudemem/sqlite"
)

// content is a row of contents, valid until the next one is read.
type content struct {
	words, pieces sql.RawBytes
}

// readContents calls fn with the words of documents.
func (b *base) readContents(ctx context.Context, documents []uint32, fn func(document uint32, row content) error) error {
	var d uint32
	var row content
	return b.read.each(sqlite.Brief(ctx), "SELECT document, words, pieces FROM contents WHERE document IN (SELECT value FROM json_each(?))", func(scan sqlite.Scan) error {
		if err := scan(&d, &row.words, &row.pieces); err != nil {
			return err
		}
		return fn(d, row)
	}, jsonList(documents))
}

// mostDigits is the length of the greatest document number.
const mostDigits = len("4294967295")

// idList calls fn with each number of a list that group_concat has joined; errDamaged
// for anything else.
func idList(joined []byte, fn func(document uint32)) error {
	for len(joined) > 0 {
		end := 0
		n := uint32(0)
		for end < len(joined) && joined[end] >= '0' && joined[end] <= '9' {
			n = n*10 + uint32(joined[end]-'0')
			end++
		}
		if end == 0 || end > mostDigits {
			return errDamaged
		}
		fn(n)
		if end < len(joined) {
			end++ // the comma
		}
		joined = joined[end:]
	}
	return nil
}
