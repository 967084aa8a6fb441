package main

import (
	"context"
	"strings"

	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/memory"
	"claudemem/internal/move/team"

	"github.com/spf13/cobra"
)

// teamFlag adds --team to the search: without the filters of the local one.
func (a *app) teamFlag(cmd *cobra.Command) *bool {
	flag := cmd.Flags().Bool("team", false, "search what your team shares, on its server")
	for _, other := range []string{"kind", "type", "concept", "file", "order", "explain", "project", "all", "since", "until", "offset"} {
		cmd.MarkFlagsMutuallyExclusive("team", other)
	}
	return flag
}

// searchTeam prints what the server of the team finds. Nothing here is changed by it, nor by a server that is away.
func (a *app) searchTeam(ctx context.Context, query string, f *searchFlags) error {
	dataDir, err := a.DataDir()
	if err != nil {
		return err
	}
	paged, err := f.page.Paged(nil)
	if err != nil {
		return err
	}
	found, err := team.Search(ctx, dataDir, a.cutQuery(strings.TrimSpace(query)), paged.Limit)
	if memory.CodeOf(err) == memory.CodeUnavailable {
		a.Note("Without --team the search is of this memory, with what was pulled into it.")
	}
	return a.Done(found, err, func(p *print.Printer) {
		for i := range found.Results {
			r := &found.Results[i]
			by := r.Member
			by += print.If(r.Writer != r.Member, ", edited by "+r.Writer)
			p.Printf("%s  %s\n", p.Style(print.Bold, print.Line(r.Title, 100)), p.Style(print.Dim, by+" · "+print.Line(r.Project, 60)+" · "+p.When(r.CreatedAtEpoch)))
			if f.full {
				for line := range strings.Lines(r.Text) {
					p.Printf("  %s\n", print.Line(line, 0))
				}
			}
		}
		if len(found.Results) == 0 {
			a.Note("No match on the team's server.")
		}
	})
}
