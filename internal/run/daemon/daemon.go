package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/move/team"
	"claudemem/internal/run/control"
	"claudemem/internal/serve/api"
	"claudemem/internal/serve/httpapi"
	"claudemem/internal/serve/mcpserver"
	"claudemem/internal/serve/web"
)

// Limits of a stop.
const (
	// requestLimit is how long Close waits for open requests.
	requestLimit = 3 * time.Second
	// finishOnStop is how long the observer may finish due work; the rest stays in the
	// queue for the next worker. Offline a turn takes some milliseconds; commands that wait
	// for the lock are not held up by the call of a model, which may take a minute.
	finishOnStop = 500 * time.Millisecond
	// CloseLimit is the maximum duration of Close while the disk answers.
	CloseLimit = 15 * time.Second
)

// housekeeping is the interval of checks that no request triggers: spooled files, the
// settings, notices, replaced providers, idleness.
const housekeeping = 30 * time.Second

// Config configures a worker. Only DataDir is required.
type Config struct {
	// DataDir is created if necessary.
	DataDir string
	// Settings in force for a worker; nil reads them from DataDir.
	Settings *settings.Settings
	// Version of the program.
	Version string
	// Logger never gets the content of a payload; nil discards.
	Logger *slog.Logger
	// Port on 127.0.0.1 overrides the setting: 0 = no TCP.
	Port *int
	// IdleExit overrides the setting: after this time without requests and work, Done is
	// closed; 0 = never.
	IdleExit *time.Duration
	// Observers is the least number of sessions processed at a time, whatever the setting.
	Observers int
	// Housekeeping is the interval of the timer; 30 s by default.
	Housekeeping time.Duration
	// CheckIndex is the interval at which the pages of the index are compared with their sums; 10
	// minutes by default.
	CheckIndex time.Duration
	// TrainShare is the share of a core that the training of the embedding table may take; a
	// quarter by default: 12,900 observations, 10 s of work, take 40 s.
	TrainShare float64
	// Clock is the time of day; nil is time.Now.
	Clock func() time.Time
	// Command returns a command of this program that runs in a process of its own and may
	// outlive the worker; nil: the worker runs none.
	Command func(ctx context.Context, args ...string) (*exec.Cmd, error)
}

// Worker is an open worker. It serves until it is closed.
type Worker struct {
	cfg     Config
	log     *slog.Logger
	self    api.Identity
	started time.Time

	stages
	inbox  *inbox
	losses wire.Losses

	// held describes the lock file that this worker has locked.
	held   os.FileInfo
	socket string
	port   int // TCP, 0 for none

	// life ends in Close when everything but a verification of the store has ended.
	life    context.Context
	endLife context.CancelFunc

	// noticed are the notices last written, by key; only the housekeeper uses it.
	noticed map[string]string

	// damage is what was found wrong with the memory, nil for nothing. verifiedAt is when it
	// was last verified in the background, in Unix nanoseconds.
	damage     atomic.Pointer[string]
	verifiedAt atomic.Int64
	verifying  sync.WaitGroup
	// verifyCut says that Close cut a verification short: the next worker verifies.
	verifyCut atomic.Bool
	// verifyLater says that memory.db was changed while no worker ran and is yet to be
	// verified.
	verifyLater bool
	// changed says that it was changed while no worker ran, and verified.
	changed bool
	// erasing lets one request at a time start to erase.
	erasing sync.Mutex
	// examined (capacity 1) holds the last result of the doctor; who takes it may run it.
	examined chan examined
	// mending lets one goroutine at a time repair records.
	mending sync.Mutex

	// backupFault is how the last daily backup ended; never nil itself.
	backupFault atomic.Pointer[error]

	// ready is set once every stage is up and unset when Close begins.
	ready atomic.Bool
	// lastUse is when the last request began or ended, in Unix nanoseconds; open counts the
	// open requests.
	lastUse atomic.Int64
	open    atomic.Int64

	// poke (capacity 1, more merge) makes the housekeeper read the spool.
	poke chan struct{}

	// done is closed by the first Shutdown, idleness or Close.
	done     chan struct{}
	doneOnce sync.Once

	// undo holds the steps of Close, in reverse order.
	undo      []undoStep
	closeOnce sync.Once
	closeErr  error
}

