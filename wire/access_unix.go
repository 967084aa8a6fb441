//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package wire

import "syscall"

// accessible tells why no file can be made in a directory, nil when one can: by its
// mode, and by whether its file system is read-only.
func accessible(dir string) error {
	const write, enter = 2, 1
	return syscall.Access(dir+"/.", write|enter)
}
