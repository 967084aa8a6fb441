//go:build unix

package hook

import (
	"errors"
	"io"
	"syscall"
)

// stdout is standard output as it is without package os, which ends the process
// by SIGPIPE when the reader is gone: a host that has stopped listening would
// take that for a failed hook.
var stdout io.Writer = standardOutput{}

type standardOutput struct{}

// Write writes all of b to standard output by the system call, so that a closed pipe is
// an error and no signal.
func (standardOutput) Write(b []byte) (int, error) {
	written := 0
	for written < len(b) {
		n, err := syscall.Write(syscall.Stdout, b[written:])
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return written, err
		default:
			written += n
		}
	}
	return written, nil
}
