package wire

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Address is where a worker listens.
type Address struct {
	// Socket is the path of its Unix socket.
	Socket string
	// Port is its TCP port on 127.0.0.1, used where the socket can't be; 0 = unknown or none.
	Port int
	// Token authorises a TCP client.
	Token string
	// private is a directory that only this user may write to, "" when the socket
	// lies in the data directory.
	private string
}

// maxSocketPath is the longest path of a socket on every system: macOS has 104
// bytes with the NUL, Linux 108.
const maxSocketPath = 100

// SocketPath returns where the worker of a data directory listens: worker.sock
// in it, or, when that path is too long for a socket, a directory named after
// the data directory under $XDG_RUNTIME_DIR, else under the temporary directory. A worker
// that is refused that one listens elsewhere: see PrepareSocket and Find.
// The data directory should be absolute.
func SocketPath(dataDir string, getenv func(string) string) string {
	path := filepath.Join(dataDir, "worker.sock")
	if len(path) <= maxSocketPath {
		return path
	}
	return elsewhere(dataDir, getenv)[0]
}

// elsewhere returns the paths that a socket outside the data directory may have, the best
// one first; at least one. None is longer than maxSocketPath.
func elsewhere(dataDir string, getenv func(string) string) (paths []string) {
	for _, base := range []string{getenv("XDG_RUNTIME_DIR"), tempDir(getenv)} {
		if path := filepath.Join(base, ownName(dataDir), "worker.sock"); base != "" && len(path) <= maxSocketPath {
			paths = append(paths, path)
		}
	}
	return append(paths, filepath.Join("/tmp", ownName(dataDir), "worker.sock"))
}

// ownName returns the name of a data directory's directories elsewhere.
func ownName(dataDir string) string { return "claude-mem-" + digest(filepath.Clean(dataDir))[:16] }

// tempDir returns the directory for temporary files by the environment, as os.TempDir
// would; "" if Windows names none.
func tempDir(getenv func(string) string) string {
	if runtime.GOOS == "windows" {
		return cmp.Or(getenv("TMP"), getenv("TEMP"), getenv("USERPROFILE"))
	}
	return cmp.Or(getenv("TMPDIR"), "/tmp")
}

// PrepareSocket returns where the worker of a data directory is to listen, and makes the
// directory. Outside the data directory it takes the first one to which other users have no
// access: that of the last worker, those of SocketPath, or, if other users hold all of them,
// one with a random name, which hooks find by worker.json. It also returns the directories
// that it refused, for the log. The error is that of the last directory that it tried to make.
func PrepareSocket(dataDir string, getenv func(string) string) (path string, refused []string, err error) {
	path = SocketPath(dataDir, getenv)
	if filepath.Dir(path) == filepath.Clean(dataDir) {
		return path, nil, nil
	}
	paths := elsewhere(dataDir, getenv)
	if info, err := ReadWorkerInfo(dataDir); err == nil && strings.HasPrefix(filepath.Base(filepath.Dir(info.Socket)), ownName(dataDir)) && Alone(filepath.Dir(info.Socket)) {
		return info.Socket, nil, nil // that of a worker that was killed
	}
	for _, path := range paths {
		dir := filepath.Dir(path)
		if err = os.MkdirAll(dir, 0o700); err == nil && Alone(dir) {
			return path, refused, nil
		}
		refused = append(refused, dir)
	}
	for _, path := range paths {
		var dir string
		if dir, err = os.MkdirTemp(filepath.Dir(filepath.Dir(path)), ownName(dataDir)+"-"); err != nil {
			continue
		}
		if path := filepath.Join(dir, "worker.sock"); len(path) <= maxSocketPath && Alone(dir) {
			return path, refused, nil
		}
		_ = os.Remove(dir) // empty
		err = &os.PathError{Op: "use as private directory", Path: dir, Err: os.ErrPermission}
	}
	return "", refused, err
}

// LeaveSocket removes the directory of a socket that PrepareSocket made, unless something
// else is in it.
func LeaveSocket(dataDir, socket string) {
	if dir := filepath.Dir(socket); dir != filepath.Clean(dataDir) {
		_ = os.Remove(dir) // it may hold marks
	}
}

// Find returns where the worker of a data directory listens, or would listen, whether one runs
// or not. It reads worker.json only where the address does not follow from the directory, and the
// token only on Windows: elsewhere hooks use the socket, whose directory tells who may connect.
func Find(dataDir string, getenv func(string) string) Address {
	a := Address{Socket: SocketPath(dataDir, getenv)}
	inside := filepath.Dir(a.Socket) == filepath.Clean(dataDir)
	if inside && runtime.GOOS != "windows" {
		return a
	}
	// The worker may run with another XDG_RUNTIME_DIR or TMPDIR.
	if info, err := ReadWorkerInfo(dataDir); err == nil {
		a.Port, a.Socket = info.Port, cmp.Or(info.Socket, a.Socket)
	}
	if a.Port != 0 && runtime.GOOS == "windows" {
		if token, err := readSmall(filepath.Join(dataDir, "token")); err == nil {
			a.Token = cleanToken(string(token))
		}
	}
	if dir := filepath.Dir(a.Socket); dir != filepath.Clean(dataDir) {
		a.private = dir
	}
	return a
}

// cleanToken returns a token without the blanks around it, "" for one that would break its header
// line.
func cleanToken(token string) string {
	token = strings.TrimSpace(token)
	for i := range len(token) {
		if token[i] <= ' ' || token[i] >= 0x7F {
			return ""
		}
	}
	return token
}

// trusted reports whether no other user can have made the socket.
func (a *Address) trusted() bool { return a.private == "" || Alone(a.private) }
