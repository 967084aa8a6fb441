package wire

import (
	"cmp"
	"encoding/hex"
	"errors"
	"hash/fnv"
	"os"
	"path/filepath"
	"syscall"

	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

// TurnState says whether a session's current turn is private, as far as known.
type TurnState int

// The states of a turn.
const (
	TurnOpen TurnState = iota
	TurnPrivate
	// TurnUnknown: there is no mark, but none could have been written either.
	TurnUnknown
)

// Marks are the files that say which sessions are in a private turn. They lie in
// private/ of the data directory or, where they cannot be written there, in a
// directory of the data directory's own under $XDG_RUNTIME_DIR or the temporary one.
type Marks struct{ dirs []string }

// MarksOf returns the marks of a data directory.
func MarksOf(dataDir string, getenv func(string) string) Marks {
	return Marks{inBoth(filepath.Join(dataDir, "private"), otherDir(dataDir, getenv))}
}

// inBoth returns the path in the data directory and the one elsewhere, if there is one.
func inBoth(own, other string) []string {
	if other == "" {
		return []string{own}
	}
	return []string{own, other}
}

// otherDir returns the directory for what cannot be written in the data directory: one of
// the data directory's own under $XDG_RUNTIME_DIR, else under the temporary one; "" if
// there is neither. Another user may have made it: see Alone.
func otherDir(dataDir string, getenv func(string) string) string {
	base := cmp.Or(getenv("XDG_RUNTIME_DIR"), tempDir(getenv))
	if base == "" {
		return ""
	}
	return filepath.Join(base, ownName(dataDir))
}

// markName returns the name of a mark: a digest, which does not reveal the session.
func markName(host memory.Host, hostSessionID string) string {
	return digest(string(host) + "\x00" + hostSessionID)
}

// digest returns 32 hexadecimal digits of s's FNV hash. A cryptographic hash is not
// needed, because sessions of one user do not attack each other, and crypto/sha256
// would add a tenth to the hook's extra cost over an empty program.
func digest(s string) string {
	h := fnv.New128a()
	_, _ = h.Write([]byte(s)) // never fails
	return hex.EncodeToString(h.Sum(nil))
}

// Set marks the session's current turn as private, in the first place that takes the mark, until
// Clear. An error says that none takes it.
func (m Marks) Set(host memory.Host, hostSessionID string) error {
	var errs error
	for i, dir := range m.dirs {
		err := write(filepath.Join(dir, markName(host, hostSessionID)), i > 0)
		if err == nil {
			return nil
		}
		errs = errors.Join(errs, err)
	}
	return errs
}

var errNoPlace = errors.New("no directory for marks that is ours alone")

// write makes the mark at path, an empty file, and its directory; elsewhere only in a directory
// that is ours alone, else errNoPlace.
func write(path string, elsewhere bool) error {
	if elsewhere && !makeAlone(filepath.Dir(path)) {
		return errNoPlace
	}
	f, err := openfile.InDir(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// makeAlone makes a directory, and reports whether it is ours alone.
func makeAlone(dir string) bool { return os.MkdirAll(dir, 0o700) == nil && Alone(dir) }

// Clear removes the session's mark from both places; none is no error. The error is the first one.
func (m Marks) Clear(host memory.Host, hostSessionID string) error {
	var first error
	for _, dir := range m.dirs {
		first = cmp.Or(first, removeIfPresent(filepath.Join(dir, markName(host, hostSessionID))))
	}
	return first
}

// State returns what the marks say of the session's current turn. A mark that
// cannot be looked for counts as one, so that nothing private is captured by mistake.
func (m Marks) State(host memory.Host, hostSessionID string) TurnState {
	for i, dir := range m.dirs {
		_, err := os.Lstat(filepath.Join(dir, markName(host, hostSessionID)))
		if err == nil && i > 0 && !Alone(dir) {
			continue // another user's
		}
		if err == nil || !isAbsent(err) {
			return TurnPrivate
		}
	}
	if !m.Writable() {
		return TurnUnknown
	}
	return TurnOpen
}

// Writable reports whether marks can be written in one of the two places. It checks
// modes and file systems, not free space: a full disk still takes most empty files.
func (m Marks) Writable() bool {
	other := m.dirs[len(m.dirs)-1]
	return takesFiles(m.dirs[0]) || len(m.dirs) > 1 && takesFiles(other) && (Alone(other) || !openfile.Exists(other))
}

// takesFiles reports whether files can be made in a directory or, if it is not there, in the first
// one above it that is.
func takesFiles(dir string) bool {
	for {
		err := accessible(dir)
		if err == nil {
			return true
		}
		parent := filepath.Dir(dir)
		if !os.IsNotExist(err) || parent == dir {
			return false
		}
		dir = parent
	}
}

// isAbsent reports whether there is no such file, also because a file is where its
// directory should be.
func isAbsent(err error) bool { return os.IsNotExist(err) || errors.Is(err, syscall.ENOTDIR) }
