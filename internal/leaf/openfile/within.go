package openfile

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"
)

var (
	// ErrNotRegular says that a path leads to a FIFO, a device, a socket or a directory.
	ErrNotRegular = errors.New("not a regular file")
	// ErrUnfit says that a file is not a regular one, is too large, or was written to while
	// it was read.
	ErrUnfit = errors.New("not a regular file, too large, or written to meanwhile")
)

// Read is os.ReadFile for regular files.
func Read(path string) ([]byte, error) { return ReadUpTo(path, math.MaxInt64) }

// ReadUpTo returns the first limit bytes of a regular file, whatever happens to it meanwhile.
func ReadUpTo(path string, limit int64) ([]byte, error) {
	f, err := Open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	return io.ReadAll(io.LimitReader(f, limit))
}

// Root is os.OpenRoot, which would wait for the writer of a FIFO.
func Root(dir string) (*os.Root, error) { return os.OpenRoot(dir + string(os.PathSeparator)) }

// WithinDir is Within for one file below the directory at a path; fs.ErrNotExist for the path "".
func WithinDir(path, name string, limit int64) (content []byte, written time.Time, err error) {
	if path == "" {
		return nil, time.Time{}, fs.ErrNotExist
	}
	dir, err := Root(path)
	if err != nil {
		return nil, time.Time{}, err
	}
	defer func() { _ = dir.Close() }() // opened for reading only
	return Within(dir, name, limit)
}

// Within returns the content of a regular file of at most limit bytes below dir, and when
// it was written. It does not leave dir, through links either, and does not wait for the
// writer of a FIFO. ErrUnfit for a larger file, one that is not regular, or one that changes while it
// is read; fs.ErrNotExist for none.
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
// properties, by which a caller sees that there is more. ErrUnfit if it changes while it is read.
func Beginning(path string, limit int64) (content []byte, info fs.FileInfo, err error) {
	f, err := Open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	if info, err = f.Stat(); err != nil {
		return nil, nil, err
	}
	content, err = beginning(f, info, limit)
	return content, info, err
}

// Tail returns the last limit bytes of a regular file below the directory at a path. It does not leave
// the directory, through links either. ErrUnfit for a file that is not regular.
func Tail(path, name string, limit int64) ([]byte, error) {
	dir, err := Root(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }() // opened for reading only
	f, err := dir.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	content, _, err := end(f, limit)
	return content, err
}

// End returns the last limit bytes of a regular file, links followed; more says that it has others.
func End(path string, limit int64) (content []byte, more bool, err error) {
	f, err := Open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	return end(f, limit)
}

func end(f *os.File, limit int64) (content []byte, more bool, err error) {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, false, errors.Join(ErrUnfit, err)
	}
	content, err = io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-limit), limit))
	return content, info.Size() > limit, err
}

// beginning reads a file, of which before are the properties, up to limit bytes; ErrUnfit if its size
// or time changes meanwhile.
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
