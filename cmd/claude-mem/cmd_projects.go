package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"claudemem"

	"github.com/spf13/cobra"
)

func (a *app) projectsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "projects",
		Short:   "List projects",
		GroupID: groupMemory,
		Long: `List the projects of which something is remembered, the one last worked on first.

JSON: as GET /api/projects, {"count", "total", "limit", "offset", "results": [{"project",
"project_path", "sessions", "observations", "last_at_epoch"}]}.`,
		Example: "  claude-mem projects\n  claude-mem projects --json",
		Args:    noArgs,
	}
	asJSON := jsonFlag(cmd)
	limit := cmd.Flags().IntP("limit", "n", 20, "how many, at most 100")
	offset := cmd.Flags().Int("offset", 0, "how many to leave out first")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *limit < 1 || *offset < 0 {
			return claudemem.Errorf(claudemem.CodeInvalid, "--limit %d --offset %d: want at least 1 and 0", *limit, *offset)
		}
		s, err := a.answers()
		if err != nil {
			return err
		}
		defer s.close()
		params := url.Values{"limit": {strconv.Itoa(*limit)}, "offset": {strconv.Itoa(*offset)}}
		var raw json.RawMessage
		if err := s.get(cmd.Context(), "/api/projects", params, &raw); err != nil {
			return a.emptyMemory(err, *asJSON, map[string]any{"count": 0, "total": 0, "limit": *limit, "offset": *offset, "results": []any{}})
		}
		if *asJSON {
			return writeJSON(a.stdout, raw)
		}
		var found struct {
			Total   int `json:"total"`
			Results []struct {
				Project      string           `json:"project"`
				ProjectPath  string           `json:"project_path"`
				Sessions     int              `json:"sessions"`
				Observations int              `json:"observations"`
				LastAtEpoch  claudemem.Millis `json:"last_at_epoch"`
			} `json:"results"`
		}
		if err := json.Unmarshal(raw, &found); err != nil {
			return fmt.Errorf("decode projects: %w", err)
		}
		p := a.people()
		for _, d := range found.Results {
			p.printf("%s  %s  %s, %s  %s\n", p.style(styleDim, fmt.Sprintf("%10s", p.ago(d.LastAtEpoch))),
				p.style(styleBold, oneLine(d.Project, 60)), count(d.Sessions, "session"), count(d.Observations, "observation"),
				p.style(styleDim, oneLine(d.ProjectPath, 0)))
		}
		switch left := found.Total - *offset - len(found.Results); {
		case left > 0:
			a.note("%d more: --offset %d", left, *offset+len(found.Results))
		case found.Total == 0:
			a.note("There is no project yet.")
		}
		return nil
	}
	return cmd
}
