//go:build !windows

package print

import (
	"errors"
	"os"
	"syscall"
)

// takesColor returns true: terminals here understand colours, unless TERM says otherwise.
func takesColor(*os.File) bool { return true }

// readerGone reports whether err says that the reader of a pipe has closed it.
func readerGone(err error) bool { return errors.Is(err, syscall.EPIPE) }
