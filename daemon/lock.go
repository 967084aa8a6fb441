package daemon

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"claudemem"

	"github.com/gofrs/flock"
)

// lockName is the file whose lock makes a process the worker. It is never
// removed: a second worker could otherwise lock a new file of the same name
// while the first still holds the old one.
const lockName = "worker.lock"

// lockPoll is how often a held lock is tried again; there is no way to be told.
const lockPoll = 20 * time.Millisecond

// tryLock takes the lock of a data directory, making the directory if it is not
// there. The lock is nil when another process has it.
func tryLock(dataDir string) (*flock.Flock, error) {
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return nil, diskError("make data directory", dataDir, err)
	}
	lock := flock.New(filepath.Join(dataDir, lockName), flock.SetPermissions(0o600))
	ok, err := lock.TryLock()
	if err != nil {
		return nil, diskError("lock", lock.Path(), err)
	}
	if !ok {
		return nil, nil
	}
	return lock, nil
}

// waitLock tries until the lock is free, at most for limit; nil when it is not.
func waitLock(ctx context.Context, dataDir string, limit time.Duration) (*flock.Flock, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		lock, err := tryLock(dataDir)
		if lock != nil || err != nil {
			return lock, err
		}
		select {
		case <-ctx.Done():
			return nil, nil
		case <-time.After(lockPoll):
		}
	}
}

// diskError tells what the system refused, with what a person can do about it.
func diskError(operation, path string, err error) error {
	e := claudemem.Errorf(claudemem.CodeStorage, "%s %s: %w", operation, path, err)
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

// lockIsFree reports whether no process holds the lock, without making a data
// directory that is not there. A worker that starts in that instant waits for us.
func lockIsFree(dataDir string) (bool, error) {
	if _, err := os.Stat(filepath.Join(dataDir, lockName)); errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	lock, err := tryLock(dataDir)
	if err != nil || lock == nil {
		return false, err
	}
	return true, lock.Close()
}
