//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package wire

import "os"

func openRegular(path string, flag int, mode os.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag, mode)
}

func rename(from, to string) error { return os.Rename(from, to) }
