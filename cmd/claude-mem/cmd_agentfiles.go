package main

import (
	"context"
	"strings"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/agentfiles"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// agentFilesCommand returns the command `claude-mem agent-files`: keep blocks of past work
// in files that agents read anyway.
func (a *app) agentFilesCommand() *cobra.Command {
	return cli.Parent(&cobra.Command{
		Use:   "agent-files",
		Short: "Keep recent records in CLAUDE.md, AGENTS.md, Cursor rules",
		Long: `Keep a block of recent records in files that agents read anyway, between two markers.
Nothing else in these files is changed. The setting AGENT_FILES says which, off by default:

  root     CLAUDE.md at the project's root (that of the main worktree); also AGENTS.md if
           there is one
  folders  CLAUDE.md in the 20 folders that were worked in last
  cursor   ` + ".cursor/rules/claude-mem-context.mdc" + `

With the setting the worker renews the blocks after each turn that made a summary. They
are files of the project: git shows them like any other change. What you hide disappears
with the next sync.`,
		Example: "  claude-mem agent-files status\n  claude-mem config set AGENT_FILES root,cursor\n  claude-mem agent-files sync\n  claude-mem agent-files clean",
	}, a.syncsFiles(&cobra.Command{
		Use:   "status",
		Short: "Show which files have a block, and what sync would do",
		Long: `Show which files of the project that you are in have a block of records, and what
` + "`claude-mem agent-files sync`" + ` would do with them. Nothing is changed.`,
		Example: "  claude-mem agent-files status\n  claude-mem agent-files status --target root,folders --project ../shop",
	}, true, true), a.syncsFiles(&cobra.Command{
		Use:   "sync",
		Short: "Write the blocks of the project that you are in",
		Long: `Write the blocks that the setting AGENT_FILES or --target names, and remove all others.
Without new records nothing is written.

A file that is read-only, is a link out of the project, or has broken markers is reported
and left as it is; the others are written.

Exit codes: 0 done; 7 a file could not be written.`,
		Example: "  claude-mem agent-files sync\n  claude-mem agent-files sync --target root\n  claude-mem agent-files sync --target root,folders,cursor --project ../shop --json",
	}, true, false), a.syncsFiles(&cobra.Command{
		Use:   "clean",
		Short: "Remove the blocks, and the files that were made for them",
		Long: `Remove the blocks from all files of the project, which are then as they were before,
to the byte. A file that was made for a block is deleted unless you have written into it.
While the setting AGENT_FILES is on, the worker writes them again.

Exit codes: 0 done; 7 a file could not be written.`,
		Example: "  claude-mem agent-files clean\n  claude-mem config set AGENT_FILES off",
	}, false, false))
}

// syncsFiles completes a command about agent files: it writes the targets, or removes all
// blocks if hasTargets is false. With dry it only shows what would be done.
func (a *app) syncsFiles(cmd *cobra.Command, hasTargets, dry bool) *cobra.Command {
	project := a.ProjectFlag(cmd, "", cli.OfCurrent)
	var named []string
	if hasTargets {
		cmd.Flags().StringSliceVar(&named, "target", nil, "root, folders, cursor (default: the setting AGENT_FILES)")
		cli.CompleteFlag(cmd, "target", cli.Fixed("root", "folders", "cursor"))
	}
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, _ []string) error {
		r := agentfiles.Request{DryRun: dry, DataDir: m.DataDir}
		var err error
		if r.Project, err = a.projectDir(ctx, m.Memory, *project); err != nil {
			return err
		}
		if hasTargets {
			if r.Targets, err = a.Targets(m.DataDir, named); err != nil {
				return err
			}
			if len(r.Targets) == 0 && !dry {
				return memory.Errorf(memory.CodeInvalid, "the setting AGENT_FILES is off").
					WithHint("name files, as in `claude-mem agent-files sync --target root`; `claude-mem config set AGENT_FILES root` keeps them up to date")
			}
			if r.Records, err = agentfiles.Records(ctx, m.Memory, r.Project); err != nil && memory.CodeOf(err) != memory.CodeNoMemory {
				return err
			}
		}
		report, err := agentfiles.Sync(ctx, r)
		if err != nil {
			return err
		}
		return a.printAgentFiles(&report, dry)
	})
}

// projectDir returns the root directory of the project that --project names, by a path or by its
// name, the current one for "". CodeNotFound and CodeInvalid as App.RootOf.
func (a *app) projectDir(ctx context.Context, m api.Memory, named string) (string, error) {
	if named == "" || cli.IsPath(named) {
		return a.ProjectOr(named)
	}
	return a.RootOf(ctx, m, named, "there is no project")
}

// printAgentFiles prints a report. Unless it is dry, its error, CodeStorage, says that some file
// could not be changed.
func (a *app) printAgentFiles(r *agentfiles.Report, dry bool) error {
	err := a.Show(r, func(p *print.Printer) {
		for _, f := range r.Files {
			p.Printf("%s  %s\n", p.Style(print.Bold, print.Line(f.Path, 0)), outcomeOf(f, dry))
		}
		switch {
		case len(r.Files) == 0 && dry && len(r.Targets) == 0:
			a.Note("No file of %s has a block. The setting AGENT_FILES is off.", print.Line(r.Project, 0))
		case len(r.Files) == 0:
			a.Note("No file of %s has a block, and there are no records for one.", print.Line(r.Project, 0))
		}
		if r.Partial {
			a.Note("The project has more folders than were looked into: others may have blocks too.")
		}
	})
	if failed := r.Failed(); err == nil && failed > 0 && !dry {
		return memory.Errorf(memory.CodeStorage, "%s of %d could not be changed", text.Count(failed, "file"), len(r.Files)).
			WithHint("fix what is said of each file, then run the command again")
	}
	return err
}

// done says what an action has done, and what it would do.
var done = map[agentfiles.Action][2]string{
	agentfiles.ActionNone:   {"up to date", "up to date"},
	agentfiles.ActionCreate: {"created", "missing: sync creates it"},
	agentfiles.ActionAdd:    {"block added", "no block: sync adds it"},
	agentfiles.ActionUpdate: {"updated", "outdated: sync updates it"},
	agentfiles.ActionRemove: {"block removed", "has a block: sync and clean remove it"},
	agentfiles.ActionDelete: {"deleted", "has only a block: sync and clean delete it"},
}

// outcomeOf returns what was or would be done with a file, in words.
func outcomeOf(f agentfiles.File, dry bool) string {
	words, not := done[f.Action][0], "not changed: "
	if dry {
		words, not = done[f.Action][1], "cannot be changed: "
	}
	switch {
	case f.Problem == "":
		return words
	case strings.HasPrefix(f.Problem, "line "):
		return not + f.Problem
	}
	return not + "it " + print.Line(f.Problem, 0)
}
