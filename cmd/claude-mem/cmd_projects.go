package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"claudemem/internal/capture/repo"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// projectsCommand returns the command `claude-mem projects`: list, merge and alias projects.
func (a *app) projectsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "projects",
		Short: "List the projects that have records, merge them",
		Long: `List the projects that have records, most recently used first. ` + "`projects`" + ` alone is
` + "`projects list`" + `.

A project is the root of a repository, or a directory without one. One that was moved is
another project: merge makes the records of both one project's, alias has later sessions in
a directory belong to another project.

` + projectsForm,
		Example: "  claude-mem projects\n  claude-mem projects --json\n  claude-mem projects merge label:shop ../shop",
		Args:    knownCommand,
	}
	cmd.RunE = a.listProjects(cmd)
	list := &cobra.Command{
		Use:     "list",
		Short:   "List projects, the most recently used first",
		Long:    "List the projects that have records, most recently used first.\n\n" + projectsForm,
		Example: "  claude-mem projects list\n  claude-mem projects list --json",
	}
	list.RunE = a.listProjects(list)
	cmd.AddCommand(list, a.projectsMergeCommand(), a.projectsAliasCommand(), a.projectsUnaliasCommand())
	return cmd
}

// projectsForm is the JSON of the list.
const projectsForm = `JSON: as GET /api/projects, {"count", "total", "limit", "offset", "results": [{"project",
"project_path", "sessions", "observations", "last_at_epoch", "aliases"?}]}.`

// listProjects adds the flags of the list to a command and returns what it runs.
func (a *app) listProjects(cmd *cobra.Command) runE {
	asJSON := jsonFlag(cmd)
	page := pageFlags(cmd, 20)
	return a.withMemory(func(cmd *cobra.Command, m *workerOrFiles, _ []string) error {
		paged, err := page.paged(nil)
		if err != nil {
			return err
		}
		found, err := m.Projects(cmd.Context(), api.ProjectsRequest{Limit: paged.Limit, Offset: paged.Offset})
		if done, err := printed(a, *asJSON, found, err, emptyPage[api.Project](page)); done {
			return err
		}
		p := a.people()
		nameless := ""
		for _, d := range found.Results {
			p.printf("%s  %s  %s, %s  %s\n", p.when(d.LastAtEpoch),
				p.style(styleBold, oneLine(d.Project, 60)), text.Count(d.Sessions, "session"), text.Count(d.Observations, "observation"),
				p.style(styleDim, oneLine(d.ProjectPath, 0)))
			for _, alias := range d.Aliases {
				p.printf("            %s\n", p.style(styleDim, "also "+oneLine(alias, 0)))
			}
			if strings.HasPrefix(d.ProjectPath, labelOnly) && nameless == "" {
				nameless = d.ProjectPath
			}
		}
		page.noteMore(a, len(found.Results), found.Total)
		if found.Total == 0 {
			a.note("No projects yet.")
		}
		if nameless != "" {
			a.note("The directory of a project with label: is not known. To give its records to another project: claude-mem projects merge %s PROJECT", shellWord(runtime.GOOS, oneLine(nameless, 60)))
		}
		return nil
	})
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
project is merged, hooks spool.

JSON: {"from", "into", "merged", "aliased", "sessions", "prompts", "summaries",
"observations", "learnings", "combined", "symbols"}.`,
		Example: "  claude-mem projects merge label:shop ../shop\n  claude-mem projects merge ~/old/shop ~/shop --alias --yes",
	}
	asJSON := jsonFlag(cmd)
	yes := cmd.Flags().Bool("yes", false, "merge, do not just show")
	alias := cmd.Flags().Bool("alias", false, "later sessions in FROM belong to INTO, too")
	cmd.ValidArgsFunction = completion(a.projectChoices())
	cmd.RunE = a.withMemory(func(cmd *cobra.Command, m *workerOrFiles, given []string) error {
		from, err := a.projectNamed(given[0])
		if err != nil {
			return err
		}
		into, err := a.projectNamed(given[1])
		if err != nil {
			return err
		}
		merged, err := m.MergeProjects(cmd.Context(), memory.ProjectMerge{From: from, Into: into, Alias: *alias, DryRun: !*yes})
		if err != nil {
			return err
		}
		return a.show(*asJSON, merged, func(p *printer) { a.showMerged(p, &merged, *alias) })
	})
	return cmd
}

// showMerged prints what a merge moved, or would move.
func (a *app) showMerged(p *printer, m *memory.ProjectMerged, alias bool) {
	learnings := plural(m.Learnings, "learning")
	if m.Combined > 0 {
		learnings += fmt.Sprintf(" (%d of them in both)", m.Combined)
	}
	p.printf("%s %s\n", p.style(styleBold, textOr(m.Merged, "Moved:", "Would move:")), joined(", ", plural(m.Sessions, "session"), plural(m.Observations, "observation"),
		plural(m.Prompts, "prompt"), textIf(m.Summaries > 0, fmt.Sprintf("%d summaries", m.Summaries)), learnings, plural(m.Symbols, "symbol change")))
	p.printf("  from %s\n  into %s\n", oneLine(m.From, 0), oneLine(m.Into, 0))
	switch {
	case !m.Merged:
		a.note("Nothing was changed. The same command with --yes merges; there is no undo but a backup: `claude-mem backup` makes one.")
	case alias:
		a.note("Later sessions in %s belong to %s.", oneLine(m.From, 0), oneLine(m.Into, 0))
	case !strings.HasPrefix(m.From, labelOnly):
		a.note("Later sessions in %s begin a project of their own; to change that: claude-mem projects alias %s %s", oneLine(m.From, 0), shellWord(runtime.GOOS, m.From), shellWord(runtime.GOOS, m.Into))
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
Excluding a project goes by the true directory.

JSON: [{"path", "project", "created_at_epoch"}].`,
		Example: "  claude-mem projects alias ../shop-hotfix ../shop\n  claude-mem projects alias",
		Args: args(func(cmd *cobra.Command, given []string) error {
			if len(given) == 0 {
				return nil
			}
			return cobra.ExactArgs(2)(cmd, given)
		}),
	}
	asJSON := jsonFlag(cmd)
	cmd.ValidArgsFunction = func(cmd *cobra.Command, given []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(given) == 0 {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
		return completion(a.projectChoices())(cmd, given, word)
	}
	cmd.RunE = a.withMemory(func(cmd *cobra.Command, m *workerOrFiles, given []string) error {
		if len(given) == 0 {
			return a.listAliases(cmd.Context(), m, *asJSON)
		}
		path, err := aliasPath(given[0])
		if err != nil {
			return err
		}
		project, err := a.projectNamed(given[1])
		if err != nil {
			return err
		}
		m.create = true
		alias, err := m.AddAlias(cmd.Context(), api.NewAlias{Path: path, Project: project})
		if err != nil {
			return err
		}
		return a.show(*asJSON, []memory.ProjectAlias{alias}, func(p *printer) {
			p.alias(&alias)
			a.note("To undo it: claude-mem projects unalias %s", shellWord(runtime.GOOS, alias.Path))
		})
	})
	return cmd
}

