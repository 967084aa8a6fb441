package main

import (
	"cmp"
	"fmt"

	"claudemem/internal/leaf/text"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

func (a *app) sessionsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List sessions and show their receipts",
		Long: `List the sessions of the project that you are in, or of another one, the newest
first, each with its state and its counts of records. ` + "`sessions`" + ` alone is ` + "`sessions list`" + `.

` + sessionsForm,
		Example: "  claude-mem sessions\n  claude-mem sessions --project shop -n 5\n  claude-mem sessions show S3",
		Args:    knownCommand,
	}
	cmd.RunE = a.listSessions(cmd)
	list := &cobra.Command{
		Use:     "list",
		Short:   "List sessions, the newest first",
		Long:    "List sessions, the newest first.\n\n" + sessionsForm,
		Example: "  claude-mem sessions list\n  claude-mem sessions list --all --json",
	}
	list.RunE = a.listSessions(list)
	cmd.AddCommand(list, a.sessionsShowCommand())
	return cmd
}

// sessionsForm is the JSON of the list.
const sessionsForm = `JSON: as GET /api/sessions, {"count", "total", "limit", "offset", "results": [{"id", "host",
"host_session_id", "project", "project_path", "status", "title", "prompt_count", "last_prompt",
"observations", "undistilled", "summary": {"request", "completion", "learnings", "next_steps"} or null,
"started_at_epoch", "updated_at_epoch", "completed_at_epoch"?}]}.`

// listSessions adds the flags of the list to a command and returns what it runs.
func (a *app) listSessions(cmd *cobra.Command) func(*cobra.Command, []string) error {
	asJSON := jsonFlag(cmd)
	page := pageFlags(cmd, 20)
	scope := a.scopeFlags(cmd)
	return a.withMemory(func(cmd *cobra.Command, m *workerOrFiles, _ []string) error {
		paged, err := page.paged(scope)
		if err != nil {
			return err
		}
		where := paged.Project
		found, err := m.Sessions(cmd.Context(), api.SessionsRequest{Dated: api.Dated{Paged: paged}})
		if done, err := printed(a, *asJSON, found, err, emptyPage[api.SessionDigest](page)); done {
			return err
		}
		p := a.people()
		for i := range found.Results {
			p.sessionLine(&found.Results[i], where == "")
		}
		page.noteMore(a, len(found.Results), found.Total)
		switch {
		case len(found.Results) > 0:
		case found.Total > 0:
			a.note("There are only %s; use a smaller --offset.", text.Count(found.Total, "session"))
		case where != "":
			a.note("No sessions of %s. `--all` lists the sessions of all projects.", oneLine(where, 0))
		default:
			a.note("No sessions yet.")
		}
		return nil
	})
}

// sessionLine prints a session in a list: age, id, subject, state and counts.
func (p *printer) sessionLine(s *api.SessionDigest, withProject bool) {
	request := ""
	if s.Summary != nil {
		request = s.Summary.Request
	}
	name := fmt.Sprintf("S%d", s.ID)
	counts := joined(", ", string(s.Status), text.Count(s.PromptCount, "prompt"), text.Count(s.Observations, "observation"),
		textIf(s.Undistilled > 0, fmt.Sprintf("%d waiting", s.Undistilled)), textIf(withProject, oneLine(s.Project, 60)))
	p.printf("%s  %s %s  %s\n", p.when(s.UpdatedAtEpoch), p.style(styleBold, name),
		p.fit(cmp.Or(s.Title, request, s.LastPrompt), 80, 15+len(name)+len(counts)), p.style(styleDim, counts))
}
