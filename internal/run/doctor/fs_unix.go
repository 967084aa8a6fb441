//go:build unix

package doctor

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// foreign reports whether a file belongs to another user.
func foreign(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) != os.Geteuid()
}

// alive reports whether there is a process of that number.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

func overQuota(err error) bool { return errors.Is(err, syscall.EDQUOT) }
