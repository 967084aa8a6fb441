package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"claudemem/internal/distil/model/claude"
	"claudemem/internal/leaf/claudedir"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/run/install"

	"github.com/rogpeppe/go-internal/diff"
)

// showPlan prints the changes of an install.
func showPlan(p *printer, plan *install.Plan) {
	if plan.Empty() {
		return
	}
	how := textOr(plan.Method == install.MethodSettings, "plain hooks in settings.json", "plugin "+install.PluginID)
	p.heading("claude-mem " + plan.Version + " for Claude Code (" + how + ")")
	if plan.Replaces != "" {
		p.printf("It replaces version %s.\n", plan.Replaces)
	}
	showOwn(p, plan.Unfinished, plan.Directory, plan.Plugin)
	showFiles(p, plan.Files)
	showCommands(p, plan.Commands)
}

// showRemoval prints the changes of an uninstall.
func showRemoval(p *printer, r *install.Removal) {
	if r.Empty() {
		return
	}
	p.heading("Removing claude-mem from Claude Code")
	showFiles(p, r.Files)
	for _, path := range r.Restored {
		if filepath.Base(path) == "settings.json" {
			p.printf("%s is restored, byte for byte.\n", path)
		}
	}
	for _, id := range r.Enable {
		p.printf("%s, which install disabled, is enabled again.\n", id)
	}
	if len(r.Uses) > 0 {
		p.printf("Claude Code's usage counters of %s are removed.\n", strings.Join(r.Uses, " and "))
	}
	showCommands(p, r.Commands)
	showDirectories(p, r.Directories)
}

// showDirectories lists the directories that an uninstall removes.
func showDirectories(p *printer, dirs []string) {
	if len(dirs) > 0 {
		p.printf("\nDirectories to remove:\n")
	}
	for _, dir := range dirs {
		p.printf("  %s\n", dir)
	}
}

// showOwn says that an install goes on where an earlier one was interrupted, lists our programs
// by name, and counts the texts beside them.
func showOwn(p *printer, unfinished bool, dir string, changes []install.Change) {
	if unfinished {
		p.printf("An earlier run was interrupted; this one continues it.\n")
	}
	if len(changes) > 0 {
		p.printf("\nOur own files, in %s:\n", dir)
	}
	texts := map[string]int{}
	for _, c := range changes {
		name, err := filepath.Rel(dir, c.Path)
		if err != nil {
			name = c.Path
		}
		if name = filepath.ToSlash(name); strings.HasPrefix(name, "bin/") && c.Do != install.DoRemove {
			p.printf("  %-7s  %s, %s\n", c.Do, name, text.Bytes(c.Size))
			continue
		}
		texts[c.Do]++
	}
	for _, do := range []string{install.DoCreate, install.DoReplace} {
		if n := texts[do]; n > 0 {
			p.printf("  %-7s  %s: hooks, MCP server, skill, manifests\n", do, text.Count(n, "small file"))
		}
	}
	if n := texts[install.DoRemove]; n > 0 {
		p.printf("  %-7s  %s that the plugin no longer has\n", install.DoRemove, text.Count(n, "file"))
	}
}

// longestDiffLine bounds a line of a diff: settings may be one line of many kilobytes.
const longestDiffLine = 201

// showFiles shows each change of the user's files as a diff.
func showFiles(p *printer, changes []install.Change) {
	for _, c := range changes {
		if filepath.Base(c.Path) != "settings.json" {
			// A file that the host's CLI maintains.
			p.printf("\n%s: our entry is removed.\n", c.Path)
			continue
		}
		showDiff(p, c)
	}
}

// showDiffs shows each change as a diff.
func showDiffs(p *printer, changes []install.Change) {
	for _, c := range changes {
		showDiff(p, c)
	}
}

// showDiff shows the change of a file as a diff.
func showDiff(p *printer, c install.Change) {
	p.printf("\n")
	before, after := c.Path, c.Path
	if c.Before == nil {
		before = "(no such file)"
	}
	if c.After == nil {
		after = "(removed)"
	}
	_, changed, _ := strings.Cut(string(diff.Diff(before, c.Before, after, c.After)), "\n") // the first line names a command
	for line := range strings.Lines(changed) {
		line = text.TruncateRunes(strings.TrimRight(safe(line), "\n"), longestDiffLine)
		switch {
		case strings.HasPrefix(line, "+"):
			line = p.style(styleGreen, line)
		case strings.HasPrefix(line, "-"):
			line = p.style(styleRed, line)
		}
		p.printf("%s\n", line)
	}
}

// showCommands prints under a heading the claude command lines that install or uninstall
// runs, each with "claude" in front of its args. It prints nothing for no commands.
func showCommands(p *printer, commands [][]string) {
	if len(commands) == 0 {
		return
	}
	p.printf("\nCommands (they update Claude Code's list of plugins):\n")
	for _, args := range commands {
		line := "claude"
		for _, arg := range args {
			if strings.ContainsAny(arg, " \t\"'$") {
				arg = fmt.Sprintf("%q", arg)
			}
			line += " " + arg
		}
		p.printf("  %s\n", safe(line))
	}
}

// enabledOthers returns the ids of the other memory plugins that are enabled.
func enabledOthers(plan *install.Plan) []string {
	var ids []string
	for _, o := range plan.Others {
		if o.Enabled {
			ids = append(ids, o.ID)
		}
	}
	return ids
}