// listAliases prints the aliases of projects.
func (a *app) listAliases(ctx context.Context, m *workerOrFiles, asJSON bool) error {
	found, err := m.Aliases(ctx, api.AliasesRequest{})
	if done, err := printed(a, asJSON, found.Results, err, []memory.ProjectAlias{}); done {
		return err
	}
	p := a.people()
	for i := range found.Results {
		p.alias(&found.Results[i])
	}
	if found.Count == 0 {
		a.note("No aliases.")
	}
	return nil
}

// alias prints an alias as a line.
func (p *printer) alias(alias *memory.ProjectAlias) {
	p.printf("%s belongs to %s\n", oneLine(alias.Path, 0), p.style(styleBold, oneLine(alias.Project, 0)))
}

// projectsUnaliasCommand returns the command `claude-mem projects unalias`: remove an alias.
func (a *app) projectsUnaliasCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "unalias PATH",
		Short: "Remove an alias",
		Long: `Remove an alias: later sessions in PATH are of its own project again. Records stay where
they are.

JSON: {"path", "project", "created_at_epoch"}.`,
		Example: "  claude-mem projects unalias ../shop-hotfix",
	}
	asJSON := jsonFlag(cmd)
	cmd.ValidArgsFunction = firstOnly(completion(a.aliasChoices()))
	cmd.RunE = a.withMemory(func(cmd *cobra.Command, m *workerOrFiles, given []string) error {
		path, err := aliasPath(given[0])
		if err != nil {
			return err
		}
		alias, err := m.RemoveAlias(cmd.Context(), api.AliasRequest{Path: path})
		if err != nil {
			return err
		}
		return a.show(*asJSON, alias, func(p *printer) { p.printf("%s is a project of its own again\n", oneLine(alias.Path, 0)) })
	})
	return cmd
}

// aliasPath returns the project that a directory has by itself. The directory may be gone.
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
func (a *app) aliasChoices() choices {
	return remembered(a, func(ctx context.Context, m api.Memory) ([]memory.ProjectAlias, error) {
		found, err := m.Aliases(ctx, api.AliasesRequest{})
		return found.Results, err
	}, func(alias *memory.ProjectAlias) cobra.Completion { return described(alias.Path, alias.Project) })
}
