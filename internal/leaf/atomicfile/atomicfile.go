// Package atomicfile replaces files whole or not at all: a temporary file beside
// the target is written, synced and renamed to its name. A reader sees the old
// content or the new, never a part, and so does whoever comes after a crash.
package atomicfile

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// tempInfix stands in the names of the temporary files of Write, WriteFrom and WriteIn,
// between the target's name and a random end.
const tempInfix = ".claude-mem-"

// Write replaces path by data with the given mode. When it returns nil, content and
// name are on disk. A symbolic link stays a link: the file behind it is replaced.
func Write(path string, data []byte, mode fs.FileMode) error {
	return WriteFrom(path, bytes.NewReader(data), mode)
}

// WriteFrom is Write with the content of a reader. The directory exists. After an error path is as it
// was.
func WriteFrom(path string, from io.Reader, mode fs.FileMode) error {
	path = BehindLinks(path)
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, tempPrefix(path)+"*")
	if err != nil {
		return err
	}
	return finish(f, from, mode, f.Name(), path, dir, rename, os.Remove)
}

// WriteIn is Write for a file below dir, which it does not leave: not through links in
// the path either. A link with the file's own name is replaced, not followed. path is relative to
// dir, and its directory exists.
func WriteIn(dir *os.Root, path string, data []byte, mode fs.FileMode) error {
	temp := filepath.Join(filepath.Dir(path), tempPrefix(path)+strconv.Itoa(os.Getpid())+"-"+strconv.FormatInt(time.Now().UnixNano(), 36))
	f, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return finish(f, bytes.NewReader(data), mode, temp, path, filepath.Join(dir.Name(), filepath.Dir(path)), dir.Rename, dir.Remove)
}

// WriteOwn is Write for a file that nobody has reason to make a link: one is replaced, not
// followed.
func WriteOwn(path string, data []byte, mode fs.FileMode) (err error) {
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	return WriteIn(dir, filepath.Base(path), data, mode)
}

// tempPrefix returns the beginning of the names of a file's temporary files.
func tempPrefix(path string) string { return "." + filepath.Base(path) + tempInfix }

// IsTemp reports whether a file name is that of a temporary file.
func IsTemp(name string) bool {
	return strings.HasPrefix(name, ".") && strings.Contains(name, tempInfix)
}

// finish writes content and mode of a temporary file to disk, closes it and renames it to path, in
// the directory dir. After an error, the first of which it returns, it removes the file.
func finish(f *os.File, from io.Reader, mode fs.FileMode, temp, path, dir string, rename func(from, to string) error, remove func(string) error) error {
	_, err := io.Copy(f, from)
	if err == nil {
		err = f.Chmod(mode) // it was made 0600; chmod ignores the umask
	}
	if err == nil {
		err = f.Sync()
	}
	if err = cmp.Or(err, f.Close()); err == nil {
		err = replace(rename, temp, path)
	}
	if err != nil {
		_ = remove(temp)
		return err
	}
	_ = SyncDir(dir) // the content is there, under the old name or the new
	return nil
}

// longestWait bounds the waits between two attempts to rename; all together they
// take half a second.
const longestWait = 256 * time.Millisecond

// replace renames temp to path with rename. On Windows that fails while another process
// has the target open, mostly for a moment: then it is tried again.
func replace(rename func(from, to string) error, temp, path string) error {
	for wait := time.Millisecond; ; wait *= 2 {
		err := rename(temp, path)
		if err == nil || !inUse(err) || wait > longestWait {
			return err
		}
		time.Sleep(wait)
	}
}

// rename and inUse are variables for the test of replace.
var (
	rename = os.Rename
	inUse  = isInUse
)

// BehindLinks returns the file that a path leads to, also when the last link points
// to a file that does not exist; a path that is no link is returned as it is. People keep their
// settings in a repository and link to them. Of links in a circle it follows 40.
func BehindLinks(path string) string {
	for range 40 {
		target, err := os.Readlink(path)
		if err != nil {
			return path
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return path
}

// RemoveLeftovers removes the temporary files that killed calls of Write and WriteFrom left
// for path. Errors are ignored: such a file harms nobody.
func RemoveLeftovers(path string) { RemoveOwnLeftovers(BehindLinks(path)) }

// RemoveOwnLeftovers is RemoveLeftovers for WriteIn and WriteOwn, which follow no link. No process
// may be writing path: its temporary file would go.
func RemoveOwnLeftovers(path string) {
	dir, prefix := filepath.Dir(path), tempPrefix(path)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if name := e.Name(); len(name) > len(prefix) && name[:len(prefix)] == prefix {
			_ = os.Remove(filepath.Join(dir, name))
		}
	}
}

// SyncDir makes the names in a directory durable, such as that of a file just renamed. It does
// nothing on Windows, which refuses to sync directories and does not need it.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
