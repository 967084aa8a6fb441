//go:build unix

package timing

import (
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
