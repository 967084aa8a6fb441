//go:build !windows

package main

import (
	"errors"
	"os"
	"syscall"
)

// takesColor: what is a terminal here understands colours; TERM says where not.
func takesColor(*os.File) bool { return true }

// readerGone reports whether nobody reads any more what was written to a pipe.
func readerGone(err error) bool { return errors.Is(err, syscall.EPIPE) }
