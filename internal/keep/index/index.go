package index

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"claudemem/internal/keep/index/embed"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

// Feed is the change feed that the index follows. The store implements it, memoryFeed in the
// tests, for feeds with gaps and failures, and corpusFeed in the benchmarks.
type Feed interface {
	// Changes returns up to limit entries of the change feed with numbers above
	// after, in order.
	Changes(ctx context.Context, after int64, limit int) ([]memory.Change, error)
	// ChangeRange returns the lowest number that the feed still has and the highest
	// that it ever gave; a position below oldest-1 has missed changes.
	ChangeRange(ctx context.Context) (oldest, newest int64, err error)
	// Follow returns a channel that receives after each commit that appended to the
	// feed, and once at the start.
	Follow() (changed <-chan struct{}, stop func())
	// Documents reads records; those that are gone or hidden are left out.
	Documents(ctx context.Context, refs ...memory.RecordRef) ([]memory.Document, error)
	// DocumentsAfter reads up to limit records of a kind with numbers above after, in order.
	DocumentsAfter(ctx context.Context, kind memory.RecordKind, after int64, limit int) ([]memory.Document, error)
	// Totals counts the records of a project, "" for all, for a progress bar.
	Totals(ctx context.Context, project string) (memory.Totals, error)
}

// Embedder turns texts into vectors of unit length that can be compared with
// each other, but not with those of another model.
type Embedder interface {
	// Model names the model; vectors of different names are never compared.
	Model() string
	// Embed returns a vector of the same number of dimensions for each text; a text
	// without meaning to the model has a vector of zeros.
	Embed(ctx context.Context, texts ...string) ([][]float32, error)
}

// Options are what an index takes from outside; zero fields take the default.
type Options struct {
	// Embedder is the model that turns texts into vectors; nil takes the one inside
	// the program. Any other is taken for one that is far away: it is asked in the
	// background, and search goes on without vectors where it doesn't answer.
	Embedder Embedder
	Logger   *slog.Logger     // none
	Clock    func() time.Time // time.Now
	// After is time.After; for the pauses after failures.
	After func(time.Duration) <-chan time.Time
	// MayRepair is asked before a file is repaired, with its name and the reason; false keeps it as
	// it is. nil allows all.
	MayRepair func(file, reason string) bool
	// CheckEvery is how often the pages of index.db are compared with their sums while there are
	// searches; 10 minutes by default.
	CheckEvery time.Duration
	// Untrained takes the built-in table as it is, and deletes one that was trained further.
	Untrained bool
}

// Index is an open index. Its methods may be called from any goroutine.
type Index struct {
	path     string
	feed     Feed
	embedder Embedder
	table    *embed.Table // the built-in model, also for MaxSim
	local    bool         // that it is the embedder
	log      *slog.Logger
	clock    func() time.Time
	after    func(time.Duration) <-chan time.Time
	readOnly bool
	// untrained is Options.Untrained, also set for models that are not trained.
	untrained bool
	training  sync.Mutex // held by Train

	// mu guards the pointer; queries hold it for reading as long as they run, so
	// that a base is not closed under them.
	mu   sync.RWMutex
	base *base

	mayRepair  func(file, reason string) bool
	checkEvery time.Duration
	// checked is closed when the pages were compared for the first time, checkedAt is when they
	// last were, in Unix nanoseconds.
	checked   chan struct{}
	compared  func() // closes checked
	checkedAt atomic.Int64
	// tableKept says that the trained table is damaged and stays so.
	tableKept atomic.Bool
	// warned says that the log has the warning about an unknown layout.
	warned atomic.Bool

	follower follower
	state    state

	closing sync.Once
	closed  error
}

// Open opens the index at path (the vectors are beside it), or makes it, and
// follows the feed until Close. An index that is damaged or of another version is
// deleted and built anew. One process may do so at a time; the caller holds the
// worker lock.
//
// The codes of its errors: CodeStorage, CodeUnavailable.
func Open(ctx context.Context, path string, feed Feed, opts Options) (*Index, error) {
	ix, err := newIndex(path, opts)
	if err != nil {
		return nil, fault("open index", err)
	}
	ix.feed = feed
	if err := removeNext(ix.path); err != nil {
		return nil, fault("open index", err)
	}
	if ix.base, err = ix.openOrRebuild(ctx); err != nil && !damaged(err) { // it waits for a reindex
		return nil, fault("open index", err)
	}
	ix.follower.start(ix)
	return ix, nil
}

// OpenReadOnly opens the index at path for a process that is not the worker, as it
// is at this moment: it follows nothing and never writes. The rest is as with Open.
//
// The codes of its errors: CodeNoMemory (there is no index), CodeUnavailable (it is
// of another version), CodeStorage.
func OpenReadOnly(ctx context.Context, path string, opts Options) (*Index, error) {
	ix, err := newIndex(path, opts)
	if err != nil {
		return nil, fault("open index", err)
	}
	ix.readOnly = true
	if ix.base, err = openBaseReadOnly(ctx, ix.path, ix.tableFor); err != nil {
		return nil, fault("open index", err)
	}
	if ix.base.pages, err = openfile.Open(ix.path, os.O_RDONLY, 0); err != nil {
		return nil, fault("open index", errors.Join(err, ix.base.close()))
	}
	go func() { // Rank and Syntax wait for the end of it (sound)
		defer ix.compared()
		ix.base.unsound.Store(damaged(checkPages(ix.base.pages, ix.path)))
	}()
	return ix, nil
}

