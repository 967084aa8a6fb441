package daemon

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"claudemem/internal/capture/intake"
	"claudemem/internal/keep/backup"
	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/care"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/move/joined"
)

// exchanger keeps a memory and a place outside of it up to date, while the memory is joined by that: the folder of devices, the server of a team.
type exchanger struct {
	store   *store.Store
	intake  *intake.Intake
	dataDir string
	log     *slog.Logger
	clock   func() time.Time
	// identify returns a project's identity, used when somebody has last used the memory: both as in joined.Options.
	identify func(project string) string
	used     func() time.Time

	// with is what the log calls the others, file says whether the memory is joined with them.
	with string
	file *joined.File
	// pause is the time between a change of the memory and the exchange, every that between two that nothing has asked for. After a
	// failure it waits longer each time, from retry to mostRetry; with 0 it does not.
	pause, every, retry time.Duration
	// run makes an exchange, pull says that it is to look for what is new elsewhere. It returns what to log of what it did, nothing if it did nothing.
	run func(ctx context.Context, pull bool) ([]any, error)
	// beside runs as long as follow does, if it is not nil.
	beside func(ctx context.Context)
	// woken (capacity 1) receives when the others have something new.
	woken chan struct{}
	// busy lets one exchange at a time run.
	busy sync.Mutex
	once sync.Once
	background
}

// mostRetry bounds the wait after a failure.
const mostRetry = time.Minute

// start follows the change feed until close, if the memory is joined.
func (e *exchanger) start() {
	if !e.file.In(e.dataDir) {
		return
	}
	e.once.Do(func() {
		changed, stop := e.store.Follow()
		e.begin(context.Background(), func(ctx context.Context) {
			defer stop()
			var beside sync.WaitGroup
			if e.beside != nil {
				beside.Go(func() { e.beside(ctx) })
			}
			e.follow(ctx, changed)
			beside.Wait()
		})
	})
}

// follow makes an exchange pause after a change here, when it is woken, and at each every; after a failure not before a while.
func (e *exchanger) follow(ctx context.Context, changed <-chan struct{}) {
	ticker := time.NewTicker(e.every)
	defer ticker.Stop()
	var due, again <-chan time.Time
	wait, pull := e.retry, false
	told := "" // the others may be away for days
	for {
		select {
		case <-ctx.Done():
			return
		case _, open := <-changed:
			if !open {
				return
			}
			if due == nil {
				due = time.After(e.pause)
			}
			continue
		case <-e.woken:
			pull = true
		case <-ticker.C:
			pull = true
		case <-due:
			due = nil
		case <-again:
			again, pull = nil, true
		}
		if again != nil || !e.file.In(e.dataDir) {
			continue
		}
		done, err := e.run(ctx, pull)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			if err.Error() != told {
				told = err.Error()
				e.log.Warn("exchange with "+e.with, "error", err)
			}
			if e.retry > 0 {
				again, wait = time.After(wait), min(2*wait, mostRetry)
			}
			continue
		case len(done) > 0:
			e.log.Info("exchanged records with "+e.with, done...)
		}
		wait, pull, told = e.retry, false, ""
	}
}

// options returns what an exchange takes from outside.
func (e *exchanger) options() (joined.Options, error) {
	captured, err := e.intake.Captured()
	return joined.Options{
		DataDir: e.dataDir, Identify: e.identify, Now: func() memory.Millis { return memory.MillisOf(e.clock()) },
		Sharing: care.Sharing{Captured: captured, Redact: e.intake.Portable, Used: e.used, Note: func(erased *care.Erasure) error { return backup.NoteErasure(e.dataDir, erased) }},
	}, err
}

// syncLimit bounds a sync that a command asks the worker for: the first one of a large memory takes minutes.
const syncLimit = time.Hour

// asked has a request carried out by the worker, at a route, or by do in its place where none runs. For a memory that is not joined it returns that error.
func asked[Answer any](ctx context.Context, dataDir string, file *joined.File, path string, request any, do func(*deviceSync) (Answer, error)) (answer Answer, err error) {
	if err := file.Check(dataDir); err != nil {
		return answer, err
	}
	if worker, _, missing := askPeer(ctx, dataDir); missing == nil {
		err = worker.DoWithin(ctx, syncLimit, http.MethodPost, path, request, &answer)
		return answer, err
	}
	resolved, err := settings.LoadForWorker(dataDir, os.Getenv)
	if err != nil {
		return answer, err
	}
	log := slog.New(slog.DiscardHandler)
	policy := newLive(dataDir, resolved, log).policy
	err = asWorker(ctx, dataDir, true, turnLimit, func(s *store.Store) error {
		d := newDeviceSync(s, intake.New(nil, intake.Options{Policy: policy}), dataDir, log, time.Now)
		d.transfer = commandTransfer
		answer, err = do(d)
		return err
	})
	return answer, err
}

// readJoined reads something of the store of a data directory. For a memory that is not joined it returns that error.
func readJoined[Status any](ctx context.Context, dataDir string, file *joined.File, read func(*store.Store) (Status, error)) (status Status, err error) {
	if err := file.Check(dataDir); err != nil {
		return status, err
	}
	return readMemory(ctx, dataDir, read)
}
