package store

import (
	"context"
	"database/sql"
	"errors"

	"claudemem/sqlite"
)

// querier is a pool or a transaction that reads.
type querier = sqlite.Querier

// scanFunc is the Scan method of a row.
type scanFunc func(dest ...any) error

// errStop is returned by a function given to each to end it without an error.
var errStop = errors.New("no more rows")

// each calls row for each row that a query selects. An error of row ends it.
func each(ctx context.Context, q queryOnly, row func(scan scanFunc) error, query string, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			if errors.Is(err, errStop) {
				return nil
			}
			return err
		}
	}
	return rows.Err()
}

// queryOnly is a querier or the writer's transaction.
type queryOnly interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// all returns the rows that a query selects; fields says where a row's columns go.
func all[T any](ctx context.Context, q queryOnly, fields func(*T) []any, query string, args ...any) ([]T, error) {
	var list []T
	err := each(ctx, q, func(scan scanFunc) error {
		list = append(list, *new(T))
		return scan(fields(&list[len(list)-1])...)
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return list, nil
}

// column returns the only column that a query selects.
func column[T any](ctx context.Context, q queryOnly, query string, args ...any) ([]T, error) {
	return all(ctx, q, func(value *T) []any { return []any{value} }, query, args...)
}
