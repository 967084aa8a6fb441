package cli

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/run/install"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// DidYouMean returns the hint that names the candidate nearest to a word in format,
// or else the other hint.
func DidYouMean(word string, candidates []string, format, other string) string {
	if name := api.Nearest(word, candidates); name != "" {
		return "did you mean " + fmt.Sprintf(format, name) + "?"
	}
	return other
}

// otherWords maps the command names of other programs to ours.
var otherWords = func() map[string]string {
	words := map[string]string{}
	for ours, others := range map[string]string{
		"browse": "tui", "config list": "env settings", "doctor": "check diagnose health status verify", "export": "dump", "import": "load",
		"forget": "clear delete del drop erase prune purge remove reset rm wipe", "install": "init setup", "open": "dashboard gui ui viewer web",
		"recent": "history list ls memories memory observations records", "remember": "add create note save_memory store write",
		"search": "ask find grep query", "show": "cat get inspect read view", "stats": "cost info stat tokens usage", "worker logs": "log",
		"worker start": "daemon run serve server", "worker status": "ps", "upgrade": "self-update update",
	} {
		for _, word := range strings.Fields(others) {
			words[word] = ours
		}
	}
	return words
}()

// GroupHook is the group of the commands that the host runs. Of these people are shown context alone.
const GroupHook = "hook"

// KnownCommand is the Args of a command with subcommands: an argument is an unknown command.
func KnownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := memory.Errorf(memory.CodeInvalid, "unknown command %q for %q", print.Line(args[0], 40), cmd.CommandPath())
	meant, given := meantCommand(cmd, args[0]), args[1:]
	if _, noID := ParseID(args[0]); noID == nil && slices.ContainsFunc(cmd.Commands(), func(sub *cobra.Command) bool { return sub.Name() == "show" }) {
		meant, given = cmd.CommandPath()+" show", args
	}
	if cmd.Name() == "config" && slices.Contains([]string{"clear", "del", "delete", "remove", "reset", "rm", "unset"}, strings.ToLower(args[0])) {
		meant, given = cmd.CommandPath()+" set", []string{text.First(append(given, "KEY")), ""} // an empty value removes it
	}
	if meant != "" {
		return err.WithHint(fmt.Sprintf("did you mean `%s`?", CommandLine(meant, given)))
	}
	return err.WithHint(fmt.Sprintf("`%s --help` lists the commands", cmd.CommandPath()))
}

// CommandLine returns a command with its arguments, to be pasted into a shell.
func CommandLine(command string, given []string) string {
	return strings.Join(append([]string{command}, collect.Map(given, ShellWord)...), " ")
}

// meantCommand returns the command line of the command below cmd nearest to a word, "" when there is
// none: the one that other programs call so, the only one two levels below of that name, or the
// nearest by its letters.
func meantCommand(cmd *cobra.Command, word string) string {
	var names, below []string
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() || sub.GroupID == GroupHook && sub.Name() != "context" {
			continue
		}
		names = append(names, sub.Name())
		below = append(below, collect.Pick(sub.Commands(), func(c *cobra.Command) (string, bool) {
			return c.CommandPath(), c.IsAvailableCommand() && c.Name() == word
		})...)
	}
	if other := otherWords[strings.ToLower(word)]; other != "" && !cmd.HasParent() {
		return cmd.CommandPath() + " " + other
	}
	if len(below) == 1 {
		return below[0]
	}
	name := api.Nearest(word, names)
	return print.If(name != "", cmd.CommandPath()+" "+name)
}

// flagValues describes the values of a type of flag.
var flagValues = map[string]string{"int": "a whole number", "float64": "a number", "bool": "true or false"}

