package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"claudemem/internal/find/search"
	"claudemem/internal/keep/index"
	"claudemem/internal/keep/store"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
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
	if resolved, err := settings.Inspect(dataDir, a.getenv); err == nil { // else the default holds: any age
		days := int(resolved.Duration(settings.KeyRecencyDays) / (24 * time.Hour))
		options.RecencyDays = func() int { return days }
	}
	searcher := &fileSearcher{Searcher: search.New(s, nil, options), path: filepath.Join(dataDir, "index.db"), store: s, options: options}
	local := &api.Local{Store: s, Searcher: searcher, Blocks: fallbackBlocks(dataDir), Vocabulary: a.vocabulary}
	return &files{local, s, searcher}, nil
}

// fileSearcher opens the index when there is a text to search for.
type fileSearcher struct {
	*search.Searcher
	path    string
	store   *store.Store
	options search.Options

	opened *search.Searcher // with the index, or without if it cannot be opened
	index  *index.Index
}

// indexed returns a searcher with the index, or one that tells why there is none. The embedder is
// the built-in one: with vectors of another one only words are searched.
func (f *fileSearcher) indexed(ctx context.Context) *search.Searcher {
	if f.opened != nil {
		return f.opened
	}
	ix, err := index.OpenReadOnly(ctx, f.path, index.Options{Clock: f.options.Clock})
	if f.options.NoIndex = err; err != nil {
		f.opened = search.New(f.store, nil, f.options)
	} else {
		f.index, f.opened = ix, search.New(f.store, ix, f.options)
	}
	return f.opened
}

// close closes the index if it was opened.
func (f *fileSearcher) close() {
	if f.index != nil {
		_ = f.index.Close() // it has only read
	}
}

// Search searches with the index if there is a text.
func (f *fileSearcher) Search(ctx context.Context, r memory.SearchRequest) (memory.SearchResult, error) {
	if r.Text == "" {
		return f.Searcher.Search(ctx, r)
	}
	return f.indexed(ctx).Search(ctx, r)
}

// Timeline returns what happened around an anchor, which may be a text to search for.
func (f *fileSearcher) Timeline(ctx context.Context, r memory.TimelineRequest) (memory.Timeline, error) {
	return f.indexed(ctx).Timeline(ctx, r)
}

// glancing is a recall.Finder for a process that asks once: it reads the index without
// opening all of it and finds by words alone.
type glancing struct {
	store   *store.Store
	dataDir string
}

// Related searches by the index's files, which it opens for this call alone.
func (g glancing) Related(ctx context.Context, r memory.RelatedRequest) ([]memory.Related, error) {
	ix, err := index.OpenGlance(ctx, filepath.Join(g.dataDir, "index.db"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = ix.Close() }() // it has only read
	return search.New(g.store, ix, search.Options{}).Related(ctx, r)
}
