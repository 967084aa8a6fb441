package main

import (
	"time"

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
index is rebuilt automatically.

JSON: {"records", "ms"}.`,
		Example: "  claude-mem reindex",
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.withDataDir(func(cmd *cobra.Command, dataDir string, _ []string) error {
		started := a.now()
		report, end := a.progress("Indexing")
		records, err := daemon.Reindex(cmd.Context(), dataDir, report)
		end()
		if err != nil {
			return a.emptyMemory(err, *asJSON, map[string]int{"records": 0, "ms": 0})
		}
		took := a.now().Sub(started)
		return a.show(*asJSON, map[string]int64{"records": int64(records), "ms": took.Milliseconds()}, func(p *printer) {
			p.printf("%s indexed in %v\n", text.Count(records, "record"), took.Round(time.Millisecond))
		})
	})
	return cmd
}
