package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/cmd/claude-mem/internal/service"
	"claudemem/internal/run/control"
	"claudemem/internal/serve/browse"
	"claudemem/internal/serve/filter"

	"github.com/spf13/cobra"
)

// browseCommand returns the command `claude-mem browse`: the memory in a full-screen terminal
// program.
func (a *app) browseCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "browse [FILTER...]",
		Short: "Browse the memory in the terminal",
		Long: `Browse the memory in the terminal, full screen: the newest records, a search as you type,
a record in full, the timeline around it; Tab leads to sessions, learnings, the context
block, what sessions were told and the queue. An observation can be pinned, hidden and
edited, with undo. Keys do everything; ? lists them, q quits.

FILTER is words, which are searched for, and tokens: type:bugfix project:tally
concept:gotcha file:src/auth since:2026-03-01 until:2026-03-31 kind:summary session:S3.

Records are read through the worker, or without one from the database. NO_COLOR turns
colours off.

` + print.GlyphLegend,
		Example: "  claude-mem browse\n  claude-mem browse --project .\n  claude-mem browse type:bugfix rate limiter",
	}
	project := a.ProjectFlag(cmd, "", "a project's directory or name (default: all projects)")
	return a.InDataDir(cmd, func(ctx context.Context, dataDir string, words []string) error {
		f := filter.Parse(strings.Join(words, " "))
		if *project != "" {
			named, err := a.ProjectNamed(*project)
			if err != nil {
				return err
			}
			f = f.With(filter.Token{Name: "project", Value: named})
		}
		in, _ := print.File(a.Stdin)
		out, _ := print.File(a.Stdout)
		if a.Getenv("TERM") == "dumb" {
			out = nil // it has no screen
		}
		m := a.Place(dataDir).Live()
		defer m.Close()
		open := func(ctx context.Context, page string) error { return service.OpenPage(ctx, dataDir, page) }
		return browse.Run(ctx, browse.Options{Memory: m.Memory, Away: m.Away, Open: open, Scratch: func() (string, func() error, error) { return control.EditFolder(dataDir) }, Name: homeShort(dataDir, a.Getenv("HOME")), Filter: f.String(),
			Colours: print.WantsColor(a.Stdout, a.Getenv), Clock: a.Now, Location: time.Local, In: in, Out: out, Env: os.Environ()})
	})
}

// homeShort returns a path with "~" for the home directory.
func homeShort(path, home string) string {
	if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok && home != "" {
		return "~" + string(filepath.Separator) + rest
	}
	return path
}
