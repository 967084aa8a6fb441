package main

import (
	"context"
	"fmt"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// experimentCommand returns the command `claude-mem experiment`: begin and end an experiment.
func (a *app) experimentCommand() *cobra.Command {
	return cli.Parent(&cobra.Command{
		Use:   "experiment",
		Short: "Find out whether the memory helps, by sessions without it",
		Long: `While an experiment runs, a random share of the sessions is given no block and no lines.
What these sessions are like, compared with the others, is what the memory changes:
` + "`claude-mem impact`" + `. Which session is given what is decided by a secret number and the
session's name alone. Your line at a session's start is the same in all of them.
Nothing leaves the machine; an experiment is off until you begin it.`,
		Example: "  claude-mem experiment on\n  claude-mem experiment off",
	}, a.experimentOnCommand(), a.experimentOffCommand())
}

func (a *app) experimentOnCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "on",
		Short: "Begin an experiment",
		Long: `Begin an experiment, and first show which change of the tool calls of a session so many
sessions can show, by how much your own sessions differ. --placebo gives a share of the
sessions a text of the same length that says nothing of the project.
It needs AGENT_FILES to be off: blocks in files reach every session.

JSON: {"id", "share", "placebo", "started_at_epoch", "ended_at_epoch"?}.`,
		Example: "  claude-mem experiment on\n  claude-mem experiment on --share 30 --placebo 20",
	}
	share := cmd.Flags().Int("share", 50, "percent of the sessions that are given nothing")
	placebo := cmd.Flags().Int("placebo", 0, "percent of the sessions that are given a placebo")
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, _ []string) error {
		resolved, _, err := a.LoadSettings()
		if err != nil {
			return err
		}
		if used := resolved.Items(settings.KeyAgentFiles); len(used) > 0 && used[0] != "off" {
			return memory.Errorf(memory.CodeConflict, "AGENT_FILES is on: its blocks reach every session").WithHint("claude-mem config set AGENT_FILES off")
		}
		planned, err := m.Impact(ctx, api.ImpactRequest{Share: *share, Placebo: *placebo})
		if err != nil {
			return err
		}
		begun, err := m.SetTrial(ctx, api.TrialRequest{Share: *share, Placebo: *placebo})
		return a.Done(begun, err, func(p *print.Printer) {
			printPlan(p, &planned.Plan)
			p.Printf("The experiment is on: %d %% of the sessions that start from now on are given nothing%s.\n", begun.Share,
				print.If(begun.Placebo > 0, fmt.Sprintf(", %d %% a placebo", begun.Placebo)))
			a.Note("`claude-mem impact` shows what came of it, `claude-mem experiment off` ends it.")
		})
	})
}

func (a *app) experimentOffCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "off",
		Short: "End the experiment",
		Long: `End the experiment: sessions that start from now on are given the memory. What it has shown
stays in ` + "`claude-mem impact`" + `.

JSON: {"id", "share", "placebo", "started_at_epoch", "ended_at_epoch"?}; "id" is 0 if there was none.`,
		Example: "  claude-mem experiment off",
	}
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, _ []string) error {
		ended, err := m.SetTrial(ctx, api.TrialRequest{End: true})
		return a.Done(ended, err, func(p *print.Printer) {
			p.Printf("%s\n", print.Or(ended.ID != 0, "The experiment is off.", "There was no experiment."))
		})
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
that go on are not counted yet. docs/impact.md explains the outcomes and the method.

JSON: {"trial": {"id", "share", "placebo", "started_at_epoch", "ended_at_epoch"?}, "sessions": {"memory", "nothing", "placebo"},
"running", "exposed", "outcomes": [{"name", "primary", "against", "sessions", "percent", "change", "low",
"high", "known"}], "plan": {"sessions", "detectable": [{"sessions", "percent"}], "needed"}}; "low" and "high"
are null below 30 sessions.`,
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
	n := found.Sessions
	arms := fmt.Sprintf("%d with the memory, %d with nothing%s", n.Memory, n.Nothing, print.If(found.Trial.Placebo > 0, fmt.Sprintf(", %d with a placebo", n.Placebo)))
	p.Printf("Experiment %d, %s: %s%s%s\n", found.Trial.ID, print.Or(found.Trial.Runs(), "running", "ended"), arms,
		print.If(found.Running > 0, fmt.Sprintf("; %s not ended yet", text.Count(found.Running, "session"))),
		print.If(found.Exposed > 0, fmt.Sprintf("; %d without the memory looked records up", found.Exposed)))
	for _, o := range found.Outcomes {
		unit := print.If(o.Percent, " %")
		interval := fmt.Sprintf("too few sessions: %d of 30", o.Sessions)
		if o.Low != nil {
			interval = fmt.Sprintf("%+.4g%s, between %+.4g and %+.4g%s", o.Change, unit, *o.Low, *o.High, unit)
			if !o.Known {
				interval += ": not known yet"
			}
		}
		p.Printf("  %-24s %s%s%s\n", o.Name, interval, print.If(o.Against == memory.ArmPlacebo, " (against the placebo)"), print.If(!o.Primary, p.Style(print.Dim, " (exploratory)")))
	}
	if found.Trial.Runs() && found.Plan.Needed > 0 && found.Plan.Sessions >= fewSessions {
		p.Printf("A change of the tool calls of 20 %% shows in about %s sessions.\n", text.Grouped(found.Plan.Needed))
	}
}
