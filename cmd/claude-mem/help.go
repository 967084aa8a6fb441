package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// The groups of commands in the help of the root.
const (
	groupMemory = "memory"
	groupRun    = "run"
	groupHook   = "hook"
)

// help is the help of every command: that of the root fits a screen, of the others
// it is cobra's.
func help(others func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) {
		if cmd.HasParent() {
			others(cmd, args)
			return
		}
		rootHelp(cmd.OutOrStdout(), cmd)
	}
}

func rootHelp(w io.Writer, root *cobra.Command) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nUsage: %s COMMAND [ARGUMENTS] [FLAGS]\n\nStart here:\n%s\n", root.Long, root.Name(), root.Example)
	for _, group := range root.Groups() {
		var names []string
		fmt.Fprintf(&b, "\n%s", group.Title)
		if group.ID != groupHook {
			b.WriteString("\n")
		}
		for _, cmd := range root.Commands() {
			if cmd.GroupID != group.ID || !cmd.IsAvailableCommand() {
				continue
			}
			if group.ID == groupHook {
				names = append(names, cmd.Name())
				continue
			}
			fmt.Fprintf(&b, "  %-11s %s\n", cmd.Name(), cmd.Short)
		}
		if len(names) > 0 {
			fmt.Fprintf(&b, " %s\n", strings.Join(names, ", "))
		}
	}
	b.WriteString("\n`claude-mem COMMAND --help` tells more, with examples. What programs need is in\n" +
		"`claude-mem help scripting`: JSON, exit codes, environment variables.\n")
	_, _ = io.WriteString(w, b.String())
}

// helpCommand is `help`: cobra's own takes a word that it does not know for no word.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND...]",
		Short:   "Tell what a command does, with examples",
		Long:    "Tell what a command does, with examples, as its --help does. `claude-mem help scripting`\nis about all of them: JSON, exit codes, environment variables.",
		Example: "  claude-mem help search\n  claude-mem help worker status\n  claude-mem help scripting",
		GroupID: groupRun,
		RunE: func(cmd *cobra.Command, words []string) error {
			found := cmd.Root()
			for _, word := range words {
				next := slices.IndexFunc(found.Commands(), func(sub *cobra.Command) bool { return sub.Name() == word })
				if next < 0 {
					return knownCommand(found, []string{word})
				}
				found = found.Commands()[next]
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, words []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			above, _, err := cmd.Root().Find(words)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var found []cobra.Completion
			for _, sub := range documented(above)[1:] {
				if sub.Parent() == above && strings.HasPrefix(sub.Name(), word) {
					found = append(found, described(sub.Name(), sub.Short))
				}
			}
			return found, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// scriptingTopic is the help that is of no command.
func scriptingTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "scripting",
		Short: "JSON, exit codes and environment variables",
		Long: `Data is on standard output, everything else on standard error.

JSON: every command that prints data has --json; its help says what it prints, and
docs/cli.md has every field with its type. Times are milliseconds since 1970 in UTC,
names that end in _iso apart. Fields may be added, they are not renamed or removed;
one that may be absent is marked with a question mark. With --json an error is the
last line of standard error: {"error": {"code", "message", "hint"?}}.

Exit codes:
` + exitHelp() + `
Hook commands (context, end, new, save, statusline, summary) always exit 0: an agent
must not stumble over its memory.

Environment:
  CLAUDE_MEM_DATA_DIR  where the memory is kept (default ~/.claude-mem)
  CLAUDE_MEM_…         each setting, over that of config.json (docs/settings.md)
  NO_COLOR, TERM=dumb  no colour on a terminal; elsewhere there is none`,
	}
}
