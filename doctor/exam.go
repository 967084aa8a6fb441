package doctor

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"claudemem"
	"claudemem/settings"
	"claudemem/store"
	"claudemem/text"
	"claudemem/wire"
)

// Config is what is examined, and how the outside is met. What is left open is
// taken from the process, or not looked at.
type Config struct {
	// DataDir is the absolute path of the data directory, "" when there is none.
	DataDir string
	// Home is the user's home directory, HostDir where Claude Code keeps its files.
	Home, HostDir string
	// Version and Executable are this program's.
	Version, Executable string
	Getenv              func(string) string
	Clock               func() time.Time

	// OpenDatabase opens memory.db for reading; nil: store.OpenReadOnly.
	OpenDatabase func(ctx context.Context, path string) (Database, error)
	Worker       Worker
	// LookIndex looks at an index that no worker has open.
	LookIndex func(ctx context.Context, path string) (IndexState, error)
	// Plugins is what hosts have of ours and of the Node program's.
	Plugins Plugins
	// FindCLI returns the path of the claude CLI.
	FindCLI func() (string, error)
	// RunVersion runs a program with arguments that make it print its version.
	RunVersion func(ctx context.Context, path string, args ...string) (string, error)
	// Ask asks a provider with an API something that costs nothing; nil: nobody is
	// asked, and what was noted of it counts.
	Ask func(ctx context.Context, provider string) error
	// Statfs measures the file system of a path.
	Statfs func(path string) (FileSystem, error)
	// Panicked is told of a check that panicked, of two perhaps at once.
	Panicked func(check string, stack []byte)
}

// Database is memory.db as the doctor reads it: a store, opened for reading.
type Database interface {
	QuickCheck(ctx context.Context) ([]string, error)
	Sizes(ctx context.Context) (store.Sizes, error)
	Books(ctx context.Context) (claudemem.Books, error)
	Audit(ctx context.Context) ([]string, error)
	Activity(ctx context.Context, stuckBefore claudemem.Millis) (store.Activity, error)
	Standing(ctx context.Context, now time.Time) ([]store.Notice, error)
	ChangeRange(ctx context.Context) (oldest, newest int64, err error)
	Close() error
}

