//go:build unix

package timing

import (
	"os"
	"syscall"
	"time"
)

// CPU is what this process has used so far, of all processors.
func CPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Peak is the most memory that a process that has ended had, in KB on Linux.
func Peak(ended *os.ProcessState) int64 {
	if u, ok := ended.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss
	}
	return 0
}
