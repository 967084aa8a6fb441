package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// agentVariables are set by Claude Code, Gemini CLI, OpenCode and Cursor in the commands that
// they run.
var agentVariables = []string{"CLAUDECODE", "GEMINI_CLI", "OPENCODE", "CURSOR_AGENT"}

// origin returns who runs the command: an agent, or a person.
func (a *app) origin() memory.Origin {
	if slices.ContainsFunc(agentVariables, func(name string) bool { return a.Getenv(name) != "" }) {
		return memory.OriginAgent
	}
	return memory.OriginUser
}

// labelOnly begins the path of a project of which only the name is known.
const labelOnly = "label:"

// rememberCommand returns the command `claude-mem remember`: store an observation that a
// person writes.
func (a *app) rememberCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "remember TEXT...",
		Short: "Write an observation down",
		Long: `Store an observation in your own words, of the project that you are in or of another one.
Its title is the first sentence unless --title gives one. The same text again is stored
once. Secrets are masked, and text within <private> tags is not kept.

A statement that holds for the whole project, to be shown at every session start, is a
learning: ` + "`claude-mem learn add`" + `.

Without a running worker, this command does the worker's part itself.`,
		Example: "  claude-mem remember 'The staging database is restored every Monday at 6.'\n" +
			"  claude-mem remember --type decision --title 'SQLite, not PostgreSQL' 'One file is enough for one user.'\n" +
			"  claude-mem remember --project ../shop 'Amounts come in cents from the gateway.'",
	}
	title := cmd.Flags().String("title", "", "its title (default: the first sentence)")
	kind := a.typeFlag(cmd, "its type (default: discovery)")
	project := a.ProjectFlag(cmd, "", cli.OfCurrent)
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, given []string) error {
		where, err := a.ProjectOr(*project)
		if err != nil {
			return err
		}
		m.Create = true
		start := memory.MillisOf(a.Now())
		o, err := m.AddObservation(ctx, api.NewObservation{ProjectPath: where, Title: *title, Narrative: strings.Join(given, " "), Type: *kind, Origin: a.origin()})
		if err == nil && strings.HasPrefix(o.ProjectPath, labelOnly) {
			a.Note("The directory of %q is not known; the first project of that name takes it over.", print.Line(o.Project, 60))
		}
		if o.CreatedAtEpoch < start { // the undo would hide what was there before
			return a.showObservation(o, err, "known already:", "")
		}
		return a.showObservation(o, err, "remembered:", fmt.Sprintf("claude-mem hide %d", o.ID))
	})
}

// editCommand returns the command `claude-mem edit`: correct an observation.
func (a *app) editCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "edit ID",
		Short: "Correct the title, text or type of an observation",
		Long: `Change the title, the text (narrative) or the type of an observation, whoever wrote it;
what is not named stays. The command that undoes the change is printed below it. Secrets
are masked, and text within <private> tags is not kept.`,
		Example: "  claude-mem edit 12 --title 'The cache never expired' --type bugfix\n  claude-mem edit '#12' --narrative 'The TTL was in milliseconds, the cache takes seconds.'",
	}
	title := cmd.Flags().String("title", "", "its title")
	narrative := cmd.Flags().String("narrative", "", "its text")
	kind := a.typeFlag(cmd, "its type")
	cmd.ValidArgsFunction = cli.FirstOnly(cli.Completion(a.ObservationChoices()))
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, given []string) error {
		ids, err := cli.ParseObservations(given)
		if err != nil {
			return err
		}
		if len(ids) != 1 {
			return memory.Errorf(memory.CodeInvalid, "%q is not one observation", print.Line(given[0], 40))
		}
		changed := memory.ObservationType(*kind)
		edit := memory.ObservationEdit{Title: cli.IfChanged(cmd, "title", title), Narrative: cli.IfChanged(cmd, "narrative", narrative), Type: cli.IfChanged(cmd, "type", &changed)}
		if edit == (memory.ObservationEdit{}) {
			return memory.Errorf(memory.CodeInvalid, "nothing to change").WithHint("give --title, --narrative or --type; `claude-mem pin` pins it")
		}
		before, err := m.Observation(ctx, api.ObservationRequest{Name: fmt.Sprint(ids[0])})
		if err != nil {
			return err
		}
		o, err := m.EditObservation(ctx, api.ObservationEdit{ID: ids[0], ObservationEdit: edit})
		return a.showObservation(o, err, "changed:", undoEdit(before.Whole(), edit))
	})
}

