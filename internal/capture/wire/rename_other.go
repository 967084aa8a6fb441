//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package wire

import "os"

// rename is os.Rename.
func rename(from, to string) error { return os.Rename(from, to) }
