package openfile

import (
	"io/fs"
	"os"
	"path/filepath"
)

// InDir is Open for a file that is made, with its directory (mode 0700) if that is missing; flag has
// os.O_CREATE.
func InDir(path string, flag int, mode os.FileMode) (*os.File, error) {
	f, err := Open(path, flag, mode)
	if os.IsNotExist(err) {
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			f, err = Open(path, flag, mode)
		}
	}
	return f, err
}

// Own is Open for a file that the program itself makes and nobody has reason to make a link:
// a link at path is deleted first, and what is behind it stays as it is.
func Own(path string, flag int, mode os.FileMode) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	return Open(path, flag, mode)
}
