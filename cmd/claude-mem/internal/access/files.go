package access

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"claudemem/internal/find/hostfiles"
	"claudemem/internal/find/recall/block"
	"claudemem/internal/find/recall/moments"
	"claudemem/internal/find/search"
	"claudemem/internal/find/worktree"
	"claudemem/internal/keep/backup"
	"claudemem/internal/keep/index"
	"claudemem/internal/keep/store"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/run/daemon"
	"claudemem/internal/serve/api"
)

// database opens the database for reading: reading needs no worker. CodeNoMemory without one;
// CodeStorage if it is not the one that the last worker left, which the next worker has to look at.
func (p Place) database(ctx context.Context) (*store.Store, error) {
	s, err := store.OpenReadOnly(ctx, DatabasePath(p.DataDir))
	if err != nil && memory.CodeOf(err) != memory.CodeNoMemory {
		return nil, err
	}
	if suspect := backup.Suspect(ctx, p.DataDir, s); suspect != nil {
		if s != nil {
			_ = s.Close() // it has only read
		}
		return nil, suspect
	}
	return s, err
}

// DatabasePath returns the path of the database in a data directory.
func DatabasePath(dataDir string) string { return filepath.Join(dataDir, "memory.db") }

// indexPath returns the path of the index.
func (p Place) indexPath() string { return filepath.Join(p.DataDir, "index.db") }

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

// open opens the memory for reading. A search by text opens the index: without one, or with
// one of another version, the strict filters still answer. The caller closes the result.
func (p Place) open(ctx context.Context) (*files, error) {
	s, err := p.database(ctx)
	if err != nil {
		return nil, err
	}
	options := search.Options{Clock: p.Clock, Logger: slog.New(slog.DiscardHandler)}
	if resolved, err := settings.Inspect(p.DataDir, p.Getenv); err == nil { // else the default holds: any age
		days := int(resolved.Duration(settings.KeyRecencyDays) / (24 * time.Hour))
		options.RecencyDays = func() int { return days }
	}
	searcher := &fileSearcher{Searcher: search.New(s, nil, options), path: p.indexPath(), store: s, options: options}
	vocabulary := func() (types, concepts []string) { return p.Mode().Vocabulary() }
	return &files{&api.Local{Store: s, Searcher: searcher, Blocks: p, Vocabulary: vocabulary}, s, searcher}, nil
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

// indexed returns a searcher with the index, which the first call opens, or one that tells why there
// is none. It is for one call at a time. The embedder is the built-in one: with vectors of another
// one only words are searched.
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

// Context makes a context block from the files alone, as a hook does without a worker. With
// broken settings it has only a message to the user.
func (p Place) Context(ctx context.Context, request memory.ContextRequest) (memory.ContextBlock, error) {
	m, err := p.database(ctx)
	if err != nil {
		return memory.ContextBlock{}, err
	}
	defer func() { _ = m.Close() }() // it has only read
	resolved, err := settings.Load(p.DataDir, p.Getenv)
	if resolved.Closed() {
		return memory.ContextBlock{SystemMessage: "claude-mem: " + err.Error()}, nil
	}
	options := daemon.RecallOptions(resolved, m)
	options.Finder = glancing{m, p.indexPath()}
	options.WorkTree = worktree.New(worktree.Options{Slack: options.Slack})
	options.HostFiles = hostfiles.New(p.Clock)
	return block.New(m, options).Context(ctx, request)
}

// Fixes returns what an agent would be told of a command that fails in a project, named by its root or label,
// from the files alone; nothing while there is no index.
func (p Place) Fixes(ctx context.Context, project, failure string) (memory.Recollection, error) {
	m, err := p.database(ctx)
	if err != nil {
		return memory.Recollection{}, err
	}
	defer func() { _ = m.Close() }() // it has only read
	if named, err := m.ProjectsNamed(ctx, project); err == nil && len(named) == 1 {
		project = named[0]
	}
	found, err := moments.New(m, moments.Options{Finder: glancing{m, p.indexPath()}, Clock: p.Clock, Slack: settings.Slack(p.Getenv)}).Recall(ctx, memory.Event{
		Kind: memory.KindTool, Host: memory.HostRaw, HostSessionID: "fix", ProjectPath: project, ToolName: "Bash", ToolError: failure,
	}, 0)
	if memory.CodeOf(err) == memory.CodeNoMemory { // no index yet
		return memory.Recollection{}, nil
	}
	return found, err
}

// glancing is a recall.Finder for a process that asks once: it reads the index without
// opening all of it and finds by words alone.
type glancing struct {
	store *store.Store
	path  string
}

// Related searches by the index's files, which it opens for this call alone.
func (g glancing) Related(ctx context.Context, r memory.RelatedRequest) ([]memory.Related, error) {
	ix, err := index.OpenGlance(ctx, g.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = ix.Close() }() // it has only read
	return search.New(g.store, ix, search.Options{}).Related(ctx, r)
}
