//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package wire

import (
	"os"
	"syscall"
)

// rename is os.Rename without its check of the target.
func rename(from, to string) error {
	if err := syscall.Rename(from, to); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
