//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package wire

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// socketConn is a Unix socket used by plain blocking system calls with kernel
// time-outs. Package net would start the runtime's poller for it, which costs a
// quarter of an empty Go program's whole CPU time.
type socketConn struct {
	fd       int
	deadline time.Time
}

// dial connects to the worker's socket. These systems need no TCP. The error is ErrNoWorker where
// none listens or another user may have made the socket, timedOut once the deadline has passed,
// else that of a system call.
func dial(a Address, deadline time.Time) (conn, error) {
	if !a.trusted() {
		return nil, ErrNoWorker
	}
	syscall.ForkLock.RLock() // not every system has SOCK_CLOEXEC, and a worker may be started beside us
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	c := &socketConn{fd: fd, deadline: deadline}
	// While the worker's backlog is full, connect waits for the send timeout.
	if err := c.limit(syscall.SO_SNDTIMEO); err != nil {
		_ = c.Close()
		return nil, err
	}
	if err := connect(fd, a.Socket); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// connect connects fd to the socket at a path. It compares without errors.Is, which takes as long
// as the system call: it looks up what an Errno can do. EAGAIN means that the worker's backlog
// stayed full.
func connect(fd int, socket string) error {
	for {
		switch err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: socket}); err {
		case nil, syscall.EISCONN: // connected before a signal came
			return nil
		case syscall.EINTR:
		case syscall.EAGAIN:
			return timedOut
		case syscall.ENOENT, syscall.ENOTDIR, syscall.ECONNREFUSED, syscall.ENOTSOCK:
			return ErrNoWorker
		default:
			return os.NewSyscallError("connect", err)
		}
	}
}

// limit sets the time left until the deadline as a timeout of the kernel, for reading or for writing
// by option; timedOut if none is left.
func (c *socketConn) limit(option int) error {
	left := time.Until(c.deadline)
	if left <= 0 {
		return timedOut
	}
	tv := syscall.NsecToTimeval(max(left, time.Millisecond).Nanoseconds()) // 0 would mean no limit
	return os.NewSyscallError("setsockopt", syscall.SetsockoptTimeval(c.fd, syscall.SOL_SOCKET, option, &tv))
}

func (c *socketConn) SetDeadline(t time.Time) error {
	c.deadline = t
	return nil
}

// Read implements io.Reader; timedOut once the connection's deadline has passed.
func (c *socketConn) Read(b []byte) (int, error) {
	for {
		if err := c.limit(syscall.SO_RCVTIMEO); err != nil {
			return 0, err
		}
		n, err := syscall.Read(c.fd, b)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EAGAIN):
			return 0, timedOut
		case err != nil:
			return 0, os.NewSyscallError("read", err)
		case n == 0 && len(b) > 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

// Write implements io.Writer; timedOut once the connection's deadline has passed. It writes all of
// b unless it returns an error.
func (c *socketConn) Write(b []byte) (int, error) {
	written := 0
	for written < len(b) {
		if written > 0 { // the first write has the timeout that connecting set
			if err := c.limit(syscall.SO_SNDTIMEO); err != nil {
				return written, err
			}
		}
		n, err := syscall.Write(c.fd, b[written:])
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EAGAIN):
			return written, timedOut
		case err != nil:
			return written, os.NewSyscallError("write", err)
		}
		written += n
	}
	return written, nil
}

func (c *socketConn) Close() error { return os.NewSyscallError("close", syscall.Close(c.fd)) }
