package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
	sqlite3 "modernc.org/sqlite/lib"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// SetCounter sets the counter of that name, which it makes if need be.
func (t *Tx) SetCounter(name string, value int64) {
	t.Exec("INSERT INTO counters (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value", name, value)
}

// Count adds n to the counter of that name, which it makes if need be.
func (t *Tx) Count(name string, n int) {
	t.Exec(`INSERT INTO counters (name, value) VALUES (?1, ?2)
		ON CONFLICT (name) DO UPDATE SET value = value + excluded.value`, name, n)
}

// Importing has what the transaction adds and changes from here on noted as the import's of that number
// (migration 10), until 0 ends it. CodeConflict for an import that was undone.
func Importing(t *Tx, number int64) {
	if number == 0 {
		t.Exec("DELETE FROM counters WHERE name = 'importing'")
	} else if t.SetCounter("importing", number); t.Number("SELECT EXISTS (SELECT 1 FROM imports WHERE id = ?)", number) == 0 {
		t.Fail(memory.Errorf(memory.CodeConflict, "import %d was undone meanwhile", number))
	}
}

const (
	// arrivalBacklog bounds the Enqueue calls in the channel; further ones block. It
	// is far above what one machine's hooks can have in flight.
	arrivalBacklog = 256
	// groupEvents and groupBytes bound a shared commit, so that a flood of huge
	// payloads doesn't make the first of them wait for the last.
	groupEvents = 512
	groupBytes  = 8 << 20
)

var errClosed = errors.New("store is closed")

// writer owns the connection that may write. Its goroutine takes arrivals ahead
// of other jobs, as many at a time as wait, and lets one job pass after each
// such group, so that neither starves.
type writer struct {
	db    *sql.DB
	conn  *sql.Conn
	stmts *sqlite.Statements
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
	// Run fails by Tx.Fail.
	Run func(*Tx)
	// KeepsSessions says that run changes nothing the bookkeeper remembers.
	KeepsSessions bool
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
		db: db, conn: conn, stmts: sqlite.NewStatements(conn),
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
	return errors.Join(w.stmts.Close(), w.conn.Close(), w.db.Close())
}

// loop carries out arrivals and jobs until both channels are closed; arrivals go first,
// with one job between groups of them.
func (w *writer) loop() {
	defer close(w.done)
	for {
		var d *delivery
		var j *Job
		open := true
		select { // arrivals first; only when none waits, whichever comes
		case d, open = <-w.arrivals:
		default:
			select {
			case d, open = <-w.arrivals:
			case j = <-w.jobs: // nil once they are closed, as arrivals are then
			}
		}
		switch {
		case !open:
			// Both channels are closed together, arrivals first, so no arrival can be left.
			for j := range w.jobs {
				j.result <- w.runJob(j)
			}
			return
		case d != nil:
			w.bookGroup(w.gather(d))
			select {
			case j = <-w.jobs:
			default:
			}
		}
		if j != nil {
			j.result <- w.runJob(j)
		}
	}
}

// gather adds to d the deliveries that wait behind it. It doesn't wait for more: measured with 8
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

// bookGroup books a group in one commit and sends each its result. A delivery that cannot be
// booked must not refuse the others, so they are then tried one by one; a full disk or another
// program's lock (File.External) is an error for all. A single event changes so few pages that their
// copies stay in memory anyway (Job.Small): it is spared the two statements.
func (w *writer) bookGroup(group []*delivery) {
	err := w.transact(func(t *Tx) { w.book(t, group...) }, true, len(group) > 1 || group[0].events > 1)
	if err != nil && len(group) > 1 && !File.External(err) {
		for _, d := range group {
			d.result <- w.transact(func(t *Tx) { w.book(t, d) }, true, true)
		}
		return
	}
	for _, d := range group {
		d.result <- err
	}
}

// book has the books book a group, in the order of its arrival.
func (w *writer) book(t *Tx, group ...*delivery) {
	t.Fail(w.books.Book(t, collect.Map(group, func(d *delivery) any { return d.work })))
}

// runJob carries out a job in a transaction of its own, unless its caller has left (the
// error of its context). A job that is Bare runs without a transaction: what it has done
// before an error stays.
func (w *writer) runJob(j *Job) error {
	if err := j.ctx.Err(); err != nil {
		return err
	}
	if j.Bare {
		return w.newTx().guarded(j.Run)
	}
	return w.transact(j.Run, j.KeepsSessions, j.Small)
}

