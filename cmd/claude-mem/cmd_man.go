package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"claudemem"
	"claudemem/text"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manCommand returns the command `claude-mem man`: write the manual pages into a
// directory.
func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write the manual pages into a directory",
		GroupID: groupRun,
		Long: `Write a manual page for each command into a directory: claude-mem.1,
claude-mem-search.1 and so on. They have the text of --help and no date, so that a version
always writes the same bytes.`,
		Example: "  claude-mem man ~/.local/share/man/man1\n  claude-mem man . && man ./claude-mem-search.1",
		Args:    args(cobra.ExactArgs(1)),

		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(cmd *cobra.Command, given []string) error {
			dir := given[0]
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return claudemem.Errorf(claudemem.CodeStorage, "make directory: %w", err).
					WithHint("name a directory that can be written")
			}
			pages := documented(cmd.Root())
			for _, page := range pages {
				if err := os.WriteFile(filepath.Join(dir, manName(page)+".1"), []byte(manPage(page)), 0o644); err != nil {
					return claudemem.Errorf(claudemem.CodeStorage, "write manual page: %w", err).
						WithHint("name a directory that can be written")
				}
			}
			a.note("%s written to %s", text.Count(len(pages), "manual page"), dir)
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

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage returns a command's help as a manual page (groff_man(7)). cobra's own writer
// takes the help for Markdown, which it is not: its lines, its <files> and its
// tables would be lost. There is no date, so that a page depends on the program alone.
func manPage(cmd *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" %s \"claude-mem manual\"\n", roffWord(strings.ToUpper(manName(cmd))), roffWord("claude-mem "+version))
	section := func(name string) { fmt.Fprintf(&b, ".SH %s\n", name) }
	section("NAME")
	fmt.Fprintf(&b, "%s \\- %s\n", roffText(manName(cmd)), roffText(cmd.Short))
	if cmd.Runnable() {
		section("SYNOPSIS")
		fmt.Fprintf(&b, "\\fB%s\\fR [\\fIflags\\fR]\n", roffText(strings.TrimSuffix(cmd.UseLine(), " [flags]")))
	}
	if cmd.Long != "" {
		section("DESCRIPTION")
		// Not every groff has the signs.
		b.WriteString(roffLines(strings.ReplaceAll(cmd.Long, glyphLegend, "The signs of records are explained by --help.")))
	}
	var commands, related, topics []string
	if cmd.HasParent() {
		related = append(related, manName(cmd.Parent()))
	}
	for _, sub := range documented(cmd)[1:] {
		switch {
		case sub.Parent() != cmd:
		case sub.Runnable():
			commands, related = append(commands, roffTerm(sub.Name(), sub.Short)), append(related, manName(sub))
		default:
			topics = append(topics, manName(sub))
		}
	}
	related = append(related, topics...)
	if len(commands) > 0 {
		section("COMMANDS")
		b.WriteString(strings.Join(commands, ""))
	}
	cmd.InitDefaultHelpFlag()
	if flags := cmd.NonInheritedFlags(); flags.HasAvailableFlags() {
		section("FLAGS")
		flags.VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				b.WriteString(manFlag(f))
			}
		})
	}
	if cmd.Example != "" {
		section("EXAMPLES")
		b.WriteString(roffLines(cmd.Example))
	}
	if len(related) > 0 {
		section("SEE ALSO")
		for i, name := range related {
			comma := ","
			if i == len(related)-1 {
				comma = ""
			}
			fmt.Fprintf(&b, ".BR %s (1)%s\n", roffText(name), comma)
		}
	}
	return b.String()
}

// manFlag returns a flag's entry on a manual page, in roff.
func manFlag(f *pflag.Flag) string {
	kind, usage := pflag.UnquoteUsage(f)
	names := "--" + f.Name
	if f.Shorthand != "" {
		names = "-" + f.Shorthand + ", " + names
	}
	if kind != "" {
		names += " " + kind
	}
	switch f.DefValue {
	case "", "false", "0", "[]":
	default:
		usage += " (default " + f.DefValue + ")"
	}
	return roffTerm(names, usage)
}

// roffTerm returns a paragraph with a bold term.
func roffTerm(term, about string) string {
	return fmt.Sprintf(".TP\n.B %s\n%s\n", roffText(term), roffText(strings.ReplaceAll(about, "\n", " ")))
}

// roffLines returns text with its line breaks, which are part of a help.
func roffLines(text string) string {
	var b strings.Builder
	b.WriteString(".nf\n")
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString(roffText(line) + "\n")
	}
	b.WriteString(".fi\n")
	return b.String()
}

// roffSigns escapes the characters that roff interprets within a line.
var roffSigns = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)

// roffText escapes text, also for a line of its own.
func roffText(text string) string {
	var b strings.Builder
	for _, r := range roffSigns.Replace(text) {
		if r > unicode.MaxASCII {
			fmt.Fprintf(&b, `\[u%04X]`, r)
			continue
		}
		b.WriteRune(r)
	}
	text = b.String()
	if strings.HasPrefix(text, ".") {
		return `\&` + text // else it is a request
	}
	return text
}

// roffWord quotes an argument of a request.
func roffWord(text string) string {
	return `"` + strings.ReplaceAll(roffText(text), `"`, `\(dq`) + `"`
}
