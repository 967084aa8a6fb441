package db

import (
	"context"
	"database/sql"
	"sync"

	"claudemem/internal/keep/sqlite"
)

// repeated keeps prepared statements of the queries that are run more than once:
// compiling a query takes about as long as finding a few records by it.
type repeated struct {
	db *sql.DB

	mu       sync.Mutex
	once     map[string]bool // run once so far
	prepared map[string]*sql.Stmt
}

const (
	// maxPrepared is the greatest number of statements that are kept. Each takes memory on
	// every connection.
	maxPrepared = 64
	// maxOnce is the greatest number of queries that are remembered after their first run.
	maxOnce = 200
)

func newRepeated(db *sql.DB) *repeated {
	return &repeated{db: db, once: map[string]bool{}, prepared: map[string]*sql.Stmt{}}
}

// statement returns the prepared statement of a query, nil if there is none.
func (r *repeated) statement(query string) *sql.Stmt {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.prepared[query]
}

// learn prepares those of the queries that were run before. The caller must not hold a
// connection of the pool, since preparing takes one. After an error the query stays
// unprepared, which only takes time.
func (r *repeated) learn(ctx context.Context, queries []string) {
	for _, query := range r.again(queries) {
		// Without the lock: who holds a connection may wait for it.
		s, err := r.db.PrepareContext(ctx, query) //nolint:sqlclosecheck // close closes it
		if err != nil {
			return
		}
		r.mu.Lock()
		if r.prepared[query] == nil && len(r.prepared) < maxPrepared {
			r.prepared[query], s = s, nil
		}
		r.mu.Unlock()
		if s != nil {
			_ = s.Close() // another was faster
		}
	}
}

// again notes that the queries were run and returns those that were so before and are to be
// prepared.
func (r *repeated) again(queries []string) (list []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, query := range queries {
		switch {
		case r.prepared[query] != nil || len(r.prepared) >= maxPrepared:
		case r.once[query]:
			delete(r.once, query)
			list = append(list, query)
		default:
			if len(r.once) >= maxOnce {
				clear(r.once)
			}
			r.once[query] = true
		}
	}
	return list
}

// close closes the statements; the pool is closed right after. Snapshots that still run fail then,
// and a statement that one of them prepares meanwhile ends with its connection.
func (r *repeated) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.prepared {
		_ = s.Close() // nothing is lost
	}
	clear(r.prepared)
}

// each is the function Each on the pool, by a prepared statement if there is one.
func (p pool) each(ctx context.Context, row func(scan sqlite.Scan) error, query string, args []any) error {
	if prepared := p.repeated.statement(query); prepared != nil { //nolint:sqlclosecheck // it is kept
		return sqlite.Rows(prepared.QueryContext(ctx, args...)).Each(row) //nolint:rowserrcheck // Each checks it
	}
	defer p.repeated.learn(ctx, []string{query})
	return sqlite.Rows(p.QueryContext(ctx, query, args...)).Each(row) //nolint:rowserrcheck // Each checks it
}

// snapshot is a transaction of pool, for one goroutine.
type snapshot struct {
	*sql.Tx
	pool    pool
	ran     []string        // without a prepared statement
	running map[string]bool // prepared ones whose rows are being read: a statement has one place in its rows
}

// Mismatched is that of the pool.
func (s *snapshot) Mismatched() { s.pool.mismatch() }

// statement returns the prepared statement of a query within the transaction, nil if there is
// none or its rows are being read.
func (s *snapshot) statement(ctx context.Context, query string) *sql.Stmt {
	if s.running[query] {
		return nil
	}
	if kept := s.pool.repeated.statement(query); kept != nil {
		return s.StmtContext(ctx, kept)
	}
	s.ran = append(s.ran, query)
	return nil
}

// each is the function Each on the snapshot, by a prepared statement if there is one.
func (s *snapshot) each(ctx context.Context, row func(scan sqlite.Scan) error, query string, args []any) error {
	prepared := s.statement(ctx, query) //nolint:sqlclosecheck // the transaction closes it
	if prepared == nil {
		return sqlite.Rows(s.QueryContext(ctx, query, args...)).Each(row) //nolint:rowserrcheck // Each checks it
	}
	s.running[query] = true
	defer delete(s.running, query)
	return sqlite.Rows(prepared.QueryContext(ctx, args...)).Each(row) //nolint:rowserrcheck // Each checks it
}

// QueryRowContext is that of the transaction, by a prepared statement if there is one.
func (s *snapshot) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if prepared := s.statement(ctx, query); prepared != nil { //nolint:sqlclosecheck // the transaction closes it
		return prepared.QueryRowContext(ctx, args...)
	}
	return s.Tx.QueryRowContext(ctx, query, args...)
}

// InSnapshot returns the result of several reads that have to see the same moment; with an
// error, which Fault gives its code, what read has returned. It holds up no writer.
func InSnapshot[T any](ctx context.Context, s *DB, what string, read func(Querier) (T, error)) (result T, err error) {
	defer Wrap(&err, what)
	tx, err := s.Reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return result, err
	}
	moment := &snapshot{Tx: tx, pool: s.Reader, running: map[string]bool{}}
	defer func() {
		_ = tx.Rollback()
		s.Reader.repeated.learn(ctx, moment.ran)
	}()
	return read(moment)
}
