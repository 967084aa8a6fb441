package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"claudemem"
	"claudemem/api"
	"claudemem/httpapi"
	"claudemem/lock"
	"claudemem/settings"
	"claudemem/wire"
)

// Limits of a stop.
const (
	// requestLimit is how long requests under way are waited for.
	requestLimit = 3 * time.Second
	// finishOnStop is how long what is due is still distilled; the rest stays in
	// the queue for the next worker.
	finishOnStop = 3 * time.Second
	// CloseLimit is what a stop takes at most, so long as the disk answers.
	CloseLimit = 15 * time.Second
)

// housekeeping is how often the worker looks after what no signal tells it:
// files that hooks spooled, claims to heal, sessions that fell silent, its own idleness.
const housekeeping = 30 * time.Second

// Config says what worker to open. Only DataDir is needed.
type Config struct {
	// DataDir is made when it is not there.
	DataDir string
	// Settings in force for a worker; nil reads them from DataDir.
	Settings *settings.Settings
	// Version of the program.
	Version string
	// Logger is never given the content of a payload; nil discards.
	Logger *slog.Logger
	// Port on 127.0.0.1 overrides the setting: 0 = no TCP.
	Port *int
	// IdleExit overrides the setting: the worker asks to be closed after so long
	// without requests and without work; 0 = never.
	IdleExit *time.Duration
	// Housekeeping is how often the timer runs; 30 s by default.
	Housekeeping time.Duration
	// Clock is the time of day; nil is time.Now.
	Clock func() time.Time
}

// Worker is an open worker. It serves until it is closed.
type Worker struct {
	cfg     Config
	log     *slog.Logger
	self    api.Identity
	started time.Time

	stages
	inbox *inbox

	socket string
	port   int // TCP, 0 for none

	// life ends when Close has ended everything else.
	life    context.Context
	endLife context.CancelFunc

	// noticed are the notices as they were last kept; only the housekeeper uses it.
	noticed map[string]string

	// ready is set once every stage is up and unset when Close begins.
	ready atomic.Bool
	// lastUse is when the last request began or ended, Unix nanoseconds; open counts those under way.
	lastUse atomic.Int64
	open    atomic.Int64

	// poke (capacity 1, more merge) asks the housekeeper to look into the spool.
	poke chan struct{}

	// done is closed by the first wish to stop: Shutdown, idleness or Close.
	done     chan struct{}
	doneOnce sync.Once

	// undo ends what Open began, in reverse order.
	undo      []undoStep
	closeOnce sync.Once
	closeErr  error
}

type undoStep struct {
	name string
	end  func(context.Context) error
}

// Open becomes the worker of a data directory: it takes the lock (from an older
// worker if need be), opens the database, takes in what was spooled, and listens.
// When it returns, the worker serves.
//
// The codes of its errors: CodeConflict when another worker runs and stays;
// CodeStorage, CodeNewerSchema and CodeUnavailable as store.Open says; CodeInvalid
// without a data directory.
func Open(ctx context.Context, cfg Config) (*Worker, error) {
	w, err := newWorker(cfg)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	if err := w.openAll(ctx); err != nil {
		if claudemem.CodeOf(err) != claudemem.CodeConflict { // two that start at once are no fault
			w.log.Error("open worker", "error", err)
		}
		// What was opened is closed again; the first error is the one to tell.
		_ = w.Close(context.WithoutCancel(ctx))
		return nil, fmt.Errorf("open worker: %w", err)
	}
	w.log.Info("worker ready", "pid", os.Getpid(), "version", cfg.Version, "port", w.port,
		"ms", time.Since(start).Milliseconds())
	return w, nil
}

// newWorker returns a worker of which nothing is open yet, with defaults for what cfg
// leaves out. Without a data directory it is CodeInvalid.
func newWorker(cfg Config) (*Worker, error) {
	dir, err := filepath.Abs(cfg.DataDir)
	if err != nil || cfg.DataDir == "" {
		return nil, claudemem.Errorf(claudemem.CodeInvalid, "open worker: no data directory").
			WithHint("set " + settings.DataDirKey)
	}
	cfg.DataDir = dir
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Housekeeping <= 0 {
		cfg.Housekeeping = housekeeping
	}
	w := &Worker{
		cfg: cfg, log: cfg.Logger, started: cfg.Clock(),
		self:    api.Identity{Version: cfg.Version, Wire: wire.Version},
		noticed: map[string]string{},
		poke:    make(chan struct{}, 1),
		done:    make(chan struct{}),
	}
	w.life, w.endLife = context.WithCancel(context.Background())
	w.use()
	return w, nil
}

