//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package openfile

import (
	"os"
	"syscall"
)

// Open is os.OpenFile for regular files; the error for anything else wraps ErrNotRegular. It
// waits for no writer of a FIFO and no device. A file that it may make (os.O_CREATE) is no link:
// another user could have put it there. Otherwise links are followed.
func Open(path string, flag int, mode os.FileMode) (*os.File, error) {
	if flag&os.O_CREATE != 0 {
		flag |= syscall.O_NOFOLLOW
	}
	for {
		fd, err := syscall.Open(path, flag|syscall.O_CLOEXEC|syscall.O_NONBLOCK|syscall.O_NOCTTY, uint32(mode.Perm()))
		switch err {
		case nil:
			if err := checkOpened(fd); err != nil {
				_ = syscall.Close(fd) // nothing was written
				return nil, &os.PathError{Op: "open", Path: path, Err: err}
			}
			return os.NewFile(uintptr(fd), path), nil
		case syscall.EINTR: // a slow file system
		case syscall.ENXIO, syscall.ENODEV: // a socket, a device, a FIFO that nobody reads
			return nil, &os.PathError{Op: "open", Path: path, Err: ErrNotRegular}
		default:
			return nil, &os.PathError{Op: "open", Path: path, Err: err}
		}
	}
}

// checkOpened returns ErrNotRegular for a descriptor of anything but a regular file. Of one it
// clears O_NONBLOCK: os.NewFile takes a descriptor with it to the poller.
func checkOpened(fd int) error {
	var stat syscall.Stat_t
	if err := syscall.Fstat(fd, &stat); err != nil {
		return err
	}
	if stat.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return ErrNotRegular
	}
	return syscall.SetNonblock(fd, false)
}
