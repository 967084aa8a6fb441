package main

import (
	"context"
	"time"

	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/leaf/text"
	"claudemem/internal/run/daemon"

	"github.com/spf13/cobra"
)

// reindexCommand returns the command `claude-mem reindex`: rebuild the search index.
func (a *app) reindexCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reindex",
		Short: "Rebuild the search index",
		Long: `Rebuild the search index from the records. An interruption loses nothing: the old index
is used until the new one is complete. A running worker does it; without a worker this
command does it itself. Then the vectors are trained on the memory's own observations at
once, if there are 1000 of them and CLAUDE_MEM_EMBEDDER_TRAINING is on.

It is not needed in daily use: the index is updated with every record, and a damaged
index is rebuilt automatically.`,
		Example: "  claude-mem reindex",
	}
	return a.WithDataDir(cmd, func(ctx context.Context, dataDir string, _ []string) error {
		started := a.Now()
		report, end := a.Progress("Indexing", nil)
		records, err := daemon.Reindex(ctx, dataDir, report)
		end()
		if err != nil {
			return a.EmptyMemory(err, map[string]int{"records": 0, "ms": 0})
		}
		took := a.Now().Sub(started)
		return a.Show(map[string]int64{"records": int64(records), "ms": took.Milliseconds()}, func(p *print.Printer) {
			p.Printf("%s indexed in %v\n", text.Count(records, "record"), took.Round(time.Millisecond))
		})
	})
}
