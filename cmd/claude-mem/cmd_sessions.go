package main

import (
	"cmp"
	"context"
	"fmt"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/leaf/text"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

func (a *app) sessionsCommand() *cobra.Command {
	cmd := a.listsSessions(&cobra.Command{
		Use:   "sessions",
		Short: "List sessions and show their receipts",
		Long: `List the sessions of the project that you are in, or of another one, the newest
first, each with its state and its counts of records. ` + "`sessions`" + ` alone is ` + "`sessions list`" + `.

` + sessionsForm,
		Example: "  claude-mem sessions\n  claude-mem sessions --project shop -n 5\n  claude-mem sessions show S3",
		Args:    cli.KnownCommand,
	})
	cmd.AddCommand(a.listsSessions(&cobra.Command{
		Use:     "list",
		Short:   "List sessions, the newest first",
		Long:    "List sessions, the newest first.\n\n" + sessionsForm,
		Example: "  claude-mem sessions list\n  claude-mem sessions list --all --json",
	}), a.sessionsShowCommand())
	return cmd
}

// sessionsForm is the JSON of the list.
const sessionsForm = `JSON: as GET /api/sessions, {"count", "total", "limit", "offset", "results": [{"id", "host",
"host_session_id", "project", "project_path", "status", "title", "prompt_count", "last_prompt",
"observations", "undistilled", "summary": {"request", "completion", "learnings", "next_steps"} or null,
"started_at_epoch", "updated_at_epoch", "completed_at_epoch"?}]}.`

// listsSessions completes a command that lists sessions.
func (a *app) listsSessions(cmd *cobra.Command) *cobra.Command {
	page := cli.PageFlags(cmd, 20)
	scope := a.ScopeFlags(cmd)
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, _ []string) error {
		paged, err := page.Paged(scope)
		if err != nil {
			return err
		}
		where := paged.Project
		found, err := m.Sessions(ctx, api.SessionsRequest{Dated: api.Dated{Paged: paged}})
		return cli.Answer(a.App, found, err, cli.EmptyPage[api.SessionDigest](page), func(p *print.Printer) error {
			for i := range found.Results {
				printSession(p, &found.Results[i], where == "")
			}
			switch {
			case page.NoteRest(a.App, len(found.Results), found.Total, "session"):
			case where != "":
				a.Note("No sessions of %s. `--all` lists the sessions of all projects.", print.Line(where, 0))
			default:
				a.Note("No sessions yet.")
			}
			return nil
		})
	})
}

// printSession prints a session in a list: age, id, subject, state and counts.
func printSession(p *print.Printer, s *api.SessionDigest, withProject bool) {
	request := ""
	if s.Summary != nil {
		request = s.Summary.Request
	}
	name := fmt.Sprintf("S%d", s.ID)
	counts := print.Join(", ", string(s.Status), text.Count(s.PromptCount, "prompt"), text.Count(s.Observations, "observation"),
		print.If(s.Undistilled > 0, fmt.Sprintf("%d waiting", s.Undistilled)), print.If(withProject, print.Line(s.Project, 60)))
	p.Printf("%s  %s %s  %s\n", p.When(s.UpdatedAtEpoch), p.Style(print.Bold, name),
		p.Fit(cmp.Or(s.Title, request, s.LastPrompt), 80, 15+len(name)+len(counts)), p.Style(print.Dim, counts))
}
