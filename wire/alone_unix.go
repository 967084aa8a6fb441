//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package wire

import (
	"errors"
	"os"
	"syscall"
)

// openAlone opens a file for reading and writing, making it if need be, and
// locks it until it is closed; nil when another process has it.
func openAlone(path string) (*os.File, error) {
	f, err := openPlain(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return f, nil
	}
	_ = f.Close() // nothing was written
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, nil
	}
	return nil, os.NewSyscallError("flock", err)
}
