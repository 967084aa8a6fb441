//go:build unix

package wire

import (
	"os"
	"syscall"
)

// ownedAlone reports whether a directory is ours and closed to everybody else:
// under a shared temporary directory another user could have made it first.
func ownedAlone(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o077 != 0 {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
