package main

import (
	"context"
	"fmt"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// experimentCommand returns the command `claude-mem experiment`: begin and end an experiment.
func (a *app) experimentCommand() *cobra.Command {
	cmd := cli.Parent(&cobra.Command{
		Use:   "experiment",
		Short: "Find out whether the memory helps, by sessions without it",
		Long: `Show whether an experiment runs. While one does, a random share of the sessions is given no
block and no lines. What these sessions are like, compared with the others, is what the
memory changes: ` + "`claude-mem impact`" + `. Which session is given what is decided by a secret number
and the session's name alone. Your line at a session's start is the same in all of them.
Nothing leaves the machine; an experiment is off until you begin it.`,
		Example: "  claude-mem experiment on\n  claude-mem experiment off",
	}, a.experimentOnCommand(), a.experimentOffCommand(), a.experimentKeepCommand())
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, _ []string) error {
		found, err := m.Impact(ctx, api.ImpactRequest{Share: 50})
		return a.Done(found.Trial, err, func(p *print.Printer) {
			p.Printf("%s\n", print.Or(found.Trial.Runs(), fmt.Sprintf("Experiment %d runs, since %s: %s.", found.Trial.ID, p.Ago(found.Trial.StartedAt), found.Trial.Said()), "No experiment runs."))
			a.Note(print.Or(found.Trial.Runs(), "`claude-mem impact` shows what came of it, `claude-mem experiment off` ends it.", "`claude-mem experiment on` begins one."))
		})
	})
}

func (a *app) experimentOnCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "on",
		Short: "Begin an experiment",
		Long: `Begin an experiment, and first show which change of the tool calls of a session so many
sessions can show, by how much your own sessions differ. --placebo gives a share of the
sessions a text of the same length that says nothing of the project. --moments holds lines
at prompts, files and failures back one by one; with --share 0, in all sessions.
It needs AGENT_FILES to be off: blocks in files reach every session.`,
		Example: "  claude-mem experiment on\n  claude-mem experiment on --share 30 --placebo 20\n  claude-mem experiment on --share 0 --moments 30",
	}
	share := cmd.Flags().Int("share", 50, "percent of the sessions that are given nothing")
	placebo := cmd.Flags().Int("placebo", 0, "percent of the sessions that are given a placebo")
	moments := cmd.Flags().Int("moments", 0, "percent of the lines at prompts, files and failures that are held back")
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, _ []string) error {
		begun, err := m.SetTrial(ctx, api.TrialRequest{Share: *share, Placebo: *placebo, Moments: *moments})
		if err != nil {
			return err
		}
		planned, err := m.Impact(ctx, api.ImpactRequest{Share: 50})
		return a.Done(begun, err, func(p *print.Printer) {
			if begun.Share > 0 {
				printPlan(p, &planned.Plan)
			}
			p.Printf("The experiment is on: from now on %s.\n", begun.Said())
			a.Note("`claude-mem impact` shows what came of it, `claude-mem experiment off` ends it.")
		})
	})
}

func (a *app) experimentOffCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "off",
		Short: "End the experiment",
		Long: `End the experiment: sessions that start from now on are given the memory. What it has shown
stays in ` + "`claude-mem impact`" + `.`,
		Example: "  claude-mem experiment off",
	}
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, _ []string) error {
		ended, err := m.SetTrial(ctx, api.TrialRequest{End: true})
		return a.Done(ended, err, func(p *print.Printer) {
			p.Printf("%s\n", print.Or(ended.ID != 0, "The experiment is off.", "There was no experiment."))
		})
	})
}

func (a *app) experimentKeepCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keep PLACE",
		Args:  cli.Args(cobra.ExactArgs(1)),
		Short: "Give lines at a place again that was switched off",
		Long: `Give lines at a place (prompt, file or failure) again that was switched off since they made the
turn longer, and do not switch it off any more until another experiment begins.`,
		Example: "  claude-mem experiment keep file",
	}
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, given []string) error {
		kept, err := m.SetTrial(ctx, api.TrialRequest{Keep: memory.Moment(given[0])})
		return a.Done(kept, err, func(p *print.Printer) { p.Printf("Lines at a %s are given.\n", given[0]) })
	})
}

