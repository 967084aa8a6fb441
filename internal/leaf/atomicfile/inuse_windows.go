package atomicfile

import (
	"errors"
	"syscall"
)

// isInUse reports whether a rename failed because a process has the target open.
func isInUse(err error) bool {
	const sharingViolation syscall.Errno = 32
	return errors.Is(err, syscall.ERROR_ACCESS_DENIED) || errors.Is(err, sharingViolation)
}
