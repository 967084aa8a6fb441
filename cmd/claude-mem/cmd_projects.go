package main

import (
	"claudemem/api"
	"claudemem/text"

	"github.com/spf13/cobra"
)

func (a *app) projectsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "projects",
		Short:   "List the projects that have records",
		GroupID: groupMemory,
		Long: `List the projects that have records, most recently used first.

JSON: as GET /api/projects, {"count", "total", "limit", "offset", "results": [{"project",
"project_path", "sessions", "observations", "last_at_epoch"}]}.`,
		Example: "  claude-mem projects\n  claude-mem projects --json",
		Args:    noArgs,
	}
	asJSON := jsonFlag(cmd)
	page := pageFlags(cmd, 20)
	cmd.RunE = a.withMemory(func(cmd *cobra.Command, m *workerOrFiles, _ []string) error {
		paged, err := page.paged(nil)
		if err != nil {
			return err
		}
		found, err := m.Projects(cmd.Context(), api.ProjectsRequest{Limit: paged.Limit, Offset: paged.Offset})
		if done, err := printed(a, *asJSON, found, err, emptyPage[api.Project](page)); done {
			return err
		}
		p := a.people()
		for _, d := range found.Results {
			p.printf("%s  %s  %s, %s  %s\n", p.when(d.LastAtEpoch),
				p.style(styleBold, oneLine(d.Project, 60)), text.Count(d.Sessions, "session"), text.Count(d.Observations, "observation"),
				p.style(styleDim, oneLine(d.ProjectPath, 0)))
		}
		page.noteMore(a, len(found.Results), found.Total)
		if found.Total == 0 {
			a.note("No projects yet.")
		}
		return nil
	})
	return cmd
}
