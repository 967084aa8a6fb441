package cli

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"claudemem/cmd/claude-mem/internal/print"
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
var otherWords = map[string]string{
	"add": "remember", "find": "search", "grep": "search", "list": "recent", "log": "worker logs", "ls": "recent",
	"memory": "recent", "note": "remember", "query": "search", "save_memory": "remember", "settings": "config", "stat": "stats", "update": "version",
}

// KnownCommand is the Args of a command with subcommands: an argument is an unknown command.
func KnownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := memory.Errorf(memory.CodeInvalid, "unknown command %q for %q", print.Line(args[0], 40), cmd.CommandPath())
	meant := meantCommand(cmd, args[0])
	if _, noID := ParseID(args[0]); noID == nil && slices.ContainsFunc(cmd.Commands(), func(sub *cobra.Command) bool { return sub.Name() == "show" }) {
		meant = cmd.CommandPath() + " show " + args[0]
	}
	if meant != "" {
		return err.WithHint(fmt.Sprintf("did you mean `%s`?", meant))
	}
	return err.WithHint(fmt.Sprintf("`%s --help` lists the commands", cmd.CommandPath()))
}

// meantCommand returns the command line of the command below cmd nearest to a word, "" when there is
// none: the one that other programs call so, the only one two levels below of that name, or the
// nearest by its letters.
func meantCommand(cmd *cobra.Command, word string) string {
	var names, below []string
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		names = append(names, sub.Name())
		for _, subsub := range sub.Commands() {
			if subsub.IsAvailableCommand() && subsub.Name() == word {
				below = append(below, subsub.CommandPath())
			}
		}
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
	e := memory.Errorf(memory.CodeInvalid, "%w", err)
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok && flagValues[wrong.GetFlag().Value.Type()] != "" {
		e = memory.Errorf(memory.CodeInvalid, "--%s %q: want %s", wrong.GetFlag().Name, print.Line(wrong.GetValue(), 40), flagValues[wrong.GetFlag().Value.Type()])
	}
	hint := fmt.Sprintf("`%s --help` lists the flags", cmd.CommandPath())
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
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

// Args wraps a cobra check of the number of arguments: its error names the arguments and
// has a code and a hint.
func Args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if check(cmd, given) == nil {
			return nil
		}
		_, takes, some := strings.Cut(cmd.Use, " ")
		err := memory.Errorf(memory.CodeInvalid, "`%s` takes %s, got %s", cmd.CommandPath(), takes, text.Count(len(given), "argument"))
		if !some {
			err = memory.Errorf(memory.CodeInvalid, "`%s` takes no argument, got %q", cmd.CommandPath(), print.Line(given[0], 40))
		}
		return err.WithHint(fmt.Sprintf("usage: %s", cmd.UseLine()))
	}
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
