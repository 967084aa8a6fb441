package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
	sqlite3 "modernc.org/sqlite/lib"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/memory"
)

// SetCounter sets the counter of that name, which it makes if need be.
func (t *Tx) SetCounter(name string, value int64) error {
	return t.Exec("INSERT INTO counters (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value", name, value)
}

// Count adds n to the counter of that name, which it makes if need be.
func (t *Tx) Count(name string, n int) error {
	return t.Exec(`INSERT INTO counters (name, value) VALUES (?1, ?2)
		ON CONFLICT (name) DO UPDATE SET value = value + excluded.value`, name, n)
}

const (
	// arrivalBacklog bounds the Enqueue calls in the channel; further ones block. It
	// is far above what one machine's hooks can have in flight.
	arrivalBacklog = 256
	// groupEvents and groupBytes bound a shared commit, so that a flood of huge
	// payloads doesn't make the first of them wait for the last.
	groupEvents = 512
	groupBytes  = 8 << 20
	// groupJobs bounds how many other transactions share a commit: at about 0.1 ms
	// each an arrival waits no longer than a commit takes.
	groupJobs = 64
)

var errClosed = errors.New("store is closed")

// writer owns the connection that may write. Its goroutine takes arrivals ahead
// of other jobs, as many at a time as wait, and lets one job pass after each
// such group, so that neither starves.
type writer struct {
	db    *sql.DB
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	clock func() time.Time
	log   *slog.Logger
	feed  *feed
	books Books // nil: no deliveries
	ids   *ulid.MonotonicEntropy
	rand  io.Reader

	arrivals chan *delivery
	jobs     chan *Job

	mu      sync.RWMutex // held for reading while something is handed over
	stopped bool
	done    chan struct{}
}

// Books book what is delivered, in the writer's transactions.
type Books interface {
	// Book books the deliveries of one commit. An error means that none of them is.
	Book(t *Tx, deliveries []any) error
	// Forget drops what is remembered of the database: it may have changed.
	Forget()
}

// delivery is one Deliver call on its way through the writer: so many events, and bytes.
type delivery struct {
	work          any
	events, bytes int
	result        chan error // capacity 1
}

// Job is a transaction that isn't an arrival.
type Job struct {
	Run func(*Tx) error
	// KeepsSessions says that run changes nothing the bookkeeper remembers.
	KeepsSessions bool
	// Shared says that run may share a commit with others that wait, and that it
	// may be run again.
	Shared bool
	// Bare says that run makes a statement that is not allowed in a transaction.
	Bare bool
	// Small says that each statement of run changes few pages. A statement with triggers
	// copies the pages that it changes, to undo itself: these copies stay in memory then,
	// and go to a file otherwise once they take 64 KB.
	Small bool

	ctx    context.Context
	result chan error // capacity 1
}

// startWriter starts the goroutine that makes all changes to the database, one at a
// time, on a connection of its own.
func startWriter(ctx context.Context, db *sql.DB, opts Options, f *feed) (*writer, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{
		db: db, conn: conn, stmts: map[string]*sql.Stmt{},
		clock: opts.Clock, log: opts.Logger, feed: f, books: opts.Books,
		rand: opts.Rand, ids: ulid.Monotonic(opts.Rand, 0),
		arrivals: make(chan *delivery, arrivalBacklog),
		jobs:     make(chan *Job, arrivalBacklog),
		done:     make(chan struct{}),
	}
	go w.loop()
	return w, nil
}

// do runs a job and waits for its end. A context that ends before the job began
// cancels it; afterwards the outcome is the job's.
func (w *writer) do(ctx context.Context, j Job) error {
	j.ctx, j.result = ctx, make(chan error, 1)
	if err := handOver(ctx, w, w.jobs, &j); err != nil {
		return err
	}
	return <-j.result
}