// transact runs fn between BEGIN IMMEDIATE and COMMIT and tells the feed. An error that the
// transaction keeps, or a panic of fn, rolls all of it back. Afterwards the books forget
// what they remember, unless it was committed and keepsSessions is true. small is Job.Small.
func (w *writer) transact(fn func(*Tx), keepsSessions, small bool) (err error) {
	defer func() {
		if w.books != nil && (err != nil || !keepsSessions) {
			w.books.Forget()
		}
	}()
	t := w.newTx()
	if small && t.control("PRAGMA temp_store = memory") == nil {
		defer func() { _ = t.control("PRAGMA temp_store = default") }() // in memory is right, too
	}
	if err := t.control("BEGIN IMMEDIATE"); err != nil {
		if sqlite.Code(err) != sqlite3.SQLITE_ERROR {
			return err
		}
		// A transaction whose rollback failed is still open.
		t.rollback()
		if err := t.control("BEGIN IMMEDIATE"); err != nil {
			return err
		}
	}
	err = t.guarded(fn)
	seq := t.Number("SELECT seq FROM sqlite_sequence WHERE name = 'changes'")
	if err = cmp.Or(err, t.Err()); err == nil {
		err = t.control("COMMIT")
	}
	if err != nil {
		t.rollback()
		return err
	}
	w.feed.tell(seq)
	return nil
}

// Tx is the open transaction of the writer. Its statements don't end with the
// caller's context: half a group must not fail because one caller went away.
//
// After the first error of the batch the transaction is rolled back and fails with that error. Only what acts outside the transaction, and a loop that
// waits for a result, must ask Err. A caller gets sql.ErrNoRows as CodeNotFound.
type Tx struct {
	w *writer
	// Conn is the connection of the transaction, for statements that are not kept prepared.
	// The transaction keeps no error of it.
	Conn *sql.Conn
	*sqlite.Batch
}

func (w *writer) newTx() *Tx { return &Tx{w: w, Conn: w.conn, Batch: w.batch()} }

// batch returns a batch of the writer's statements.
func (w *writer) batch() *sqlite.Batch { return w.stmts.Batch(context.Background()) }

// guarded runs fn and returns the first error of the transaction. It turns a
// panic of fn into an error: it must not leave the transaction open nor end the writer, on
// which every other session depends.
func (t *Tx) guarded(fn func(*Tx)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			t.w.log.Error("store transaction panicked", "panic", r)
			err = fmt.Errorf("panic in transaction: %v", r)
		}
		err = cmp.Or(t.Err(), err)
	}()
	fn(t)
	return nil
}

// Attempt runs fn in a savepoint and returns the error that the transaction has after it. If fn
// failed by its own fault, what it did is undone and the transaction goes on without an error.
// After one that lies with the disk or another program (File.External) it keeps it and fails.
func (t *Tx) Attempt(fn func()) error {
	if t.Exec("SAVEPOINT attempt"); t.Err() != nil {
		return t.Err()
	}
	fn()
	err := t.Err()
	if err != nil && !File.External(err) {
		t.Batch = t.w.batch()
		t.Exec("ROLLBACK TO attempt")
	}
	t.Exec("RELEASE attempt")
	return err
}

func (t *Tx) rollback() {
	// The error says at most that SQLite has rolled back already.
	_ = t.control("ROLLBACK")
}

// control runs a statement that begins or ends a transaction or sets the connection up. It
// heeds no error of the transaction, and adds none.
func (t *Tx) control(query string) error {
	b := t.w.batch()
	b.Exec(query)
	return b.Err()
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

// ULID returns a new ULID for a record created at the given time; 1970 stands for a negative
// one. Of one millisecond the later one is greater.
func (t *Tx) ULID(at memory.Millis) memory.ULID {
	ms := min(uint64(max(at, 0)), ulid.MaxTime()) // a host's clock may say anything
	id, err := ulid.New(ms, t.w.ids)
	if errors.Is(err, ulid.ErrMonotonicOverflow) {
		t.w.ids = ulid.Monotonic(t.w.rand, 0)
		id, err = ulid.New(ms, t.w.ids)
	}
	t.Fail(err)
	return memory.ULID(id.String())
}

// Name sets the ULID of a record that came to be at the given time, unless it has one.
func (t *Tx) Name(id *memory.ULID, at memory.Millis) {
	if *id == "" {
		*id = t.ULID(at)
	}
}

// Selected returns the only column that a query selects in the transaction, nil for no rows
// and after an error, which the transaction keeps.
func Selected[T any](t *Tx, query string, args ...any) []T {
	list, err := Column[T](context.Background(), t, query, args...)
	t.Fail(err)
	return list
}
