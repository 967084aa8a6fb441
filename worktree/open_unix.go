//go:build unix

package worktree

import "syscall"

// openNonblock keeps the opening of a FIFO from waiting for its writer.
const openNonblock = syscall.O_NONBLOCK