type undoStep struct {
	name string
	end  func(context.Context) error
}

// Open becomes the worker of a data directory: it takes the lock (from an older worker if
// necessary), opens the database, stores the spooled events, and listens. When it returns,
// the worker serves, until the caller closes it. After an error everything is closed again.
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
		if memory.CodeOf(err) != memory.CodeConflict { // two workers started at once: no fault
			w.log.Error("open worker", "error", err)
		}
		if db.Damaged(err) {
			w.noteDamage(err.Error()) // the next worker recovers it
		}
		// An error of Close would only hide the cause.
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
		return nil, memory.Errorf(memory.CodeInvalid, "open worker: no data directory").
			WithHint("set " + settings.DataDirKey)
	}
	cfg.DataDir = dir
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	cfg.Clock = memory.ClockOr(cfg.Clock)
	if cfg.Housekeeping <= 0 {
		cfg.Housekeeping = housekeeping
	}
	w := &Worker{
		cfg: cfg, log: cfg.Logger, started: cfg.Clock(),
		self:     api.Identity{Version: cfg.Version, Wire: wire.Version},
		noticed:  map[string]string{},
		poke:     make(chan struct{}, 1),
		examined: make(chan examined, 1),
		done:     make(chan struct{}),
	}
	w.examined <- examined{}
	w.backupFault.Store(new(error))
	w.life, w.endLife = context.WithCancel(context.Background())
	w.use()
	return w, nil
}

// warn logs an error that does not stop the worker; nothing for nil, or when ctx has ended.
func (w *Worker) warn(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		w.log.Warn(what, "error", err)
	}
}

// opened adds a step to Close, for something that Open has just opened.
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
	w.losses = wire.LossesOf(w.cfg.DataDir, os.Getenv)
	w.warn(ctx, "reserve room for the count of lost events", w.losses.Reserve(w.cfg.Clock()))
	if err := w.openStages(ctx); err != nil {
		return err
	}
	// Before a client can connect: the spooled events happened earlier.
	if err := w.inbox.takeAll(ctx); err != nil {
		// The files stay, and the timer tries again; capturing must go on.
		w.log.Error("take spool in", "error", err)
	}
	if err := w.observe(); err != nil {
		return err
	}
	w.notify(ctx) // before the first client can see a notice that no longer holds
	if err := w.listen(); err != nil {
		return err
	}
	w.warn(ctx, "remove starting marker", wire.ClearStarting(w.cfg.DataDir))
	w.ready.Store(true)
	w.finder.start()
	w.chores.start()
	w.files.start()
	w.devices.start()
	w.team.start()
	w.housekeep()
	return nil
}

// lock takes the worker lock, from an older worker if one runs, and closes the data
// directory to other users. CodeConflict when another worker stays.
func (w *Worker) lock(ctx context.Context) error {
	held, err := becomeWorker(ctx, w.cfg.DataDir, w.self, w.log)
	if err != nil {
		if memory.CodeOf(err) == memory.CodeConflict {
			// The start that the marker is for is over: there is a worker.
			_ = wire.ClearStarting(w.cfg.DataDir)
		}
		return err
	}
	w.opened("lock", func(context.Context) error { return openfile.Unlock(held) })
	if w.held, err = held.Stat(); err != nil {
		return control.DiskError("read attributes of", held.Name(), err)
	}
	// A directory that the user has created may be open to others.
	if info, err := os.Stat(w.cfg.DataDir); err == nil && info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		w.warn(ctx, "the data directory is open to others", os.Chmod(w.cfg.DataDir, 0o700))
	}
	return nil
}

// readSettings loads the settings unless the configuration has them, logs their problems
// and fills in port and idle time: none of the three is nil afterwards. A file that cannot be
// read is only logged: settings.LoadForWorker gives the last good copy, or those by which
// nothing is captured.
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
		w.cfg.Port = new(control.WantedPort(w.cfg.Settings, w.cfg.DataDir))
	}
	if w.cfg.IdleExit == nil {
		w.cfg.IdleExit = new(w.cfg.Settings.Duration(settings.KeyIdleExitMinutes))
	}
}

