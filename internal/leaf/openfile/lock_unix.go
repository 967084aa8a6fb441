//go:build !windows

package openfile

import (
	"errors"
	"os"
	"syscall"
)

// TryLock opens the file for reading and writing, creating it with mode 0600, and takes its lock of the
// operating system: one process holds it until it closes the file or ends, however it ends. The file is
// never removed: a second process could otherwise lock a new file of the same name while the first holds
// the old one. A file that may not be written is opened for reading. It
// returns nil without an error when another process, or another call in this one,
// holds the lock. An os.PathError with Op "lock" says that the file system has no locks. The lock is
// advisory: whoever does not ask for it can read and write the file.
func TryLock(path string) (*os.File, error) {
	f, err := Open(path, os.O_RDWR|os.O_CREATE, 0o600)
	if os.IsPermission(err) || errors.Is(err, syscall.EROFS) {
		f, err = Open(path, os.O_RDONLY, 0) // enough for the lock, on most file systems
	}
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		_ = f.Close() // nothing was written
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, nil
		}
		return nil, &os.PathError{Op: "lock", Path: path, Err: err}
	}
}

func unlock(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) // closing the file is enough but for copies
}
