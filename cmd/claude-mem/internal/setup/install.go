package setup

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/cmd/claude-mem/internal/service"
	"claudemem/cmd/claude-mem/internal/transfer"
	"claudemem/internal/capture/wire"
	"claudemem/internal/distil/model/claude"
	"claudemem/internal/leaf/claudedir"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/run/install"
	"claudemem/internal/serve/api"
	"claudemem/plugin"

	"github.com/spf13/cobra"
)

// InstallCommand returns the command `claude-mem install`.
func (a *Verbs) InstallCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install claude-mem in Claude Code or another agent",
		Long: `Install claude-mem in Claude Code as a plugin: hooks, the memory's MCP server and the
skill mem-search. Shows the changes and asks. Both programs are copied into the data
directory, so you may delete what you install from. Running it again changes nothing, or
updates the plugin to the version of this program.

Then it names what can be imported, the memory of claude-mem for Node and transcripts of
Claude Code, and asks about each at a terminal.

Each of your files that changes is backed up in the data directory first;
` + "`claude-mem uninstall`" + ` restores it. CLAUDE_CONFIG_DIR is honoured.

--settings writes plain hooks into Claude Code's settings.json instead: capture and
context without the claude command, and without MCP server and skill.

--again brings each agent that has claude-mem to this program, asks nothing and installs
nowhere else, as ` + "`claude-mem upgrade`" + ` does.

--host installs into another agent: hooks and MCP server in its own files, which keep
everything else; with mcp NAME, for an agent without hooks, the server alone. --settings and
--disable-node are refused with it. Without --host the agents that are found are named, and
at a terminal you are asked.

Exit codes: 0 installed, nothing to do, or the answer was no; 6 nobody to ask and
no --yes; 2 a file of Claude Code's is broken; 3 no claude command; 4 another install
is under way; 5 the claude command failed; 7 the disk refused.`,
		Example: "  claude-mem install --dry-run\n  claude-mem install\n  claude-mem install --yes --disable-node\n  claude-mem install --settings\n  claude-mem install --host codex",
	}
	var o installOptions
	cmd.Flags().BoolVar(&o.settings, "settings", false, "plain hooks in settings.json instead of a plugin")
	cmd.Flags().BoolVar(&o.again, "again", false, "only where it is installed; do not ask")
	cmd.Flags().BoolVar(&o.disable, "disable-node", false, "disable the plugin of claude-mem for Node, if it is enabled")
	return a.changesHost(cmd, &o, a.install)
}

// installOptions are the flags of install and uninstall.
type installOptions struct {
	yes, dry, settings, disable, again bool
	host, dataDir                      string
}

// changesHost completes a command that changes the host's files, with the flags for
// showing the changes and for confirming them; run gets the agent that --host names, nil for
// Claude Code.
func (a *Verbs) changesHost(cmd *cobra.Command, o *installOptions, run func(context.Context, *install.Agent, *installOptions) error) *cobra.Command {
	cmd.Args = cobra.ArbitraryArgs // behind --host mcp
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&o.dry, "dry-run", false, "only show what would change")
	cmd.Flags().StringVar(&o.host, "host", "", "the agent: "+AgentNames()+", mcp NAME")
	return a.WithDataDir(cmd, func(ctx context.Context, dataDir string, given []string) error {
		o.dataDir = dataDir
		if a.JSON && !o.yes && !o.dry {
			return cli.NotConfirmed("--json asks nothing")
		}
		agent, err := a.agentOf(o.host, given, dataDir)
		if err != nil {
			return err
		}
		return run(ctx, agent, o)
	})
}

// goAhead reports whether to make the changes that were shown: with --yes, or when the
// answer to the question is yes. CodeForbidden if nobody can be asked.
func (a *Verbs) goAhead(o *installOptions) (bool, error) {
	if o.yes {
		return true, nil
	}
	yes, err := a.Confirm("Go ahead?")
	if err == nil && !yes {
		a.Note("Nothing was changed.")
	}
	return yes, err
}

