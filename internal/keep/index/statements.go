package index

import (
	"cmp"
	"context"
	"database/sql"
	"sync"

	"claudemem/internal/keep/index/postings"
	"claudemem/internal/keep/sqlite"
)

// preparer is a connection or a pool.
type preparer interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// statements runs queries that are prepared at their first use: a batch runs the
// same few ten thousand times.
type statements struct {
	on       preparer
	mu       sync.Mutex
	prepared map[string]*sql.Stmt
}

func newStatements(on preparer) *statements {
	return &statements{on: on, prepared: map[string]*sql.Stmt{}}
}

// prepare returns the query as a prepared statement, which is kept for the next call.
func (s *statements) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stmt, ok := s.prepared[query]; ok {
		return stmt, nil
	}
	stmt, err := s.on.PrepareContext(ctx, query) //nolint:sqlclosecheck // close closes it
	if err == nil {
		s.prepared[query] = stmt
	}
	return stmt, err
}

// close closes the statements, without which their connections do not close.
func (s *statements) close() {
	if s == nil {
		return
	}
	for _, stmt := range s.prepared {
		_ = stmt.Close() // nothing is lost
	}
}

// each calls fn for every row of a query.
func (s *statements) each(ctx context.Context, query string, fn func(scan sqlite.Scan) error, args ...any) error {
	stmt, err := s.prepare(ctx, query) //nolint:sqlclosecheck // close closes it
	if err != nil {
		return err
	}
	return sqlite.Rows(stmt.QueryContext(ctx, args...)).Each(fn) //nolint:rowserrcheck // Each checks it
}

// first scans the first row of a query into dest; sql.ErrNoRows when there is none.
func (s *statements) first(ctx context.Context, query string, args []any, dest ...any) error {
	stmt, err := s.prepare(ctx, query) //nolint:sqlclosecheck // close closes it
	if err != nil {
		return err
	}
	return stmt.QueryRowContext(ctx, args...).Scan(dest...)
}

// ints returns the only column of a query's rows.
func (s *statements) ints(ctx context.Context, query string, args ...any) (list []int64, err error) {
	err = s.each(ctx, query, func(scan sqlite.Scan) error {
		list = append(list, 0)
		return scan(&list[len(list)-1])
	}, args...)
	return list, err
}

// tx is a transaction of the writer. It keeps its first error, as the transactions of the store do:
// after one no statement runs any more, results are zero, and the transaction is rolled back.
type tx struct {
	ctx context.Context // of the transaction
	on  *statements
	err error
}

// fail makes err the error of the transaction, unless that has one or err is nil.
func (t *tx) fail(err error) { t.err = cmp.Or(t.err, err) }

// exec runs a statement that returns no rows.
func (t *tx) exec(query string, args ...any) {
	if t.err != nil {
		return
	}
	stmt, err := t.on.prepare(t.ctx, query) //nolint:sqlclosecheck // close closes it
	if err == nil {
		_, err = stmt.ExecContext(t.ctx, args...)
	}
	t.err = err
}

// row scans the first row of a query into dest; that there is none is damage.
func (t *tx) row(query string, args []any, dest ...any) {
	if t.err == nil {
		t.err = notEmpty(t.on.first(t.ctx, query, args, dest...))
	}
}

// ints returns the only column of a query's rows.
func (t *tx) ints(query string, args ...any) (list []int64) {
	if t.err == nil {
		list, t.err = t.on.ints(t.ctx, query, args...)
	}
	return list
}

// each calls fn for every row of a query; its error is not yet the transaction's.
func (t *tx) each(query string, fn func(scan sqlite.Scan) error, args ...any) error {
	if t.err != nil {
		return t.err
	}
	return t.on.each(t.ctx, query, fn, args...)
}

// atOneMoment calls fn with a function that runs those of the queries, and no others, in one
// transaction, so that all of them see the same state of the index.
func (b *base) atOneMoment(ctx context.Context, queries []string, fn func(query postings.Query) error) error {
	prepared := make(map[string]*sql.Stmt, len(queries))
	for _, q := range queries { // before a connection is taken, since each may need one
		stmt, err := b.read.prepare(ctx, q) //nolint:sqlclosecheck // close closes it
		if err != nil {
			return err
		}
		prepared[q] = stmt
	}
	tx, err := b.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	return fn(func(ctx context.Context, query string, row func(scan sqlite.Scan) error, args ...any) error {
		return sqlite.Rows(tx.StmtContext(ctx, prepared[query]).QueryContext(ctx, args...)).Each(row) //nolint:rowserrcheck,sqlclosecheck // Each checks it, the transaction closes it
	})
}

// Statements on the table meta.
const (
	setMeta    = "INSERT OR REPLACE INTO meta(name, value) VALUES (?, ?)"
	deleteMeta = "DELETE FROM meta WHERE name = ?"
)
