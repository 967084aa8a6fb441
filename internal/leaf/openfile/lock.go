package openfile

import (
	"context"
	"os"
	"time"
)

// lockPoll is how often Lock tries again; no system reports that a lock came free.
const lockPoll = 20 * time.Millisecond

// Lock is TryLock until the lock is free or the context ends; then it returns nil
// without an error. The file, if it returns one, holds the lock until Unlock.
func Lock(ctx context.Context, path string) (*os.File, error) {
	for {
		f, err := TryLock(path)
		if f != nil || err != nil {
			return f, err
		}
		select {
		case <-ctx.Done():
			return nil, nil
		case <-time.After(lockPoll):
		}
	}
}

// Unlock unlocks and closes the file. Close alone leaves the lock to a process that
// is being started at that moment: until it runs its program it has a copy of every
// open file, and a lock goes with the last copy.
func Unlock(f *os.File) error {
	unlock(f)
	return f.Close()
}
