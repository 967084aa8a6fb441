package index

import (
	"context"
	"errors"
)

// Looked holds the facts on an index that need not open all of it.
type Looked struct {
	Documents int
	// Cursor is the number of the last change that it has.
	Cursor   int64
	Building bool
	Model    string
	// UnknownLayout is that of Status.
	UnknownLayout bool
}

// Look looks at the index at path for a process that is not the worker; it never
// writes.
//
// The codes of its errors are those of OpenReadOnly.
func Look(ctx context.Context, path string) (Looked, error) {
	const what = "look at index"
	b, err := openBaseReadOnly(ctx, path, nil)
	if err != nil {
		return Looked{}, fault(what, err)
	}
	known, err := b.checkLayout(ctx)
	l := Looked{Documents: b.cat.all.documents, Cursor: b.cursor, Building: b.build.kind != 0, Model: b.model, UnknownLayout: !known}
	return l, fault(what, errors.Join(err, b.close()))
}
