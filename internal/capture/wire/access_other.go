//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package wire

import (
	"os"
	"syscall"
)

// accessible returns why dir is no directory, nil when it is one: on these systems modes say nothing
// of whether a file can be made there.
func accessible(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = syscall.ENOTDIR
	}
	return err
}
