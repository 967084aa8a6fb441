package main

import (
	"time"

	"claudemem/daemon"

	"github.com/spf13/cobra"
)

func (a *app) reindexCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "reindex",
		Short:   "Build the search index anew; nothing is lost",
		GroupID: groupRun,
		Long: `Build the search index anew from what is remembered. Nothing is lost when it is
interrupted: the old index answers until the new one takes its place. A running
worker does it; without one this command is the worker for that long.

It is not needed in daily use: the index follows the memory, and a damaged one is
rebuilt by itself.

JSON: {"records", "ms"}.`,
		Example: "  claude-mem reindex",
		Args:    noArgs,
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.withDataDir(func(cmd *cobra.Command, dataDir string, _ []string) error {
		started := a.now()
		progress := a.progress("Indexing")
		records, err := daemon.Reindex(cmd.Context(), dataDir, progress.report)
		progress.end()
		if err != nil {
			return a.emptyMemory(err, *asJSON, map[string]int{"records": 0, "ms": 0})
		}
		took := a.now().Sub(started)
		if *asJSON {
			return writeJSON(a.stdout, map[string]int64{"records": int64(records), "ms": took.Milliseconds()})
		}
		a.people().printf("%s indexed in %v\n", count(records, "record"), took.Round(time.Millisecond))
		return nil
	})
	return cmd
}
