//go:build !unix

package worktree

import "testing"

func makeFIFO(*testing.T, string) {} // No FIFOs on this system: the path does not exist.
