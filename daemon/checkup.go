package daemon

import (
	"context"
	"net/http"

	"claudemem/api"
	"claudemem/index"
)

// LockHeld reports whether a process holds the lock of a data directory's worker.
// It makes nothing; a worker that starts in that instant waits for us.
func LockHeld(dataDir string) (bool, error) {
	free, err := lockIsFree(dataDir)
	return !free && err == nil, err
}

// Outranks reports whether a worker of version a takes over from one of version b.
func Outranks(a, b api.Identity) bool { return outranks(a, b) }

// IndexHealth is how the index of a running worker is.
type IndexHealth struct {
	// Opening says that it cannot be asked yet, Error why it cannot be used.
	Opening bool
	Error   string
	index.Status
}

// LookAtIndex asks a running worker how its index is.
func LookAtIndex(ctx context.Context, dataDir string) (IndexHealth, error) {
	peer, err := api.FindWorker(dataDir)
	if err != nil {
		return IndexHealth{}, err
	}
	var stats struct {
		Index struct {
			State string `json:"state"`
			Error string `json:"error"`
			index.Status
		} `json:"index"`
	}
	if err := peer.Do(ctx, http.MethodGet, "/api/stats?brief=1", nil, &stats); err != nil {
		return IndexHealth{}, err
	}
	return IndexHealth{Opening: stats.Index.State == indexOpening, Error: stats.Index.Error, Status: stats.Index.Status}, nil
}
