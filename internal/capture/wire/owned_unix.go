//go:build unix

package wire

import (
	"os"
	"syscall"
)

// Alone reports whether a directory belongs to this user and no other user has access,
// as required of a socket's directory outside the data directory: in a shared temporary
// directory another user could have made it.
func Alone(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o077 != 0 {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
