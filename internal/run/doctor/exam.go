package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/run/install"
)

// Config names the installation to examine. A nil function is taken from the process
// where it can be, else its check is left out.
type Config struct {
	// DataDir is the absolute path of the data directory, "" when there is none.
	DataDir string
	// HostDir is Claude Code's configuration directory, "" when there is none.
	HostDir string
	// Version and Executable are this program's.
	Version, Executable string
	Getenv              func(string) string
	Clock               func() time.Time

	// StartWorker starts this program's worker and waits until it answers.
	StartWorker func(context.Context) error
	// Reindex rebuilds the search index.
	Reindex func(context.Context) error
	// FindCLI returns the path of the claude CLI.
	FindCLI func() (string, error)
	// RunVersion runs a program with arguments that make it print its version, and
	// returns the first line of its output.
	RunVersion func(ctx context.Context, path string, args ...string) (string, error)
	// Ask sends a provider with an API a free request; nil: the notices and the
	// outcomes of earlier calls count.
	Ask func(ctx context.Context, provider string) error
	// Search searches observations in the way that users do and returns the titles found; nil:
	// no search is made.
	Search func(ctx context.Context, query string) (titles []string, err error)
	// Statfs measures the file system of a path.
	Statfs func(path string) (FileSystem, error)
	// Panicked is called with the name and stack of a check that panicked. Two calls
	// may run at once.
	Panicked func(check string, stack []byte)
	// Deep has all of the database, the index and the spool read, and every record compared
	// with its hash, whatever time that takes, up to half an hour each.
	Deep bool
}

// FileSystem describes the file system of a path.
type FileSystem struct {
	// Type names it, Network says that it is on another machine.
	Type    string
	Network bool
	// Free and Size are in bytes, FreeFiles and Files in inodes; Size or Files 0 = not known.
	Free, Size       uint64
	FreeFiles, Files uint64
	ReadOnly         bool
}

// exam is one examination: the configuration and the values that several checks share.
type exam struct {
	Config
	now time.Time
	// Each function reads its value once, when the first check calls it.
	database func() (*store.Store, error)
	activity func() (accounts.Activity, error)
	books    func() (memory.Books, error)
	notices  func() ([]accounts.Notice, error)
	worker   func() worker
	settings func() *settings.Settings
	plugins  func() install.Registered
	agents   func() []install.AgentState

	mu     sync.Mutex
	opened *store.Store
	closed bool
}

// worker is the state of the worker.
type worker struct {
	control.Status
	// held says that the worker's lock is held by a process that does not answer.
	held bool
	// lockErr says why held is not known.
	lockErr error
}

// errNotLooked is the error of a value that the configuration gives no way to read.
var errNotLooked = errors.New("not looked at")

// stuckAfter is the age of a claim that counts as stuck. Model calls take a minute,
// their retries some more.
const stuckAfter = 15 * time.Minute

// newExam returns an exam of cfg. What several checks need (settings, database, worker
// …) is read at its first use and kept.
func newExam(ctx context.Context, cfg Config) *exam {
	if cfg.Getenv == nil {
		cfg.Getenv = os.Getenv
	}
	cfg.Clock = memory.ClockOr(cfg.Clock)
	if cfg.Statfs == nil {
		cfg.Statfs = statfs
	}
	e := &exam{Config: cfg, now: cfg.Clock()}
	e.settings = sync.OnceValue(func() *settings.Settings {
		if e.DataDir == "" {
			return new(settings.Settings)
		}
		s, _ := settings.Inspect(e.DataDir, e.Getenv) // checkSettings reports the error
		return s
	})
	e.database = sync.OnceValues(func() (*store.Store, error) { return e.open(ctx) })
	e.activity = stored(e, func(db *store.Store) (accounts.Activity, error) {
		return db.Activity(ctx, memory.MillisOf(e.now.Add(-stuckAfter)))
	})
	e.books = stored(e, func(db *store.Store) (memory.Books, error) { return db.Books(ctx) })
	e.notices = stored(e, func(db *store.Store) ([]accounts.Notice, error) { return db.Standing(ctx, e.now) })
	e.worker = sync.OnceValue(func() worker { return e.awaitWorker(ctx) })
	e.agents = sync.OnceValue(func() []install.AgentState {
		return install.ReadAgents(e.DataDir, e.Getenv, settings.HomeDir(e.Getenv))
	})
	e.plugins = sync.OnceValue(func() install.Registered { return install.ReadRegistered(e.HostDir) })
	return e
}

// stored returns a function that reads a value from the database, once: later calls get the same
// value or the same error. Several checks may call it at once.
func stored[T any](e *exam, read func(*store.Store) (T, error)) func() (T, error) {
	return sync.OnceValues(func() (value T, err error) {
		db, err := e.database()
		if err != nil {
			return value, err
		}
		return read(db)
	})
}

// startingLimit is how long awaitWorker waits for a process that holds the lock: it may
// be a worker that is starting, stopping, or slow on a busy machine.
const startingLimit = 6 * time.Second

// awaitWorker returns the state of the worker, and waits while a process that does not
// answer holds the worker's lock. A status that cannot be read counts as no worker.
func (e *exam) awaitWorker(ctx context.Context) (w worker) {
	if e.DataDir == "" {
		return w
	}
	ctx, cancel := context.WithTimeout(ctx, startingLimit)
	defer cancel()
	for {
		if w.Status, _ = control.Look(ctx, e.DataDir); w.Running {
			return w
		}
		if w.held, w.lockErr = control.LockHeld(e.DataDir); !w.held {
			return w
		}
		if !control.Pause(ctx, 100*time.Millisecond) {
			return w
		}
	}
}

// open opens the database, which close will close; errNotLooked without a data
// directory.
func (e *exam) open(ctx context.Context) (*store.Store, error) {
	if e.DataDir == "" {
		return nil, errNotLooked
	}
	db, err := store.OpenReadOnly(ctx, e.path("memory.db"))
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, errors.Join(errNotLooked, db.Close()) // opened after the time limit of the check
	}
	e.opened = db
	return db, nil
}

// close closes the database; an error has no effect on the findings.
func (e *exam) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	if e.opened != nil {
		_ = e.opened.Close()
	}
}

// path returns the path of a file in the data directory.
func (e *exam) path(names ...string) string {
	return filepath.Join(append([]string{e.DataDir}, names...)...)
}

// at returns a time by the user's clock, to the minute.
func (e *exam) at(t time.Time) string { return t.In(e.now.Location()).Format(minute) }

// ago returns the age of a time in words.
func (e *exam) ago(at time.Time) string { return text.Age(e.now, at) }
