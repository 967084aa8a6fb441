package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
)

// Scan is the Scan method of a row.
type Scan = func(dest ...any) error

// ErrStop is returned by a function given to Each to end it without an error.
var ErrStop = errors.New("no more rows")

// A Result is what a query returned: its rows or its error.
type Result struct {
	rows *sql.Rows
	err  error
}

// Rows takes the return values of a query.
func Rows(rows *sql.Rows, err error) Result { return Result{rows, err} }

// Each calls row for each of the rows and closes them. An error of row ends it and is returned,
// but for ErrStop.
func (r Result) Each(row func(scan Scan) error) error {
	if r.err != nil {
		return r.err
	}
	defer func() { _ = r.rows.Close() }()
	scan := r.rows.Scan
	for r.rows.Next() {
		if err := row(scan); errors.Is(err, ErrStop) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return r.rows.Err()
}

// A Selection is a query whose rows Into reads.
type Selection struct {
	each func(row func(scan Scan) error) error
	err  *error
}

// Select returns the selection of the rows for which each calls a function. Its error goes to err.
func Select(err *error, each func(row func(scan Scan) error) error) Selection {
	return Selection{each, err}
}

// Into is a loop over the rows, the columns of each in dest, which the next row overwrites. The
// first error ends it; a selection whose err has an error already has no rows.
func (s Selection) Into(dest ...any) func(yield func() bool) {
	return func(yield func() bool) {
		if *s.err != nil {
			return
		}
		err := s.each(func(scan Scan) error {
			if err := scan(dest...); err != nil {
				return err
			}
			if !yield() {
				return ErrStop
			}
			return nil
		})
		*s.err = cmp.Or(*s.err, err)
	}
}

// Brief returns the context for queries that take a millisecond or so: they fail if ctx is done,
// but are not interrupted. To be ready for an interruption, driver and pool start two goroutines
// for each query, which takes as long as finding a few rows by key.
func Brief(ctx context.Context) context.Context {
	if ctx.Err() != nil {
		return ctx
	}
	return context.WithoutCancel(ctx)
}
