package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/capture/wire"
	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manCommand returns the command `claude-mem man`: write the manual pages into a
// directory.
func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages into a directory",
		Long: `Write a manual page for each command into a directory: claude-mem.1,
claude-mem-search.1 and so on. They have the text of --help and no date, so that a version
always writes the same bytes.`,
		Example: "  claude-mem man ~/.local/share/man/man1\n  claude-mem man . && man ./claude-mem-search.1",

		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(cmd *cobra.Command, given []string) error {
			dir := given[0]
			err := os.MkdirAll(dir, 0o755)
			pages := documented(cmd.Root())
			for i := 0; i < len(pages) && err == nil; i++ {
				err = atomicfile.Write(filepath.Join(dir, manName(pages[i])+".1"), []byte(manPage(pages[i])), 0o644)
			}
			if err != nil {
				return memory.Errorf(memory.CodeStorage, "write manual pages: %w", err).
					WithHint("name a directory that can be written")
			}
			a.Note("%s written to %s", text.Count(len(pages), "manual page"), dir)
			return nil
		},
	}
}

// documented returns the visible commands and topics below cmd, cmd first.
func documented(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, sub := range cmd.Commands() {
		if (sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand()) && !sub.Hidden {
			all = append(all, documented(sub)...)
		}
	}
	return all
}

// manName returns the name of a command's page: claude-mem-search.
func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage returns a command's help as a manual page (groff_man(7)). cobra's own writer
// reads the help as Markdown and would lose its line breaks, <files> and tables. There is
// no date, so that a version always writes the same page.
func manPage(cmd *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" %s \"claude-mem manual\"\n", roffWord(strings.ToUpper(manName(cmd))), roffWord("claude-mem "+wire.Program))
	section := func(name, text string) {
		if text != "" {
			b.WriteString(".SH " + name + "\n" + text)
		}
	}
	section("NAME", fmt.Sprintf("%s \\- %s\n", roffText(manName(cmd)), roffText(cmd.Short)))
	if cmd.Runnable() {
		section("SYNOPSIS", fmt.Sprintf("\\fB%s\\fR [\\fIflags\\fR]\n", roffText(strings.TrimSuffix(cmd.UseLine(), " [flags]"))))
	}
	// Some versions of groff lack the signs.
	section("DESCRIPTION", roffLines(strings.ReplaceAll(cmd.Long, print.GlyphLegend, "The signs of records are explained by --help.")))
	commands, flags := "", ""
	var related, topics []string
	if cmd.HasParent() {
		related = append(related, manName(cmd.Parent()))
	}
	for _, sub := range documented(cmd)[1:] {
		switch {
		case sub.Parent() != cmd:
		case sub.Runnable():
			commands, related = commands+roffTerm(sub.Name(), sub.Short), append(related, manName(sub))
		default:
			topics = append(topics, manName(sub))
		}
	}
	section("COMMANDS", commands)
	cmd.InitDefaultHelpFlag()
	cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			flags += manFlag(f)
		}
	})
	section("FLAGS", flags)
	section("EXAMPLES", roffLines(cmd.Example))
	see := ""
	for _, name := range append(related, topics...) {
		see += print.If(see != "", ",\n") + fmt.Sprintf(".BR %s (1)", roffText(name))
	}
	section("SEE ALSO", see+print.If(see != "", "\n"))
	return b.String()
}

// manFlag returns a flag's entry on a manual page, in roff.
func manFlag(f *pflag.Flag) string {
	kind, usage := pflag.UnquoteUsage(f)
	names := print.If(f.Shorthand != "", "-"+f.Shorthand+", ") + "--" + f.Name + print.If(kind != "", " "+kind)
	if !slices.Contains([]string{"", "false", "0", "[]"}, f.DefValue) {
		usage += " (default " + f.DefValue + ")"
	}
	return roffTerm(names, usage)
}

// roffTerm returns a paragraph with a bold term.
func roffTerm(term, about string) string {
	return fmt.Sprintf(".TP\n.B %s\n%s\n", roffText(term), roffText(strings.ReplaceAll(about, "\n", " ")))
}

// roffLines returns text with its line breaks, which are part of a help; "" for "".
func roffLines(text string) string {
	if text == "" {
		return ""
	}
	lines := ".nf\n"
	for line := range strings.SplitSeq(text, "\n") {
		lines += roffText(line) + "\n"
	}
	return lines + ".fi\n"
}

// roffSigns escapes the characters that roff interprets within a line.
var roffSigns = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)

// roffText escapes a text without line breaks for a line of its own or within one.
func roffText(text string) string {
	escaped := ""
	for _, r := range roffSigns.Replace(text) {
		if r > unicode.MaxASCII {
			escaped += fmt.Sprintf(`\[u%04X]`, r)
		} else {
			escaped += string(r)
		}
	}
	return print.If(strings.HasPrefix(escaped, "."), `\&`) + escaped // else it is a request
}

// roffWord quotes an argument of a request.
func roffWord(text string) string {
	return `"` + strings.ReplaceAll(roffText(text), `"`, `\(dq`) + `"`
}
