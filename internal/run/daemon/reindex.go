package daemon

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"claudemem/internal/keep/index"
	"claudemem/internal/keep/store"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/serve/api"
)

// reindexPoll is how often a worker is asked for its progress.
const reindexPoll = 200 * time.Millisecond

// reindexPath is the route of the worker.
const reindexPath = "/api/admin/reindex"

// Reindex rebuilds the search index and returns the number of its records; report is
// called with the progress. A running worker does the work, and continues when ctx ends;
// without one, this process is the worker meanwhile.
//
// The codes of its errors: CodeNoMemory when nothing was ever captured,
// CodeUnavailable, CodeStorage.
func Reindex(ctx context.Context, dataDir string, report func(done, total int)) (records int, err error) {
	var worker *api.Remote
	if worker, err = api.FindWorker(dataDir); err == nil {
		err = worker.Do(ctx, http.MethodPost, reindexPath, struct{}{}, nil)
	}
	if memory.CodeOf(err) != memory.CodeUnavailable {
		if err != nil && memory.CodeOf(err) != memory.CodeConflict { // it is running already
			return 0, err
		}
		return followReindex(ctx, worker, report)
	}
	resolved, err := settings.LoadForWorker(dataDir, os.Getenv)
	if err != nil {
		return 0, err
	}
	options, end := indexOptions(resolved, time.Now, slog.New(slog.DiscardHandler))
	defer end()
	err = asWorker(ctx, dataDir, false, turnLimit, func(s *store.Store) error {
		if err := control.AllowRepairs(dataDir, false); err != nil {
			return err
		}
		records, err = reindexStore(ctx, s, filepath.Join(dataDir, control.Index), options, report)
		return err
	})
	return records, err
}

// followReindex asks the worker for its progress until it is done.
func followReindex(ctx context.Context, worker *api.Remote, report func(done, total int)) (int, error) {
	for {
		var state api.Reindexing
		err := worker.Do(ctx, http.MethodGet, reindexPath, nil, &state)
		switch {
		case memory.CodeOf(err) == memory.CodeUnavailable:
			return 0, memory.Errorf(memory.CodeUnavailable, "the worker has stopped; the old index is as it was").
				WithHint("`claude-mem reindex` begins again")
		case err != nil:
			return 0, err
		case !state.Running && state.Error != "":
			return 0, memory.Errorf(memory.CodeInternal, "%s", state.Error).
				WithHint("an index that could not be rebuilt is as it was; `claude-mem worker logs` tells more")
		case !state.Running:
			return state.Done, nil
		}
		report(state.Done, state.Total)
		if !pauseFor(ctx, reindexPoll) {
			return 0, memory.Errorf(memory.CodeUnavailable, "the worker goes on without being watched: %w", ctx.Err())
		}
	}
}

// reindexStore builds the index at path in this process.
func reindexStore(ctx context.Context, s *store.Store, path string, options index.Options, report func(done, total int)) (records int, err error) {
	_, missing := os.Stat(path)
	ix, err := index.Open(ctx, path, s, options)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, ix.Close()) }()
	if missing != nil { // it is being built already
		err = ix.CatchUp(ctx)
	} else {
		err = ix.Reindex(ctx, report)
	}
	if err == nil {
		err = ix.Train(ctx, index.TrainOptions{})
	}
	if err != nil {
		return 0, err
	}
	return s.DocumentTotal(ctx)
}
