package main

import (
	"context"
	"fmt"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/leaf/text"
	"claudemem/internal/leaf/text/cells"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

func (a *app) sessionsCommand() *cobra.Command {
	cmd := a.listsSessions(&cobra.Command{
		Use:   "sessions",
		Short: "List sessions and show their receipts",
		Long: `List the sessions of the project that you are in, or of another one, the newest
first, each with its state and its counts of records. ` + "`sessions`" + ` alone is ` + "`sessions list`" + `.`,
		Example: "  claude-mem sessions\n  claude-mem sessions --project shop -n 5\n  claude-mem sessions show S3",
		Args:    cli.KnownCommand,
	})
	cmd.AddCommand(a.listsSessions(&cobra.Command{
		Use:     "list",
		Short:   "List sessions, the newest first",
		Example: "  claude-mem sessions list\n  claude-mem sessions list --all --json",
	}), a.sessionsShowCommand())
	return cmd
}

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
	name := fmt.Sprintf("S%d", s.ID)
	counts := print.Join(", ", string(s.Status), text.Count(s.PromptCount, "prompt"), text.Count(s.Observations, "observation"),
		print.If(s.Undistilled > 0, fmt.Sprintf("%d waiting", s.Undistilled)), print.If(withProject, print.Line(s.Project, 60)))
	p.Printf("%s  %s %s  %s\n", p.When(s.UpdatedAtEpoch), p.Style(print.Bold, name),
		p.Fit(s.Title, 80, 15+len(name)+cells.Width(counts)), p.Style(print.Dim, counts))
}

// sessionsShowCommand returns the command `claude-mem sessions show`: show the receipt
// of a session: captured, stored, shown, cost.
func (a *app) sessionsShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show the receipt of a session: captured, stored, shown, cost",
		Long: `Show the receipt of a session: the captured events and their outcome, the skipped
events and the reasons, the stored records, the records shown to the session, the records
opened later, and the cost. The ID is 12 or S12, the host's id of the session or the
beginning of it, its ULID, or last: the last session of the project that you are in.
` + "`claude-mem show S12`" + ` shows its prompts, summaries and observations.

Opened later are the observations shown to the session or made from it that were read in
full afterwards, by any session.`,
		Example: "  claude-mem sessions show S3\n  claude-mem sessions show last --json\n  claude-mem sessions show 0b7c1f6e",
	}
	project := a.ProjectFlag(cmd, ".", "the project of last: a directory or name")
	cmd.ValidArgsFunction = cli.FirstOnly(cli.Completion(a.NamedSessionChoices()))
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, given []string) error {
		where, err := a.ProjectNamed(*project)
		if err != nil {
			return err
		}
		r, err := m.Receipt(ctx, api.ReceiptRequest{Name: given[0], Project: where})
		return a.Done(r, err, func(p *print.Printer) { p.Receipt(&r) })
	})
}
