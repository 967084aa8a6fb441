package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/cmd/claude-mem/internal/transfer"
	"claudemem/internal/capture/repo"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// projectsCommand returns the command `claude-mem projects`: list, merge and alias projects.
func (a *app) projectsCommand() *cobra.Command {
	cmd := a.listsProjects(&cobra.Command{
		Use:   "projects",
		Short: "List the projects that have records, merge them",
		Long: `List the projects that have records, most recently used first. ` + "`projects`" + ` alone is
` + "`projects list`" + `.

A project is the root of a repository, or a directory without one. One that was moved is
another project: merge makes the records of both one project's, alias has later sessions in
a directory belong to another project.`,
		Example: "  claude-mem projects\n  claude-mem projects --json\n  claude-mem projects merge label:shop ../shop",
		Args:    cli.KnownCommand,
	})
	cmd.AddCommand(a.listsProjects(&cobra.Command{
		Use:     "list",
		Short:   "List projects, the most recently used first",
		Example: "  claude-mem projects list\n  claude-mem projects list --json",
	}), a.projectsMergeCommand(), a.projectsAliasCommand(), a.projectsUnaliasCommand(), (&transfer.Verbs{App: a.App}).ProjectsLinkCommand())
	return cmd
}

// listsProjects completes a command that lists projects.
func (a *app) listsProjects(cmd *cobra.Command) *cobra.Command {
	page := cli.PageFlags(cmd, 20)
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, _ []string) error {
		paged, err := page.Paged(nil)
		if err != nil {
			return err
		}
		found, err := m.Projects(ctx, api.ProjectsRequest{Limit: paged.Limit, Offset: paged.Offset})
		return cli.Answer(a.App, found, err, cli.EmptyPage[api.Project](page), func(p *print.Printer) error {
			for i := range found.Results {
				printProject(p, &found.Results[i])
			}
			if !page.NoteRest(a.App, len(found.Results), found.Total, "project") {
				a.Note("No projects yet.")
			}
			if i := slices.IndexFunc(found.Results, func(d api.Project) bool { return strings.HasPrefix(d.ProjectPath, labelOnly) }); i >= 0 {
				a.Note("The directory of a project with label: is not known. To give its records to another project: claude-mem projects merge %s PROJECT",
					cli.ShellWord(print.Line(found.Results[i].ProjectPath, 60)))
			}
			return nil
		})
	})
}

// printProject prints a project in a list, and its aliases.
func printProject(p *print.Printer, d *api.Project) {
	p.Printf("%s  %s  %s, %s  %s\n", p.When(d.LastAtEpoch), p.Style(print.Bold, print.Line(d.Project, 60)),
		text.Count(d.Sessions, "session"), text.Count(d.Observations, "observation"), p.Style(print.Dim, print.Line(d.ProjectPath, 0)))
	for _, alias := range d.Aliases {
		p.Printf("            %s\n", p.Style(print.Dim, "also "+print.Line(alias, 0)))
	}
}

// projectsMergeCommand returns the command `claude-mem projects merge`: merge one
// project's records into another.
func (a *app) projectsMergeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "merge FROM INTO",
		Short: "Merge one project's records into another",
		Long: `Make all sessions, prompts, summaries, observations, learnings and symbol changes of FROM
those of INTO: for a project that was moved, or one of an import whose directory is not known
(label:NAME). Without --yes it only shows what would be moved. There is no undo but a backup.

A project is named by a directory in it, which may be gone, by its name, or as label:NAME.
A learning that says what one of INTO says becomes one with it. With --alias, later sessions
in FROM belong to INTO, too; without, they begin a project of their own. While a large
project is merged, hooks spool.`,
		Example: "  claude-mem projects merge label:shop ../shop\n  claude-mem projects merge ~/old/shop ~/shop --alias --yes",
	}
	yes := cmd.Flags().Bool("yes", false, "merge, do not just show")
	alias := cmd.Flags().Bool("alias", false, "later sessions in FROM belong to INTO, too")
	cmd.ValidArgsFunction = cli.Completion(a.ProjectChoices())
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, given []string) error {
		from, err := a.ProjectNamed(given[0])
		into, err2 := a.ProjectNamed(given[1])
		if err := cmp.Or(err, err2); err != nil {
			return err
		}
		merged, err := m.MergeProjects(ctx, memory.ProjectMerge{From: from, Into: into, Alias: *alias, DryRun: !*yes})
		return a.Done(merged, err, func(p *print.Printer) { a.showMerged(p, &merged, *alias) })
	})
}