// install shows the plan, asks, installs, imports older settings and prints the result; it
// also offers to disable other plugins of the name. With o.dry it only shows the plan,
// with a.JSON it prints one JSON object in place of plan and result. Nothing to do and a
// "no" are no errors. With an agent it installs into that one only (installAgent).
func (a *Verbs) install(ctx context.Context, agent *install.Agent, o *installOptions) error {
	if o.again {
		if o.dry || o.settings || o.disable || o.host != "" || a.JSON {
			return memory.Errorf(memory.CodeInvalid, "--again takes no other flag").
				WithHint("`claude-mem install --dry-run` shows what this program would change")
		}
		return a.installAgain(ctx, o.dataDir)
	}
	if agent != nil {
		return a.installAgent(ctx, agent, o)
	}
	in, err := a.installer(o.dataDir)
	if err != nil {
		return err
	}
	wish := install.Wish{Method: install.MethodPlugin, DisableOthers: o.disable}
	if o.settings {
		wish.Method = install.MethodSettings
	}
	plan, err := in.Plan(wish)
	if err != nil {
		return a.withAgents(o.dataDir, err)
	}
	if enabled := plan.EnabledOthers(); len(enabled) > 0 && !o.disable && !a.JSON {
		a.Note("%s", otherText(plan, enabled))
		if !o.yes && !o.dry && print.IsTerminal(a.Stdin) {
			if wish.DisableOthers, err = a.Confirm("Disable " + strings.Join(enabled, " and ") + "?"); err != nil {
				return err
			}
			if plan, err = in.Plan(wish); err != nil {
				return err
			}
		} else {
			a.Note("It stays enabled: `claude-mem install --disable-node` disables it, and so does `claude plugin disable %s`.\n", enabled[0])
		}
	}
	observer := a.transfers().ObserverChoice()
	older := a.OlderSettings(o.dataDir)
	if !a.JSON {
		showPlan(a.People(), plan)
		if len(older) > 0 {
			a.Note("")
			a.showOlder(older)
			a.Note("They are imported into config.json, API keys only if you say so.")
		}
		observer.Show(a.People())
	}
	empty := plan.Empty()
	if !empty && !o.dry {
		if yes, err := a.goAhead(o); err != nil || !yes {
			return err
		}
		if plan, err = in.Install(ctx, wish); err != nil {
			return err
		}
		if len(older) > 0 {
			if err := a.importOlder(o.dataDir, older, false, !o.yes && print.IsTerminal(a.Stdin)); err != nil {
				return err
			}
			was := observer
			if observer = a.transfers().ObserverChoice(); observer != was && !a.JSON {
				observer.Show(a.People())
			}
		}
	}
	if a.JSON {
		return print.JSON(a.Stdout, struct {
			DryRun   bool                    `json:"dry_run"`
			Changed  bool                    `json:"changed"`
			Plan     *install.Plan           `json:"plan"`
			Older    []olderJSON             `json:"older"`
			Observer transfer.ObserverChoice `json:"observer"`
			Found    []foundAgent            `json:"found"`
			History  cli.FoundHistory        `json:"history"`
		}{o.dry, !empty && !o.dry, plan, olderShapes(older), observer, a.foundAgents(o.dataDir), a.FindHistory(ctx, o.dataDir)})
	}
	switch {
	case o.dry:
		a.Note(dryRunNote)
	case empty:
		if len(older) > 0 {
			a.Note("\nsettings.json is not imported yet: `claude-mem config import` imports it.")
		}
		a.Note("\nNothing to do: claude-mem %s is installed.", plan.Version)
	default:
		a.installed(plan, o.dataDir)
	}
	if err := a.offerHistory(ctx, o); err != nil || o.host != "" {
		return err
	}
	return a.offerAgents(ctx, o)
}

// installed prints the next steps after an install, also that a worker of another version runs,
// if so.
func (a *Verbs) installed(plan *install.Plan, dataDir string) {
	a.Note("\nInstalled. Claude Code remembers from its next session on: start it in a project.")
	if plan.Method == install.MethodSettings {
		a.Note("For the memory's tools: claude mcp add --scope user memory -- %q mcp", plan.Program)
	}
	a.Note("`claude-mem recent` lists the records, `claude-mem uninstall` removes it again.")
	if peer, err := api.FindWorker(dataDir); err == nil && peer.Info.Version != wire.Program {
		a.Note("A worker of version %s is running: `claude-mem worker restart` starts this version.", peer.Info.Version)
	}
}

// installer returns the installer of this program into Claude Code. Without the claude command
// it has no CLI, which uninstall works without; CodeInvalid if there is no home directory.
func (a *Verbs) installer(dataDir string) (*install.Installer, error) {
	options, err := a.installOptions(dataDir)
	if err != nil {
		return nil, err
	}
	options.ConfigDir, options.Moved = claudedir.Config(a.Getenv, a.Home())
	if options.ConfigDir == "" {
		return nil, memory.Errorf(memory.CodeInvalid, "there is no home directory").
			WithHint("set CLAUDE_CONFIG_DIR to where Claude Code keeps its settings")
	}
	if path, err := claude.Find("claude", os.Environ()); err == nil {
		options.CLI = install.Program{Path: path, Env: os.Environ()}
	}
	return install.New(options), nil
}

// installOptions returns the options for this program and its hook program, without those
// of a host: the caller sets ConfigDir, and for Claude Code Moved and CLI.
func (a *Verbs) installOptions(dataDir string) (install.Options, error) {
	self, err := ownProgram()
	if err != nil {
		return install.Options{}, err
	}
	return install.Options{
		DataDir: dataDir, DataDirMoved: a.Getenv(settings.DataDirKey) != "", Plugin: plugin.Files,
		Program: self, HookProgram: service.HookProgram(self), Version: wire.Program, Clock: a.Now,
		StopWorker: func(ctx context.Context) error {
			_, err := control.Stop(ctx, dataDir, service.StopLimit)
			return err
		},
	}, nil
}

