//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package wire

import (
	"os"
	"syscall"
)

// openRegular is os.OpenFile for regular files. It does not register the file with
// the runtime's poller, whose start would cost CPU time.
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

// rename is os.Rename without its check of the target.
func rename(from, to string) error {
	if err := syscall.Rename(from, to); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
