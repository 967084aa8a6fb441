package main

import (
	"claudemem"
	"claudemem/api"

	"github.com/spf13/cobra"
)

func (a *app) recentCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "recent",
		Short:   "List the newest observations",
		GroupID: groupMemory,
		Long: `List the newest observations of the project that you are in, or of another one.
` + "`claude-mem show ID`" + ` shows one in full.

` + glyphLegend + `

JSON: {"project"?, "count", "total", "results": [{"kind", "id", "type", "title", "subtitle",
"project", "project_path", "concepts", "narrative", "facts", "files", "files_read", "files_modified",
"session_db_id", "prompt_number", "discovery_tokens", "origin", "branch", "head_commit",
"pinned", "created_at_epoch", "created_at_iso"}]}.`,
		Example: "  claude-mem recent\n  claude-mem recent --project shop -n 5\n  claude-mem recent --all --json",
		Args:    noArgs,
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
		found, total, err := readPages(*limit, func(p api.Paged) ([]api.Observation, int, error) {
			p.Project = project
			page, err := m.Observations(ctx, api.ObservationsRequest{Format: api.FormatFull, Paged: p})
			return page.Results, page.Total, err
		})
		out := recentJSON{Project: project, Count: len(found), Total: total, Results: []shownObservation{}}
		for i := range found {
			out.Results = append(out.Results, shownOf(found[i]))
		}
		if done, err := printed(a, *asJSON, out, err, out); done {
			return err
		}
		if len(found) == 0 {
			return a.nothingRemembered(ctx, m, project)
		}
		p := a.people()
		for i := range found {
			p.entryLine("", found[i].Entry(), project == "")
		}
		a.noteMore(len(found), total)
		return nil
	})
	return cmd
}

type recentJSON struct {
	Project string             `json:"project,omitempty"`
	Count   int                `json:"count"`
	Total   int                `json:"total"`
	Results []shownObservation `json:"results"`
}

// shownObservation is an observation in full that says its kind.
type shownObservation struct {
	Kind claudemem.RecordKind `json:"kind"`
	api.Observation
}

func shownOf(o api.Observation) shownObservation {
	return shownObservation{claudemem.RecordObservation, o}
}
