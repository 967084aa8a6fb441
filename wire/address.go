package wire

import (
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
// the data directory under $XDG_RUNTIME_DIR, else under the temporary directory.
// The data directory should be absolute.
func SocketPath(dataDir string, getenv func(string) string) string {
	path := filepath.Join(dataDir, "worker.sock")
	if len(path) <= maxSocketPath {
		return path
	}
	name := ownName(dataDir)
	for _, base := range []string{getenv("XDG_RUNTIME_DIR"), tempDir(getenv)} {
		if path := filepath.Join(base, name, "worker.sock"); base != "" && len(path) <= maxSocketPath {
			return path
		}
	}
	return filepath.Join("/tmp", name, "worker.sock")
}

// ownName returns the name of a data directory's directories elsewhere.
func ownName(dataDir string) string { return "claude-mem-" + digest(filepath.Clean(dataDir))[:16] }

// tempDir returns the directory for temporary files by the environment, as os.TempDir
// would; "" if Windows names none.
func tempDir(getenv func(string) string) string {
	if runtime.GOOS == "windows" {
		for _, key := range []string{"TMP", "TEMP", "USERPROFILE"} {
			if dir := getenv(key); dir != "" {
				return dir
			}
		}
		return ""
	}
	if dir := getenv("TMPDIR"); dir != "" {
		return dir
	}
	return "/tmp"
}

// PrepareSocket makes the directory of a socket outside the data directory, and
// refuses one to which other users have access.
func PrepareSocket(dataDir, socket string) error {
	dir := filepath.Dir(socket)
	if dir == filepath.Clean(dataDir) {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if !Alone(dir) {
		return &os.PathError{Op: "use as private directory", Path: dir, Err: os.ErrPermission}
	}
	return nil
}

// Find returns where the worker of a data directory listens, or would listen.
// It reads worker.json only where the address does not follow from the directory.
func Find(dataDir string, getenv func(string) string) Address {
	a := Address{Socket: SocketPath(dataDir, getenv)}
	inside := filepath.Dir(a.Socket) == filepath.Clean(dataDir)
	if inside && runtime.GOOS != "windows" {
		return a
	}
	// The worker may run with another XDG_RUNTIME_DIR or TMPDIR.
	if info, err := ReadWorkerInfo(dataDir); err == nil {
		a.Port = info.Port
		if info.Socket != "" {
			a.Socket = info.Socket
		}
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

// cleanToken returns "" for a token that would break its header line.
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
