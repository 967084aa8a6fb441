//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package wire

import (
	"os"
	"syscall"
)

// openRegular is os.OpenFile for a file that is surely a regular one: without
// offering it to the runtime's poller, which would have to be started for it.
func openRegular(path string, flag int, mode os.FileMode) (*os.File, error) {
	for {
		fd, err := syscall.Open(path, flag|syscall.O_CLOEXEC, uint32(mode.Perm()))
		switch err {
		case nil:
			return os.NewFile(uintptr(fd), path), nil
		case syscall.EINTR: // a slow file system
		default:
			return nil, &os.PathError{Op: "open", Path: path, Err: err}
		}
	}
}

// rename is os.Rename without its look at what is there already.
func rename(from, to string) error {
	if err := syscall.Rename(from, to); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
