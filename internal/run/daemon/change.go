package daemon

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"claudemem/internal/capture/intake"
	"claudemem/internal/keep/backup"
	"claudemem/internal/keep/store"
	"claudemem/internal/leaf/lock"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/serve/api"
)

// Change calls do once with the memory of a data directory: that of its worker if one
// answers, else that of the files, with this process as the worker. A worker that goes
// away in between may have committed, so the error is returned and do is not called again.
// Without create, CodeNoMemory when nothing was ever captured.
func Change(ctx context.Context, dataDir string, create bool, do func(api.Memory) error) error {
	ask := func(worker *api.Remote) error { return do(worker.Memory) }
	return workerOr(ctx, dataDir, create, ask, func(s *store.Store) error {
		local := &api.Local{Store: s, Keeper: keeper{Store: s, intake: intake.New(nil, intake.Options{})}}
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
// the lock, then errBusy. Without create, CodeNoMemory when there is no database. It first completes a restore that was interrupted;
// CodeStorage when the database is not the memory that the last worker left.
func asWorker(ctx context.Context, dataDir string, create bool, wait time.Duration, do func(*store.Store) error) error {
	path := filepath.Join(dataDir, control.Database)
	if _, err := os.Stat(path); !create && errors.Is(err, fs.ErrNotExist) {
		return memory.Errorf(memory.CodeNoMemory, "nothing is remembered yet")
	}
	return withLock(ctx, dataDir, wait, func() error { return withStore(ctx, dataDir, path, do) })
}

// withLock calls do while this process holds the worker's lock, for which it waits up to wait, then
// errBusy.
func withLock(ctx context.Context, dataDir string, wait time.Duration, do func() error) (err error) {
	held, err := control.WaitLock(ctx, dataDir, wait)
	if err != nil {
		return err
	}
	if held == nil {
		return errBusy
	}
	defer func() { err = errors.Join(err, lock.Release(held)) }()
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