// impactCommand returns the command `claude-mem impact`: what the latest experiment shows.
func (a *app) impactCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "impact",
		Short: "Show what the memory changes, by the latest experiment",
		Long: `Show how sessions with the memory differ from those that an experiment gave nothing.
An interval holds at all looks together: you may look as often as you like. The tool calls
of a session are the outcome that was chosen before; the others are exploratory. Sessions
that go on are not counted yet. docs/impact.md explains the outcomes and the method.`,
		Example: "  claude-mem impact",
	}
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, _ []string) error {
		found, err := m.Impact(ctx, api.ImpactRequest{Share: 50})
		return a.Done(found, err, func(p *print.Printer) {
			if found.Trial.ID == 0 {
				p.Printf("There was no experiment yet, so nobody knows what the memory changes here.\n")
				printPlan(p, &found.Plan)
				a.Note("`claude-mem experiment on` begins one.")
				return
			}
			printImpact(p, &found)
		})
	})
}

// fewSessions tell too little of how much a person's sessions differ.
const fewSessions = 20

// printPlan prints what an experiment can show.
func printPlan(p *print.Printer, plan *api.ImpactPlan) {
	if plan.Sessions < fewSessions {
		p.Printf("What an experiment can show is not known yet: that takes %d sessions with a prompt in the last year, and there are %d.\n", fewSessions, plan.Sessions)
		return
	}
	for i, d := range plan.Detectable {
		p.Printf("%s in %s %d %%", print.Or(i == 0, "The smallest change of the tool calls that shows is", ","), text.Count(d.Sessions, "session"), d.Percent)
	}
	p.Printf(".\n")
	if plan.Needed > 0 {
		p.Printf("A change of 20 %% shows in about %s sessions.\n", text.Grouped(plan.Needed))
	}
}

// printImpact prints what an experiment shows.
func printImpact(p *print.Printer, found *api.Impact) {
	arms := fmt.Sprintf("%d with the memory, %d with nothing%s", found.Sessions["memory"], found.Sessions["nothing"], print.If(found.Trial.Placebo > 0, fmt.Sprintf(", %d with a placebo", found.Sessions["placebo"])))
	p.Printf("Experiment %d, %s: %s%s%s\n", found.Trial.ID, print.Or(found.Trial.Runs(), "running", "ended"), arms,
		print.If(found.Running > 0, fmt.Sprintf("; %s not ended yet", text.Count(found.Running, "session"))),
		print.If(found.Exposed > 0, fmt.Sprintf("; %d without the memory looked records up", found.Exposed)))
	p.Printf("What the memory changes, with + for more:\n")
	few := 0 // of the exploratory outcomes
	for _, o := range found.Outcomes {
		if !o.Primary && o.Low == nil {
			few++
			continue
		}
		against := map[memory.Arm]string{memory.ArmPlacebo: " (against the placebo)", memory.ArmHeld: " (given, against held back)"}[o.Against]
		p.Printf("  %-26s %s%s%s\n", o.Name, o.Said(), against, print.If(!o.Primary, p.Style(print.Dim, " (exploratory)")))
	}
	if few > 0 {
		p.Printf("  %d more, exploratory: too few for an interval\n", few)
	}
	for _, place := range found.Off {
		p.Printf("Lines at a %s are switched off, as they made the turn longer; one of ten is given.\n", place)
	}
	if found.Trial.Runs() && found.Trial.Share > 0 && found.Plan.Needed > 0 && found.Plan.Sessions >= fewSessions {
		p.Printf("A change of the tool calls of 20 %% shows in about %s sessions.\n", text.Grouped(found.Plan.Needed))
	}
}
