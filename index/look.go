package index

import (
	"context"
	"errors"

	"claudemem"
)

// Looked holds the facts on an index that need not open all of it.
type Looked struct {
	Documents int
	// Cursor is the number of the last change that it has.
	Cursor   int64
	Building bool
	Model    string
}

// Look looks at the index at path for a process that is not the worker; it never
// writes.
//
// The codes of its errors are those of OpenReadOnly.
func Look(ctx context.Context, path string) (Looked, error) {
	const what = "look at index"
	var l Looked
	b, err := openBaseReadOnly(ctx, path, true)
	if err != nil {
		return l, fault(what, err)
	}
	err = b.reader.QueryRowContext(ctx, `SELECT (SELECT seq FROM cursor), (SELECT count(*) FROM documents),
		(SELECT count(*) FROM meta WHERE name = '`+metaBuild+`'),
		coalesce((SELECT value FROM meta WHERE name = '`+metaModel+`'), '')`).Scan(&l.Cursor, &l.Documents, &l.Building, &l.Model)
	if damaged(err) {
		err = claudemem.Errorf(claudemem.CodeUnavailable, "it is damaged: %w", err).WithHint("`claude-mem reindex` builds it anew")
	}
	return l, fault(what, errors.Join(err, b.close()))
}
