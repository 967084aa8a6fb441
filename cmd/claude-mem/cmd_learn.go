package main

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// learnCommand returns the command `claude-mem learn`: add, list and correct learnings
// about a project.
func (a *app) learnCommand() *cobra.Command {
	return parent(&cobra.Command{
		Use:   "learn",
		Short: "Add, list and correct learnings about a project",
		Long: `Learnings are statements about a project, shown at every session start. Observers
propose them; those that you add are certain and no observer overrules them.
Categories: ` + strings.Join(memory.LearningCategories(), ", ") + `.

Without a running worker, a command that changes learnings does the worker's part itself.`,
		Example: "  claude-mem learn add gotcha 'Amounts are whole cents.'\n  claude-mem learn list\n  claude-mem learn retire 7",
	}, a.learnAddCommand(), a.learnListCommand(), a.learnEditCommand(), a.learnApproveCommand(), a.learnRetireCommand())
}

const learningForm = `{"project", "id", "ulid", "project_path", "category", "content", "confidence",
"times_seen", "provenance", "active", "origin"?, "waiting"?, "superseded_by"?, "created_at_epoch", "updated_at_epoch"}`

// printLearning prints a learning as JSON, or as a line behind the word done ("kept:").
func (a *app) printLearning(l api.Learning, err error, asJSON bool, done string) error {
	if err != nil {
		return err
	}
	return a.show(asJSON, l, func(p *printer) {
		p.printf("%s ", done)
		p.learningLine(&l, true)
	})
}

