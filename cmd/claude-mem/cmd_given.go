package main

import (
	"cmp"
	"context"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/leaf/text"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// givenCommand returns the command `claude-mem given`: list what sessions were given, and judge it.
func (a *app) givenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "given [SESSION]",
		Short: "Show what sessions were told, why, and judge it",
		Long: `List what the sessions of this project were given, the newest first: each line with its words,
the reason, and what became of it: opened (the record was read in full), touched (the session edited a
file of it), cured (a command that it names passed afterwards). SESSION is 12 or S12, the host's id of
the session or the beginning of it, or last. Words are kept for 30 days and 5 MB at most.

--down silences a record: sessions are not told of it any more at a start, a prompt, a file or a failure,
and a learning is retired. --up ranks it before its like. --clear takes a verdict back. Searches do not
change. Run by an agent, the verdict is the agent's: it moves the record less and silences nothing.`,
		Example: "  claude-mem given last\n  claude-mem given S12 --json\n  claude-mem given --down '#12'\n  claude-mem given --up L7",
	}
	page, scope, times := cli.PageFlags(cmd, 20), a.ScopeFlags(cmd), cli.AddTimes(cmd)
	verdicts := map[string]*string{
		"up":   cmd.Flags().String("up", "", "rank a record before its like: #12, S3 or L7"),
		"down": cmd.Flags().String("down", "", "silence a record"),
		"none": cmd.Flags().String("clear", "", "take a verdict back"),
	}
	cmd.MarkFlagsMutuallyExclusive("up", "down", "clear")
	cmd.Args = cobra.MaximumNArgs(1)
	cmd.ValidArgsFunction = cli.FirstOnly(cli.Completion(a.NamedSessionChoices()))
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, names []string) error {
		for verdict, record := range verdicts {
			if *record != "" {
				j, err := m.Judge(ctx, api.Judgement{Record: *record, Verdict: verdict, Origin: a.origin()})
				return a.Done(j, err, func(p *print.Printer) {
					p.Printf("%s: %s\n", j.Record, map[string]string{"up": "thumbed up", "down": "thumbed down", "none": "no verdict any more"}[verdict])
				})
			}
		}
		paged, err := page.Paged(scope)
		if err != nil {
			return err
		}
		q := api.GivenRequest{Dated: api.Dated{Paged: paged}}
		if q.Since, q.Until, err = times.Parse(a.Now()); err != nil {
			return err
		}
		if len(names) == 1 {
			r, err := m.Receipt(ctx, api.ReceiptRequest{Name: names[0], Project: paged.Project})
			if err != nil {
				return err
			}
			q.Session, q.Project = r.ID, ""
		}
		found, err := m.Given(ctx, q)
		return cli.Answer(a.App, found, err, cli.EmptyPage[accounts.Given](page), func(p *print.Printer) error {
			for i := range found.Results {
				printGiven(p, &found.Results[i])
			}
			if !page.NoteRest(a.App, len(found.Results), found.Total, "text") {
				a.Note("Nothing was given. `--all` lists what the sessions of all projects were given.")
			}
			return nil
		})
	})
}

// printGiven prints a text that a session was given, with its lines.
func printGiven(p *print.Printer, g *accounts.Given) {
	session := cmp.Or(g.Session.Name(), print.Line(g.HostSessionID, 20))
	p.Printf("%s  %s %s  %s\n", p.When(g.At), p.Style(print.Bold, session), print.Line(g.Where(), 40), p.Style(print.Dim, text.Count(g.Tokens, "token")))
	for i := range g.Lines {
		l := &g.Lines[i]
		p.Printf("  %-6s %s\n", l.Record, print.Line(cmp.Or(l.Words, "(words erased)"), 0))
		if about := l.About(); about != "" {
			p.Printf("         %s\n", p.Style(print.Dim, print.Line(about, 0)))
		}
	}
}
