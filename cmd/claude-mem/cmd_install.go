package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"claudemem/internal/distil/model/claude"
	"claudemem/internal/leaf/claudedir"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/run/daemon"
	"claudemem/internal/run/install"
	"claudemem/internal/serve/api"
	"claudemem/plugin"

	"github.com/spf13/cobra"
)

func (a *app) installCommand() *cobra.Command {
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

--host installs into another agent: hooks and MCP server in its own files, which keep
everything else. Without --host the agents that are found are named, and at a terminal
you are asked.

Exit codes: 0 installed, nothing to do, or the answer was no; 6 nobody to ask and
no --yes; 2 a file of Claude Code's is broken; 3 no claude command; 4 another install
is under way; 5 the claude command failed; 7 the disk refused.

JSON: {"dry_run", "changed", "plan": {"method", "config_dir", "directory", "program", "version", "replaces"?,
"plugin": [{"path", "do": create|replace|edit|remove, "size"?}], "files": [likewise], "commands": [[argument]],
"others": [{"id", "enabled", "installed"}], "disable": [id], "node_data", "unfinished"},
"older": settings of a settings.json that "changed" imports [{"key", "value", "in_force", "error"?}],
"observer": {"provider", "who", "cost", "change"}, "found": other agents [{"host", "label", "config_dir", "installed"}],
"history": what can be imported {"node"?: {"path", "observations"}, "transcripts"?: {"path", "sessions"}}}.
With --host, {"dry_run", "changed", "agent": {"host", "label", "config_dir", "directory", "program", "version", "programs": [likewise],
"files": [likewise], "note"?, "unfinished"}}. It asks nothing: with --dry-run or --yes only.`,
		Example: "  claude-mem install --dry-run\n  claude-mem install\n  claude-mem install --yes --disable-node\n  claude-mem install --settings\n  claude-mem install --host codex",
	}
	var o installOptions
	cmd.Flags().BoolVar(&o.settings, "settings", false, "plain hooks in settings.json instead of a plugin")
	cmd.Flags().BoolVar(&o.disable, "disable-node", false, "disable the plugin of claude-mem for Node, if it is enabled")
	return a.changesHost(cmd, &o, a.install, a.installAgent)
}

// installOptions are the flags of install and uninstall.
type installOptions struct {
	yes, dry, settings, disable, json bool
	host, dataDir                     string
}

// changesHost completes a command that changes the host's files, with the flags for
// showing the changes and for confirming them; run gets the installer of Claude Code, and
// runAgent another agent that --host names.
func (a *app) changesHost(cmd *cobra.Command, o *installOptions, run func(context.Context, *install.Installer, *installOptions) error,
	runAgent func(context.Context, *install.Agent, *installOptions) error,
) *cobra.Command {
	asJSON := jsonFlag(cmd)
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&o.dry, "dry-run", false, "only show what would change")
	cmd.Flags().StringVar(&o.host, "host", "", "the agent: "+strings.Join(agentNames(), ", "))
	cmd.RunE = a.withDataDir(func(cmd *cobra.Command, dataDir string, _ []string) error {
		o.json, o.dataDir = *asJSON, dataDir
		if o.json && !o.yes && !o.dry {
			return notConfirmed("--json asks nothing")
		}
		agent, err := agentOf(o.host)
		if err != nil {
			return err
		}
		if agent != nil {
			return runAgent(cmd.Context(), agent, o)
		}
		in, err := a.installer(dataDir)
		if err != nil {
			return err
		}
		return run(cmd.Context(), in, o)
	})
	return cmd
}

// goAhead reports whether to make the changes that were shown: with --yes, or when the
// answer to the question is yes. An error says that nobody could be asked.
func (a *app) goAhead(o *installOptions) (bool, error) {
	if o.yes {
		return true, nil
	}
	yes, err := a.confirm("Go ahead?")
	if err == nil && !yes {
		a.note("Nothing was changed.")
	}
	return yes, err
}

// install shows the plan, asks, installs, imports older settings and prints the result; it
// also offers to disable other plugins of the name. With o.dry it only shows the plan,
// with o.json it prints one JSON object in place of plan and result. Nothing to do and a
// "no" are no errors.
func (a *app) install(ctx context.Context, in *install.Installer, o *installOptions) error {
	wish := install.Wish{Method: install.MethodPlugin, DisableOthers: o.disable}
	if o.settings {
		wish.Method = install.MethodSettings
	}
	plan, err := in.Plan(wish)
	if err != nil {
		return a.withAgents(o.dataDir, err)
	}
	if enabled := enabledOthers(plan); len(enabled) > 0 && !o.disable && !o.json {
		a.note("%s", otherText(plan, enabled))
		if !o.yes && !o.dry && isTerminal(a.stdin) {
			if wish.DisableOthers, err = a.confirm("Disable " + strings.Join(enabled, " and ") + "?"); err != nil {
				return err
			}
			if plan, err = in.Plan(wish); err != nil {
				return err
			}
		} else {
			a.note("It stays enabled: `claude-mem install --disable-node` disables it, and so does `claude plugin disable %s`.\n", enabled[0])
		}
	}
	observer := a.observerChoice()
	older := a.olderSettings(o.dataDir)
	if !o.json {
		showPlan(a.people(), plan)
		if len(older) > 0 {
			a.note("")
			a.showOlder(older)
			a.note("They are imported into config.json, API keys only if you say so.")
		}
		observer.show(a.people())
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
			withKeys := false
			if holdsKeys(older) && !o.yes && isTerminal(a.stdin) {
				if withKeys, err = a.confirm(askKeys); err != nil {
					return err
				}
			}
			wanted := settings.WithoutKeys(older)
			if withKeys {
				wanted = func(settings.Older) bool { return true }
			}
			if err := settings.Import(o.dataDir, wanted); err != nil {
				return err
			}
			if holdsKeys(older) && !withKeys {
				a.note(keysNote)
			}
			was := observer
			if observer = a.observerChoice(); observer != was && !o.json {
				observer.show(a.people())
			}
		}
	}
	if o.json {
		return writeJSON(a.stdout, struct {
			DryRun   bool           `json:"dry_run"`
			Changed  bool           `json:"changed"`
			Plan     *install.Plan  `json:"plan"`
			Older    []olderJSON    `json:"older"`
			Observer observerChoice `json:"observer"`
			Found    []foundAgent   `json:"found"`
			History  foundHistory   `json:"history"`
		}{o.dry, !empty && !o.dry, plan, olderShapes(older), observer, a.foundAgents(o.dataDir), a.findHistory(ctx, o.dataDir)})
	}
	switch {
	case o.dry:
		a.note(dryRunNote)
	case empty:
		if len(older) > 0 {
			a.note("\nsettings.json is not imported yet: `claude-mem config import` imports it.")
		}
		a.note("\nNothing to do: claude-mem %s is installed.", plan.Version)
	default:
		a.installed(plan, o.dataDir)
	}
	if err := a.offerHistory(ctx, o); err != nil || o.host != "" {
		return err
	}
	return a.offerAgents(ctx, o)
}

// installed prints the next steps.
func (a *app) installed(plan *install.Plan, dataDir string) {
	a.note("\nInstalled. Claude Code remembers from its next session on: start it in a project.")
	if plan.Method == install.MethodSettings {
		a.note("For the memory's tools: claude mcp add --scope user memory -- %q mcp", plan.Program)
	}
	a.note("`claude-mem recent` lists the records, `claude-mem uninstall` removes it again.")
	if peer, err := api.FindWorker(dataDir); err == nil && peer.Info.Version != version {
		a.note("A worker of version %s is running: `claude-mem worker restart` starts this version.", peer.Info.Version)
	}
}

// installer returns the installer of this program into Claude Code.
func (a *app) installer(dataDir string) (*install.Installer, error) {
	options, err := a.installOptions(dataDir)
	if err != nil {
		return nil, err
	}
	options.ConfigDir, options.Moved = claudedir.Config(a.getenv, a.home())
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
// of a host.
func (a *app) installOptions(dataDir string) (install.Options, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return install.Options{}, memory.Errorf(memory.CodeInternal, "find own program: %w", err)
	}
	return install.Options{
		DataDir: dataDir, DataDirMoved: a.getenv(settings.DataDirKey) != "", Plugin: plugin.Files,
		Program: self, HookProgram: hookProgram(self), Version: version, Clock: a.now,
		StopWorker: func(ctx context.Context) error {
			_, err := daemon.Stop(ctx, dataDir, stopLimit)
			return err
		},
	}, nil
}

// hookProgram returns the hook program beside this one; without it this program itself,
// which has the same verbs.
func hookProgram(self string) string {
	twin := filepath.Join(filepath.Dir(self), install.HookProgram+filepath.Ext(self))
	if info, err := os.Stat(twin); err == nil && info.Mode().IsRegular() {
		return twin
	}
	return self
}

// home returns the user's home directory by the environment, "" if it is not set.
func (a *app) home() string {
	if runtime.GOOS == "windows" {
		return a.getenv("USERPROFILE")
	}
	return a.getenv("HOME")
}

func (a *app) uninstallCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove claude-mem from the agents; the memory stays",
		Long: `Remove claude-mem from Claude Code and all other agents, or from the one that --host
names. Shows the changes and asks. A file of yours that has
not changed since the install gets its old bytes back; from a changed one only our
entries are removed. It works without the claude command, and on an incomplete
installation. The memory is not changed.

Exit codes: 0 done, nothing to do, or the answer was no; 6 nobody to ask and no --yes;
2 a file of Claude Code's is broken; 4 another install is under way; 7 the disk refused.

JSON: {"dry_run", "changed", "removal": {"config_dir", "data_dir", "files": [{"path", "do", "size"?}], "restored": [path],
"uses": [name], "commands": [[argument]], "directories": [path], "enable": [id], "elsewhere": [path], "problems": [text]}?,
"agents": [{"host", "label", "config_dir", "data_dir", "files": [likewise], "restored": [path], "directories": [path]}]}; with --host of
another agent without "removal". It asks nothing: with --dry-run or --yes only.`,
		Example: "  claude-mem uninstall --dry-run\n  claude-mem uninstall\n  claude-mem uninstall --host codex",
	}
	return a.changesHost(cmd, &installOptions{}, a.uninstall, a.uninstallAgent)
}

// uninstall removes claude-mem from Claude Code, and from all other agents unless --host is
// given. The memory stays.
func (a *app) uninstall(ctx context.Context, in *install.Installer, o *installOptions) error {
	var installers []*install.AgentInstaller
	if o.host == "" {
		var err error
		if installers, err = a.installedAgents(o.dataDir, nil); err != nil {
			return err
		}
	}
	done, err := a.remove(ctx, in, installers, o)
	if err != nil || done == nil {
		return err
	}
	removal := done.Removal
	for _, problem := range removal.Problems {
		a.note("%s; done without it.", problem)
	}
	for _, dir := range removal.Elsewhere {
		a.note("It is still installed for %s: %s", dir, withVariable(runtime.GOOS, "CLAUDE_CONFIG_DIR", dir, "claude-mem uninstall"))
	}
	switch {
	case o.dry:
		a.note(dryRunNote)
	case !done.Changed:
		a.note("Nothing to do: claude-mem is not installed in %s.", removal.ConfigDir)
	default:
		for _, r := range done.Agents {
			a.note("\nclaude-mem is removed from %s.", r.Label)
		}
		if !removal.Empty() {
			a.note("\nclaude-mem is removed from Claude Code.")
		}
		a.note("A session that is open now may report missing hooks.")
	}
	a.note("The memory stays in %s.", removal.DataDir)
	if targets, err := a.targets(o.dataDir, nil); err == nil && len(targets) > 0 {
		a.note("Blocks of records stay in the files of your projects: `claude-mem agent-files clean` removes them, in each project.")
	}
	return nil
}
