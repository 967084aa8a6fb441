package db

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/memory"
)

// Options are what a store takes from outside; zero fields take the default.
type Options struct {
	Clock  func() time.Time // time.Now
	Logger *slog.Logger     // none
	Rand   io.Reader        // crypto/rand; for ULIDs
	Books  Books            // none; they book what is delivered
	// BeforeMigration is called with the older version of a schema that is about to be
	// migrated. Its error refuses to open.
	BeforeMigration func(ctx context.Context, from int) error
	// Mismatched is called when a read has met a record that is not as it was written. It
	// must not block.
	Mismatched func()
}

// DB is an open memory.db. Its methods may be called from any goroutine.
type DB struct {
	// Log is the option Logger, Reader the connections that read.
	Log    *slog.Logger
	Reader pool
	path   string
	clock  func() time.Time
	writer *writer // nil when opened for reading only
	feed   feed

	closing sync.Once
	closed  error
}

// Open opens the database at path for the worker: it makes the directory and
// the file when they are not there and migrates an older schema. Only one
// process may do so at a time; the caller holds the worker lock.
//
// The codes of its errors: CodeNewerSchema (nothing was touched), CodeStorage,
// CodeUnavailable.
func Open(ctx context.Context, path string, opts Options) (s *DB, err error) {
	defer Wrap(&err, "open memory")
	opts = withDefaults(opts)
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := rollBack(ctx, path); err != nil {
		return nil, err
	}
	if err := beforeMigration(ctx, path, opts); err != nil {
		return nil, err
	}
	db, err := sqlite.OpenWriter(path, WriteSource(path))
	if err != nil {
		return nil, err
	}
	if err := migrate(ctx, db, opts.Logger); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	reader, err := sqlite.OpenReaders(ctx, ReadSource(path))
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s = &DB{path: path, clock: opts.Clock, Log: opts.Logger, Reader: newPool(reader, opts)}
	if s.writer, err = startWriter(ctx, db, opts, &s.feed); err != nil {
		return nil, errors.Join(err, reader.Close(), db.Close())
	}
	return s, nil
}

// ErrHalfMade is the error of reading where halfMade.
var ErrHalfMade = memory.Errorf(memory.CodeStorage, "a process was killed in the middle of a change").WithHint("`claude-mem worker start` undoes what it left")

// halfMade reports whether a process was killed in a transaction before the database at path had
// a log, as a restored one has none until it was opened.
func halfMade(path string) bool {
	info, err := os.Lstat(path + "-journal")
	return err == nil && info.Mode().IsRegular() && info.Size() > 0
}

// rollBack undoes what halfMade finds, which no reader could do: SQLite does it when a
// connection that may write reads for the first time.
func rollBack(ctx context.Context, path string) error {
	if !halfMade(path) {
		return nil
	}
	db, err := sql.Open(sqlite.Driver, sqlite.Source(path, nil, BusyTimeout))
	if err != nil {
		return err
	}
	return errors.Join(db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(new(int)), db.Close())
}

// OpenReadOnly opens the database at path for a process that is not the worker:
// it never migrates and never writes. It works beside a worker and without one,
// also after a worker that was killed.
//
// The codes of its errors: CodeNoMemory (no database yet), CodeOlderSchema (the
// worker has to migrate it first), CodeNewerSchema, CodeStorage.
func OpenReadOnly(ctx context.Context, path string) (s *DB, err error) {
	defer Wrap(&err, "open memory")
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, memory.Errorf(memory.CodeNoMemory, "there is no database yet").
			WithHint("it is made when the first session is captured")
	}
	reader, err := sqlite.OpenReaders(ctx, ReadSource(path))
	if code := sqlite.Code(err); (code == sqlite3.SQLITE_CANTOPEN || code == sqlite3.SQLITE_READONLY) && canFreeze(path) {
		reader, err = sqlite.OpenReaders(ctx, ReadSource(path, "immutable=1"))
	}
	if sqlite.Code(err) == sqlite3.SQLITE_READONLY && halfMade(path) {
		err = ErrHalfMade
	}
	if err != nil {
		return nil, err
	}
	version, err := VersionOf(ctx, reader)
	if err == nil {
		err = CheckStructure(ctx, reader)
	}
	if err == nil {
		err = checkReadable(version)
	}
	if err != nil {
		return nil, errors.Join(err, reader.Close())
	}
	opts := withDefaults(Options{})
	return &DB{path: path, clock: opts.Clock, Log: opts.Logger, Reader: newPool(reader, opts)}, nil
}

// withDefaults fills in what opts leaves out.
func withDefaults(opts Options) Options {
	opts.Clock, opts.Rand = memory.ClockOr(opts.Clock), cmp.Or(opts.Rand, rand.Reader)
	opts.Logger = cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	if opts.Mismatched == nil {
		opts.Mismatched = func() {}
	}
	return opts
}

// canFreeze reports whether the file at path may be read as immutable: it has no
// write-ahead log, and its directory does not allow new files, so it has no writer.
func canFreeze(path string) bool {
	if HasLog(path) {
		return false
	}
	probe, err := os.CreateTemp(filepath.Dir(path), "probe-*.tmp")
	if err != nil {
		return true
	}
	_ = probe.Close()
	_ = os.Remove(probe.Name())
	return false
}

