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
	"claudemem/intake"
	"claudemem/store"
)

// Change lets do change the memory of a data directory: that of its running worker,
// or when none answers the files themselves, while this process takes the lock and
// is the worker. What do changes through a worker that stops answering is tried
// again on the files. Without create, CodeNoMemory when nothing was ever captured.
func Change(ctx context.Context, dataDir string, create bool, do func(api.Memory) error) error {
	if worker, err := api.FindWorker(dataDir); err == nil {
		if err := do(worker); claudemem.CodeOf(err) != claudemem.CodeUnavailable {
			return err
		}
	}
	if _, err := os.Stat(filepath.Join(dataDir, databaseName)); !create && errors.Is(err, fs.ErrNotExist) {
		return claudemem.Errorf(claudemem.CodeNoMemory, "nothing is remembered yet")
	}
	return asWorker(ctx, dataDir, func(s *store.Store) error {
		return do(&api.Local{Store: s, Keeper: keeper{Store: s, intake: intake.New(nil, intake.Options{})}})
	})
}

// turnLimit is how long a command waits until it may be the worker. Several that
// were started at once take turns, each with a commit or two, and on a busy machine
// a person waits rather than types the command again.
const turnLimit = 10 * time.Second

// asWorker lets do write the memory while this process is the worker.
func asWorker(ctx context.Context, dataDir string, do func(*store.Store) error) (err error) {
	lock, err := waitLock(ctx, dataDir, turnLimit)
	if err != nil {
		return err
	}
	if lock == nil {
		return claudemem.Errorf(claudemem.CodeUnavailable, "the worker is starting or stopping").
			WithHint("try again in a moment")
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	s, err := store.Open(ctx, filepath.Join(dataDir, databaseName), store.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return do(s)
}
