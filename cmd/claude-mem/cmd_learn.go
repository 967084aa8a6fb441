package main

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// learnCommand returns the command `claude-mem learn`: add, list and correct learnings
// about a project.
func (a *app) learnCommand() *cobra.Command {
	return cli.Parent(&cobra.Command{
		Use:   "learn",
		Short: "Add, list and correct learnings about a project",
		Long: `Learnings are statements about a project, shown at every session start. Observers
propose them; those that you add are certain and no observer overrules them.
Categories: ` + strings.Join(memory.LearningCategories(), ", ") + `.

Without a running worker, a command that changes learnings does the worker's part itself.`,
		Example: "  claude-mem learn add gotcha 'Amounts are whole cents.'\n  claude-mem learn list\n  claude-mem learn retire 7",
	}, a.learnAddCommand(), a.learnListCommand(), a.learnEditCommand(), a.learnApproveCommand(), a.learnRetireCommand())
}

// showLearning prints a learning as JSON, or as a line behind the word done ("kept:").
func (a *app) showLearning(l api.Learning, err error, done string) error {
	return a.Done(l, err, func(p *print.Printer) {
		p.Printf("%s ", done)
		printLearning(p, &l, true)
	})
}

// printLearning prints a learning as a line of a list.
func printLearning(p *print.Printer, l *api.Learning, withProject bool) {
	p.Printf("%s %s: %s", p.Style(print.Dim, fmt.Sprintf("%d", l.ID)), p.Style(print.Bold, l.Category), print.Line(l.Content, 0))
	retired := print.If(!l.Active, print.Or(l.Waiting, "waiting for approval", "retired"))
	if l.SupersededBy != 0 {
		retired = fmt.Sprintf("superseded by %d", l.SupersededBy)
	}
	about := print.Join(", ", fmt.Sprintf("%.0f%%", l.Confidence*100), print.If(l.TimesSeen > 1, fmt.Sprintf("seen %d times", l.TimesSeen)),
		retired, l.Origin.Source(), print.If(withProject, print.Line(l.Project, 60)))
	p.Printf("%s\n", p.Style(print.Dim, " ("+about+")"))
}

// learnAddCommand returns the command `claude-mem learn add`: add a learning about a
// project.
func (a *app) learnAddCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add CATEGORY TEXT...",
		Short: "Add a learning about a project",
		Long: `Add a learning about the project that you are in, or about another one. A statement
that repeats a learning strengthens it; one that contradicts a learning supersedes it.
Run by an agent, it adds what the agent says: with a confidence of 0.3 at most.
Secrets are masked, and text within <private> tags is not kept.`,
		Example: "  claude-mem learn add gotcha 'Amounts are whole cents.'\n" +
			"  claude-mem learn add workflow 'Run make test before a commit.' --project ../shop --confidence 0.8",
	}
	project := a.ProjectFlag(cmd, "", cli.OfCurrent)
	cmd.ValidArgsFunction = cli.FirstOnly(cli.Completion(cli.Fixed(memory.LearningCategories()...)))
	confidence := cmd.Flags().Float64("confidence", 1, "its confidence, 0 to 1")
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, given []string) error {
		where, err := a.ProjectOr(*project)
		if err != nil {
			return err
		}
		m.Create = true
		l, err := m.AddLearning(ctx, api.NewLearning{ProjectPath: where, Category: strings.ToLower(given[0]),
			Content: strings.Join(given[1:], " "), Confidence: confidence, Origin: a.origin()})
		return a.showLearning(l, err, "kept:")
	})
}

// learnListCommand returns `claude-mem learn list`, which prints the learnings (lasting
// rules and facts) of a project.
func (a *app) learnListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the learnings of a project",
		Long:    `List the learnings of the project that you are in, or of others, by confidence, highest first.`,
		Example: "  claude-mem learn list\n  claude-mem learn list --category gotcha --retired\n  claude-mem learn list --all --json",
	}
	scope := a.ScopeFlags(cmd)
	category := cmd.Flags().String("category", "", "only learnings of this category")
	retired := cmd.Flags().Bool("retired", false, "also retired and superseded learnings")
	limit := cli.LimitFlag(cmd, 100)
	cli.CompleteFlag(cmd, "category", cli.Fixed(memory.LearningCategories()...))
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, _ []string) error {
		if *category != "" {
			if err := memory.CheckLearning(*category, "x", 1); err != nil {
				return err
			}
		}
		found, err := cli.ReadListing(scope, *limit, func(p api.Paged) (api.Page[api.Learning], error) {
			return m.Learnings(ctx, api.LearningsRequest{Category: *category, All: *retired, Paged: p})
		})
		return cli.Answer(a.App, found, err, found, func(p *print.Printer) error {
			for i := range found.Results {
				printLearning(p, &found.Results[i], found.Project == "")
			}
			if found.Count == 0 {
				a.Note("No learnings for this project yet. Add one: claude-mem learn add gotcha \"…\"")
			}
			a.NoteMore(found.Count, found.Total)
			return nil
		})
	})
}