// typeFlag adds --type, with its completion.
func (a *app) typeFlag(cmd *cobra.Command, usage string) *string {
	kind := cmd.Flags().StringP("type", "t", "", usage)
	cli.CompleteFlag(cmd, "type", a.TypeChoices())
	return kind
}

// showObservation prints an observation after the words done, then the command undo, which undoes it
// ("" for none); or returns err.
func (a *app) showObservation(o api.Observation, err error, done, undo string) error {
	return a.Done(print.Shown(&o), err, func(p *print.Printer) {
		p.Printf("%s #%d %s %s %s\n", done, o.ID, o.Type.Glyph(), p.Style(print.Bold, print.Line(o.Title, 0)),
			p.Style(print.Dim, "("+print.Join(", ", string(o.Type), print.Line(o.Project, 60))+")"))
		if undo != "" {
			a.Note("To undo it: %s", undo)
		}
	})
}

// undoEdit returns the command that gives the changed fields their former values.
func undoEdit(before api.Observation, edit memory.ObservationEdit) string {
	words := fmt.Sprintf("claude-mem edit %d", before.ID)
	words += print.If(edit.Title != nil, " --title "+cli.ShellWord(before.Title))
	words += print.If(edit.Narrative != nil, " --narrative "+cli.ShellWord(before.Narrative))
	words += print.If(edit.Type != nil, " --type "+cli.ShellWord(string(before.Type)))
	return words
}

// hideCommand returns the command `claude-mem hide`: take observations out of sight.
func (a *app) hideCommand() *cobra.Command {
	return a.changesEach(&cobra.Command{
		Use:   "hide ID...",
		Short: "Take observations out of lists, searches and sessions",
		Long: `Take observations out of every list, search and session. They are kept, and
` + "`claude-mem unhide`" + ` brings them back. ` + "`claude-mem forget`" + ` erases them for good.`,
		Example: "  claude-mem hide 12 13",

		Annotations:       map[string]string{undoneBy: "unhide"},
		ValidArgsFunction: cli.Completion(a.ObservationChoices()),
	}, "hidden", "unhide", func(ctx context.Context, m api.Memory, id memory.ObservationID) error {
		_, err := m.HideObservation(ctx, api.HideRequest{ID: id})
		return err
	})
}

// unhideCommand returns the command `claude-mem unhide`: bring hidden observations back.
func (a *app) unhideCommand() *cobra.Command {
	return a.changesEach(&cobra.Command{
		Use:   "unhide ID...",
		Short: "Bring hidden observations back",
		Long: `Bring back observations that were hidden by ` + "`claude-mem hide`" + `, an agent or the viewer.
What the viewer deleted can be brought back for 10 minutes.`,
		Example: "  claude-mem unhide 12",
	}, "shown", "hide", func(ctx context.Context, m api.Memory, id memory.ObservationID) error {
		_, err := m.RestoreObservation(ctx, api.RestoreRequest{ID: id})
		return err
	})
}

// pinCommand returns the command `claude-mem pin`: put observations first in what sessions
// are given.
func (a *app) pinCommand() *cobra.Command {
	return a.pinning(&cobra.Command{
		Use:   "pin ID...",
		Short: "Put observations first at every session start",
		Long: `Pin observations: they come first in lists and in what a session of their project is
given at its start, and are kept whatever RETENTION_DAYS says. ` + "`claude-mem unpin`" + ` undoes it.`,
		Example: "  claude-mem pin 12",

		Annotations: map[string]string{undoneBy: "unpin"},
	}, true, "pinned", "unpin")
}

