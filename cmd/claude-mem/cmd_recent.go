package main

import (
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

func (a *app) recentCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "recent",
		Short: "List the newest observations",
		Long: `List the newest observations of the project that you are in, or of another one.
` + "`claude-mem show ID`" + ` shows one in full.

` + glyphLegend + `

JSON: {"project"?, "count", "total", "results": [{"kind", "id", "type", "title", "subtitle",
"project", "project_path", "concepts", "narrative", "facts", "files", "files_read", "files_modified",
"session_db_id", "prompt_number", "discovery_tokens", "origin", "claimed_origin"?, "claimed_pin"?,
"provenance", "branch",
"head_commit", "pinned", "superseded_by"?, "created_at_epoch", "created_at_iso"}]}.`,
		Example: "  claude-mem recent\n  claude-mem recent --project shop -n 5\n  claude-mem recent --all --json",
	}
	asJSON := jsonFlag(cmd)
	limit := limitFlag(cmd, 20)
	scope := a.scopeFlags(cmd)
	cmd.RunE = a.withMemory(func(cmd *cobra.Command, m *workerOrFiles, _ []string) error {
		project, err := scope.project()
		if err != nil {
			return err
		}
		ctx := cmd.Context()
		found, err := readListing(project, *limit, func(p api.Paged) ([]shownObservation, int, error) {
			page, err := m.Observations(ctx, api.ObservationsRequest{Format: api.FormatFull, Paged: p})
			return shownOf(page.Results), page.Total, err
		})
		if done, err := printed(a, *asJSON, found, err, found); done {
			return err
		}
		if found.Count == 0 {
			return a.nothingRemembered(ctx, m.Memory, project)
		}
		p := a.people()
		for i := range found.Results {
			p.entryLine("", api.Line{Entry: found.Results[i].Entry()}, project == "")
		}
		a.noteMore(found.Count, found.Total)
		return nil
	})
	return cmd
}

// shownObservation is an observation in full that says its kind.
type shownObservation struct {
	Kind memory.RecordKind `json:"kind"`
	api.Observation
}

// shownOf returns observations as they are shown.
func shownOf(observations []api.Observation) []shownObservation {
	return mapped(observations, func(o *api.Observation) shownObservation { return shownObservation{memory.RecordObservation, *o} })
}
