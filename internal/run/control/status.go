package control

import (
	"context"
	"net/http"
	"time"

	"claudemem/internal/keep/index"
	"claudemem/internal/keep/store/books"
	"claudemem/internal/leaf/lock"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
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
	Notices []books.Notice `json:"notices,omitempty"`
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
// socket, whatever its files say.
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
// at most for limit. It reports whether there was a worker to stop.
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
			return true, lock.Release(held)
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