// listen opens the socket and the port, serves on both, and writes worker.json.
func (w *Worker) listen() error {
	path, refused, err := wire.PrepareSocket(w.cfg.DataDir, os.Getenv)
	for _, dir := range refused {
		w.log.Warn("the socket's directory belongs to another user, or others have access: not used", "directory", dir)
	}
	if err != nil {
		return control.DiskError("prepare directory of socket", wire.SocketPath(w.cfg.DataDir, os.Getenv), err)
	}
	w.socket = path
	unix, err := listenSocket(path)
	if err != nil {
		return err
	}
	w.opened("socket", func(context.Context) error {
		err := ignoreClosed(unix.Close())
		wire.LeaveSocket(w.cfg.DataDir, path)
		return err
	})
	listeners := []net.Listener{unix}
	if port := *w.cfg.Port; port != 0 {
		tcp, err := listenTCP(port)
		if err != nil {
			// Hooks use the socket; only the viewer and other clients use the port.
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
		Port: w.port, Socket: w.socket, StartedAt: memory.MillisOf(w.started),
	}
	if err := wire.WriteWorkerInfo(w.cfg.DataDir, info); err != nil {
		return control.DiskError("write", filepath.Join(w.cfg.DataDir, "worker.json"), err)
	}
	w.opened("worker.json", func(context.Context) error {
		if _, replaced := w.lockFile(); replaced {
			// worker.json and the socket, which a later step closes, are another worker's.
			unix.SetUnlinkOnClose(false)
			return nil
		}
		return wire.RemoveWorkerInfo(w.cfg.DataDir)
	})
	return nil
}

// ignoreClosed returns nil for net.ErrClosed and any other error as it is.
func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// handler returns the handler of all HTTP routes, over the stages, which have to be open. It makes
// the token if there is none yet.
func (w *Worker) handler() (http.Handler, error) {
	token, err := readToken(w.cfg.DataDir)
	if err != nil {
		return nil, err
	}
	kept := keeper{w.store, w.intake, w.queue, w.retryUnread}
	mem := &api.Local{Store: w.store, Searcher: w.searcher, Blocks: w.builder, Keeper: kept, Vocabulary: w.vocabulary, Clock: w.cfg.Clock,
		AgentFiles: func() bool { return len(fileTargets(w.settings.get())) > 0 }}
	return httpapi.New(httpapi.Deps{
		Memory:   mem,
		Ingester: w,
		Blocks:   w,
		Books:    storeBooks{w.store, w.bookLosses},
		Worker:   w,
		Reminder: w.reminder,
		Import:   kept.Import,
		Changes:  w.store,
		MCP:      mcpserver.New(mem.Memory(), mcpserver.Options{Version: w.cfg.Version, Clock: w.cfg.Clock, Logger: w.log}).Handler(),
		Viewer:   web.New(mem.Memory(), web.Options{Version: w.cfg.Version, Clock: w.cfg.Clock, Worker: w, InTeam: func() bool { return team.File.In(w.cfg.DataDir) }, Place: placeOf, Logs: logs(w.cfg.DataDir), Logger: w.log}),
	}, httpapi.Options{
		Slack:      settings.Slack(os.Getenv),
		Version:    w.cfg.Version,
		HookCalled: w.giveWay,
		Failed: func(err error) {
			if db.Damaged(err) {
				w.checkDamage()
			}
		},
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
				w.Shutdown() // unreachable; the next hook starts another worker
			}
		})
	}
	w.opened("http", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, requestLimit)
		defer cancel()
		err := server.Shutdown(ctx)
		if err != nil {
			// A client keeps its request open; its event was not accepted.
			err = server.Close()
		}
		serving.Wait()
		return ignoreClosed(err)
	})
}

// Done returns a channel that is closed when the worker should be closed: after Shutdown
// or the idle time.
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

// Shutdown requests that the worker be closed and returns at once.
func (w *Worker) Shutdown() { w.doneOnce.Do(func() { close(w.done) }) }

// Close ends the housekeeping, removes worker.json, stops listening, answers the open requests,
// processes due events, cuts a verification short, closes the database and releases the lock; in
// that order, so that no client finds a worker that has stopped. ctx bounds the waiting;
// unprocessed events stay in the queue. It may be called more than once: later calls wait for the
// first. What it waits for must not call it, but Shutdown.
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
