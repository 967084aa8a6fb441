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

func overQuota(err error) bool { return errors.Is(err, syscall.EDQUOT) }
