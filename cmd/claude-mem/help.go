package main

import (
	"fmt"
	"io"
	"strings"

	"claudemem/cmd/claude-mem/internal/cli"

	"github.com/spf13/cobra"
)

// The groups of commands in the help of the root.
const (
	groupMemory = "memory"
	groupRun    = "run"
	groupHook   = cli.GroupHook
	groupSeldom = "seldom"
)

// undoneBy is the annotation of a command with the name of the one that undoes it: the
// root's help has both in one line.
const undoneBy = "undone by"

// help returns the help function: the root's help fits a screen, the others have cobra's. The form
// of a command's JSON, the last paragraph of its text, is for programs: with --json it is shown alone.
func help(others func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) {
		about, form, _ := strings.Cut(cmd.Long, "\n\nJSON: ")
		switch asked := cmd.Flags().Lookup("json"); {
		case !cmd.HasParent():
			rootHelp(cmd.OutOrStdout(), cmd)
			return
		case asked != nil && asked.Changed:
			_, _ = fmt.Fprintf(cmd.OutOrStdout(), "JSON: %s\n", form)
			return
		case asked != nil:
			cmd.Long = about
		}
		others(cmd, args)
	}
}

// rootHelp writes the help of claude-mem itself: its commands by group.
func rootHelp(w io.Writer, root *cobra.Command) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nUsage: %s COMMAND [ARGUMENTS] [FLAGS]\n\nStart here:\n%s\n", root.Long, root.Name(), root.Example)
	for _, group := range root.Groups() {
		var lines, names []string
		undoing := map[string]bool{}
		for _, cmd := range root.Commands() {
			if cmd.GroupID == group.ID && cmd.IsAvailableCommand() && !undoing[cmd.Name()] {
				undoing[cmd.Annotations[undoneBy]] = true
				line := strings.TrimSpace(cmd.Name() + " " + cmd.Annotations[undoneBy])
				lines, names = append(lines, fmt.Sprintf("  %-11s %s\n", line, cmd.Short)), append(names, cmd.Name())
			}
		}
		switch group.ID {
		case groupHook: // people do not run them: their names do
			fmt.Fprintf(&b, "%s %s\n", group.Title, strings.Join(names, ", "))
		case groupSeldom:
			half := (len(names) + 1) / 2
			fmt.Fprintf(&b, "%s %s,\n  %s\n", group.Title, strings.Join(names[:half], ", "), strings.Join(names[half:], ", "))
		default:
			fmt.Fprintf(&b, "\n%s\n%s", group.Title, strings.Join(lines, ""))
		}
	}
	b.WriteString("\n`claude-mem COMMAND --help` explains a command, with examples.\n" +
		"`claude-mem help scripting` explains JSON, exit codes and environment variables.\n")
	_, _ = io.WriteString(w, b.String())
}

// helpCommand returns `help`. Cobra's own ignores a word that is no command.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND...]",
		Short:   "Show the help of a command, with examples",
		Long:    "Show the help of a command, with examples, as its --help does. `claude-mem help scripting`\nexplains what all commands share: JSON, exit codes, environment variables.",
		Example: "  claude-mem help search\n  claude-mem help worker status\n  claude-mem help scripting",
		RunE: func(cmd *cobra.Command, words []string) error {
			found, rest, _ := cmd.Root().Find(words)
			if len(rest) > 0 {
				return cli.KnownCommand(found, rest)
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
			for _, sub := range above.Commands() {
				if (sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand()) && strings.HasPrefix(sub.Name(), word) {
					found = append(found, cli.Described(sub.Name(), sub.Short))
				}
			}
			return found, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// scriptingTopic returns the help topic for programs; it is no command.
func scriptingTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "scripting",
		Short: "JSON, exit codes and environment variables",
		Long: `Data is on standard output, everything else on standard error.

JSON: every command that prints data has --json; --json --help lists its fields, and
docs/cli.md has every field with its type. Times are milliseconds since 1970 in UTC,
except in fields that end in _iso. Fields may be added; they are not renamed or removed.
A question mark marks a field that may be absent. With --json an error is the
last line of standard error: {"error": {"code", "message", "hint"?}}.

Exit codes:
` + cli.ExitHelp() + `
Hook commands (context, end, new, save, statusline, summary) always exit 0: a fault of
the memory must not stop the agent.

Environment:
  CLAUDE_MEM_DATA_DIR  the data directory (default ~/.claude-mem)
  CLAUDE_MEM_…         a setting; overrides config.json (docs/settings.md)
  NO_COLOR, TERM=dumb  no colour on a terminal; other output never has colour`,
	}
}
