package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"claudemem/internal/distil/embedder"
	"claudemem/internal/distil/model"
	"claudemem/internal/find/search"
	"claudemem/internal/keep/index"
	"claudemem/internal/keep/store"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/serve/api"
)

// Values of the setting EMBEDDER that are not the built-in table.
const (
	embedderRemote = "openai-compatible"
	embedderOff    = "off"
)

// openSearch makes the search and the chores, which do not start yet. The index itself is opened
// in the background once the worker serves: capturing events comes first.
func (w *Worker) openSearch() {
	options, closeEmbedder := indexOptions(w.cfg.Settings, w.cfg.Clock, w.log)
	options.MayRepair, options.CheckEvery = w.mayRepair, w.cfg.CheckIndex
	w.finder = newFinder(func(ctx context.Context) (openIndex, error) {
		ix, err := index.Open(ctx, filepath.Join(w.cfg.DataDir, control.Index), w.store, options)
		if err != nil {
			return nil, err
		}
		SpareMemory(ix.Status().Documents)
		return ix, nil
	}, w.log)
	w.opened("index", func(context.Context) error {
		defer closeEmbedder()
		return w.finder.close()
	})
	w.searcher = search.New(w.store, w.finder, search.Options{Clock: w.cfg.Clock, Logger: w.log, RecencyDays: func() int {
		return int(w.settings.get().Duration(settings.KeyRecencyDays) / (24 * time.Hour))
	}})
	w.chores = newChores(w.store, w.cfg.Clock, w.log, chore{name: "records", every: daily, do: func(ctx context.Context) error { return w.mendRecords(ctx, pausing(ctx)) }}, chore{name: "index", every: daily, do: w.mendIndex},
		chore{name: "backup", every: daily, do: w.backUp, early: w.firstBackupDue}, chore{name: "retention", every: daily, do: w.retain}, chore{name: "worth", every: daily, do: w.weigh},
		chore{name: "embedding table", every: trainEvery, do: w.trainTable}, chore{name: "forgotten backups", every: time.Hour, do: w.dropForgotten})
	w.opened("chores", func(context.Context) error { return w.chores.close() })
}

// trainEvery is how often the worker looks whether there are enough new observations to train
// the embedding table again.
const trainEvery = 15 * time.Minute

// trainTable is the chore that trains the embedding table on the observations if enough of them
// are new. errChoreLater while the index is not open or is being rebuilt.
func (w *Worker) trainTable(ctx context.Context) error {
	ix, err := w.finder.current(ctx)
	if err != nil {
		return errors.Join(errChoreLater, err)
	}
	if !ix.TrainingDue() {
		return nil
	}
	err = ix.Train(ctx, index.TrainOptions{Share: cmp.Or(w.cfg.TrainShare, .25)})
	if memory.CodeOf(err) == memory.CodeConflict { // a rebuild, which ends with a training
		return errChoreLater
	}
	return err
}

const (
	// largeIndex is the number of records from which the index is most of the worker's
	// memory.
	largeIndex = 50_000
	// sparingGC is GOGC for a large index, whose memory is constant and has few pointers, so
	// that 40 % more for garbage is enough. At 100,000 observations the worker takes 6 MB
	// less with 25, and a search 0.4 ms of 9 more.
	sparingGC = 40
)

// SpareMemory makes the process collect garbage earlier when its index is large, unless
// GOGC is set, and gives the memory back that opening the index took for a moment.
func SpareMemory(documents int) {
	if documents < largeIndex {
		return
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(sparingGC)
	}
	debug.FreeOSMemory()
}

// indexOptions returns the options of the index by the settings, and the end of its embedder.
func indexOptions(s *settings.Settings, clock func() time.Time, log *slog.Logger) (o index.Options, end func()) {
	embedder, end := embedderOf(s, clock, log)
	return index.Options{Embedder: embedder, Untrained: !s.Bool(settings.KeyEmbedderTraining), Clock: clock, Logger: log}, end
}

// embedderOf returns the embedder in the settings, nil for the built-in one. It is chosen
// at the start: another one means that all records are embedded again.
func embedderOf(s *settings.Settings, clock func() time.Time, log *slog.Logger) (chosen index.Embedder, end func()) {
	switch s.Text(settings.KeyEmbedder) {
	case embedderOff:
		return noEmbedder{model: embedderOff}, func() {}
	case embedderRemote:
		client, err := embedder.New(model.Config{BaseURL: s.Text(settings.KeyEmbedderBaseURL), Model: s.Text(settings.KeyEmbedderModel),
			APIKey: s.Text(settings.KeyEmbedderAPIKey), Now: clock})
		if err != nil {
			// Search by words alone is closer to these settings than another model. Under
			// the model's name its vectors are kept until the settings are mended.
			log.Warn("set up embedder", "error", err)
			return noEmbedder{embedder.ModelName(s.Text(settings.KeyEmbedderModel)), err}, func() {}
		}
		return client, client.Close
	default:
		return nil, func() {}
	}
}

// noEmbedder has no meaning for any text: its vectors are zero, or it fails, and search
// uses words alone.
type noEmbedder struct {
	model string
	err   error
}

// Model implements index.Embedder.
func (e noEmbedder) Model() string { return e.model }

// Embed implements index.Embedder.
func (e noEmbedder) Embed(_ context.Context, texts ...string) ([][]float32, error) {
	if e.err != nil {
		return nil, e.err
	}
	return slices.Repeat([][]float32{{0}}, len(texts)), nil // of one dimension
}

// noticeIndex is the notice that the index was found to lack rows.
const noticeIndex = "index"

// mendIndex is the chore that compares the search index with the database, and starts to rebuild
// it if it is wrong, unless it did so within a day (mayRepair). errChoreLater while the index is
// behind.
func (w *Worker) mendIndex(ctx context.Context) error {
	status := w.finder.status()
	if status.State != indexOpen || status.Building || status.Behind > 0 {
		return errChoreLater
	}
	wrong, _, err := control.VerifyIndex(ctx, w.store, w.cfg.DataDir)
	if err != nil || len(wrong) == 0 {
		return err
	}
	if !w.mayRepair(control.Index, "it has not the records of the memory") {
		return nil
	}
	w.log.Error("the search index is wrong and is rebuilt", "because", wrong)
	if err := w.finder.StartReindex(); err != nil && memory.CodeOf(err) != memory.CodeConflict {
		return err
	}
	return w.store.AddNotice(ctx, noticeIndex, fmt.Sprintf("claude-mem: the search index was damaged (%s). It is being rebuilt.", wrong[0]))
}

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
		if err != nil && memory.CodeOf(err) != memory.CodeConflict { // a conflict: it is running already
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

// followReindex asks the worker for its progress until it is done and returns the number of its
// records. CodeUnavailable when the worker stops or ctx ends, CodeInternal for a rebuild that failed.
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
		if !control.Pause(ctx, reindexPoll) {
			return 0, memory.Errorf(memory.CodeUnavailable, "the worker goes on without being watched: %w", ctx.Err())
		}
	}
}

// reindexStore builds the index at path in this process, trains its vectors, and returns how many
// records of the memory can be searched.
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
	totals, err := s.Totals(ctx, "")
	return totals.Searchable(), err
}
