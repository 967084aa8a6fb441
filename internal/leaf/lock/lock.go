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

// Try opens the file for reading and writing, creating it with mode 0600, and locks
// it until it is closed. A file that may not be written is opened for reading. It
// returns nil without an error when another process, or another call in this one,
// holds the lock.
func Try(path string) (*os.File, error) { return try(path) }

// Wait is Try until the lock is free or the context ends; then it returns nil
// without an error.
func Wait(ctx context.Context, path string) (*os.File, error) {
	for {
		f, err := try(path)
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
