package daemon

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"claudemem/internal/keep/index"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/serve/api"
)

const (
	// openWait is how long a search waits for an index that is still being opened.
	// 100,000 records take a fraction of a second.
	openWait = 10 * time.Second
	// firstTry and lastTry are the pauses between tries to open an index that could
	// not be opened: a disk is rarely full for a second, and not for ever.
	firstTry = 15 * time.Second
	lastTry  = 10 * time.Minute
)

// openIndex is what an open index does for the worker.
type openIndex interface {
	Rank(ctx context.Context, r index.Request) (index.Answer, error)
	Syntax(ctx context.Context, expression string, f index.Filter, limit int) (index.Answer, error)
	Reindex(ctx context.Context, report func(done, total int)) error
	TrainingDue() bool
	Train(ctx context.Context, o index.TrainOptions) error
	Status() index.Status
	Close() error
}

// finder opens the index in the background, so that intake never waits for it, tries
// again when that fails, and passes searches on to it.
type finder struct {
	open func(context.Context) (openIndex, error)
	log  *slog.Logger
	// after is time.After, for the pauses between tries.
	after func(time.Duration) <-chan time.Time

	// life ends when the finder is closed; the goroutines in running stop then.
	life    context.Context
	end     context.CancelFunc
	running sync.WaitGroup
	// tried is closed after the first attempt to open the index.
	tried chan struct{}
	first sync.Once

	mu    sync.Mutex
	index openIndex
	err   error // of the last try
	built api.Reindexing
}

// newFinder returns a finder that will open the index with open; start begins that.
func newFinder(open func(context.Context) (openIndex, error), log *slog.Logger) *finder {
	f := &finder{open: open, log: log, after: time.After, tried: make(chan struct{})}
	f.life, f.end = context.WithCancel(context.Background())
	return f
}

// start opens the index in the background, and tries again after each failure until it
// is open or the finder closes. After close it does nothing.
func (f *finder) start() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.life.Err() != nil {
		return
	}
	f.running.Go(func() {
		for pause := firstTry; !f.try(pause); pause = min(2*pause, lastTry) {
			select {
			case <-f.life.Done():
				return
			case <-f.after(pause):
			}
		}
	})
}

// try opens the index and reports whether that worked. Searches wait for the end of the first
// call. pause, after which it is called again, is for the log.
func (f *finder) try(pause time.Duration) bool {
	start := time.Now()
	opened, err := f.open(f.life)
	switch {
	case err == nil:
		f.log.Info("index open", "ms", time.Since(start).Milliseconds())
	case f.life.Err() == nil:
		f.log.Error("open index", "error", err, "again_in", pause.String())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
	if err == nil {
		f.index = opened
	}
	f.first.Do(func() { close(f.tried) })
	return err == nil
}

// close ends the attempts to open the index and closes it if it is open.
func (f *finder) close() error {
	f.mu.Lock()
	f.end() // nothing is started after it
	f.mu.Unlock()
	f.running.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.index == nil {
		return nil
	}
	return f.index.Close()
}

// current returns the open index. It waits up to openWait for one that is being opened.
// CodeUnavailable when it is not open by then, cannot be opened or is closed; the error of ctx
// when that ends first.
func (f *finder) current(ctx context.Context) (openIndex, error) {
	select {
	case <-f.tried:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-f.life.Done():
		return nil, errStopping()
	case <-time.After(openWait):
		return nil, memory.Errorf(memory.CodeUnavailable, "the index is being opened").WithHint("try again in a moment")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.life.Err() != nil:
		return nil, errStopping()
	case f.index == nil:
		return nil, memory.Errorf(memory.CodeUnavailable, "the index cannot be opened: %w", f.err).
			WithHint("what needs no query is answered all the same; see claude-mem worker logs; the worker tries again by itself")
	default:
		return f.index, nil
	}
}

func errStopping() error {
	return memory.Errorf(memory.CodeUnavailable, "the worker is stopping").WithHint("try again in a moment")
}

// Rank implements search.Index.
func (f *finder) Rank(ctx context.Context, r index.Request) (index.Answer, error) {
	ix, err := f.current(ctx)
	if err != nil {
		return index.Answer{}, err
	}
	return ix.Rank(ctx, r)
}

// Syntax implements search.Index.
func (f *finder) Syntax(ctx context.Context, expression string, filter index.Filter, limit int) (index.Answer, error) {
	ix, err := f.current(ctx)
	if err != nil {
		return index.Answer{}, err
	}
	return ix.Syntax(ctx, expression, filter, limit)
}

// StartReindex begins a rebuild, which a training of the vectors ends, in the background, and
// returns; Reindexing tells of it. CodeConflict when one is running, CodeUnavailable as current.
func (f *finder) StartReindex() error {
	ix, err := f.current(f.life)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.life.Err() != nil:
		return errStopping()
	case f.built.Running:
		return memory.Errorf(memory.CodeConflict, "the index is being built anew already")
	}
	f.built = api.Reindexing{Running: true}
	f.running.Go(func() {
		err := ix.Reindex(f.life, func(done, total int) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.built.Done, f.built.Total = done, total
		})
		if err == nil {
			err = ix.Train(f.life, index.TrainOptions{})
			if memory.CodeOf(err) == memory.CodeConflict {
				err = nil // it is being rebuilt once more
			}
		}
		status := ix.Status()
		f.mu.Lock()
		defer f.mu.Unlock()
		f.built.Running = false
		if err != nil {
			f.built.Error = err.Error()
			f.log.Error("rebuild index", "error", err)
			return
		}
		f.built.Done = max(f.built.Done, status.Documents)
	})
	return nil
}

// Reindexing returns the progress of the running rebuild, or else of the last one.
func (f *finder) Reindexing() api.Reindexing {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.built
}

// States of the index, besides control.IndexOpening.
const (
	indexOpen   = "ok"
	indexFailed = "failed"
)

// indexStatus is the index's part of GET /api/stats.
type indexStatus struct {
	State string `json:"state"`
	// Error is why it cannot be opened, or its last fault.
	Error string `json:"error,omitempty"`
	*index.Status
}

// status returns the state of the index: opening, open, or failed with the error. One that is
// open may have failed too.
func (f *finder) status() indexStatus {
	f.mu.Lock()
	ix, err := f.index, f.err
	f.mu.Unlock()
	status := indexStatus{State: control.IndexOpening}
	switch {
	case ix != nil:
		now := ix.Status()
		status.State, status.Error, status.Status = indexOpen, now.Error, &now
		if now.Error != "" {
			status.State = indexFailed
		}
	case err != nil:
		status.State, status.Error = indexFailed, err.Error()
	}
	return status
}

// word returns the status as a stage shows it: "ok" or what is wrong. That it is being
// opened is not wrong: searches wait for it.
func (s indexStatus) word() string {
	switch {
	case s.State == indexFailed:
		return s.Error
	case s.State == indexOpen && s.EmbedError != "" && s.Model != embedderOff:
		return "no vectors: " + s.EmbedError
	default:
		return indexOpen
	}
}

// fault returns why the index cannot be opened, nil when it is open or being opened.
func (f *finder) fault() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		return nil
	}
	return memory.Errorf(memory.CodeUnavailable, "the index cannot be opened: %w", f.err).
		WithHint("events are taken in all the same; see claude-mem worker logs")
}
