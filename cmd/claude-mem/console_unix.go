//go:build !windows

package main

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// terminalColumns returns the width of a terminal, 0 when it cannot be found out.
func terminalColumns(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}

// takesColor: what is a terminal here understands colours; TERM says where not.
func takesColor(*os.File) bool { return true }

// readerGone reports whether nobody reads any more what was written to a pipe.
func readerGone(err error) bool { return errors.Is(err, syscall.EPIPE) }