// newIndex returns an index that is not open yet, with defaults for what opts leaves
// out. Without an embedder it uses the built-in table.
func newIndex(path string, opts Options) (*Index, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	ix := &Index{path: path, embedder: opts.Embedder, clock: opts.Clock, after: opts.After, mayRepair: opts.MayRepair}
	ix.log = cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	if ix.table, err = embed.Builtin(); err != nil {
		return nil, err
	}
	if ix.embedder == nil {
		ix.embedder, ix.local = ix.table, true
	}
	ix.clock = memory.ClockOr(ix.clock)
	if ix.after == nil {
		ix.after = time.After
	}
	if ix.mayRepair == nil {
		ix.mayRepair = func(string, string) bool { return true }
	}
	ix.checkEvery, ix.checked = cmp.Or(opts.CheckEvery, 10*time.Minute), make(chan struct{})
	ix.compared = sync.OnceFunc(func() { close(ix.checked) })
	ix.untrained = opts.Untrained || !ix.local
	ix.state.changed = make(chan struct{})
	return ix, nil
}

// openOrRebuild opens the base; what is damaged, foreign or of another version
// makes way for a new one, if Options.MayRepair allows it. Else the error is one that damaged
// reports.
func (ix *Index) openOrRebuild(ctx context.Context) (*base, error) {
	b, err := ix.openBase(ctx, ix.path)
	if !damaged(err) {
		return b, err
	}
	if !ix.mayRepair(databaseFile, reasonOf(err)) {
		return nil, err
	}
	aside, failed := clearAway(ix.path)
	if failed != nil {
		return nil, failed
	}
	ix.log.Warn("the index is built anew", "because", err, "kept", aside)
	if b, err = ix.openBase(ctx, ix.path); err == nil {
		b.repaired = true
	}
	return b, err
}

// openBase opens or makes the index at path, which is ix.path or that of a rebuild, for this embedder
// and begins the build of a new one.
func (ix *Index) openBase(ctx context.Context, path string) (*base, error) {
	dimensions := 0 // not known before the first answer, unless the index knows
	if ix.local {
		dimensions = ix.table.Dimensions()
	}
	trained, err := ix.openTable()
	if err != nil {
		return nil, err
	}
	model := ix.embedder.Model()
	if trained != nil {
		model = trained.Model()
	}
	b, err := openBase(ctx, path, model, dimensions, trained, ix.mayRepair)
	if err != nil {
		return nil, err
	}
	if b.fresh {
		_, newest, err := ix.feed.ChangeRange(ctx)
		if err == nil {
			err = b.startBuild(ctx, newest)
		}
		if err != nil {
			return nil, errors.Join(err, b.close())
		}
	}
	return b, nil
}

// moveNext gives the vectors and the sums of a rebuilt index the names of the old ones.
func moveNext(path string) error {
	next := nextPath(path)
	return errors.Join(ifExists(os.Rename(vectorPath(next), vectorPath(path))), ifExists(os.Rename(sumsPath(next), sumsPath(path))))
}

// removeNext removes what a rebuild left unfinished. With index.db, but without index.db.new, a rebuild
// may have ended between its renames: then it moves the rest, if there is any. So index.db.new is
// removed last: without it the other files count as those of a finished rebuild.
func removeNext(path string) error {
	_, missingNext := os.Stat(nextPath(path))
	_, missing := os.Stat(path)
	if errors.Is(missingNext, os.ErrNotExist) && missing == nil {
		return moveNext(path)
	}
	if err := remove(vectorPath(nextPath(path)), sumsPath(nextPath(path))); err != nil {
		return err
	}
	_, err := clearAway(nextPath(path))
	return err
}

// remove removes those of the files that exist.
func remove(paths ...string) error {
	return errors.Join(collect.Map(paths, func(path string) error { return ifExists(os.Remove(path)) })...)
}

// reopen closes the index after before, which is given it if it is open, lets move put other files
// in its place, and opens it again. Queries wait for it; only the follower calls it. After an error
// of before or of closing nothing is moved; after one of opening the follower tries again.
func (ix *Index) reopen(ctx context.Context, before func(b *base) error, move func() error) error {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	var err error
	if b := ix.base; b != nil {
		err = errors.Join(before(b), b.close())
	}
	if err == nil {
		err = move()
	}
	b, failed := ix.openOrRebuild(ctx)
	ix.base = b
	return errors.Join(err, failed)
}

// ifExists returns the error of an operation on a file, nil when there is no file.
func ifExists(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// Close ends the follower and closes the files. It may be called more than once.
func (ix *Index) Close() error {
	ix.closing.Do(func() {
		if ix.readOnly {
			<-ix.checked // the comparison of the pages reads the base
		}
		ix.follower.stop() // before mu is taken, which it may be waiting for
		ix.mu.Lock()
		defer ix.mu.Unlock()
		if ix.base != nil {
			ix.closed = fault("close index", ix.base.close())
			ix.base = nil
		}
		ix.state.end()
	})
	return ix.closed
}

// current returns the base that answers queries, locked for reading until the caller
// calls done. While the index is closed or being rebuilt, err is CodeUnavailable and b
// and done are nil.
func (ix *Index) current() (b *base, done func(), err error) {
	ix.mu.RLock()
	if ix.base == nil {
		ix.mu.RUnlock()
		return nil, nil, memory.Errorf(memory.CodeUnavailable, "the index is not open at the moment").
			WithHint("try again in a moment; claude-mem worker logs tells more")
	}
	ix.base.cat.mu.RLock()
	b = ix.base
	return b, func() { b.cat.mu.RUnlock(); ix.mu.RUnlock() }, nil
}
