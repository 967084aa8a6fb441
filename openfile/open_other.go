//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package openfile

import "os"

// Open is os.OpenFile for regular files.
func Open(path string, flag int, mode os.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag, mode)
}