// opened notes how to end what was just begun.
func (w *Worker) opened(name string, end func(context.Context) error) {
	w.undo = append(w.undo, undoStep{name, end})
}

// openAll takes the worker lock, opens the stages, takes the spool in and then serves.
// After an error the caller closes what was opened.
func (w *Worker) openAll(ctx context.Context) error {
	if err := w.lock(ctx); err != nil {
		return err
	}
	w.readSettings()
	if err := w.openStages(ctx); err != nil {
		return err
	}
	// Before anybody can deliver: what is in the spool happened earlier.
	if err := w.inbox.take(ctx); err != nil {
		// It stays where it is and the timer tries again; capturing must go on.
		w.log.Error("take spool in", "error", err)
	}
	if err := w.observe(); err != nil {
		return err
	}
	if err := w.listen(); err != nil {
		return err
	}
	if err := wire.ClearStarting(w.cfg.DataDir); err != nil {
		w.log.Warn("remove starting marker", "error", err)
	}
	w.ready.Store(true)
	w.finder.start()
	w.purger.start()
	w.housekeep()
	return nil
}

// lock takes the worker lock, from an older worker if one runs, and closes the data
// directory to other users. CodeConflict when another worker stays.
func (w *Worker) lock(ctx context.Context) error {
	held, err := becomeWorker(ctx, w.cfg.DataDir, w.self, w.log)
	if err != nil {
		if claudemem.CodeOf(err) == claudemem.CodeConflict {
			// The start that the marker tells of is over: there is a worker.
			_ = wire.ClearStarting(w.cfg.DataDir)
		}
		return err
	}
	w.opened("lock", func(context.Context) error { return lock.Release(held) })
	// A directory that the user made himself may be open to others.
	if info, err := os.Stat(w.cfg.DataDir); err == nil && info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		if err := os.Chmod(w.cfg.DataDir, 0o700); err != nil {
			w.log.Warn("the data directory is open to others", "error", err)
		}
	}
	return nil
}

// readSettings loads the settings unless the configuration has them, logs their problems
// and fills in port and idle time.
func (w *Worker) readSettings() {
	if w.cfg.Settings == nil {
		resolved, err := settings.LoadForWorker(w.cfg.DataDir, os.Getenv)
		if err != nil {
			w.log.Warn("settings", "error", err)
		}
		w.cfg.Settings = resolved
	}
	for _, problem := range w.cfg.Settings.Problems() {
		w.log.Warn("settings", "error", problem)
	}
	if w.cfg.Port == nil {
		port := w.cfg.Settings.Int(settings.KeyWorkerPort)
		w.cfg.Port = &port
	}
	if w.cfg.IdleExit == nil {
		idle := w.cfg.Settings.Duration(settings.KeyIdleExitMinutes)
		w.cfg.IdleExit = &idle
	}
}

// listen opens the socket and the port, serves on both and tells where.
func (w *Worker) listen() error {
	w.socket = wire.SocketPath(w.cfg.DataDir, os.Getenv)
	unix, err := listenSocket(w.cfg.DataDir, w.socket)
	if err != nil {
		return err
	}
	w.opened("socket", func(context.Context) error { return ignoreClosed(unix.Close()) })
	listeners := []net.Listener{unix}
	if port := *w.cfg.Port; port != 0 {
		tcp, err := listenTCP(port)
		if err != nil {
			// Hooks use the socket; only the viewer and foreign clients go without.
			w.log.Warn("no TCP port", "error", err)
		} else {
			w.port = tcp.Addr().(*net.TCPAddr).Port
			w.opened("port", func(context.Context) error { return ignoreClosed(tcp.Close()) })
			listeners = append(listeners, tcp)
		}
	}
	handler, err := w.handler()
	if err != nil {
		return err
	}
	w.serve(handler, listeners)
	info := wire.WorkerInfo{
		PID: os.Getpid(), Version: w.cfg.Version, Wire: wire.Version,
		Port: w.port, Socket: w.socket, StartedAt: claudemem.MillisOf(w.started),
	}
	if err := wire.WriteWorkerInfo(w.cfg.DataDir, info); err != nil {
		return diskError("write", filepath.Join(w.cfg.DataDir, "worker.json"), err)
	}
	w.opened("worker.json", func(context.Context) error { return wire.RemoveWorkerInfo(w.cfg.DataDir) })
	return nil
}