func openStore(ctx context.Context, path string) (Database, error) {
	s, err := store.OpenReadOnly(ctx, path)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Worker is the worker of the data directory.
type Worker interface {
	// Look asks it how it is.
	Look(ctx context.Context) (WorkerState, error)
	// LockHeld reports whether a process holds the worker's lock.
	LockHeld() (bool, error)
	// Start starts it and waits until it serves; Restart replaces it by this program's.
	Start(ctx context.Context) error
	Restart(ctx context.Context) error
	// Reindex builds the search index anew.
	Reindex(ctx context.Context) error
}

// WorkerState is what a worker says of itself.
type WorkerState struct {
	Running bool
	PID     int
	Version string
	// Newer says that it is newer than this program.
	Newer  bool
	Wire   int
	Port   int
	Socket string
	// Stages tells for each stage "ok" or what is wrong.
	Stages map[string]string
	// Index is nil when the worker did not tell.
	Index *IndexState
}

// IndexState is how a search index is.
type IndexState struct {
	// Missing: there is none. Unusable: why it cannot be read, "" when it can.
	Missing   bool
	Unusable  string
	Documents int
	// Cursor is the last change that it has, for one that no worker has open.
	Cursor int64
	// Behind counts the changes that it does not have yet, Waiting the records without vectors.
	Behind            int64
	Waiting           int
	Building, Opening bool
	Model, EmbedError string
}

// Plugins tells what hosts run.
type Plugins interface {
	Look(ctx context.Context) (Installation, error)
}

// Installation is what Claude Code has registered.
type Installation struct {
	// Ours are our plugin and our hooks in settings files, Node the plugin of the
	// Node program.
	Ours, Node []Registration
	// HooksDisabled names the settings file that turns all hooks off.
	HooksDisabled string
	// Unreadable are the host's files that could not be read.
	Unreadable []string
}

// Registration is one way in which a host runs a memory's hooks.
type Registration struct {
	// ID is NAME@MARKETPLACE of a plugin, or the settings file.
	ID      string
	Plugin  bool
	Enabled bool
	Version string
	// Root is the directory that the plugin's files are in.
	Root string
	// Hook is the program that hooks in a settings file run.
	Hook        string
	InstalledAt time.Time
}

// FileSystem is what a path is on.
type FileSystem struct {
	// Type names it, Network says that it is on another machine.
	Type    string
	Network bool
	// Free and Size are in bytes, FreeFiles and Files in inodes; Size or Files 0 = not known.
	Free, Size       uint64
	FreeFiles, Files uint64
	ReadOnly         bool
}

// exam is one examination: the configuration and what several checks look at.
type exam struct {
	Config
	now time.Time
	// The probes are made once, by the first check that asks.
	database func() (Database, error)
	activity func() (store.Activity, error)
	notices  func() ([]store.Notice, error)
	worker   func() (WorkerState, error)
	held     func() (bool, error)
	settings func() *settings.Settings
	plugins  func() (Installation, error)

	mu     sync.Mutex
	opened Database
	closed bool
}

// errNotLooked answers where the configuration has nobody to ask.
var errNotLooked = errors.New("not looked at")

// stuckAfter is how long a claim may last: model calls take a minute, and their retries some.
const stuckAfter = 15 * time.Minute

func newExam(ctx context.Context, cfg Config) *exam {
	if cfg.Getenv == nil {
		cfg.Getenv = os.Getenv
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Statfs == nil {
		cfg.Statfs = statfs
	}
	if cfg.OpenDatabase == nil {
		cfg.OpenDatabase = openStore
	}
	e := &exam{Config: cfg, now: cfg.Clock()}
	e.settings = sync.OnceValue(func() *settings.Settings {
		if e.DataDir == "" {
			return new(settings.Settings)
		}
		s, _ := settings.Inspect(e.DataDir, e.Getenv) // the settings check tells
		return s
	})
	e.database = sync.OnceValues(func() (Database, error) { return e.open(ctx) })
	e.activity = sync.OnceValues(func() (store.Activity, error) {
		db, err := e.database()
		if err != nil {
			return store.Activity{}, err
		}
		return db.Activity(ctx, claudemem.MillisOf(e.now.Add(-stuckAfter)))
	})
	e.notices = sync.OnceValues(func() ([]store.Notice, error) {
		db, err := e.database()
		if err != nil {
			return nil, err
		}
		return db.Standing(ctx, e.now)
	})
	e.worker = sync.OnceValues(func() (WorkerState, error) {
		if e.Worker == nil || e.DataDir == "" {
			return WorkerState{}, errNotLooked
		}
		return e.awaitWorker(ctx)
	})
	e.held = sync.OnceValues(func() (bool, error) {
		if e.Worker == nil || e.DataDir == "" {
			return false, errNotLooked
		}
		return e.Worker.LockHeld()
	})
	e.plugins = sync.OnceValues(func() (Installation, error) {
		if e.Plugins == nil {
			return Installation{}, errNotLooked
		}
		return e.Plugins.Look(ctx)
	})
	return e
}

// startingLimit is how long a process that holds the lock may take to answer: it
// may be a worker that is just starting or stopping.
const startingLimit = 3 * time.Second

func (e *exam) awaitWorker(ctx context.Context) (WorkerState, error) {
	ctx, cancel := context.WithTimeout(ctx, startingLimit)
	defer cancel()
	for {
		state, err := e.Worker.Look(ctx)
		if err != nil || state.Running {
			return state, err
		}
		held, err := e.Worker.LockHeld()
		if err != nil || !held {
			return state, nil // the look at the lock tells
		}
		select {
		case <-ctx.Done():
			return state, nil
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (e *exam) open(ctx context.Context) (Database, error) {
	if e.DataDir == "" {
		return nil, errNotLooked
	}
	db, err := e.OpenDatabase(ctx, e.path("memory.db"))
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, errors.Join(errNotLooked, db.Close()) // it took longer than anybody waited
	}
	e.opened = db
	return db, nil
}

// close ends reading; what could fail then has no effect on what was found.
func (e *exam) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	if e.opened != nil {
		_ = e.opened.Close()
	}
}

// path is a file of the data directory.
func (e *exam) path(names ...string) string {
	path := e.DataDir
	for _, name := range names {
		path += string(os.PathSeparator) + name
	}
	return path
}

func (e *exam) spool() wire.Spool { return wire.SpoolOf(e.DataDir) }

// ago says how long ago at was.
func (e *exam) ago(at time.Time) string { return text.Age(e.now, at) }
