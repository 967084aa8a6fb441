//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package wire

import "os"

// openAlone opens a file for reading and writing, making it if need be. Without
// a lock two hooks may both start a worker; the worker's own lock lets one live.
func openAlone(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
}
