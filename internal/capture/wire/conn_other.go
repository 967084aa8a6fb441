//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package wire

import (
	"net"
	"os"
	"strconv"
	"time"
)

// dial connects to the worker's socket or, if that fails or is not trusted, to its port on
// 127.0.0.1. The error is ErrNoWorker, or timedOut once the deadline has passed.
func dial(a Address, deadline time.Time) (conn, error) {
	left := time.Until(deadline)
	if left <= 0 {
		return nil, timedOut
	}
	dialer := net.Dialer{Deadline: deadline}
	if a.Socket != "" && a.trusted() {
		if c, err := dialer.Dial("unix", a.Socket); err == nil {
			return c, nil
		}
	}
	if a.Port == 0 {
		return nil, ErrNoWorker
	}
	c, err := dialer.Dial("tcp", "127.0.0.1:"+strconv.Itoa(a.Port))
	if err == nil {
		return c, nil
	}
	if os.IsTimeout(err) {
		return nil, timedOut
	}
	return nil, ErrNoWorker
}
