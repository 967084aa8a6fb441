package openfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// ErrUnfit says that a file is not a regular one, is too large, or was written to while
// it was read.
var ErrUnfit = errors.New("not a regular file, too large, or written to meanwhile")

// Within returns the content of a regular file of at most limit bytes below dir, and when
// it was written. It does not leave dir, through links either, and does not wait for the
// writer of a FIFO.
func Within(dir *os.Root, name string, limit int64) (content []byte, written time.Time, err error) {
	f, err := dir.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, time.Time{}, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	before, err := f.Stat()
	if err != nil {
		return nil, time.Time{}, err
	}
	if !before.Mode().IsRegular() || before.Size() > limit {
		return nil, time.Time{}, ErrUnfit
	}
	content, err = beginning(f, before, limit)
	return content, before.ModTime(), err
}

// Beginning returns the first limit bytes of a regular file, links followed, and its
// properties. It does not wait for the writer of a FIFO.
func Beginning(path string, limit int64) (content []byte, info fs.FileInfo, err error) {
	f, err := Open(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	info, err = f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, ErrUnfit
	}
	content, err = beginning(f, info, limit)
	return content, info, err
}

// beginning reads a file up to limit bytes; ErrUnfit if it changes meanwhile.
func beginning(f *os.File, before fs.FileInfo, limit int64) ([]byte, error) {
	content := make([]byte, min(before.Size(), limit))
	if _, err := io.ReadFull(f, content); err != nil {
		return nil, errors.Join(ErrUnfit, err)
	}
	after, err := f.Stat()
	if err != nil || after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) {
		return nil, errors.Join(ErrUnfit, err)
	}
	return content, nil
}
