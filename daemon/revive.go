package daemon

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"claudemem/store"
)

// Revive puts the named dead letters, all when none are named, back in the
// queue and returns how many. A running worker does it; without one this process
// takes the lock and is the worker for that long.
func Revive(ctx context.Context, dataDir string, keys []string) (revived int, err error) {
	var answer struct {
		Revived int `json:"revived"`
	}
	body := map[string]any{}
	if len(keys) > 0 {
		body["keys"] = keys
	}
	if answered, err := askWorker(ctx, dataDir, http.MethodPost, "/api/queue/retry", body, &answer); answered {
		return answer.Revived, err
	}
	if _, err := os.Stat(filepath.Join(dataDir, databaseName)); errors.Is(err, fs.ErrNotExist) {
		return 0, nil // nothing was ever captured
	}
	err = asWorker(ctx, dataDir, func(s *store.Store) error {
		revived, err = s.Revive(ctx, keys...)
		return err
	})
	return revived, err
}
