package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/docs"
	"claudemem/internal/leaf/collect"

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

// help returns the help function: the root's help fits a screen, with --json a command's has the form of
// its JSON, and the others have cobra's.
func help(others func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) {
		switch asked := cmd.Flags().Lookup("json"); {
		case !cmd.HasParent():
			rootHelp(cmd.OutOrStdout(), cmd)
		case asked != nil && asked.Changed:
			_, _ = io.WriteString(cmd.OutOrStdout(), jsonForm(cmd.CommandPath()))
		default:
			others(cmd, args)
		}
	}
}

// jsonForm returns what docs/cli.md says of the JSON of a command, and of the shapes that it consists of.
func jsonForm(command string) string {
	commands, shapes, _ := strings.Cut(docs.CommandLine, "\n## Shapes\n")
	var sections []string
	for _, section := range strings.Split(commands, "\n### ") {
		heading, _, _ := strings.Cut(section, "\n")
		if strings.Contains(heading, "`"+command+"`") || strings.Contains(heading, "`"+command+" --") {
			sections = append(sections, section)
		}
	}
	unnamed := map[string]string{}
	for _, shape := range strings.Split(shapes, "\n#### ") {
		name, _, _ := strings.Cut(shape, "\n")
		unnamed[name] = shape
	}
	for i := 0; i < len(sections); i++ { // a shape names further ones
		for _, word := range strings.FieldsFunc(sections[i], func(r rune) bool { return !unicode.IsLetter(r) }) {
			if shape, ok := unnamed[word]; ok {
				sections = append(sections, shape)
				delete(unnamed, word)
			}
		}
	}
	return "# " + strings.Join(sections, "\n# ") + "\n"
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
			half := len(names) / 2
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
			return collect.Pick(above.Commands(), func(sub *cobra.Command) (cobra.Completion, bool) {
				return cli.Described(sub.Name(), sub.Short), (sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand()) && strings.HasPrefix(sub.Name(), word)
			}), cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// scriptingTopic returns the help topic for programs; it is no command. It has what docs/cli.md says of all commands.
func scriptingTopic() *cobra.Command {
	shared, _, _ := strings.Cut(docs.CommandLine, "\n\n### ")
	return &cobra.Command{Use: "scripting", Short: "JSON, exit codes and environment variables", Long: shared}
}
