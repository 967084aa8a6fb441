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

// takesColor returns true: terminals here understand colours, unless TERM says otherwise.
func takesColor(*os.File) bool { return true }

// readerGone reports whether err says that the reader of a pipe has closed it.
func readerGone(err error) bool { return errors.Is(err, syscall.EPIPE) }
