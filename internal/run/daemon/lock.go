package daemon

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"claudemem/internal/leaf/lock"
	"claudemem/internal/memory"
)

// lockName is the file whose lock makes a process the worker. It is never
// removed: a second worker could otherwise lock a new file of the same name
// while the first still holds the old one.
const lockName = "worker.lock"

// lockPoll is how often becomeWorker asks the process that holds the lock.
const lockPoll = 20 * time.Millisecond

// tryLock takes the lock of a data directory, which it creates if need be. It
// returns nil when another process holds the lock.
func tryLock(dataDir string) (*os.File, error) {
	return waitLock(context.Background(), dataDir, 0)
}

// waitLock takes the worker lock, waiting for it at most for limit; nil without an error
// if it is not free by then.
func waitLock(ctx context.Context, dataDir string, limit time.Duration) (*os.File, error) {
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return nil, diskError("make data directory", dataDir, err)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	path := filepath.Join(dataDir, lockName)
	held, err := lock.Wait(ctx, path)
	if err != nil {
		return nil, diskError("lock", path, err)
	}
	return held, nil
}

// lockState is what became of the lock file of a running worker.
type lockState int

const (
	// lockKept is also returned when the file cannot be looked at.
	lockKept lockState = iota
	// lockGone means that the data directory, or the file, was removed.
	lockGone
	// lockReplaced means that the data directory was removed and made anew. Another
	// worker may hold the new file; what lies beside it is not this worker's.
	lockReplaced
)

// lockFile compares the lock file on disk with the one that this worker has locked.
func (w *Worker) lockFile() lockState {
	now, err := os.Stat(filepath.Join(w.cfg.DataDir, lockName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return lockGone
	case err == nil && !os.SameFile(now, w.held):
		return lockReplaced
	}
	return lockKept
}

// diskError returns a CodeStorage error for a refused file operation, with a hint for
// the usual causes: rights, full or read-only disk, a file in the way.
func diskError(operation, path string, err error) error {
	e := memory.Errorf(memory.CodeStorage, "%s %s: %w", operation, path, err)
	switch {
	case errors.Is(err, syscall.EROFS):
		return e.WithHint("the file system is read-only; set CLAUDE_MEM_DATA_DIR to a directory that can be written")
	case errors.Is(err, fs.ErrPermission):
		return e.WithHint("give yourself the right to write " + filepath.Dir(path) + ", or set CLAUDE_MEM_DATA_DIR to another directory")
	case errors.Is(err, syscall.ENOSPC):
		return e.WithHint("the disk is full; free some space and run the command again")
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrExist):
		return e.WithHint("a file is where the data directory should be; move it away or set CLAUDE_MEM_DATA_DIR")
	}
	return e
}

// LockHeld reports whether a process holds the lock of a data directory's worker. It
// creates nothing. A worker that starts in that instant waits for us.
func LockHeld(dataDir string) (bool, error) {
	if _, err := os.Stat(filepath.Join(dataDir, lockName)); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	free, err := tryLock(dataDir)
	if err != nil || free == nil {
		return err == nil, err
	}
	return false, lock.Release(free)
}