// otherText warns that the enabled plugins capture everything a second time.
func otherText(plan *install.Plan, enabled []string) string {
	return "The plugin " + strings.Join(enabled, " and ") + " is enabled" + textIf(enabled[0] == install.NodePluginID, " (claude-mem for Node)") +
		". With both enabled, every event is captured twice, and each session gets two context blocks." +
		textIf(plan.NodeData, " Its memory, claude-mem.db, is kept and never changed.")
}

// observerChoice describes the observer that the settings choose, and its cost.
type observerChoice struct {
	Provider string `json:"provider"`
	Who      string `json:"who"`
	Cost     string `json:"cost"`
	Change   string `json:"change"`

	none bool // no model makes records
}

// observerChoice returns the observer that a worker with the current settings uses.
func (a *app) observerChoice() observerChoice {
	resolved, _, err := a.loadSettings()
	if err != nil {
		resolved = &settings.Settings{}
	}
	_, noCLI := claude.Find("claude", os.Environ())
	model := resolved.Text(settings.KeyModel)
	caps := fmt.Sprintf("at most %s tokens a day and %s a session (DAILY_TOKEN_CAP, SESSION_TOKEN_CAP), then the offline distiller takes over",
		text.Grouped(resolved.Int(settings.KeyDailyTokenCap)), text.Grouped(resolved.Int(settings.KeySessionTokenCap)))
	c := observerChoice{Provider: resolved.Text(settings.KeyProvider), Change: "claude-mem config set PROVIDER offline"}
	named := c.Provider + textIf(model != "", " with "+model)
	switch {
	case c.Provider == "auto" && noCLI != nil:
		c.Who = noModel + "rules extract the records (no claude command was found)"
		c.Cost, c.Change = "nothing", "claude-mem config set PROVIDER anthropic"
	case c.Provider == "offline":
		c.Who = noModel + "rules extract the records"
		c.Cost, c.Change = "nothing", "claude-mem config set PROVIDER auto"
	case c.Provider == "auto":
		c.auto(a, cmp.Or(model, "haiku"), caps)
	case c.Provider == "claude":
		c.Who = "your claude command with " + cmp.Or(model, "haiku") + ", with its login"
		c.Cost = "mostly one or two calls a turn, charged to that subscription or key; " + caps
	case c.Provider == "ollama":
		c.Who, c.Cost = named+" on this machine", "no money; "+caps
	default:
		c.Who = named + ", with the key in CLAUDE_MEM_" + strings.ToUpper(c.Provider) + "_API_KEY"
		c.Cost = "mostly one or two calls a turn at the provider's price; " + caps
	}
	c.none = strings.HasPrefix(c.Who, noModel)
	return c
}

// noModel begins the description of an observer without a model.
const noModel = "no model: "

// auto describes what the provider auto does with the login of Claude Code.
func (c *observerChoice) auto(a *app, model, caps string) {
	config, _ := claudedir.Config(a.getenv, a.home())
	login := claude.ReadLogin(config, a.getenv)
	c.Who = "your claude command with " + model + ", with "
	c.Cost = "mostly one call a turn, charged to that account; " + caps
	switch {
	case !login.ByItself && login.Name != "":
		c.Who = noModel + login.Name + " of your shell is not used, and the claude command has no login of its own; rules extract the records"
		c.Cost, c.Change = "nothing", login.Remedy()
	case !login.ByItself:
		c.Who = noModel + "the claude command has no login; rules extract the records"
		c.Cost, c.Change = "nothing", login.Remedy()+", or claude-mem config set PROVIDER anthropic"
	case login.Shell:
		c.Who += "its own login (" + login.Name + " of your shell is not used)"
	case login.Name != "":
		c.Who += login.Name + " of its settings"
	default:
		c.Who += "its login"
	}
}

// show prints the observer, its cost and the command that chooses another one.
func (c observerChoice) show(p *printer) {
	p.printf("\nObserver (makes records of captured events): %s\n", c.Provider)
	p.printf("  uses    %s\n  cost    %s\n  change  %s\n", c.Who, c.Cost, c.Change)
}

// confirm asks a person and returns whether the answer was yes; CodeForbidden where
// nobody is there to be asked.
func (a *app) confirm(question string) (bool, error) {
	if !isTerminal(a.stdin) {
		return false, notConfirmed("standard input is no terminal, so nobody can be asked")
	}
	_, _ = fmt.Fprintf(terminalWriter{w: a.stderr}, "\n%s [y/N] ", question)
	// One byte at a time: what comes after the line belongs to the next question.
	answer, err := bufio.NewReaderSize(io.LimitReader(oneByte{a.stdin}, 1024), 16).ReadString('\n')
	if errors.Is(err, io.EOF) && answer == "" {
		return false, notConfirmed("standard input has ended, so nobody can be asked")
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true, nil
	}
	return false, nil
}

type oneByte struct{ r io.Reader }

func (o oneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(1, len(p))]) }

// notConfirmed returns the error of a change that was not confirmed; the error says why.
func notConfirmed(why string) error {
	return memory.Errorf(memory.CodeForbidden, "not confirmed: %s", why).
		WithHint("--yes goes ahead without asking, --dry-run only shows what would change")
}
