// Package lock takes a file's lock of the operating system: one process holds it
// until it closes the file or ends, however it ends. The file is never removed: a
// second process could otherwise lock a new file of the same name while the first
// holds the old one.
package lock

import (
	"context"
	"os"
	"time"
)

// poll is how often Wait tries again; no system reports that a lock came free.
const poll = 20 * time.Millisecond

// Wait is Try until the lock is free or the context ends; then it returns nil
// without an error. The file, if it returns one, holds the lock until Release.
func Wait(ctx context.Context, path string) (*os.File, error) {
	for {
		f, err := Try(path)
		if f != nil || err != nil {
			return f, err
		}
		select {
		case <-ctx.Done():
			return nil, nil
		case <-time.After(poll):
		}
	}
}

// Release unlocks and closes the file. Close alone leaves the lock to a process that
// is being started at that moment: until it runs its program it has a copy of every
// open file, and a lock goes with the last copy.
func Release(f *os.File) error {
	unlock(f)
	return f.Close()
}
