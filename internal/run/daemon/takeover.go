package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

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
// to stop; if another worker runs, the error is CodeConflict.
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
		if !pauseFor(ctx, lockPoll) {
			return nil, fmt.Errorf("wait for worker lock: %w", ctx.Err())
		}
	}
}

// askPeer returns the worker of a data directory and its version. It fails when none is
// found or it does not answer in identityLimit.
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