// Close ends the writer after what it has accepted, copies the log into the
// database and closes the files. It may be called more than once.
func (s *DB) Close() error {
	s.closing.Do(func() {
		// Readers first: only the last connection to leave removes the log.
		err := s.Reader.Close()
		if s.writer != nil {
			err = errors.Join(err, s.writer.close())
		}
		s.feed.close()
		s.closed = Fault("close memory", err)
	})
	return s.closed
}

// Path returns where the database is.
func (s *DB) Path() string { return s.path }

// Now returns the time of the option Clock.
func (s *DB) Now() memory.Millis { return memory.MillisOf(s.clock()) }

// WriteKeeping runs fn in a transaction of its own, after the arrivals that wait. fn
// doesn't touch sessions or tombstones.
func (s *DB) WriteKeeping(ctx context.Context, what string, fn func(*Tx)) error {
	return s.Write(ctx, what, Job{Run: fn, KeepsSessions: true})
}

// Exec runs one statement in a transaction like those of WriteKeeping.
func (s *DB) Exec(ctx context.Context, what, query string, args ...any) error {
	return s.WriteKeeping(ctx, what, func(t *Tx) {
		t.Exec(query, args...)
	})
}

// Write has the writer run j in a transaction and waits for it. what names the operation
// in its error. A store that is open for reading refuses.
func (s *DB) Write(ctx context.Context, what string, j Job) error {
	if s.writer == nil {
		return Fault(what, errReadOnly)
	}
	return Fault(what, s.writer.do(ctx, j))
}

// Deliver has the books book work, which has so many events and bytes, in a commit that it may
// share, ahead of other transactions. It waits until that is durable.
func (s *DB) Deliver(ctx context.Context, what string, work any, events, bytes int) error {
	if s.writer == nil {
		return Fault(what, errReadOnly)
	}
	return Fault(what, s.writer.deliver(ctx, &delivery{work, events, bytes, make(chan error, 1)}))
}

// Writable reports whether the store was opened for writing.
func (s *DB) Writable() bool { return s.writer != nil }

// errReadOnly answers a write to a store that was opened for reading.
var errReadOnly = memory.Errorf(memory.CodeUnavailable, "memory is open for reading only").
	WithHint("start the worker: claude-mem worker start")

// WithReader calls use with the database at path, open for reading only, whatever its schema.
// Its own errors have no code yet.
func WithReader(ctx context.Context, path string, use func(*sql.DB) error) (err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return err
	}
	db, err := sqlite.OpenReaders(ctx, ReadSource(path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return use(db)
}

const (
	// BusyTimeout bounds the wait for another program's lock, in ms. The
	// hooks gave up long before that and spooled.
	BusyTimeout = "busy_timeout(5000)"
	// checkpointPages is the size of the log, in pages, at which a commit copies it
	// into the database. SQLite's default of 1000 makes a worker under load sync
	// the database ten times a second.
	checkpointPages = "wal_autocheckpoint(4000)"
	// readCache and writeCache bound the pages that a connection keeps, in KB. All connections share
	// the sum, of which the driver's allocator takes twice; the system keeps the pages of the file too.
	readCache  = "cache_size(-1000)"
	writeCache = "cache_size(-6000)"
	// journalLimit cuts the log file back to this many bytes after a checkpoint.
	journalLimit = "journal_size_limit(33554432)"
)

// ReadSource returns the driver's name for the database file at path, opened for
// reading. With immutable=1 it needs no shared-memory file of the write-ahead log:
// for a file that nobody writes, in a directory where none can be made.
func ReadSource(path string, parameters ...string) string {
	return sqlite.Source(path, append(parameters, "mode=ro"), BusyTimeout, "query_only(1)", readCache)
}

// WriteSource returns the driver's name for the database file at path, opened for writing.
func WriteSource(path string) string {
	return sqlite.Source(path, []string{"_txlock=immediate"}, BusyTimeout,
		"auto_vacuum(incremental)", // takes only on a file without tables
		"journal_mode(wal)", "synchronous(full)",
		"fullfsync(1)", // on macOS a plain fsync does not reach the medium
		writeCache, "foreign_keys(1)", checkpointPages, journalLimit)
}

// File says in errors which file it is.
var File = sqlite.File{
	Name:    "memory.db",
	Damaged: damagedHint,
	Closing: "the store is closing", Closed: errClosed,
}

const damagedHint = "keep a copy of it; `claude-mem doctor` tells what to do"

// Fault returns err as a coded error that begins with what, as sqlite.File.Fault does: an
// err that has a code keeps it. sql.ErrNoRows is CodeNotFound. nil stays nil.
func Fault(what string, err error) error {
	if errors.Is(err, sql.ErrNoRows) && memory.CodeOf(err) == memory.CodeInternal {
		return memory.Errorf(memory.CodeNotFound, "%s: %w", what, err)
	}
	return File.Fault(what, err)
}

// Wrap is Fault for a deferred call: it replaces the error that a method returns.
func Wrap(err *error, what string) { *err = Fault(what, *err) }

// Damaged reports whether an error says that the file is damaged or no database of
// claude-mem, so that another try would fail too.
func Damaged(err error) bool {
	return sqlite.Damaged(err) || errors.Is(err, errNegativeSchema) || errors.Is(err, errForeign)
}