// learnEditCommand returns the command `claude-mem learn edit`: correct a learning, or
// reactivate a retired one.
func (a *app) learnEditCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "edit ID [TEXT...]",
		Short: "Correct a learning, or reactivate a retired one",
		Long: `Change the text, category or confidence of a learning, or reactivate a retired one.
A new text has confidence 1 unless --confidence sets another.`,
		Example: "  claude-mem learn edit 7 'Amounts are whole cents, never floats.'\n  claude-mem learn edit 7 --category convention --confidence 0.9\n  claude-mem learn edit 7 --active",
	}
	category := cmd.Flags().String("category", "", "its category")
	confidence := cmd.Flags().Float64("confidence", 0, "its confidence, 0 to 1")
	cli.CompleteFlag(cmd, "category", cli.Fixed(memory.LearningCategories()...))
	cmd.ValidArgsFunction = cli.FirstOnly(cli.Completion(a.LearningChoices()))
	active := cmd.Flags().Bool("active", false, "reactivate it when it was retired or superseded")
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, given []string) error {
		var edit memory.LearningEdit
		if len(given) > 1 {
			edit.Content = new(strings.Join(given[1:], " "))
		}
		edit.Category, edit.Confidence = cli.IfChanged(cmd, "category", category), cli.IfChanged(cmd, "confidence", confidence)
		if *active {
			edit.Active = active
		}
		if edit == (memory.LearningEdit{}) {
			return memory.Errorf(memory.CodeInvalid, "nothing to change").
				WithHint("give a new text, --category, --confidence or --active")
		}
		l, err := changeLearning(ctx, m.Memory, given[0], edit)
		return a.showLearning(l, err, "changed:")
	})
}

// learnApproveCommand returns the command `claude-mem learn approve`: put rules of another memory
// into use.
func (a *app) learnApproveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "approve ID...",
		Short: "Put imported learnings of another memory into use",
		Long: `Learnings that an import has brought from another memory are not shown at session starts until
you approve them. ` + "`claude-mem learn list --retired`" + ` shows them; read them first: agents follow them.
With --all, those of all projects are approved.`,
		Example: "  claude-mem learn approve 7 9\n  claude-mem learn approve --all",
		Args:    cobra.ArbitraryArgs, // none with --all

		ValidArgsFunction: cli.Completion(a.LearningChoices()),
	}
	every := cmd.Flags().Bool("all", false, "approve all that wait, of all projects")
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, given []string) error {
		if *every == (len(given) > 0) {
			return memory.Errorf(memory.CodeInvalid, "give the ids of learnings, or --all").WithHint("`claude-mem learn list --retired` shows the ids")
		}
		if *every {
			found, err := cli.ReadListing(nil, math.MaxInt, func(p api.Paged) (api.Page[api.Learning], error) {
				return m.Learnings(ctx, api.LearningsRequest{All: true, Paged: p})
			})
			if err != nil {
				return err
			}
			given = collect.Pick(found.Results, func(l api.Learning) (string, bool) { return strconv.FormatInt(l.ID, 10), l.Waiting })
		}
		approved := []api.Learning{}
		for _, name := range given {
			l, err := changeLearning(ctx, m.Memory, name, memory.LearningEdit{Active: new(true)})
			if err != nil {
				return err
			}
			approved = append(approved, l)
		}
		return a.Show(map[string][]api.Learning{"approved": approved}, func(p *print.Printer) {
			for i := range approved {
				p.Printf("approved: ")
				printLearning(p, &approved[i], true)
			}
			if len(approved) == 0 {
				p.Printf("No learnings wait for approval.\n")
			}
		})
	})
}

// learnRetireCommand returns the command `claude-mem learn retire`: retire a learning.
func (a *app) learnRetireCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "retire ID",
		Short: "Retire a learning",
		Long: `Retire a learning: it is no longer shown. It is kept, so that no observer adds it again;
` + "`claude-mem learn edit ID --active`" + ` reactivates it.`,
		Example: "  claude-mem learn retire 7",

		ValidArgsFunction: cli.FirstOnly(cli.Completion(a.LearningChoices())),
	}
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, given []string) error {
		l, err := changeLearning(ctx, m.Memory, given[0], memory.LearningEdit{Active: new(bool)})
		return a.showLearning(l, err, "retired:")
	})
}

// changeLearning changes the learning with the number name and returns it as stored. CodeInvalid for
// what is no number, CodeNotFound for one without a learning.
func changeLearning(ctx context.Context, m api.Memory, name string, edit memory.LearningEdit) (l api.Learning, err error) {
	id, err := api.LearningNumber(name)
	if err != nil {
		return l, memory.Errorf(memory.CodeInvalid, "%q is not the id of a learning", print.Line(name, 40)).
			WithHint("`claude-mem learn list` shows the ids")
	}
	return m.EditLearning(ctx, api.LearningEdit{ID: id, LearningEdit: edit})
}