// ignoreClosed returns nil for net.ErrClosed and any other error as it is.
func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// handler returns the handler of all HTTP routes. It makes the token if there is none
// yet.
func (w *Worker) handler() (http.Handler, error) {
	token, err := readToken(w.cfg.DataDir)
	if err != nil {
		return nil, err
	}
	memory := &api.Local{Store: w.store, Searcher: w.searcher, Blocks: w.builder,
		Keeper: keeper{w.store, w.intake, w.purger, w.queue}, Vocabulary: w.vocabulary, Clock: w.cfg.Clock}
	return httpapi.New(httpapi.Deps{
		Memory:    memory,
		Ingester:  w,
		Blocks:    w,
		Books:     w.store,
		Worker:    w,
		Reindexer: w.finder,
		Reminder:  w.reminder,
		MCP:       w.mcp(memory),
	}, httpapi.Options{
		Version:      w.cfg.Version,
		HookCalled:   w.giveWay,
		RequireToken: w.cfg.Settings.Text(settings.KeyRequireToken),
		Token:        token,
		Clock:        w.cfg.Clock,
		Logger:       w.log,
	}), nil
}

// serve answers requests on the listeners until the worker closes.
func (w *Worker) serve(handler http.Handler, listeners []net.Listener) {
	server := httpapi.NewServer(w.counted(handler), w.log)
	var serving sync.WaitGroup
	for _, listener := range listeners {
		serving.Go(func() {
			if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				w.log.Error("serve", "address", listener.Addr().String(), "error", err)
				w.Shutdown() // deaf it is of no use; the next hook starts another
			}
		})
	}
	w.opened("http", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, requestLimit)
		defer cancel()
		err := server.Shutdown(ctx)
		if err != nil {
			// A client that neither sends nor leaves; its event was not accepted.
			err = server.Close()
		}
		serving.Wait()
		return ignoreClosed(err)
	})
}

// Done is closed when the worker wishes to be closed: it was asked to shut down
// or has been idle for long enough.
func (w *Worker) Done() <-chan struct{} { return w.done }

// Run waits until ctx ends or the worker has a reason to stop, then closes it and
// returns Close's error.
func (w *Worker) Run(ctx context.Context) error {
	select {
	case <-ctx.Done():
		w.log.Info("asked to stop by a signal")
	case <-w.done:
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), CloseLimit)
	defer cancel()
	return w.Close(ctx)
}

// Shutdown begins a stop that loses nothing and returns at once.
func (w *Worker) Shutdown() { w.doneOnce.Do(func() { close(w.done) }) }

// Close stops listening, answers the requests under way, distils what is due,
// closes the database, removes the socket and worker.json and gives the lock
// back; in that order, so that nobody finds a worker that is not there. ctx bounds
// the waiting; what is not done by then stays in the queue. It may be called
// more than once.
func (w *Worker) Close(ctx context.Context) error {
	w.closeOnce.Do(func() {
		start := time.Now()
		w.ready.Store(false)
		w.Shutdown()
		var errs []error
		for i := len(w.undo) - 1; i >= 0; i-- {
			if err := w.undo[i].end(ctx); err != nil {
				errs = append(errs, fmt.Errorf("close %s: %w", w.undo[i].name, err))
			}
		}
		w.endLife()
		w.closeErr = errors.Join(errs...)
		if len(w.undo) > 0 {
			w.log.Info("worker stopped", "pid", os.Getpid(), "ms", time.Since(start).Milliseconds(), "error", w.closeErr)
		}
	})
	return w.closeErr
}
