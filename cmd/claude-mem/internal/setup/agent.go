package setup

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/cmd/claude-mem/internal/transfer"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/run/install"
)

// AgentNames returns the hosts whose hooks call us, as --host takes them, with commas.
func AgentNames() string {
	names := []string{string(memory.HostClaudeCode)}
	for _, agent := range install.Agents() {
		if !agent.MCPOnly() {
			names = text.Add(names, string(agent.Host), string(agent.Also))
		}
	}
	return strings.Join(names, ", ")
}

// mcpNames returns the agents that `--host mcp` takes.
func mcpNames() string {
	agents := collect.Keep(install.Agents(), func(agent install.Agent) bool { return agent.MCPOnly() })
	return strings.Join(collect.MapPtr(agents, func(agent *install.Agent) string { return string(agent.Host) }), ", ")
}

// mcpAgent returns the agent of `--host mcp NAME`. For a name that is not known the error has the entry
// to paste.
func mcpAgent(given []string, options install.Options) (*install.Agent, error) {
	if len(given) == 1 {
		if agent := install.AgentOf(memory.Host(given[0])); agent != nil && agent.MCPOnly() {
			return agent, nil
		}
	}
	return nil, memory.Errorf(memory.CodeInvalid, "--host mcp knows %s, not %q", mcpNames(), strings.Join(given, " ")).
		WithHint("elsewhere, add a server named " + install.ServerName + " to the agent's list: " + string(install.New(options).RunningServer()))
}

// agentOf returns the agent that --host names, with what was given behind it; nil for Claude Code and no
// name.
func (a *Verbs) agentOf(name string, given []string, dataDir string) (*install.Agent, error) {
	if name == "mcp" {
		options, err := a.installOptions(dataDir)
		if err != nil {
			return nil, err
		}
		return mcpAgent(given, options)
	}
	if len(given) > 0 {
		return nil, memory.Errorf(memory.CodeInvalid, "%q stands alone: only --host mcp takes a name behind it", given[0])
	}
	host := memory.Host(name).Canonical()
	if host == "" || host == memory.HostClaudeCode {
		return nil, nil
	}
	if agent := install.AgentOf(host); agent != nil && !agent.MCPOnly() {
		return agent, nil
	}
	return nil, memory.Errorf(memory.CodeInvalid, "unknown host %q", name).
		WithHint(cli.DidYouMean(name, strings.Split(AgentNames(), ", "), "--host %s", "--host takes "+AgentNames()+", mcp NAME; docs/hosts.md says how another one is connected"))
}

// agentInstaller returns the installer of this program into an agent whose configuration
// is in configDir, "" for the agent's usual directory; CodeInvalid if there is no home directory
// to find that in.
func (a *Verbs) agentInstaller(dataDir string, agent *install.Agent, configDir string) (*install.AgentInstaller, error) {
	options, err := a.installOptions(dataDir)
	if err != nil {
		return nil, err
	}
	if options.ConfigDir = cmp.Or(configDir, agent.Dir(a.Getenv, a.Home())); options.ConfigDir == "" {
		return nil, memory.Errorf(memory.CodeInvalid, "there is no home directory")
	}
	return install.NewAgent(options, agent), nil
}

