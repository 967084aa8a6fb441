//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package wire

import "syscall"

// accessible returns nil when files can be created in a directory, otherwise the reason.
// It checks the directory's mode and whether the file system is read-only.
func accessible(dir string) error {
	const write, enter = 2, 1
	return syscall.Access(dir+"/.", write|enter)
}
