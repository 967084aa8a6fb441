//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package openfile

import "os"

// Open is os.OpenFile for regular files; the error for anything else wraps ErrNotRegular.
func Open(path string, flag int, mode os.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, flag|nonblock, mode)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &os.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, err
	}
	return f, nil
}