// handOver sends work to the writer's goroutine unless the writer is closed or ctx
// ends first.
func handOver[T any](ctx context.Context, w *writer, queue chan<- T, work T) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.stopped {
		return errClosed
	}
	select {
	case queue <- work:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// deliver hands a delivery over and waits until it is durable. When the context
// ends meanwhile it may or may not have been booked: whoever sends it again is
// told that it is a duplicate.
func (w *writer) deliver(ctx context.Context, d *delivery) error {
	if err := handOver(ctx, w, w.arrivals, d); err != nil {
		return err
	}
	select {
	case err := <-d.result:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close takes no more, finishes what was handed over and closes the connection.
func (w *writer) close() error {
	w.mu.Lock()
	if !w.stopped {
		w.stopped = true
		close(w.arrivals)
		close(w.jobs)
	}
	w.mu.Unlock()
	<-w.done
	var errs []error
	for _, s := range w.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, w.conn.Close(), w.db.Close())...)
}

// loop carries out arrivals and jobs until both channels are closed; arrivals go first,
// with one job between groups of them.
func (w *writer) loop() {
	defer close(w.done)
	for {
		// Arrivals first; only when none waits, whichever comes.
		select {
		case d, open := <-w.arrivals:
			if !open {
				w.drain()
				return
			}
			w.bookGroup(w.gather(d))
			select {
			case j, open := <-w.jobs:
				if open {
					w.runJob(j)
				}
			default:
			}
			continue
		default:
		}
		select {
		case d, open := <-w.arrivals:
			if !open {
				w.drain()
				return
			}
			w.bookGroup(w.gather(d))
		case j, open := <-w.jobs:
			if open {
				w.runJob(j)
			}
		}
	}
}

// drain runs the jobs that were handed over before the store closed. Both
// channels are closed together, arrivals first, so no arrival can be left.
func (w *writer) drain() {
	for j := range w.jobs {
		w.runJob(j)
	}
}

// gather adds to d what else waits. It doesn't wait for more: measured with 8
// writers, a pause of 50 to 200 µs for those of the last commit to come again
// lets less through, not more.
func (w *writer) gather(d *delivery) []*delivery {
	group := []*delivery{d}
	events, bytes := d.events, d.bytes
	for events < groupEvents && bytes < groupBytes {
		select {
		case next, ok := <-w.arrivals:
			if !ok {
				return group
			}
			group = append(group, next)
			events += next.events
			bytes += next.bytes
		default:
			return group
		}
	}
	return group
}

// bookGroup books a group in one commit. A fault of ours with one of them must
// not refuse the others, so they are then tried one by one.
func (w *writer) bookGroup(group []*delivery) {
	err := w.transact(func(t *Tx) error { return w.book(t, group...) }, true)
	if err != nil && len(group) > 1 && !File.External(err) {
		for _, d := range group {
			d.result <- w.transact(func(t *Tx) error { return w.book(t, d) }, true)
		}
		return
	}
	for _, d := range group {
		d.result <- err
	}
}

// book books a group.
func (w *writer) book(t *Tx, group ...*delivery) error {
	work := make([]any, len(group))
	for i, d := range group {
		work[i] = d.work
	}
	return w.books.Book(t, work)
}

// runJob carries out a job: alone, or with the shared jobs that wait behind it in one
// transaction.
func (w *writer) runJob(j *Job) {
	for j != nil {
		if !j.Shared {
			j.result <- w.runAlone(j)
			return
		}
		group, next := w.gatherJobs(j)
		w.runGroup(group)
		j = next
	}
}

// runAlone carries out a job in a transaction of its own, unless its caller has left.
func (w *writer) runAlone(j *Job) error {
	if err := j.ctx.Err(); err != nil {
		return err
	}
	if j.Bare {
		return (&Tx{w, w.conn}).guarded(j.Run)
	}
	if j.Small {
		t := &Tx{w, w.conn}
		if err := t.Exec("PRAGMA temp_store = memory"); err != nil {
			return err
		}
		defer func() { _ = t.Exec("PRAGMA temp_store = default") }() // in memory is right, too
	}
	return w.transact(j.Run, j.KeepsSessions)
}

// gatherJobs adds to j what else waits that may share its commit, as gather does.
// It returns the job that it met and that may not.
func (w *writer) gatherJobs(j *Job) (group []*Job, next *Job) {
	group = []*Job{j}
	for len(group) < groupJobs {
		select {
		case next, open := <-w.jobs:
			switch {
			case !open:
				return group, nil
			case !next.Shared:
				return group, next
			}
			group = append(group, next)
		default:
			return group, nil
		}
	}
	return group, nil
}

// runGroup runs jobs in one commit. When one of them fails by its own fault they
// are run one by one.
func (w *writer) runGroup(group []*Job) {
	if len(group) == 1 {
		group[0].result <- w.runAlone(group[0])
		return
	}
	err := w.transact(func(t *Tx) error {
		for _, j := range group {
			if err := j.ctx.Err(); err != nil {
				return err
			}
			if err := j.Run(t); err != nil {
				return err
			}
		}
		return nil
	}, !slices.ContainsFunc(group, func(j *Job) bool { return !j.KeepsSessions }))
	for _, j := range group {
		if err == nil || File.External(err) {
			j.result <- err
		} else {
			j.result <- w.runAlone(j)
		}
	}
}

// transact runs fn between BEGIN IMMEDIATE and COMMIT and tells the feed.
func (w *writer) transact(fn func(*Tx) error, keepsSessions bool) (err error) {
	defer func() {
		if w.books != nil && (err != nil || !keepsSessions) {
			w.books.Forget()
		}
	}()
	t := &Tx{w, w.conn}
	if err := t.Exec("BEGIN IMMEDIATE"); err != nil {
		if sqlite.Code(err) != sqlite3.SQLITE_ERROR {
			return err
		}
		// A transaction whose rollback failed is still open.
		t.rollback()
		if err := t.Exec("BEGIN IMMEDIATE"); err != nil {
			return err
		}
	}
	if err := t.guarded(fn); err != nil {
		t.rollback()
		return err
	}
	seq, err := t.Number("SELECT seq FROM sqlite_sequence WHERE name = 'changes'")
	if err != nil {
		t.rollback()
		return err
	}
	if err := t.Exec("COMMIT"); err != nil {
		t.rollback()
		return err
	}
	w.feed.tell(seq)
	return nil
}

// Tx is the open transaction of the writer. Its statements don't end with the
// caller's context: half a group must not fail because one caller went away.
type Tx struct {
	w *writer
	// Conn is the connection of the transaction, for statements that are not kept prepared.
	Conn *sql.Conn
}

// guarded turns a panic of fn into an error: it must not leave the transaction
// open nor end the writer, on which every other session depends.
func (t *Tx) guarded(fn func(*Tx) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			t.w.log.Error("store transaction panicked", "panic", r)
			err = fmt.Errorf("panic in transaction: %v", r)
		}
	}()
	return fn(t)
}