// installAgent shows the plan, asks, installs and prints the result, as install does for
// Claude Code: nothing to do and a "no" are no errors. CodeInvalid for flags that are for Claude
// Code only.
func (a *Verbs) installAgent(ctx context.Context, agent *install.Agent, o *installOptions) error {
	if o.settings || o.disable {
		return memory.Errorf(memory.CodeInvalid, "--settings and --disable-node are for Claude Code").
			WithHint("`claude-mem install " + agent.Flag() + "` needs neither")
	}
	in, err := a.agentInstaller(o.dataDir, agent, "")
	if err != nil {
		return err
	}
	plan, err := in.Plan()
	if err != nil {
		return err
	}
	empty := plan.Empty()
	if p := a.People(); !a.JSON && !empty {
		p.Heading("claude-mem " + plan.Version + " for " + plan.Label)
		showOwn(p, plan.Unfinished, plan.Directory, plan.Programs)
		if o.dry {
			showDiffs(p, plan.Files)
		}
		p.Printf("\n%s, %s, %s%s\n", text.Count(plan.Hooks, "hook"), text.Count(plan.Servers, "MCP server"), text.Count(len(plan.Files), "file"), print.If(!o.dry, "; --dry-run shows the lines"))
		for _, c := range plan.Files {
			p.Printf("  %s\n", c.Path)
		}
	}
	if !empty && !o.dry {
		if yes, err := a.goAhead(o); err != nil || !yes {
			return err
		}
		if plan, err = in.Install(ctx); err != nil {
			return err
		}
	}
	if a.JSON {
		return print.JSON(a.Stdout, struct {
			DryRun  bool               `json:"dry_run"`
			Changed bool               `json:"changed"`
			Agent   *install.AgentPlan `json:"agent"`
		}{o.dry, !empty && !o.dry, plan})
	}
	switch {
	case o.dry:
		a.Note(dryRunNote)
	case empty:
		a.Note("Nothing to do: claude-mem is installed in %s.", plan.Label)
	default:
		a.Note("\nInstalled. %s %s from its next session on.", plan.Label, print.Or(agent.MCPOnly(), "can search the memory", "remembers"))
		if plan.Note != "" {
			a.Note("%s", plan.Note)
		}
		if agent.MCPOnly() {
			break
		}
		a.lacks(plan)
		a.Note("To check it after a session: `claude-mem doctor`, then `claude-mem sessions`.")
	}
	if err := a.offerSessions(ctx, agent, o); err != nil {
		return err
	}
	return a.offerHistory(ctx, o)
}

// offerSessions is offerHistory for what the agent has stored of its sessions.
func (a *Verbs) offerSessions(ctx context.Context, agent *install.Agent, o *installOptions) error {
	dir := agent.History(a.Getenv, a.Home())
	if info, _ := os.Stat(dir); info == nil {
		return nil
	}
	a.Note("\n%s has stored sessions; to import them, with no model: claude-mem import --host %s", agent.Label, agent.Host)
	if o.yes || o.dry || !print.IsTerminal(a.Stdin) {
		return nil
	}
	return a.importIf("Import them now, all projects, with no model?", func() error {
		return a.transfers().ImportTranscripts(ctx, o.dataDir, dir, &transfer.TranscriptFlags{Times: &cli.Times{}, Yes: true})
	})
}

// lacks says what the agent cannot do of what Claude Code can.
func (a *Verbs) lacks(plan *install.AgentPlan) {
	var when []string
	for _, event := range []struct{ name, words string }{{"SessionStart", "at a session's start"}, {"UserPromptSubmit", "at a prompt"}, {"PostToolUse", "after a tool"}} {
		if slices.Contains(strings.Fields(plan.Silent), event.name) {
			when = append(when, event.words)
		}
	}
	if len(when) > 0 {
		a.Note("It takes no context %s: the MCP server answers when it is asked.", strings.Join(when, ", nor "))
	}
	if choice := a.transfers().ObserverChoice(); choice.Provider == "auto" {
		a.Note("Its records are made by rules: the provider auto asks a model for Claude Code's sessions only (docs/providers.md).")
	}
}

// showAgentRemoval prints the changes of an uninstall from an agent.
func showAgentRemoval(p *print.Printer, r *install.AgentRemoval) {
	if r.Empty() {
		return
	}
	p.Heading("Removing claude-mem from " + r.Label)
	showDiffs(p, r.Files)
	for _, c := range r.Files {
		if c.After != nil && slices.Contains(r.Restored, c.Path) {
			p.Printf("%s is restored, byte for byte.\n", c.Path)
		}
	}
	showDirectories(p, r.Directories)
}

// foundAgent is an agent besides Claude Code that is used on this machine.
type foundAgent struct {
	Host      memory.Host `json:"host"`
	Label     string      `json:"label"`
	ConfigDir string      `json:"config_dir"`
	Installed bool        `json:"installed"`

	agent *install.Agent
}

// foundAgents returns the agents besides Claude Code that are found on this machine, installed
// or not; never nil. Installed is about the data directory.
func (a *Verbs) foundAgents(dataDir string) []foundAgent {
	_, dirs := install.InstalledAgents(dataDir)
	list := []foundAgent{} // JSON: [] instead of null
	for _, agent := range install.Agents() {
		if agent.IsFound(a.Getenv, a.Home()) {
			dir := agent.Dir(a.Getenv, a.Home())
			list = append(list, foundAgent{agent.Host, agent.Label, dir, slices.Contains(dirs, dir), install.AgentOf(agent.Host)})
		}
	}
	return list
}

