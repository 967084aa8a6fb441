package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"time"

	"claudemem"
	"claudemem/httpapi"
	"claudemem/index"
	"claudemem/search"
	"claudemem/settings"
)

// filesAPI is the HTTP API in this process, over the files as they are: for a
// command when no worker runs. Its routes only read.
type filesAPI struct {
	routes *httpapi.Local
	memory *memory
	index  interface{ Close() error }
}

// close ends reading; what could fail then has no effect on what was read.
func (f *filesAPI) close() {
	if f.index != nil {
		_ = f.index.Close()
	}
	f.memory.close()
}

// get asks a route.
func (f *filesAPI) get(ctx context.Context, target string, out any) error {
	return f.routes.Do(ctx, http.MethodGet, target, "", nil, out)
}

// openFiles opens the memory and its index for reading. Without an index, or with
// one of another version, the strict filters still answer.
func (a *app) openFiles(ctx context.Context, dataDir string) (*filesAPI, error) {
	m, err := openMemory(ctx, dataDir)
	if err != nil {
		return nil, err
	}
	f := &filesAPI{memory: m}
	options := search.Options{Clock: a.now, Logger: slog.New(slog.DiscardHandler)}
	if s, err := settings.Load(dataDir, a.getenv); err == nil { // else the default holds: any age
		days := int(s.Duration(settings.KeyRecencyDays) / (24 * time.Hour))
		options.RecencyDays = func() int { return days }
	}
	var searcher httpapi.Searcher
	// The embedder is the one inside: with vectors of another the words alone are searched.
	if found, err := index.OpenReadOnly(ctx, filepath.Join(dataDir, "index.db"), index.Options{Clock: a.now}); err == nil {
		f.index, searcher = found, search.New(m, found, options)
	} else {
		searcher = unindexed{search.New(m, nil, options), err}
	}
	f.routes = httpapi.NewLocal(httpapi.Deps{Records: m, Sessions: m, Searcher: searcher, Receipts: m, Previewer: fallbackBlocks(dataDir)}, httpapi.Options{
		Version: version, Clock: a.now,
	})
	return f, nil
}

// unindexed searches without an index: by the strict filters alone.
type unindexed struct {
	*search.Searcher
	cause error
}

// reindexHint is what to do when there is no index to search in.
const reindexHint = "`claude-mem reindex` builds it"

// Search leaves the text out, and says so.
func (u unindexed) Search(ctx context.Context, r claudemem.SearchRequest) (claudemem.SearchResult, error) {
	text := r.Text
	r.Text = ""
	if r.Order == claudemem.OrderRelevance {
		r.Order = ""
	}
	result, err := u.Searcher.Search(ctx, r)
	if text != "" {
		result.Understood.Notes = append(result.Understood.Notes,
			fmt.Sprintf("The text was not searched for, these only pass the filter: %v; %s.", u.cause, reindexHint))
	}
	return result, err
}

// Timeline finds no anchor by a text.
func (u unindexed) Timeline(ctx context.Context, r claudemem.TimelineRequest) (claudemem.Timeline, error) {
	if r.Anchor == "" && r.Text != "" {
		return claudemem.Timeline{}, claudemem.Errorf(claudemem.CodeUnavailable, "search for an anchor: %w", u.cause).WithHint(reindexHint)
	}
	return u.Searcher.Timeline(ctx, r)
}