func (t *Tx) rollback() {
	// The error says at most that SQLite has rolled back already.
	_ = t.Exec("ROLLBACK")
}

// Now returns the time of the option Clock.
func (t *Tx) Now() memory.Millis { return memory.MillisOf(t.w.clock()) }

// OrNow returns at, or the present time when at is not set.
func (t *Tx) OrNow(at memory.Millis) memory.Millis {
	if at > 0 {
		return at
	}
	return t.Now()
}

// ULID returns a new ULID for a record created at the given time.
func (t *Tx) ULID(at memory.Millis) (memory.ULID, error) {
	ms := min(uint64(max(at, 0)), ulid.MaxTime()) // a host's clock may say anything
	id, err := ulid.New(ms, t.w.ids)
	if errors.Is(err, ulid.ErrMonotonicOverflow) {
		t.w.ids = ulid.Monotonic(t.w.rand, 0)
		id, err = ulid.New(ms, t.w.ids)
	}
	return memory.ULID(id.String()), err
}

// Name sets the ULID of a record that came to be at the given time, unless it has one.
func (t *Tx) Name(id *memory.ULID, at memory.Millis) (err error) {
	if *id == "" {
		*id, err = t.ULID(at)
	}
	return err
}

// stmt returns the prepared statement of a constant query.
func (t *Tx) stmt(query string) (*sql.Stmt, error) {
	if s, ok := t.w.stmts[query]; ok {
		return s, nil
	}
	s, err := t.w.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	t.w.stmts[query] = s
	return s, nil
}

// Exec runs a statement within the transaction and keeps it prepared.
func (t *Tx) Exec(query string, args ...any) error {
	_, err := t.Result(query, args...)
	return err
}

// ExecAll runs statements with the same arguments one after the other.
func (t *Tx) ExecAll(queries []string, args ...any) error {
	for _, query := range queries {
		if err := t.Exec(query, args...); err != nil {
			return err
		}
	}
	return nil
}

// Result is exec that returns the result.
func (t *Tx) Result(query string, args ...any) (sql.Result, error) {
	s, err := t.stmt(query) //nolint:sqlclosecheck // kept prepared for the writer's life
	if err != nil {
		return nil, err
	}
	return s.Exec(args...)
}

// Change runs a statement and returns how many rows it changed.
func (t *Tx) Change(query string, args ...any) (int, error) {
	r, err := t.Result(query, args...)
	if err != nil {
		return 0, err
	}
	n, err := r.RowsAffected()
	return int(n), err
}

// Insert runs an INSERT and returns the row's number.
func (t *Tx) Insert(query string, args ...any) (int64, error) {
	r, err := t.Result(query, args...)
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

// Row scans the first row of a query; sql.ErrNoRows when there is none.
func (t *Tx) Row(query string, args []any, dest ...any) error {
	s, err := t.stmt(query) //nolint:sqlclosecheck // kept prepared for the writer's life
	if err != nil {
		return err
	}
	return s.QueryRow(args...).Scan(dest...)
}

// Number returns the single integer of a query, 0 when there is no row.
func (t *Tx) Number(query string, args ...any) (int64, error) {
	var n sql.NullInt64
	err := t.Row(query, args, &n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return n.Int64, err
}

// QueryContext runs a query of the transaction, which does not end with ctx.
func (t *Tx) QueryContext(_ context.Context, query string, args ...any) (*sql.Rows, error) {
	s, err := t.stmt(query) //nolint:sqlclosecheck // kept prepared for the writer's life
	if err != nil {
		return nil, err
	}
	return s.Query(args...)
}