// offerAgents names the agents that are found and have no install, and asks a person at a
// terminal whether to show the changes for each; then installAgent asks again before it makes
// them. With o.yes or o.dry it asks nothing and installs nothing.
func (a *Verbs) offerAgents(ctx context.Context, o *installOptions) error {
	for _, found := range a.foundAgents(o.dataDir) {
		if found.Installed {
			continue
		}
		a.Note("\nFound %s (%s): `claude-mem install %s`", found.Label, found.ConfigDir, found.agent.Flag())
		if o.yes || o.dry || !print.IsTerminal(a.Stdin) {
			continue
		}
		yes, err := a.Confirm("Show the changes for " + found.Label + "?")
		if err != nil {
			return err
		}
		if yes {
			if err := a.installAgent(ctx, found.agent, &installOptions{dataDir: o.dataDir}); err != nil {
				return err
			}
		}
	}
	return nil
}

// withAgents adds to the hint of err, that of an install without the claude command
// (CodeNotFound), the commands for the other agents that are found. Other errors are returned as
// they are.
func (a *Verbs) withAgents(dataDir string, err error) error {
	coded, ok := errors.AsType[*memory.Error](err)
	if !ok || coded.Code != memory.CodeNotFound {
		return err
	}
	commands := collect.MapPtr(a.foundAgents(dataDir), func(found *foundAgent) string {
		return "for " + found.Label + " `claude-mem install " + found.agent.Flag() + "`"
	})
	if len(commands) == 0 {
		return err
	}
	more := *coded
	return more.WithHint(coded.Hint + "; " + strings.Join(commands, ", "))
}

// installedAgents returns the installers of the agents that have an install with this data
// directory, each for the directory that it was installed into. With only, it returns those of
// this agent: if there is no install, one for its usual directory.
func (a *Verbs) installedAgents(dataDir string, only *install.Agent) ([]*install.AgentInstaller, error) {
	agents, dirs := install.InstalledAgents(dataDir)
	if only != nil && !slices.ContainsFunc(agents, func(agent *install.Agent) bool { return agent.Host == only.Host }) {
		agents, dirs = append(agents, only), append(dirs, "")
	}
	var list []*install.AgentInstaller
	for i, agent := range agents {
		if only != nil && agent.Host != only.Host {
			continue
		}
		in, err := a.agentInstaller(dataDir, agent, dirs[i])
		if err != nil {
			return nil, err
		}
		list = append(list, in)
	}
	return list, nil
}

// dryRunNote ends the output of --dry-run.
const dryRunNote = "\nNothing was changed: this was a dry run."

// removalJSON is what uninstall prints with --json. Removal is that from Claude Code, nil if
// the command is about another agent alone.
type removalJSON struct {
	DryRun  bool                    `json:"dry_run"`
	Changed bool                    `json:"changed"`
	Removal *install.Removal        `json:"removal,omitempty"`
	Agents  []*install.AgentRemoval `json:"agents"`
}

// remove shows what an uninstall from Claude Code (nil: not from it) and from agents removes,
// asks, and removes it; with o.dry it only shows. It returns nil when nothing is left to be
// said: after a "no", and with a.JSON, when it prints the result itself. An error on the way
// leaves what was removed before it removed.
func (a *Verbs) remove(ctx context.Context, host *install.Installer, agents []*install.AgentInstaller, o *installOptions) (*removalJSON, error) {
	done := &removalJSON{DryRun: o.dry, Agents: make([]*install.AgentRemoval, len(agents))}
	var err error
	empty := true
	for i, in := range agents {
		if done.Agents[i], err = in.PlanRemoval(); err != nil {
			return nil, err
		}
		if empty = empty && done.Agents[i].Empty(); !a.JSON {
			showAgentRemoval(a.People(), done.Agents[i])
		}
	}
	if host != nil {
		if done.Removal, err = host.PlanRemoval(); err != nil {
			return nil, err
		}
		if empty = empty && done.Removal.Empty(); !a.JSON {
			showRemoval(a.People(), done.Removal)
		}
	}
	if done.Changed = !empty && !o.dry; done.Changed {
		if yes, err := a.goAhead(o); err != nil || !yes {
			return nil, err
		}
		for i, in := range agents {
			if done.Agents[i], err = in.Uninstall(ctx); err != nil {
				return nil, err
			}
		}
		if host != nil {
			if done.Removal, err = host.Uninstall(ctx); err != nil {
				return nil, err
			}
		}
	}
	if a.JSON {
		return nil, print.JSON(a.Stdout, done)
	}
	return done, nil
}
