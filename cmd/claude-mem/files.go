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
	"claudemem/store"
)

// files is the memory read from its files, without a worker.
type files struct {
	*api.Local
	store    *store.Store
	searcher *fileSearcher
}

// close ends reading; its error has no effect on results.
func (f *files) close() {
	f.searcher.close()
	_ = f.store.Close()
}

// openFiles opens the memory for reading. A search by text opens the index: without
// one, or with one of another version, the strict filters still answer.
func (a *app) openFiles(ctx context.Context, dataDir string) (*files, error) {
	s, err := openMemory(ctx, dataDir)
	if err != nil {
		return nil, err
	}
	options := search.Options{Clock: a.now, Logger: slog.New(slog.DiscardHandler)}
	if resolved, err := settings.Load(dataDir, a.getenv); err == nil { // else the default holds: any age
		days := int(resolved.Duration(settings.KeyRecencyDays) / (24 * time.Hour))
		options.RecencyDays = func() int { return days }
	}
	searcher := &fileSearcher{Searcher: search.New(s, nil, options), path: filepath.Join(dataDir, "index.db"), store: s, options: options}
	local := &api.Local{Store: s, Searcher: searcher, Blocks: fallbackBlocks(dataDir), Vocabulary: a.vocabulary}
	return &files{local, s, searcher}, nil
}

// fileSearcher searches by the strict filters alone until there is a text: then it
// opens the index.
type fileSearcher struct {
	*search.Searcher
	path    string
	store   *store.Store
	options search.Options

	opened bool
	index  *index.Index
	err    error // of opening the index
}

// indexed returns a searcher with the index, or why there is none. The embedder is the
// built-in one: with vectors of another one only words are searched.
func (f *fileSearcher) indexed(ctx context.Context) (*search.Searcher, error) {
	if !f.opened {
		f.opened = true
		f.index, f.err = index.OpenReadOnly(ctx, f.path, index.Options{Clock: f.options.Clock})
	}
	if f.err != nil {
		return nil, f.err
	}
	return search.New(f.store, f.index, f.options), nil
}

// close closes the index if it was opened.
func (f *fileSearcher) close() {
	if f.index != nil {
		_ = f.index.Close() // it has only read
	}
}

// reindexHint is the hint when there is no search index.
const reindexHint = "`claude-mem reindex` builds it"

// Search searches with the index if there is a text. Without an index it ignores the
// text and adds a note about that.
func (f *fileSearcher) Search(ctx context.Context, r claudemem.SearchRequest) (claudemem.SearchResult, error) {
	if r.Text == "" {
		return f.Searcher.Search(ctx, r)
	}
	indexed, missing := f.indexed(ctx)
	if missing == nil {
		return indexed.Search(ctx, r)
	}
	r.Text = ""
	if r.Order == claudemem.OrderRelevance {
		r.Order = ""
	}
	result, err := f.Searcher.Search(ctx, r)
	result.Understood.Notes = append(result.Understood.Notes,
		fmt.Sprintf("The text was ignored; these records only pass the filter: %v; %s.", missing, reindexHint))
	return result, err
}

// Timeline returns an error for an anchor by text if there is no index.
func (f *fileSearcher) Timeline(ctx context.Context, r claudemem.TimelineRequest) (claudemem.Timeline, error) {
	indexed, missing := f.indexed(ctx)
	switch {
	case missing == nil:
		return indexed.Timeline(ctx, r)
	case r.Anchor == "" && r.Text != "":
		return claudemem.Timeline{}, claudemem.Errorf(claudemem.CodeUnavailable, "search for an anchor: %w", missing).WithHint(reindexHint)
	}
	return f.Searcher.Timeline(ctx, r)
}