// unpinCommand returns the command `claude-mem unpin`.
func (a *app) unpinCommand() *cobra.Command {
	return a.pinning(&cobra.Command{
		Use:     "unpin ID...",
		Short:   "Unpin observations",
		Long:    `Undo ` + "`claude-mem pin`" + `: the observations stay and take their place by date.`,
		Example: "  claude-mem unpin 12",
	}, false, "unpinned", "pin")
}

// pinning completes a command that pins or unpins observations. done is its word for that, undo the
// name of the command that undoes it.
func (a *app) pinning(cmd *cobra.Command, pinned bool, done, undo string) *cobra.Command {
	cmd.ValidArgsFunction = cli.Completion(a.ObservationChoices())
	return a.changesEach(cmd, done, undo, func(ctx context.Context, m api.Memory, id memory.ObservationID) error {
		_, err := m.EditObservation(ctx, api.ObservationEdit{ID: id, ObservationEdit: memory.ObservationEdit{Pinned: &pinned}})
		return err
	})
}

// mergeCommand returns the command `claude-mem merge`: make one of observations that say the same.
func (a *app) mergeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "merge ID...",
		Short: "Make one of observations that say the same",
		Long: `Merge observations of a project that say the same. One of them supersedes the
others: --into, else the one that is believed most (not from outside, pinned, written
by you, seen most often, newest). It was seen as often as all of them, and is pinned
if one was. The others stay, marked as superseded.`,
		Example:           "  claude-mem merge 12 34\n  claude-mem merge 12 34 --into 34",
		ValidArgsFunction: cli.Completion(a.ObservationChoices()),
	}
	into := cmd.Flags().String("into", "", "the observation that stays")
	undo := cmd.Flags().Bool("undo", false, "take a merge into --into back")
	pinned := cmd.Flags().StringSlice("pinned", nil, "with --undo: those that were pinned")
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, given []string) error {
		ids, err := cli.ParseObservations(slices.Concat(given, *pinned, text.Add(nil, *into)))
		if err != nil {
			return err
		}
		merge := memory.ObservationMerge{IDs: ids[:len(given)], Pinned: ids[len(given) : len(given)+len(*pinned)], Undo: *undo}
		if *into != "" {
			merge.Into = ids[len(ids)-1]
		}
		done, err := m.MergeObservations(ctx, merge)
		return a.Done(done, err, func(p *print.Printer) {
			numbers := func(ids []memory.ObservationID, separator string) string {
				return strings.Join(collect.Map(ids, func(id memory.ObservationID) string { return strconv.Itoa(int(id)) }), separator)
			}
			if done.Undo {
				p.Printf("taken back: %s\n", numbers(done.IDs, " "))
				return
			}
			p.Printf("merged into #%d: %s\n", done.Into, numbers(done.IDs, " "))
			a.Note("To undo it: claude-mem merge --undo --into %d%s %s", done.Into, print.If(len(done.Pinned) > 0, " --pinned "+numbers(done.Pinned, ",")), numbers(done.IDs, " "))
		})
	})
}

// changesEach adds to cmd what calls do with each observation of the arguments and prints their
// numbers after done, then the command that undoes it. It ends at the first error.
func (a *app) changesEach(cmd *cobra.Command, done, undo string, do func(context.Context, api.Memory, memory.ObservationID) error) *cobra.Command {
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, given []string) error {
		ids, err := cli.ParseObservations(given)
		if err != nil {
			return err
		}
		words := "claude-mem " + undo
		for _, id := range ids {
			if err := do(ctx, m.Memory, id); err != nil {
				return err
			}
			words += fmt.Sprintf(" %d", id)
		}
		return a.Show(map[string][]memory.ObservationID{done: print.NotNil(ids)}, func(p *print.Printer) {
			for _, id := range ids {
				p.Printf("%s: #%d\n", done, id)
			}
			a.Note("To undo it: %s", words)
		})
	})
}
