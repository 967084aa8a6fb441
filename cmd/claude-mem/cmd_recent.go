package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"claudemem"
	"claudemem/repo"

	"github.com/spf13/cobra"
)

func (a *app) recentCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "recent",
		Short:   "List what was remembered last",
		GroupID: groupMemory,
		Long: `List the newest observations of the project that you are in, or of another one.
` + "`claude-mem show ID`" + ` shows one in full.

JSON: {"project"?, "count", "total", "results": [{"kind", "id", "type", "title", "subtitle",
"project", "project_path", "concepts", "narrative", "facts", "files_read", "files_modified",
"session_db_id", "prompt_number", "discovery_tokens", "origin", "branch", "head_commit",
"pinned", "created_at_epoch", "created_at_iso"}]}.`,
		Example: "  claude-mem recent\n  claude-mem recent --project shop -n 5\n  claude-mem recent --all --json",
		Args:    noArgs,
	}
	asJSON := jsonFlag(cmd)
	limit := limitFlag(cmd, 20)
	scope := a.scopeFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := checkLimit(*limit); err != nil {
			return err
		}
		query := claudemem.Query{Project: scope.project(), Limit: *limit}
		ctx := cmd.Context()
		m, err := a.openMemory(ctx)
		if err != nil {
			return a.emptyMemory(err, *asJSON, recentJSON{Project: query.Project, Results: []recordJSON{}})
		}
		defer m.close()
		observations, err := m.Observations(ctx, query)
		if err != nil {
			return fmt.Errorf("list observations: %w", err)
		}
		total, err := m.CountObservations(ctx, claudemem.Query{Project: query.Project})
		if err != nil {
			return fmt.Errorf("count observations: %w", err)
		}
		out := recentJSON{Project: query.Project, Count: len(observations), Total: total, Results: []recordJSON{}}
		for i := range observations {
			out.Results = append(out.Results, recordOf(&observations[i]))
		}
		if *asJSON {
			return writeJSON(a.stdout, out)
		}
		if len(observations) == 0 {
			return a.nothingRemembered(ctx, m, query.Project)
		}
		p := a.people()
		for i := range observations {
			p.observationLine(&observations[i], query.Project == "")
		}
		if total > len(observations) {
			a.note("%d more; -n %d shows them all", total-len(observations), total)
		}
		return nil
	}
	return cmd
}

type recentJSON struct {
	Project string       `json:"project,omitempty"`
	Count   int          `json:"count"`
	Total   int          `json:"total"`
	Results []recordJSON `json:"results"`
}

// observationLine is an observation in a list: when, glyph, title, id.
func (p *printer) observationLine(o *claudemem.Observation, withProject bool) {
	project := ""
	if withProject {
		project = labelOf(o.ProjectPath)
	}
	p.row(o.CreatedAt, o.Type.Glyph(), o.Title, fmt.Sprintf("#%d", o.ID), project)
}

// projectNamed is the project that a person means: a directory in it, or its name.
func projectNamed(name string) string {
	if !isPath(name) {
		return name
	}
	dir, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	return repo.Identify("", dir).Project
}

// isPath tells a directory from a project's name.
func isPath(name string) bool {
	return name == "." || name == ".." || strings.ContainsAny(name, `/\`)
}
