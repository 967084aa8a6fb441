package store

import (
	"context"
	"crypto/rand"
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
	// BeforeMigration is called with the older version of a schema that is about to be
	// migrated. Its error refuses to open.
	BeforeMigration func(ctx context.Context, from int) error
	// Mismatched is called when a read has met a record that is not as it was written. It
	// must not block.
	Mismatched func()
}

// Store is an open memory.db. Its methods may be called from any goroutine.
type Store struct {
	path   string
	clock  func() time.Time
	log    *slog.Logger
	reader pool
	writer *writer // nil when opened for reading only
	feed   feed
	counts countMemory[int]
	totals countMemory[memory.Totals]
	sets   sets

	closing sync.Once
	closed  error
}

// Open opens the database at path for the worker: it makes the directory and
// the file when they are not there and migrates an older schema. Only one
// process may do so at a time; the caller holds the worker lock.
//
// The codes of its errors: CodeNewerSchema (nothing was touched), CodeStorage,
// CodeUnavailable.
func Open(ctx context.Context, path string, opts Options) (s *Store, err error) {
	defer wrap(&err, "open memory")
	opts = withDefaults(opts)
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := beforeMigration(ctx, path, opts); err != nil {
		return nil, err
	}
	db, err := sqlite.OpenWriter(path, writeSource(path))
	if err != nil {
		return nil, err
	}
	if err := migrate(ctx, db, opts.Logger); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	reader, err := sqlite.OpenReaders(ctx, readSource(path))
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s = &Store{path: path, clock: opts.Clock, log: opts.Logger, reader: newPool(reader, opts)}
	if s.writer, err = startWriter(ctx, db, opts, &s.feed); err != nil {
		return nil, errors.Join(err, reader.Close(), db.Close())
	}
	return s, nil
}

// OpenReadOnly opens the database at path for a process that is not the worker:
// it never migrates and never writes. It works beside a worker and without one,
// also after a worker that was killed.
//
// The codes of its errors: CodeNoMemory (no database yet), CodeOlderSchema (the
// worker has to migrate it first), CodeNewerSchema, CodeStorage.
func OpenReadOnly(ctx context.Context, path string) (s *Store, err error) {
	defer wrap(&err, "open memory")
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, memory.Errorf(memory.CodeNoMemory, "there is no database yet").
			WithHint("it is made when the first session is captured")
	}
	reader, err := sqlite.OpenReaders(ctx, readSource(path))
	if code := sqlite.Code(err); (code == sqlite3.SQLITE_CANTOPEN || code == sqlite3.SQLITE_READONLY) && canFreeze(path) {
		reader, err = sqlite.OpenReaders(ctx, readSource(path, "immutable=1"))
	}
	if err != nil {
		return nil, err
	}
	version, err := schemaVersion(ctx, reader)
	if err == nil {
		err = checkStructure(ctx, reader)
	}
	if err == nil {
		err = checkReadable(version)
	}
	if err != nil {
		return nil, errors.Join(err, reader.Close())
	}
	opts := withDefaults(Options{})
	return &Store{path: path, clock: opts.Clock, log: opts.Logger, reader: newPool(reader, opts)}, nil
}

// withDefaults fills in what opts leaves out.
func withDefaults(opts Options) Options {
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Mismatched == nil {
		opts.Mismatched = func() {}
	}
	if opts.Rand == nil {
		opts.Rand = rand.Reader
	}
	return opts
}

// canFreeze reports whether the file at path may be read as immutable: it has no
// write-ahead log, and its directory does not allow new files, so it has no writer.
func canFreeze(path string) bool {
	if hasLog(path) {
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
func (s *Store) Close() error {
	s.closing.Do(func() {
		// Readers first: only the last connection to leave removes the log.
		err := s.reader.Close()
		if s.writer != nil {
			err = errors.Join(err, s.writer.close())
		}
		s.feed.close()
		s.closed = fault("close memory", err)
	})
	return s.closed
}

// Path returns where the database is.
func (s *Store) Path() string { return s.path }

func (s *Store) now() memory.Millis { return memory.MillisOf(s.clock()) }

// writeKeeping runs fn in a transaction of its own, after the arrivals that wait. fn
// doesn't touch sessions or tombstones.
func (s *Store) writeKeeping(ctx context.Context, what string, fn func(*tx) error) error {
	return s.write(ctx, what, job{run: fn, keepsSessions: true})
}

// write has the writer run j in a transaction and waits for it. what names the operation
// in its error. A store that is open for reading refuses.
func (s *Store) write(ctx context.Context, what string, j job) error {
	if s.writer == nil {
		return fault(what, errReadOnly)
	}
	return fault(what, s.writer.do(ctx, j))
}

// errReadOnly answers a write to a store that was opened for reading.
var errReadOnly = memory.Errorf(memory.CodeUnavailable, "memory is open for reading only").
	WithHint("start the worker: claude-mem worker start")
