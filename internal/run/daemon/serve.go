package daemon

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"claudemem/internal/capture/repo"
	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/claudedir"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/serve/api"
)

// portTries is how many ports after the wanted one are tried when others hold them.
const portTries = 100

// listenSocket listens on a Unix socket, for its owner alone. The caller holds the lock, so
// an existing socket is that of a dead worker.
func listenSocket(path string) (*net.UnixListener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, control.DiskError("remove stale socket", path, err)
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, control.DiskError("listen on", path, err)
	}
	// No other user could connect before: the directory is private.
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(control.DiskError("protect socket", path, err), listener.Close())
	}
	return listener, nil
}

// listenTCP listens on a port of 127.0.0.1, which other machines cannot reach, or, when
// another program holds it, on the next that is free.
func listenTCP(port int) (net.Listener, error) {
	var first error
	for p := port; p < port+portTries && p <= 65535; p++ {
		listener, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(p))
		if err == nil {
			return listener, nil
		}
		first = cmp.Or(first, err)
	}
	return nil, memory.Errorf(memory.CodeUnavailable, "listen on port %d: %w", port, first).
		WithHint("set CLAUDE_MEM_WORKER_PORT to a free port, or to 0 for none")
}

// readToken returns the token for TCP clients and creates it at the first start, and anew in place
// of one that others may know or that is too short.
func readToken(dataDir string) (string, error) {
	path := filepath.Join(dataDir, "token")
	// One that is a link, or that others have access to, may be known to others.
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0) {
		raw, err := openfile.Read(path)
		if token := strings.TrimSpace(string(raw)); err == nil && len(token) >= 32 {
			return token, nil
		}
	}
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails
	token := hex.EncodeToString(random[:])
	if err := atomicfile.WriteOwn(path, []byte(token+"\n"), 0o600); err != nil {
		return "", control.DiskError("write", path, err)
	}
	return token, nil
}

// vocabulary returns the types and concepts of the mode in the settings.
func (w *Worker) vocabulary() (types, concepts []string) {
	m, _ := w.settings.mode()
	return m.Vocabulary()
}

// placeOf sets what is checked out at the project of a request for a context block, and the
// directories from which the host would load its own files. It sets nothing if the project's
// directory is gone.
func placeOf(r *api.ContextRequest) {
	if !openfile.IsDir(r.ProjectPath) {
		return
	}
	id := repo.Identify("", r.ProjectPath)
	r.WorktreeRoot, r.Branch, r.HeadCommit, r.StartDir = id.WorktreeRoot, id.Branch, id.HeadCommit, r.ProjectPath
	home, _ := os.UserHomeDir() // without it nothing is left out
	r.ConfigDir, _ = claudedir.Config(os.Getenv, home)
}
