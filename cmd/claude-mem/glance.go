package main

import (
	"context"
	"path/filepath"

	"claudemem"
	"claudemem/index"
	"claudemem/search"
	"claudemem/store"
)

// glancing is a recall.Finder for a process that asks once: it reads the index without
// opening all of it and finds by words alone.
type glancing struct {
	store   *store.Store
	dataDir string
}

// Related searches by the index's files, which it opens for this call alone.
func (g glancing) Related(ctx context.Context, r claudemem.RelatedRequest) ([]claudemem.Related, error) {
	ix, err := index.OpenGlance(ctx, filepath.Join(g.dataDir, "index.db"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = ix.Close() }() // it has only read
	return search.New(g.store, ix, search.Options{}).Related(ctx, r)
}
