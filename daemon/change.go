package daemon

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"claudemem"
	"claudemem/api"
	"claudemem/backup"
	"claudemem/intake"
	"claudemem/lock"
	"claudemem/store"
)

// Change calls do once with the memory of a data directory: that of its worker if one
// answers, else that of the files, with this process as the worker. A worker that goes
// away in between may have committed, so the error is returned and do is not called again.
// Without create, CodeNoMemory when nothing was ever captured.
func Change(ctx context.Context, dataDir string, create bool, do func(api.Memory) error) error {
	if worker, _, err := askPeer(ctx, dataDir); err == nil {
		return do(worker)
	}
	return asWorker(ctx, dataDir, create, func(s *store.Store) error {
		return do(&api.Local{Store: s, Keeper: keeper{Store: s, intake: intake.New(nil, intake.Options{})}})
	})
}

// turnLimit is how long a command waits for the worker's lock. Several commands at once
// take turns, each with a commit or two.
const turnLimit = 10 * time.Second

// asWorker calls do with the store while this process is the worker. Without create,
// CodeNoMemory when there is no database. It first completes a restore that was interrupted;
// CodeStorage when the database is not the memory that the last worker left.
func asWorker(ctx context.Context, dataDir string, create bool, do func(*store.Store) error) (err error) {
	path := filepath.Join(dataDir, databaseName)
	if _, err := os.Stat(path); !create && errors.Is(err, fs.ErrNotExist) {
		return claudemem.Errorf(claudemem.CodeNoMemory, "nothing is remembered yet")
	}
	held, err := waitLock(ctx, dataDir, turnLimit)
	if err != nil {
		return err
	}
	if held == nil {
		return claudemem.Errorf(claudemem.CodeUnavailable, "the worker is starting or stopping").
			WithHint("try again in a moment")
	}
	defer func() { err = errors.Join(err, lock.Release(held)) }()
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
