package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"claudemem/internal/capture/intake"
	"claudemem/internal/keep/backup"
	"claudemem/internal/keep/store"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/serve/api"
)

// Limits of becoming the worker.
const (
	// lockPoll is how often becomeWorker asks the process that holds the lock.
	lockPoll = 20 * time.Millisecond
	// answerLimit is how long a process that does not answer may hold the lock. It is
	// starting, and will answer, or stopping, and will release the lock.
	answerLimit = 3 * time.Second
	// handOverLimit is how long an older worker may take to finish its batch.
	handOverLimit = 20 * time.Second
	// identityLimit bounds one question to the process that holds the lock.
	identityLimit = time.Second
)

// becomeWorker returns the lock of the data directory. If an older worker runs, it is asked
// to stop; if another worker runs, or who holds the lock does not answer for answerLimit, the
// error is CodeConflict.
func becomeWorker(ctx context.Context, dataDir string, self api.Identity, log *slog.Logger) (*os.File, error) {
	deadline := time.Now().Add(answerLimit)
	for {
		lock, err := control.WaitLock(ctx, dataDir, 0)
		if lock != nil || err != nil {
			return lock, err
		}
		peer, other, err := askPeer(ctx, dataDir)
		if err == nil {
			if !control.Outranks(self, other) {
				return nil, memory.Errorf(memory.CodeConflict, "a worker is already running (pid %d, version %s)", peer.Info.PID, other.Version).
					WithHint("`claude-mem worker status` shows it, `claude-mem worker restart` replaces it")
			}
			return takeOver(ctx, dataDir, peer, other, log)
		}
		if !time.Now().Before(deadline) {
			return nil, memory.Errorf(memory.CodeConflict, "another process holds %s and does not answer", control.LockName).
				WithHint(control.HolderHint(dataDir))
		}
		if !control.Pause(ctx, lockPoll) {
			return nil, fmt.Errorf("wait for worker lock: %w", ctx.Err())
		}
	}
}

// askPeer returns the worker of a data directory and its version. It fails when none is
// found or it does not answer in identityLimit: a nil error means that a worker runs.
func askPeer(ctx context.Context, dataDir string) (*api.Remote, api.Identity, error) {
	peer, err := api.FindWorker(dataDir)
	if err != nil {
		return nil, api.Identity{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, identityLimit)
	defer cancel()
	id, err := peer.Identity(ctx)
	return peer, id, err
}

// shortestLife is the minimum life of a worker. Without it, an older worker that newer
// hooks find in PATH would stop and be started again at every event.
const shortestLife = 10 * time.Second

// giveWay stops the worker when a hook of a newer program has called: the next hook
// starts the newer worker, which migrates the database if it has to.
func (w *Worker) giveWay(program string) {
	if control.Newer(program, w.cfg.Version) && w.cfg.Clock().Sub(w.started) >= shortestLife {
		w.log.Info("a hook of a newer version has called, stopping", "version", program)
		w.Shutdown()
	}
}

// takeOver stops the older worker peer and returns the worker lock that it held. It is
// CodeConflict if the lock is not free within handOverLimit.
func takeOver(ctx context.Context, dataDir string, peer *api.Remote, other api.Identity, log *slog.Logger) (*os.File, error) {
	log.Info("taking over from an older worker", "pid", peer.Info.PID, "version", other.Version, "wire", other.Wire)
	if err := peer.Shutdown(ctx); err != nil {
		return nil, fmt.Errorf("ask the older worker to stop: %w", err)
	}
	lock, err := control.WaitLock(ctx, dataDir, handOverLimit)
	if err != nil {
		return nil, err
	}
	if lock == nil {
		return nil, memory.Errorf(memory.CodeConflict, "the older worker (pid %d) does not stop", peer.Info.PID).
			WithHint(control.HolderHint(dataDir))
	}
	return lock, nil
}

// Change calls do once with the memory of a data directory: that of its worker if one
// answers, else that of the files, with this process as the worker. A worker that goes
// away in between may have committed, so the error is returned and do is not called again.
// Without create, CodeNoMemory when nothing was ever captured.
func Change(ctx context.Context, dataDir string, create bool, do func(api.Memory) error) error {
	ask := func(worker *api.Remote) error { return do(worker.Memory) }
	return workerOr(ctx, dataDir, create, ask, func(s *store.Store) error {
		local := &api.Local{Store: s, Keeper: keeper{Store: s, intake: intake.New(nil, intake.Options{})}, AgentFiles: func() bool {
			resolved, _ := settings.Load(dataDir, os.Getenv) // of an unreadable file the defaults, in which it is off
			return len(fileTargets(resolved)) > 0
		}}
		return do(local.Memory())
	})
}

const (
	// turnLimit is how long a command waits for the worker's lock. Several commands at once
	// take turns, each with a commit or two.
	turnLimit = 10 * time.Second
	// turnPoll is how long workerOr waits for the lock before it looks for a worker again.
	turnPoll = 200 * time.Millisecond
)

// errBusy is the error of asWorker when another process holds the lock.
var errBusy = memory.Errorf(memory.CodeUnavailable, "the worker is starting or stopping").WithHint("try again in a moment")

// workerOr calls ask with the worker of a data directory, or, when none answers, do as
// asWorker does. It waits up to turnLimit for a worker that is starting or stopping.
func workerOr(ctx context.Context, dataDir string, create bool, ask func(*api.Remote) error, do func(*store.Store) error) error {
	for deadline := time.Now().Add(turnLimit); ; {
		worker, _, err := askPeer(ctx, dataDir)
		if err == nil {
			err = ask(worker)
		} else {
			err = asWorker(ctx, dataDir, create, turnPoll, do)
		}
		if !errors.Is(err, errBusy) && !api.NotReached(err) || ctx.Err() != nil || time.Now().After(deadline) {
			return err
		}
	}
}

// asWorker calls do with the store while this process is the worker. It waits up to wait for
// the lock, then errBusy. Without create, CodeNoMemory when there is no database. It first
// completes a restore that was interrupted; CodeStorage when the database is not the memory that
// the last worker left.
func asWorker(ctx context.Context, dataDir string, create bool, wait time.Duration, do func(*store.Store) error) error {
	path := filepath.Join(dataDir, control.Database)
	if _, err := os.Stat(path); !create && errors.Is(err, fs.ErrNotExist) {
		return memory.Errorf(memory.CodeNoMemory, "nothing is remembered yet")
	}
	return withLock(ctx, dataDir, wait, func() error { return withStore(ctx, dataDir, path, do) })
}

// withLock calls do while this process holds the worker's lock, for which it waits up to wait, then
// errBusy, also at ctx's deadline; ctx's error if it is cancelled first.
func withLock(ctx context.Context, dataDir string, wait time.Duration, do func() error) (err error) {
	held, err := control.WaitLock(ctx, dataDir, wait)
	if err != nil {
		return err
	}
	if held == nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			return ctx.Err()
		}
		return errBusy
	}
	defer func() { err = errors.Join(err, openfile.Unlock(held)) }()
	return do()
}

// withStore calls do with the store, as asWorker says.
func withStore(ctx context.Context, dataDir, path string, do func(*store.Store) error) (err error) {
	// A database that is made here would take the place of one that is ready to be restored.
	if _, err := backup.Resume(ctx, dataDir, time.Now()); err != nil {
		return err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := backup.Suspect(ctx, dataDir, nil); err != nil {
			return err
		}
	}
	s, err := store.Open(ctx, path, store.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := backup.Suspect(ctx, dataDir, s); err != nil {
		return err
	}
	return do(s)
}
