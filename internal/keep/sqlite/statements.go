package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"sync"

	"claudemem/internal/leaf/collect"
)

// Preparer is a connection or a pool.
type Preparer interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// Statements are the queries of a connection or a pool, each of which is prepared at its first use
// and kept: a batch runs the same few ten thousand times.
type Statements struct {
	on       Preparer
	mu       sync.Mutex
	prepared map[string]*sql.Stmt
}

// NewStatements returns the statements of a connection or a pool, none so far.
func NewStatements(on Preparer) *Statements {
	return &Statements{on: on, prepared: map[string]*sql.Stmt{}}
}

// Prepare returns the prepared statement of a constant query.
func (s *Statements) Prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stmt, ok := s.prepared[query]; ok {
		return stmt, nil
	}
	stmt, err := s.on.PrepareContext(ctx, query) //nolint:sqlclosecheck // Close closes it
	if err == nil {
		s.prepared[query] = stmt
	}
	return stmt, err
}

// QueryContext runs a query by its prepared statement.
func (s *Statements) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := s.Prepare(ctx, query) //nolint:sqlclosecheck // Close closes it
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

// Close closes the statements, without which their connections do not close. There may be none: s
// may be nil.
func (s *Statements) Close() error {
	if s == nil {
		return nil
	}
	return errors.Join(collect.Map(slices.Collect(maps.Values(s.prepared)), (*sql.Stmt).Close)...)
}

// Batch runs statements one after the other. It keeps its first error, as a bufio.Writer does: after
// one no statement runs any more, and results are zero values.
type Batch struct {
	ctx context.Context
	on  *Statements
	err error
}

// Batch returns a batch of the statements, which end with ctx.
func (s *Statements) Batch(ctx context.Context) *Batch { return &Batch{ctx: ctx, on: s} }

// Err returns the first error of the batch.
func (b *Batch) Err() error { return b.err }

// Fail makes err the error of the batch, unless that has one or err is nil.
func (b *Batch) Fail(err error) { b.err = cmp.Or(b.err, err) }

// changed runs a statement unless the batch has an error, and returns a number of its result.
func (b *Batch) changed(number func(sql.Result) (int64, error), query string, args []any) (n int64) {
	if b.err != nil {
		return 0
	}
	stmt, err := b.on.Prepare(b.ctx, query) //nolint:sqlclosecheck // Close closes it
	var r sql.Result
	if err == nil {
		r, err = stmt.ExecContext(b.ctx, args...)
	}
	if err == nil {
		n, err = number(r)
	}
	b.err = err
	return n
}

// Exec runs a statement and returns how many rows it changed.
func (b *Batch) Exec(query string, args ...any) int {
	return int(b.changed(sql.Result.RowsAffected, query, args))
}

// ExecAll runs statements with the same arguments one after the other.
func (b *Batch) ExecAll(queries []string, args ...any) {
	for _, query := range queries {
		b.Exec(query, args...)
	}
}

// Insert runs an INSERT of one row and returns its number, 0 when a conflict left it out.
func (b *Batch) Insert(query string, args ...any) int64 {
	return b.changed(func(r sql.Result) (int64, error) {
		if n, err := r.RowsAffected(); n == 0 {
			return 0, err
		}
		return r.LastInsertId()
	}, query, args)
}

// Find scans the first row of a query and reports whether there is one.
func (b *Batch) Find(query string, args []any, dest ...any) bool {
	if b.err != nil {
		return false
	}
	stmt, err := b.on.Prepare(b.ctx, query) //nolint:sqlclosecheck // Close closes it
	if err == nil {
		err = stmt.QueryRowContext(b.ctx, args...).Scan(dest...)
	}
	if !errors.Is(err, sql.ErrNoRows) {
		b.err = err
	}
	return err == nil
}

// Row scans the first row of a query; that there is none is an error of the batch, sql.ErrNoRows.
func (b *Batch) Row(query string, args []any, dest ...any) {
	if !b.Find(query, args, dest...) {
		b.Fail(sql.ErrNoRows)
	}
}

// Number returns the single integer of a query, 0 when there is no row.
func (b *Batch) Number(query string, args ...any) int64 {
	var n sql.NullInt64
	b.Find(query, args, &n)
	return n.Int64
}

// Select returns the rows that a query selects, for a loop over them. Their error is the batch's.
func (b *Batch) Select(query string, args ...any) Selection {
	return Select(&b.err, func(row func(Scan) error) error {
		return Rows(b.QueryContext(b.ctx, query, args...)).Each(row)
	})
}

// QueryContext runs a query of the batch, which ends with the batch's context, not with ctx. The
// batch keeps no error of it.
func (b *Batch) QueryContext(_ context.Context, query string, args ...any) (*sql.Rows, error) {
	if b.err != nil {
		return nil, b.err
	}
	return b.on.QueryContext(b.ctx, query, args...)
}
