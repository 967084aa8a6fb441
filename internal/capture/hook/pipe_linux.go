package hook

import (
	"os"
	"syscall"
)

// widenPipe gives standard input, if it is a pipe, room for a large payload, so that
// host and hook wake each other a few times instead of once for each 64 KB.
func widenPipe(stdin *os.File) {
	const setPipeSize = 1031 // F_SETPIPE_SZ
	// Not a pipe, or more than this user may have: then it stays as it is.
	_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, stdin.Fd(), setPipeSize, largeInput)
}
