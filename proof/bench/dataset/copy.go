package dataset

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Copy copies those files of the memory whose names match a pattern, "*.*" for all that a
// worker would have left, to the folder dir, which it makes.
func (m Memory) Copy(dir, pattern string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(m.Dir, pattern))
	if err != nil {
		return err
	}
	for _, path := range files {
		if err := copyFile(filepath.Join(dir, filepath.Base(path)), path); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(to, from string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // was only read
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