// WrongFlag returns the error about a flag, with the nearest flag as hint.
func WrongFlag(cmd *cobra.Command, err error) error {
	if given := cmd.Flags().Args(); len(given) > 0 && cmd.HasSubCommands() {
		return KnownCommand(cmd, given) // the flag is probably one of the command that was meant
	}
	e := memory.Errorf(memory.CodeInvalid, "%w", err)
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok && flagValues[wrong.GetFlag().Value.Type()] != "" {
		e = memory.Errorf(memory.CodeInvalid, "--%s %q: want %s", wrong.GetFlag().Name, print.Line(wrong.GetValue(), 40), flagValues[wrong.GetFlag().Value.Type()])
	}
	hint := fmt.Sprintf("`%s --help` lists the flags", cmd.CommandPath())
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		e = memory.Errorf(memory.CodeInvalid, "--%s needs a value: %s", missing.GetFlag().Name, missing.GetFlag().Usage)
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if short := unknown.GetSpecifiedShortnames(); short != "" {
			e = memory.Errorf(memory.CodeInvalid, "unknown flag: -%s", print.Line(short, 40))
			if n, notNumber := strconv.Atoi(short); notNumber == nil && cmd.Flags().ShorthandLookup("n") != nil {
				return e.WithHint(fmt.Sprintf("did you mean -n %d? %s", n, hint))
			}
		}
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		name := api.Nearest(unknown.GetSpecifiedName(), names)
		hint = print.If(name != "", "did you mean --"+name+"? ") + hint
	}
	return e.WithHint(hint)
}

// checkFlags returns the error about flags that exclude each other, or about a number below 0,
// which no flag takes.
func checkFlags(cmd *cobra.Command) (err error) {
	var together []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Annotations["cobra_annotation_mutually_exclusive"] != nil {
			together = append(together, "--"+f.Name)
		}
		if f.Value.Type() == "int" && strings.HasPrefix(f.Value.String(), "-") {
			err = memory.Errorf(memory.CodeInvalid, "--%s %s: want at least 0", f.Name, f.Value).WithHint(fmt.Sprintf("such as --%s 5", f.Name))
		}
	})
	if cmd.ValidateFlagGroups() != nil {
		return memory.Errorf(memory.CodeInvalid, "%s exclude each other", strings.Join(together, " and ")).WithHint("leave one of them out")
	}
	return err
}

// Args wraps a cobra check of the number of arguments: its error names the arguments and
// has a code and a hint.
func Args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if check(cmd, given) == nil {
			return nil
		}
		_, takes, some := strings.Cut(cmd.Use, " ")
		hint := fmt.Sprintf("usage: %s %s; for example: %s", cmd.CommandPath(), takes, Example(cmd))
		switch {
		case !some:
			return memory.Errorf(memory.CodeInvalid, "`%s` takes no argument, got %q", cmd.CommandPath(), print.Line(given[0], 40)).
				WithHint(fmt.Sprintf("usage: %s; `%s --help` explains the flags", cmd.UseLine(), cmd.CommandPath()))
		case len(given) == 0:
			return memory.Errorf(memory.CodeInvalid, "`%s` needs %s", cmd.CommandPath(), takes).WithHint(hint)
		}
		return memory.Errorf(memory.CodeInvalid, "`%s` takes %s, got %s", cmd.CommandPath(), takes, text.Count(len(given), "argument")).WithHint(hint)
	}
}

// Example returns the first example of a command.
func Example(cmd *cobra.Command) string {
	line, _, _ := strings.Cut(strings.TrimSpace(cmd.Example), "\n")
	return line
}

// argsOf returns the check of the arguments that the Use of a command names: ID is one,
// ID... are one or more, what is in brackets may be left out.
func argsOf(use string) cobra.PositionalArgs {
	_, takes, _ := strings.Cut(use, " ")
	required, optional, _ := strings.Cut(takes, "[")
	least := len(strings.Fields(required))
	if strings.Contains(takes, "...") {
		return Args(cobra.MinimumNArgs(least))
	}
	return Args(cobra.RangeArgs(least, least+len(strings.Fields(optional))))
}

// WithVariable returns a command line that sets an environment variable for the command, to be
// pasted into a shell of this system: PowerShell on Windows, else a POSIX shell.
func WithVariable(name, value, command string) string {
	return withVariable(runtime.GOOS, name, value, command)
}

// ShellWord returns a text as one word of such a command line.
func ShellWord(text string) string { return shellWord(runtime.GOOS, text) }

func withVariable(goos, name, value, command string) string {
	if goos == "windows" {
		return "$env:" + name + " = " + shellWord(goos, value) + "; " + command
	}
	return name + "=" + shellWord(goos, value) + " " + command
}

func shellWord(goos, text string) string {
	if goos == "windows" {
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	return install.ShellWord(text)
}
