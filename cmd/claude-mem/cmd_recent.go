package main

import (
	"context"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

func (a *app) recentCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "recent",
		Short: "List the newest observations",
		Long: `List the newest observations of the project that you are in, or of another one.
` + "`claude-mem show ID`" + ` shows one in full.

` + print.GlyphLegend + `

JSON: {"project"?, "count", "total", "results": [{"kind", "id", "type", "title", "subtitle",
"project", "project_path", "concepts", "narrative", "facts", "files", "files_read", "files_modified",
"session_db_id", "prompt_number", "discovery_tokens", "origin", "claimed_origin"?, "claimed_pin"?,
"provenance", "branch",
"head_commit", "pinned", "superseded_by"?, "created_at_epoch", "created_at_iso"}]}.`,
		Example: "  claude-mem recent\n  claude-mem recent --project shop -n 5\n  claude-mem recent --all --json",
	}
	limit := cli.LimitFlag(cmd, 20)
	scope := a.ScopeFlags(cmd)
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, _ []string) error {
		project, err := scope.Project()
		if err != nil {
			return err
		}
		found, err := cli.ReadListing(project, *limit, func(p api.Paged) ([]print.ShownObservation, int, error) {
			page, err := m.Observations(ctx, api.ObservationsRequest{Format: api.FormatFull, Paged: p})
			return print.ShownOf(page.Results), page.Total, err
		})
		return cli.Answer(a.App, found, err, found, func(p *print.Printer) error {
			if found.Count == 0 {
				return a.NothingRemembered(ctx, m.Memory, project)
			}
			for i := range found.Results {
				p.EntryLine("", api.Line{Entry: found.Results[i].Entry()}, project == "")
			}
			a.NoteMore(found.Count, found.Total)
			return nil
		})
	})
}
