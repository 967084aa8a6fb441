package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"claudemem"
	"claudemem/api"
	"claudemem/index"
	"claudemem/search"
	"claudemem/settings"
)

// files is the memory read from its files, without a worker.
type files struct {
	*api.Local
	*memory
	index interface{ Close() error }
}

// close ends reading; its error has no effect on results.
func (f *files) close() {
	if f.index != nil {
		_ = f.index.Close()
	}
	f.memory.close()
}

// openFiles opens the memory for reading, with its index to search by text. Without
// an index, or with one of another version, the strict filters still answer.
func (a *app) openFiles(ctx context.Context, dataDir string, withIndex bool) (*files, error) {
	m, err := openMemory(ctx, dataDir)
	if err != nil {
		return nil, err
	}
	f := &files{memory: m}
	options := search.Options{Clock: a.now, Logger: slog.New(slog.DiscardHandler)}
	if s, err := settings.Load(dataDir, a.getenv); err == nil { // else the default holds: any age
		days := int(s.Duration(settings.KeyRecencyDays) / (24 * time.Hour))
		options.RecencyDays = func() int { return days }
	}
	f.Local = &api.Local{Store: m.Store, Searcher: unindexed{search.New(m, nil, options), nil}, Blocks: fallbackBlocks(dataDir), Vocabulary: a.vocabulary}
	if !withIndex {
		return f, nil
	}
	// The embedder is the one inside: with vectors of another the words alone are searched.
	found, err := index.OpenReadOnly(ctx, filepath.Join(dataDir, "index.db"), index.Options{Clock: a.now})
	if err != nil {
		f.Searcher = unindexed{search.New(m, nil, options), err}
		return f, nil //nolint:nilerr // the searcher tells it
	}
	f.index, f.Searcher = found, search.New(m, found, options)
	return f, nil
}

// unindexed searches without an index: by the strict filters alone.
type unindexed struct {
	*search.Searcher
	cause error
}

// reindexHint is the hint when there is no search index.
const reindexHint = "`claude-mem reindex` builds it"

// Search ignores the text and adds a note about that.
func (u unindexed) Search(ctx context.Context, r claudemem.SearchRequest) (claudemem.SearchResult, error) {
	text := r.Text
	r.Text = ""
	if r.Order == claudemem.OrderRelevance {
		r.Order = ""
	}
	result, err := u.Searcher.Search(ctx, r)
	if text != "" {
		result.Understood.Notes = append(result.Understood.Notes,
			fmt.Sprintf("The text was ignored; these records only pass the filter: %v; %s.", u.cause, reindexHint))
	}
	return result, err
}

// Timeline returns an error for an anchor by text.
func (u unindexed) Timeline(ctx context.Context, r claudemem.TimelineRequest) (claudemem.Timeline, error) {
	if r.Anchor == "" && r.Text != "" {
		return claudemem.Timeline{}, claudemem.Errorf(claudemem.CodeUnavailable, "search for an anchor: %w", u.cause).WithHint(reindexHint)
	}
	return u.Searcher.Timeline(ctx, r)
}
