package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
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

Without a running worker, this command does the worker's part itself.

JSON: an object as in ` + "`claude-mem recent --json`" + `.`,
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
		o, err := m.AddObservation(ctx, api.NewObservation{ProjectPath: where, Title: *title, Narrative: strings.Join(given, " "), Type: *kind, Origin: a.origin()})
		if err != nil {
			return err
		}
		if strings.HasPrefix(o.ProjectPath, labelOnly) {
			a.Note("The directory of %q is not known; the first project of that name takes it over.", print.Line(o.Project, 60))
		}
		return a.showObservation(o, "remembered:", fmt.Sprintf("claude-mem hide %d", o.ID))
	})
}

// editCommand returns the command `claude-mem edit`: correct an observation.
func (a *app) editCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "edit ID",
		Short: "Correct the title, text or type of an observation",
		Long: `Change the title, the text (narrative) or the type of an observation, whoever wrote it;
what is not named stays. The command that undoes the change is printed below it. Secrets
are masked, and text within <private> tags is not kept.

JSON: an object as in ` + "`claude-mem recent --json`" + `.`,
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
		if err != nil {
			return err
		}
		return a.showObservation(o, "changed:", undoEdit(before.Whole(), edit))
	})
}

// typeFlag adds --type, with its completion.
func (a *app) typeFlag(cmd *cobra.Command, usage string) *string {
	kind := cmd.Flags().StringP("type", "t", "", usage)
	cli.CompleteFlag(cmd, "type", a.TypeChoices())
	return kind
}

// showObservation prints an observation after done, then the command that undoes it.
func (a *app) showObservation(o api.Observation, done, undo string) error {
	return a.Show(print.Shown(&o), func(p *print.Printer) {
		whole := o.Whole()
		p.Printf("%s #%d %s %s %s\n", done, o.ID, o.Type.Glyph(), p.Style(print.Bold, print.Line(whole.Title, 0)),
			p.Style(print.Dim, "("+print.Join(", ", string(o.Type), print.Line(o.Project, 60))+")"))
		a.Note("To undo it: %s", undo)
	})
}

// undoEdit returns the command that gives the changed fields their former values.
func undoEdit(before api.Observation, edit memory.ObservationEdit) string {
	words := fmt.Sprintf("claude-mem edit %d", before.ID)
	if edit.Title != nil {
		words += " --title " + cli.ShellWord(before.Title)
	}
	if edit.Narrative != nil {
		words += " --narrative " + cli.ShellWord(before.Narrative)
	}
	if edit.Type != nil {
		words += " --type " + cli.ShellWord(string(before.Type))
	}
	return words
}