// ownProgram returns the path of this program, behind links.
func ownProgram() (string, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return "", memory.Errorf(memory.CodeInternal, "find own program: %w", err)
	}
	return self, nil
}

// UninstallCommand returns the command `claude-mem uninstall`.
func (a *Verbs) UninstallCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove claude-mem from the agents; the memory stays",
		Long: `Remove claude-mem from Claude Code and all other agents, or from the one that --host
names. Shows the changes and asks. A file of yours that has
not changed since the install gets its old bytes back; from a changed one only our
entries are removed. It works without the claude command, and on an incomplete
installation. The memory is not changed.

Exit codes: 0 done, nothing to do, or the answer was no; 6 nobody to ask and no --yes;
2 a file of Claude Code's is broken; 4 another install is under way; 7 the disk refused.`,
		Example: "  claude-mem uninstall --dry-run\n  claude-mem uninstall\n  claude-mem uninstall --host codex",
	}
	return a.changesHost(cmd, &installOptions{}, a.uninstall)
}

// uninstall removes claude-mem from agent, or if it is nil from Claude Code, and then from all
// other agents unless --host is given. The memory stays.
func (a *Verbs) uninstall(ctx context.Context, agent *install.Agent, o *installOptions) (err error) {
	var host *install.Installer
	if agent == nil {
		if host, err = a.installer(o.dataDir); err != nil {
			return err
		}
	}
	var installers []*install.AgentInstaller
	if agent != nil || o.host == "" {
		if installers, err = a.installedAgents(o.dataDir, agent); err != nil {
			return err
		}
	}
	done, err := a.remove(ctx, host, installers, o)
	if err != nil || done == nil {
		return err
	}
	removal := cmp.Or(done.Removal, &install.Removal{})
	for _, problem := range removal.Problems {
		a.Note("%s; done without it.", problem)
	}
	for _, dir := range removal.Elsewhere {
		a.Note("It is still installed for %s: %s", dir, cli.WithVariable("CLAUDE_CONFIG_DIR", dir, "claude-mem uninstall"))
	}
	switch {
	case o.dry:
		a.Note(dryRunNote)
	case !done.Changed && agent != nil:
		a.Note("Nothing to do: claude-mem is not installed in %s.", agent.Label)
	case !done.Changed:
		a.Note("Nothing to do: claude-mem is not installed in %s.", removal.ConfigDir)
	default:
		for _, r := range done.Agents {
			a.Note("\nclaude-mem is removed from %s.", r.Label)
		}
		if !removal.Empty() {
			a.Note("\nclaude-mem is removed from Claude Code.")
		}
		if agent == nil {
			a.Note("A session that is open now may report missing hooks.")
		}
	}
	a.Note("The memory stays in %s.", o.dataDir)
	if targets, err := a.Targets(o.dataDir, nil); agent == nil && err == nil && len(targets) > 0 {
		a.Note("Blocks of records stay in the files of your projects: `claude-mem agent-files clean` removes them, in each project.")
	}
	return nil
}

// offerHistory says what history can be imported and asks a person at a terminal whether to
// import it now, so that the memory is full on the first day. Elsewhere, and with o.yes or o.dry,
// it only says it.
func (a *Verbs) offerHistory(ctx context.Context, o *installOptions) error {
	if o.yes || o.dry || !print.IsTerminal(a.Stdin) {
		a.NoteHistory(ctx)
		return nil
	}
	h := a.FindHistory(ctx, o.dataDir)
	if h.Node != nil {
		a.Note("\n%s", cli.NodeFound(h.Node.Path, h.Node.Observations))
		if err := a.importIf("Import them now?", func() error { return a.transfers().ImportNode(ctx, o.dataDir, h.Node.Path, false, true) }); err != nil {
			return err
		}
	}
	if h.Transcripts == nil {
		return nil
	}
	a.Note("\n%s", cli.TranscriptsNote(h.Transcripts))
	return a.importIf("Import them now, all projects, with no model?", func() error {
		return a.transfers().ImportTranscripts(ctx, o.dataDir, h.Transcripts.Path, &transfer.TranscriptFlags{Times: &cli.Times{}, Yes: true})
	})
}

// importIf runs an import if the answer to the question is yes. Rows or files that cannot be
// imported were reported, and are no error of the command that offers the import.
func (a *Verbs) importIf(question string, run func() error) error {
	yes, err := a.Confirm(question)
	if err != nil || !yes {
		return err
	}
	if err = run(); errors.As(err, new(*cli.QuietExit)) {
		return nil
	}
	return err
}
