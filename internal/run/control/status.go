package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/keep/index"
	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"golang.org/x/mod/semver"
)

// Status is what `claude-mem worker status` shows.
type Status struct {
	Running   bool          `json:"running"`
	DataDir   string        `json:"data_dir"`
	PID       int           `json:"pid,omitempty"`
	Version   string        `json:"version,omitempty"`
	Wire      int           `json:"wire,omitempty"`
	Port      int           `json:"port,omitempty"`
	Socket    string        `json:"socket,omitempty"`
	StartedAt memory.Millis `json:"started_at,omitempty"`
	Report
	// Index is nil when the worker did not report it.
	Index *IndexHealth `json:"-"`
}

// Report is the part of a running worker's status that GET /api/stats returns.
type Report struct {
	// Stages has for each stage "ok" or an error.
	Stages map[string]string `json:"stages,omitempty"`
	// Notices are shown to the user while they hold, such as that a provider does not
	// answer.
	Notices []accounts.Notice `json:"notices,omitempty"`
	// Settings are those that are not at their default.
	Settings []SettingOrigin `json:"settings,omitempty"`
}

// SettingOrigin is a value that a worker uses and where it came from; a secret is masked.
type SettingOrigin struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
}

// IndexOpening is the state of an index that is being opened.
const IndexOpening = "opening"

// IndexHealth is the state of a running worker's index.
type IndexHealth struct {
	State string `json:"state"`
	// Error says why the index cannot be used.
	Error string `json:"error"`
	index.Status
}

// IsOpening reports whether the index cannot be asked yet.
func (h *IndexHealth) IsOpening() bool { return h.State == IndexOpening }

// Look returns the status of a data directory's worker. It is running if it answers on its
// socket, whatever its files say; that none runs, or none answers, is no error. A worker whose
// statistics cannot be had has the reason under the stage "http".
func Look(ctx context.Context, dataDir string) (Status, error) {
	status := Status{DataDir: dataDir}
	peer, err := api.FindWorker(dataDir)
	if err != nil {
		if memory.CodeOf(err) == memory.CodeUnavailable {
			return status, nil
		}
		return status, err
	}
	id, unanswered := peer.Identity(ctx)
	if unanswered != nil {
		return status, nil //nolint:nilerr // no answer: worker.json is a dead worker's
	}
	status.Running, status.PID, status.Version, status.Wire = true, peer.Info.PID, id.Version, id.Wire
	status.Port, status.Socket, status.StartedAt = peer.Info.Port, peer.Info.Socket, peer.Info.StartedAt
	var stats struct {
		Report
		Index *IndexHealth `json:"index"`
	}
	if err := peer.Do(ctx, http.MethodGet, "/api/stats?brief=1", nil, &stats); err != nil {
		stats.Stages = map[string]string{"http": err.Error()}
	}
	status.Report, status.Index = stats.Report, stats.Index
	return status, nil
}

// stopPoll is how often Stop checks for another worker to ask.
const stopPoll = 200 * time.Millisecond

// Stop asks a data directory's worker to stop and waits until its lock is free,
// at most for limit. It reports whether there was a worker to stop; CodeUnavailable when it has
// the lock after that. When it returns without an error the files are free, but a hook may start
// the next worker at any time.
func Stop(ctx context.Context, dataDir string, limit time.Duration) (bool, error) {
	if held, err := LockHeld(dataDir); err != nil || !held {
		return false, err
	}
	deadline := time.Now().Add(limit)
	asked := 0
	for {
		// A worker that is starting holds the lock before it answers, and another worker
		// may have waited for the lock of the one that was asked.
		if peer, err := api.FindWorker(dataDir); err == nil && peer.Info.PID != asked && peer.Shutdown(ctx) == nil {
			asked = peer.Info.PID
		}
		held, err := WaitLock(ctx, dataDir, min(stopPoll, time.Until(deadline)))
		if err != nil {
			return false, err
		}
		if held != nil {
			return true, openfile.Unlock(held)
		}
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if !time.Now().Before(deadline) {
			return false, memory.Errorf(memory.CodeUnavailable, "the worker does not stop").WithHint(HolderHint(dataDir))
		}
	}
}

