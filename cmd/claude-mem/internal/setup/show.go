package setup

import (
	"fmt"
	"path/filepath"
	"strings"

	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/leaf/text"
	"claudemem/internal/run/install"

	"github.com/rogpeppe/go-internal/diff"
)

// showPlan prints the changes of an install.
func showPlan(p *print.Printer, plan *install.Plan) {
	if plan.Empty() {
		return
	}
	how := print.Or(plan.Method == install.MethodSettings, "plain hooks in settings.json", "plugin "+install.PluginID)
	p.Heading("claude-mem " + plan.Version + " for Claude Code (" + how + ")")
	if plan.Replaces != "" {
		p.Printf("It replaces version %s.\n", plan.Replaces)
	}
	showOwn(p, plan.Unfinished, plan.Directory, plan.Plugin)
	showFiles(p, plan.Files)
	showCommands(p, plan.Commands)
}

// showRemoval prints the changes of an uninstall.
func showRemoval(p *print.Printer, r *install.Removal) {
	if r.Empty() {
		return
	}
	p.Heading("Removing claude-mem from Claude Code")
	showFiles(p, r.Files)
	for _, path := range r.Restored {
		if filepath.Base(path) == "settings.json" {
			p.Printf("%s is restored, byte for byte.\n", path)
		}
	}
	for _, id := range r.Enable {
		p.Printf("%s, which install disabled, is enabled again.\n", id)
	}
	if len(r.Uses) > 0 {
		p.Printf("Claude Code's usage counters of %s are removed.\n", strings.Join(r.Uses, " and "))
	}
	showCommands(p, r.Commands)
	showDirectories(p, r.Directories)
}

// showDirectories lists the directories that an uninstall removes.
func showDirectories(p *print.Printer, dirs []string) {
	if len(dirs) > 0 {
		p.Printf("\nDirectories to remove:\n")
	}
	for _, dir := range dirs {
		p.Printf("  %s\n", dir)
	}
}

// showOwn says that an install goes on where an earlier one was interrupted, lists our programs
// by name, and counts the texts beside them.
func showOwn(p *print.Printer, unfinished bool, dir string, changes []install.Change) {
	if unfinished {
		p.Printf("An earlier run was interrupted; this one continues it.\n")
	}
	if len(changes) > 0 {
		p.Printf("\nOur own files, in %s:\n", dir)
	}
	texts := map[string]int{}
	for _, c := range changes {
		name, err := filepath.Rel(dir, c.Path)
		if err != nil {
			name = c.Path
		}
		if name = filepath.ToSlash(name); strings.HasPrefix(name, "bin/") && c.Do != install.DoRemove {
			p.Printf("  %-7s  %s, %s\n", c.Do, name, text.Bytes(c.Size))
			continue
		}
		texts[c.Do]++
	}
	for _, do := range []string{install.DoCreate, install.DoReplace} {
		if n := texts[do]; n > 0 {
			p.Printf("  %-7s  %s: hooks, MCP server, skill, manifests\n", do, text.Count(n, "small file"))
		}
	}
	if n := texts[install.DoRemove]; n > 0 {
		p.Printf("  %-7s  %s that the plugin no longer has\n", install.DoRemove, text.Count(n, "file"))
	}
}

// longestDiffLine bounds a line of a diff: settings may be one line of many kilobytes.
const longestDiffLine = 201

// showFiles shows each change of the user's settings.json as a diff. Of another file it only says
// that our entry is removed.
func showFiles(p *print.Printer, changes []install.Change) {
	for _, c := range changes {
		if filepath.Base(c.Path) != "settings.json" {
			// A file that the host's CLI maintains.
			p.Printf("\n%s: our entry is removed.\n", c.Path)
			continue
		}
		showDiff(p, c)
	}
}

// showDiffs shows each change as a diff.
func showDiffs(p *print.Printer, changes []install.Change) {
	for _, c := range changes {
		showDiff(p, c)
	}
}

// showDiff shows the change of a file as a diff.
func showDiff(p *print.Printer, c install.Change) {
	p.Printf("\n")
	before, after := c.Path, c.Path
	if c.Before == nil {
		before = "(no such file)"
	}
	if c.After == nil {
		after = "(removed)"
	}
	_, changed, _ := strings.Cut(string(diff.Diff(before, c.Before, after, c.After)), "\n") // the first line names a command
	for line := range strings.Lines(changed) {
		line = text.TruncateRunes(strings.TrimRight(text.Terminal(line), "\n"), longestDiffLine)
		switch {
		case strings.HasPrefix(line, "+"):
			line = p.Style(print.Green, line)
		case strings.HasPrefix(line, "-"):
			line = p.Style(print.Red, line)
		}
		p.Printf("%s\n", line)
	}
}

// showCommands prints under a heading the claude command lines that install or uninstall
// runs, each with "claude" in front of its args. It prints nothing for no commands.
func showCommands(p *print.Printer, commands [][]string) {
	if len(commands) == 0 {
		return
	}
	p.Printf("\nCommands (they update Claude Code's list of plugins):\n")
	for _, args := range commands {
		line := "claude"
		for _, arg := range args {
			if strings.ContainsAny(arg, " \t\"'$") {
				arg = fmt.Sprintf("%q", arg)
			}
			line += " " + arg
		}
		p.Printf("  %s\n", text.Terminal(line))
	}
}

// otherText warns that the enabled plugins capture everything a second time. enabled has their
// ids, at least one.
func otherText(plan *install.Plan, enabled []string) string {
	return "The plugin " + strings.Join(enabled, " and ") + " is enabled" + print.If(enabled[0] == install.NodePluginID, " (claude-mem for Node)") +
		". With both enabled, every event is captured twice, and each session gets two context blocks." +
		print.If(plan.NodeData, " Its memory, claude-mem.db, is kept and never changed.")
}
