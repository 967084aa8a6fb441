package sqlite

import (
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

// Brief returns the context for queries that take a millisecond or so: they fail if ctx is done,
// but are not interrupted. To be ready for an interruption, driver and pool start two goroutines
// for each query, which takes as long as finding a few rows by key.
func Brief(ctx context.Context) context.Context {
	if ctx.Err() != nil {
		return ctx
	}
	return context.WithoutCancel(ctx)
}
