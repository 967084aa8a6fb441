package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/leaf/lock"
	"claudemem/internal/memory"
)

// LockName is the file whose lock makes a process the worker. It is never
// removed: a second worker could otherwise lock a new file of the same name
// while the first still holds the old one.
const LockName = "worker.lock"

// WaitLock takes the worker lock of a data directory, which it creates if need be. It waits for
// it at most for limit; nil without an error if it is not free by then.
func WaitLock(ctx context.Context, dataDir string, limit time.Duration) (*os.File, error) {
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return nil, DiskError("make data directory", dataDir, err)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	path := filepath.Join(dataDir, LockName)
	held, err := lock.Wait(ctx, path)
	if err != nil {
		return nil, DiskError("lock", path, err)
	}
	return held, nil
}

// DiskError returns a CodeStorage error for a refused file operation, with a hint for
// the usual causes: rights, full or read-only disk, a file in the way.
func DiskError(operation, path string, err error) error {
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
	if _, err := os.Stat(filepath.Join(dataDir, LockName)); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	free, err := WaitLock(context.Background(), dataDir, 0)
	if err != nil || free == nil {
		return err == nil, err
	}
	return false, lock.Release(free)
}

// HolderHint tells the user how to end the process that holds the worker lock, with its
// pid if worker.json has it.
func HolderHint(dataDir string) string {
	if info, err := wire.ReadWorkerInfo(dataDir); err == nil && info.PID != 0 {
		return fmt.Sprintf("the last worker had pid %d: end it, then run `claude-mem worker start`", info.PID)
	}
	return "end the other claude-mem process, then run `claude-mem worker start`"
}