// learningLine prints a learning as a line of a list.
func (p *printer) learningLine(l *api.Learning, withProject bool) {
	p.printf("%s %s: %s", p.style(styleDim, fmt.Sprintf("%d", l.ID)), p.style(styleBold, l.Category), oneLine(l.Content, 0))
	retired := textIf(!l.Active, textOr(l.Waiting, "waiting for approval", "retired"))
	if l.SupersededBy != 0 {
		retired = fmt.Sprintf("superseded by %d", l.SupersededBy)
	}
	about := joined(", ", fmt.Sprintf("%.0f%%", l.Confidence*100), textIf(l.TimesSeen > 1, fmt.Sprintf("seen %d times", l.TimesSeen)),
		retired, textIf(l.Origin != "", "imported"), textIf(withProject, oneLine(l.Project, 60)))
	p.printf("%s\n", p.style(styleDim, " ("+about+")"))
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
Secrets are masked, and text within <private> tags is not kept.

JSON: ` + learningForm + `.`,
		Example: "  claude-mem learn add gotcha 'Amounts are whole cents.'\n" +
			"  claude-mem learn add workflow 'Run make test before a commit.' --project ../shop --confidence 0.8",
	}
	asJSON := jsonFlag(cmd)
	project := a.projectFlag(cmd, "", ofCurrent)
	cmd.ValidArgsFunction = firstOnly(completion(fixed(memory.LearningCategories()...)))
	confidence := cmd.Flags().Float64("confidence", 1, "its confidence, 0 to 1")
	cmd.RunE = a.withMemory(func(cmd *cobra.Command, m *workerOrFiles, given []string) error {
		where, err := a.projectOr(*project)
		if err != nil {
			return err
		}
		m.create = true
		l, err := m.AddLearning(cmd.Context(), api.NewLearning{ProjectPath: where, Category: strings.ToLower(given[0]),
			Content: strings.Join(given[1:], " "), Confidence: confidence, Origin: a.origin()})
		return a.printLearning(l, err, *asJSON, "kept:")
	})
	return cmd
}

// learnListCommand returns `claude-mem learn list`, which prints the learnings (lasting
// rules and facts) of a project.
func (a *app) learnListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the learnings of a project",
		Long: `List the learnings of the project that you are in, or of others, by confidence, highest first.

JSON: {"project"?, "count", "total", "results": [` + learningForm + `]}.`,
		Example: "  claude-mem learn list\n  claude-mem learn list --category gotcha --retired\n  claude-mem learn list --all --json",
	}
	asJSON := jsonFlag(cmd)
	scope := a.scopeFlags(cmd)
	category := cmd.Flags().String("category", "", "only learnings of this category")
	retired := cmd.Flags().Bool("retired", false, "also retired and superseded learnings")
	limit := limitFlag(cmd, 100)
	completeFlag(cmd, "category", fixed(memory.LearningCategories()...))
	cmd.RunE = a.withMemory(func(cmd *cobra.Command, m *workerOrFiles, _ []string) error {
		if *category != "" {
			if err := memory.CheckLearning(*category, "x", 1); err != nil {
				return err
			}
		}
		project, err := scope.project()
		if err != nil {
			return err
		}
		found, err := readListing(project, *limit, func(p api.Paged) ([]api.Learning, int, error) {
			page, err := m.Learnings(cmd.Context(), api.LearningsRequest{Category: *category, All: *retired, Paged: p})
			return page.Results, page.Total, err
		})
		if done, err := printed(a, *asJSON, found, err, found); done {
			return err
		}
		p := a.people()
		for i := range found.Results {
			p.learningLine(&found.Results[i], project == "")
		}
		if found.Count == 0 {
			a.note("No learnings for this project yet. Add one: claude-mem learn add gotcha \"…\"")
		}
		a.noteMore(found.Count, found.Total)
		return nil
	})
	return cmd
}

// learnEditCommand returns the command `claude-mem learn edit`: correct a learning, or
// reactivate a retired one.
func (a *app) learnEditCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "edit ID [TEXT...]",
		Short: "Correct a learning, or reactivate a retired one",
		Long: `Change the text, category or confidence of a learning, or reactivate a retired one.
A new text has confidence 1 unless --confidence sets another.

JSON: ` + learningForm + `.`,
		Example: "  claude-mem learn edit 7 'Amounts are whole cents, never floats.'\n  claude-mem learn edit 7 --category convention --confidence 0.9\n  claude-mem learn edit 7 --active",
	}
	asJSON := jsonFlag(cmd)
	category := cmd.Flags().String("category", "", "its category")
	confidence := cmd.Flags().Float64("confidence", 0, "its confidence, 0 to 1")
	completeFlag(cmd, "category", fixed(memory.LearningCategories()...))
	cmd.ValidArgsFunction = firstOnly(completion(a.learningChoices()))
	active := cmd.Flags().Bool("active", false, "reactivate it when it was retired or superseded")
	cmd.RunE = a.withMemory(func(cmd *cobra.Command, m *workerOrFiles, given []string) error {
		var edit memory.LearningEdit
		if len(given) > 1 {
			text := strings.Join(given[1:], " ")
			edit.Content = &text
		}
		edit.Category, edit.Confidence = ifChanged(cmd, "category", category), ifChanged(cmd, "confidence", confidence)
		if *active {
			edit.Active = active
		}
		if edit == (memory.LearningEdit{}) {
			return memory.Errorf(memory.CodeInvalid, "nothing to change").
				WithHint("give a new text, --category, --confidence or --active")
		}
		return a.editLearning(cmd.Context(), m.Memory, given[0], edit, *asJSON, "changed:")
	})
	return cmd
}

// learnApproveCommand returns the command `claude-mem learn approve`: put rules of another memory
// into use.
func (a *app) learnApproveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "approve ID...",
		Short: "Put imported learnings of another memory into use",
		Long: `Learnings that an import has brought from another memory are not shown at session starts until
you approve them. ` + "`claude-mem learn list --retired`" + ` shows them; read them first: agents follow them.
With --all, those of all projects are approved.

JSON: {"approved": [` + learningForm + `]}.`,
		Example: "  claude-mem learn approve 7 9\n  claude-mem learn approve --all",
		Args:    cobra.ArbitraryArgs, // none with --all

		ValidArgsFunction: completion(a.learningChoices()),
	}
	asJSON := jsonFlag(cmd)
	every := cmd.Flags().Bool("all", false, "approve all that wait, of all projects")
	cmd.RunE = a.withMemory(func(cmd *cobra.Command, m *workerOrFiles, given []string) error {
		if *every == (len(given) > 0) {
			return memory.Errorf(memory.CodeInvalid, "give the ids of learnings, or --all").WithHint("`claude-mem learn list --retired` shows the ids")
		}
		if *every {
			found, err := readListing("", math.MaxInt, func(p api.Paged) ([]api.Learning, int, error) {
				page, err := m.Learnings(cmd.Context(), api.LearningsRequest{All: true, Paged: p})
				return page.Results, page.Total, err
			})
			if err != nil {
				return err
			}
			for i := range found.Results {
				if found.Results[i].Waiting {
					given = append(given, strconv.FormatInt(found.Results[i].ID, 10))
				}
			}
		}
		approved := []api.Learning{}
		for _, name := range given {
			l, err := a.changeLearning(cmd.Context(), m.Memory, name, memory.LearningEdit{Active: new(true)})
			if err != nil {
				return err
			}
			approved = append(approved, l)
		}
		return a.show(*asJSON, map[string][]api.Learning{"approved": approved}, func(p *printer) {
			for i := range approved {
				p.printf("approved: ")
				p.learningLine(&approved[i], true)
			}
			if len(approved) == 0 {
				p.printf("No learnings wait for approval.\n")
			}
		})
	})
	return cmd
}

// learnRetireCommand returns the command `claude-mem learn retire`: retire a learning.
func (a *app) learnRetireCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "retire ID",
		Short: "Retire a learning",
		Long: `Retire a learning: it is no longer shown. It is kept, so that no observer adds it again;
` + "`claude-mem learn edit ID --active`" + ` reactivates it.

JSON: ` + learningForm + `.`,
		Example: "  claude-mem learn retire 7",

		ValidArgsFunction: firstOnly(completion(a.learningChoices())),
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.withMemory(func(cmd *cobra.Command, m *workerOrFiles, given []string) error {
		return a.editLearning(cmd.Context(), m.Memory, given[0], memory.LearningEdit{Active: new(bool)}, *asJSON, "retired:")
	})
	return cmd
}

// editLearning changes the learning with the number name and prints it after done.
func (a *app) editLearning(ctx context.Context, m api.Memory, name string, edit memory.LearningEdit, asJSON bool, done string) error {
	l, err := a.changeLearning(ctx, m, name, edit)
	return a.printLearning(l, err, asJSON, done)
}

// changeLearning changes the learning with the number name.
func (a *app) changeLearning(ctx context.Context, m api.Memory, name string, edit memory.LearningEdit) (l api.Learning, err error) {
	id, err := strconv.ParseInt(name, 10, 64)
	if err != nil || id <= 0 {
		return l, memory.Errorf(memory.CodeInvalid, "%q is not the id of a learning", oneLine(name, 40)).
			WithHint("`claude-mem learn list` shows the ids")
	}
	return m.EditLearning(ctx, api.LearningEdit{ID: id, LearningEdit: edit})
}