// WantedPort returns the port of the settings. That of claude-mem for Node, which keeps its
// settings in the same directory, is left to its worker unless the user chose it here.
func WantedPort(s *settings.Settings, dataDir string) int {
	port := s.Int(settings.KeyWorkerPort)
	if v, err := s.Get(settings.KeyWorkerPort); err == nil && v.Origin == settings.FromDefault && port == settings.NodePort(dataDir) {
		return port + 1
	}
	return port
}

// LockName is the file whose lock makes a process the worker. It is never
// removed: a second worker could otherwise lock a new file of the same name
// while the first still holds the old one.
const LockName = "worker.lock"

// WaitLock takes the worker lock of a data directory, which it creates if need be. It tries once,
// whatever limit and ctx are, and then waits at most for limit; nil without an error if the lock is
// not free by then, or when ctx ends. A lock that this process holds is not free either.
func WaitLock(ctx context.Context, dataDir string, limit time.Duration) (*os.File, error) {
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return nil, DiskError("make data directory", dataDir, err)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	path := filepath.Join(dataDir, LockName)
	held, err := openfile.Lock(ctx, path)
	if err != nil {
		return nil, DiskError("lock", path, err)
	}
	return held, nil
}

// DiskError returns a CodeStorage error for a refused file operation, with a hint for
// the usual causes: rights, full or read-only disk, a file in the way.
func DiskError(operation, path string, err error) error {
	e := memory.Errorf(memory.CodeStorage, "%s %s: %w", operation, path, err)
	switch {
	case errors.Is(err, syscall.EROFS):
		return e.WithHint("the file system is read-only; set CLAUDE_MEM_DATA_DIR to a directory that can be written")
	case errors.Is(err, fs.ErrPermission):
		return e.WithHint("give yourself the right to write " + filepath.Dir(path) + ", or set CLAUDE_MEM_DATA_DIR to another directory")
	case errors.Is(err, syscall.ENOSPC):
		return e.WithHint("the disk is full; free some space and run the command again")
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrExist):
		return e.WithHint("a file is where the data directory should be; move it away or set CLAUDE_MEM_DATA_DIR")
	}
	return e
}

// LockHeld reports whether a process holds the lock of a data directory's worker. It
// creates nothing. A worker that starts in that instant waits for us.
func LockHeld(dataDir string) (bool, error) {
	if _, err := os.Stat(filepath.Join(dataDir, LockName)); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	free, err := WaitLock(context.Background(), dataDir, 0)
	if err != nil || free == nil {
		return err == nil, err
	}
	return false, openfile.Unlock(free)
}

// HolderHint tells the user how to end the process that holds the worker lock, with its
// pid if worker.json has it.
func HolderHint(dataDir string) string {
	if info, err := wire.ReadWorkerInfo(dataDir); err == nil && info.PID != 0 {
		return fmt.Sprintf("the last worker had pid %d: end it, then run `claude-mem worker start`", info.PID)
	}
	return "end the other claude-mem process, then run `claude-mem worker start`"
}

// Outranks reports whether self takes over from other: if it has a newer wire version, or
// the same and a newer version. Workers of different wire versions cannot serve the same
// hooks.
func Outranks(self, other api.Identity) bool {
	if self.Wire != other.Wire {
		return self.Wire > other.Wire
	}
	return Newer(self.Version, other.Version)
}

// Newer reports whether version a is later than b in the order of semantic versions.
// A v before the numbers is allowed, and fewer than three numbers are. A version that
// does not parse, such as a bare commit hash, is older than all that do.
func Newer(a, b string) bool { return semver.Compare(semantic(a), semantic(b)) > 0 }

// semantic returns a version as package semver has it, "" for a single number, which may be a
// commit hash.
func semantic(version string) string {
	if !strings.Contains(version, ".") {
		return ""
	}
	return "v" + strings.TrimPrefix(version, "v")
}

// Pause waits for d and reports whether ctx is still alive.
func Pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
