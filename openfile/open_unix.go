//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package openfile

import (
	"os"
	"syscall"
)

// Open is os.OpenFile for regular files. One that it may make is no link: another user could
// have put it there.
func Open(path string, flag int, mode os.FileMode) (*os.File, error) {
	if flag&os.O_CREATE != 0 {
		flag |= syscall.O_NOFOLLOW
	}
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