// showMerged prints what a merge moved, or would move.
func (a *app) showMerged(p *print.Printer, m *memory.ProjectMerged, alias bool) {
	learnings := print.Plural(m.Learnings, "learning")
	learnings += print.If(m.Combined > 0, fmt.Sprintf(" (%d of them in both)", m.Combined))
	p.Printf("%s %s\n", p.Style(print.Bold, print.Or(m.Merged, "Moved:", "Would move:")), print.Join(", ", print.Plural(m.Sessions, "session"), print.Plural(m.Observations, "observation"),
		print.Plural(m.Prompts, "prompt"), print.If(m.Summaries > 0, fmt.Sprintf("%d summaries", m.Summaries)), learnings, print.Plural(m.Symbols, "symbol change")))
	p.Printf("  from %s\n  into %s\n", print.Line(m.From, 0), print.Line(m.Into, 0))
	switch {
	case !m.Merged:
		a.Note("Nothing was changed. The same command with --yes merges; there is no undo but a backup: `claude-mem backup` makes one.")
	case alias:
		a.Note("Later sessions in %s belong to %s.", print.Line(m.From, 0), print.Line(m.Into, 0))
	case !strings.HasPrefix(m.From, labelOnly):
		a.Note("Later sessions in %s begin a project of their own; to change that: claude-mem projects alias %s %s", print.Line(m.From, 0), cli.ShellWord(m.From), cli.ShellWord(m.Into))
	}
}

// projectsAliasCommand returns the command `claude-mem projects alias`: have a directory
// belong to another project.
func (a *app) projectsAliasCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "alias [PATH PROJECT]",
		Short: "Have later sessions in a directory belong to another project",
		Long: `From now on, sessions in PATH (its repository, if it has one) belong to PROJECT: they are
given its memory and add to it. Without arguments it lists the aliases. PATH may not have
records of its own: ` + "`claude-mem projects merge PATH PROJECT --alias`" + ` moves them as well.
Excluding a project goes by the true directory.`,
		Example: "  claude-mem projects alias ../shop-hotfix ../shop\n  claude-mem projects alias",
		Args: cli.Args(func(cmd *cobra.Command, given []string) error {
			if len(given) == 0 {
				return nil
			}
			return cobra.ExactArgs(2)(cmd, given)
		}),
	}
	cmd.ValidArgsFunction = func(cmd *cobra.Command, given []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(given) == 0 {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
		return cli.Completion(a.ProjectChoices())(cmd, given, word)
	}
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, given []string) error {
		if len(given) == 0 {
			return a.listAliases(ctx, m.Memory)
		}
		path, err := aliasPath(given[0])
		project, err2 := a.ProjectNamed(given[1])
		if err := cmp.Or(err, err2); err != nil {
			return err
		}
		m.Create = true
		alias, err := m.AddAlias(ctx, api.NewAlias{Path: path, Project: project})
		return a.Done([]memory.ProjectAlias{alias}, err, func(p *print.Printer) {
			printAlias(p, &alias)
			a.Note("To undo it: claude-mem projects unalias %s", cli.ShellWord(alias.Path))
		})
	})
}

// listAliases prints the aliases of projects.
func (a *app) listAliases(ctx context.Context, m api.Memory) error {
	found, err := m.Aliases(ctx, api.AliasesRequest{})
	return cli.Answer(a.App, found.Results, err, []memory.ProjectAlias{}, func(p *print.Printer) error {
		for i := range found.Results {
			printAlias(p, &found.Results[i])
		}
		if found.Count == 0 {
			a.Note("No aliases.")
		}
		return nil
	})
}

// printAlias prints an alias as a line.
func printAlias(p *print.Printer, alias *memory.ProjectAlias) {
	p.Printf("%s belongs to %s\n", print.Line(alias.Path, 0), p.Style(print.Bold, print.Line(alias.Project, 0)))
}

// projectsUnaliasCommand returns the command `claude-mem projects unalias`: remove an alias.
func (a *app) projectsUnaliasCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "unalias PATH",
		Short: "Remove an alias",
		Long: `Remove an alias: later sessions in PATH are of its own project again. Records stay where
they are.`,
		Example: "  claude-mem projects unalias ../shop-hotfix",
	}
	cmd.ValidArgsFunction = cli.FirstOnly(cli.Completion(a.aliasChoices()))
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, given []string) error {
		path, err := aliasPath(given[0])
		if err != nil {
			return err
		}
		alias, err := m.RemoveAlias(ctx, api.AliasRequest{Path: path})
		return a.Done(alias, err, func(p *print.Printer) { p.Printf("%s is a project of its own again\n", print.Line(alias.Path, 0)) })
	})
}

// aliasPath returns the project that a directory has by itself: the root of its repository, or the
// directory, also one that is gone; a label:NAME is returned as it is.
func aliasPath(name string) (string, error) {
	if strings.HasPrefix(name, labelOnly) {
		return name, nil
	}
	dir, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return filepath.ToSlash(dir), nil
	}
	return repo.Identify("", dir).Project, nil
}

// aliasChoices completes the paths of aliases.
func (a *app) aliasChoices() cli.Choices {
	return cli.Remembered(a.App, func(ctx context.Context, m api.Memory) ([]memory.ProjectAlias, error) {
		found, err := m.Aliases(ctx, api.AliasesRequest{})
		return found.Results, err
	}, func(alias *memory.ProjectAlias) cobra.Completion { return cli.Described(alias.Path, alias.Project) })
}
