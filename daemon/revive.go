package daemon

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"claudemem"
	"claudemem/store"
)

// Revive puts the named dead letters, all when none are named, back in the
// queue and returns how many. A running worker does it; without one this process
// takes the lock and is the worker for that long.
func Revive(ctx context.Context, dataDir string, keys []string) (revived int, err error) {
	if peer, err := FindPeer(dataDir); err == nil {
		var answer struct {
			Revived int `json:"revived"`
		}
		body := map[string]any{}
		if len(keys) > 0 {
			body["keys"] = keys
		}
		err := peer.Do(ctx, http.MethodPost, "/api/queue/retry", body, &answer)
		if claudemem.CodeOf(err) != claudemem.CodeUnavailable {
			return answer.Revived, err
		}
	}
	path := filepath.Join(dataDir, databaseName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return 0, nil // nothing was ever captured
	}
	if free, err := lockIsFree(dataDir); err != nil || !free {
		return 0, errors.Join(err, claudemem.Errorf(claudemem.CodeUnavailable, "the worker is starting or stopping").
			WithHint("try again in a moment"))
	}
	lock, err := waitLock(ctx, dataDir, settleLimit)
	if err != nil {
		return 0, err
	}
	if lock == nil {
		return 0, claudemem.Errorf(claudemem.CodeUnavailable, "another process has just become the worker").
			WithHint("try again in a moment")
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	s, err := store.Open(ctx, path, store.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return s.Revive(ctx, keys...)
}
