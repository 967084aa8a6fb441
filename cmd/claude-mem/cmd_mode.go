package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/distil/observer/mode"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// modeCommand returns the command `claude-mem mode`: show and check modes: the rules of
// what to remember.
func (a *app) modeCommand() *cobra.Command {
	return cli.Parent(&cobra.Command{
		Use:   "mode",
		Short: "Show and check modes: the rules of what to remember",
		Long: `A mode defines what to remember: the types and concepts of observations and the
instructions for the model. Some modes are built in. A file NAME.json in the directory
modes of the data directory adds a mode or replaces the built-in mode of that name. It
contains only the differences from the mode that it "inherits".
` + "`claude-mem config set MODE NAME`" + ` selects a mode.`,
		Example: "  claude-mem mode list\n  claude-mem mode show research\n  claude-mem mode check ~/.claude-mem/modes/mine.json",
	}, a.modeListCommand(), a.modeShowCommand(), a.modeCheckCommand())
}

// modeLineJSON is a line of the list of modes.
type modeLineJSON struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// File is where the user's mode is, absent for a built-in one.
	File   string `json:"file,omitempty"`
	Active bool   `json:"active"`
	Error  string `json:"error,omitempty"`
}

// modeListCommand returns the command `claude-mem mode list`: list the modes.
func (a *app) modeListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the modes",
		Long: `List the built-in modes and your own; * marks the mode in use.

JSON: a list of {"name", "description", "file"?, "active", "error"?}.`,
		Example: "  claude-mem mode list",
	}
	a.JSONFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		resolved, dataDir, err := a.LoadSettings()
		if err != nil {
			return err
		}
		modes, err := mode.List(access.ModesDir(dataDir))
		if err != nil {
			return err
		}
		used := cmp.Or(resolved.Text(settings.KeyMode), mode.Default)
		out := []modeLineJSON{}
		found := false
		for _, m := range modes {
			line := modeLineJSON{Name: m.Name, Description: m.Description, File: m.File, Active: m.Name == used}
			if m.Err != nil {
				line.Error = m.Err.Error()
			}
			found = found || line.Active
			out = append(out, line)
		}
		return a.Show(out, func(p *print.Printer) {
			for _, m := range out {
				m.print(p)
			}
			if !found {
				a.Note("warning: unknown mode %q in settings; using %q", print.Line(used, 60), mode.Default)
			}
		})
	}
	return cmd
}

// print prints the line of a mode in the list, "*" before the active one.
func (m modeLineJSON) print(p *print.Printer) {
	mark := cmp.Or(print.If(m.Active, "*"), " ")
	p.Printf("%s %s  %s\n", mark, p.Style(print.Bold, m.Name), print.Line(m.Description, 100))
	if m.File != "" {
		p.Printf("    %s\n", p.Style(print.Dim, m.File))
	}
	if m.Error != "" {
		p.Printf("    %s: %s\n", p.Style(print.Red, "cannot be used"), print.Line(m.Error, 0))
	}
}

// modeJSON is a mode with everything inherited, and the tokens of its instructions.
type modeJSON struct {
	mode.Mode
	PromptTokens int `json:"prompt_tokens"`
}

// modeShowCommand returns the command `claude-mem mode show`: show a mode with
// everything it inherits.
func (a *app) modeShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show a mode with everything it inherits",
		Long: `Show a mode with everything it inherits, or with --prompt the instructions for the
model. prompt_tokens estimates the tokens of these instructions in every call.

JSON: {"name", "description", "types": [{"id", "glyph", "definition"}], "fallback_type",
"concepts": [{"id", "definition"}], "wording": {"role", "worth", "skip", "good", "nothing", "bad"}, "prompt_tokens"}.
Without prompt_tokens this is the form of a mode's file.`,
		Example: "  claude-mem mode show code\n  claude-mem mode show research --prompt",
	}
	a.JSONFlag(cmd)
	cmd.ValidArgsFunction = cli.FirstOnly(cli.Completion(a.ModeChoices()))
	prompt := cmd.Flags().Bool("prompt", false, "print the instructions for the model")
	cmd.MarkFlagsMutuallyExclusive("json", "prompt")
	return a.WithDataDir(cmd, func(ctx context.Context, dataDir string, given []string) error {
		m, err := mode.Load(given[0], access.ModesDir(dataDir))
		if err != nil {
			return unknownMode(given[0], access.ModesDir(dataDir), err)
		}
		system := mode.System(m, "")
		if *prompt {
			a.People().Printf("%s\n", text.Terminal(strings.TrimRight(system, "\n")))
			return nil
		}
		m.Concepts, m.Wording.Worth, m.Wording.Skip, m.Wording.Bad = print.NotNil(m.Concepts), print.NotNil(m.Wording.Worth), print.NotNil(m.Wording.Skip), print.NotNil(m.Wording.Bad)
		out := modeJSON{m, memory.EstimateTokens(system)}
		return a.Show(out, out.print)
	})
}

// unknownMode adds the nearest mode to the error about a mode.
func unknownMode(name, dir string, err error) error {
	if memory.CodeOf(err) != memory.CodeNotFound {
		return err
	}
	modes, _ := mode.List(dir) // an error leaves the hint out
	if meant := api.Nearest(name, print.Mapped(modes, func(m *mode.Listed) string { return m.Name })); meant != "" {
		return memory.Errorf(memory.CodeNotFound, "%w", err).WithHint(fmt.Sprintf("did you mean `claude-mem mode show %s`?", meant))
	}
	return err
}

// print prints a mode in full for people.
func (m modeJSON) print(p *print.Printer) {
	p.Printf("%s  %s\n", p.Style(print.Bold, m.Name), print.Line(m.Description, 0))
	p.Heading("Types")
	for _, t := range m.Types {
		fallback := print.If(t.ID == string(m.Fallback), " (when the model names no type)")
		p.Printf("  %s %s: %s%s\n", t.Glyph, t.ID, print.Line(t.Definition, 0), p.Style(print.Dim, fallback))
	}
	printList(p, "Concepts", "", print.Mapped(m.Concepts, func(c *mode.Term) string { return c.ID + ": " + c.Definition }))
	printList(p, "Role", "", []string{m.Wording.Role})
	printList(p, "Worth recording", "- ", m.Wording.Worth)
	printList(p, "Not worth recording", "- ", m.Wording.Skip)
	p.Printf("The instructions have about %d tokens; --prompt prints them.\n", m.PromptTokens)
}

// printList prints foreign lines below a heading; nothing when there are none.
func printList(p *print.Printer, title, mark string, lines []string) {
	if len(lines) > 0 {
		p.Heading(title)
	}
	for _, line := range lines {
		p.Printf("  %s%s\n", mark, print.Line(line, 0))
	}
}

// modeCheckCommand returns the command `claude-mem mode check`: check a mode's file.
func (a *app) modeCheckCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Check a mode's file",
		Long: `List all problems of a mode's file, or of one of your modes by its name. The exit code
is 0 when the mode can be used and 2 when it cannot.

JSON: {"file", "ok", "problems": [{"field", "message"}]}.`,
		Example: "  claude-mem mode check mine.json\n  claude-mem mode check mine",

		ValidArgsFunction: cobra.FixedCompletions([]string{"json"}, cobra.ShellCompDirectiveFilterFileExt),
	}
	a.JSONFlag(cmd)
	return a.WithDataDir(cmd, func(ctx context.Context, dataDir string, given []string) error {
		file := given[0]
		if !strings.ContainsAny(file, `/\.`) {
			file = filepath.Join(access.ModesDir(dataDir), file+".json")
		}
		problems := mode.Check(file)
		ok := len(problems) == 0
		err := a.Show(map[string]any{"file": file, "ok": ok, "problems": print.NotNil(problems)}, func(p *print.Printer) {
			for _, problem := range problems {
				p.Printf("%s\n", print.Line(problem.String(), 0))
			}
			if ok {
				p.Printf("%s can be used\n", file)
			}
		})
		if err == nil && !ok {
			err = cli.Quietly(memory.CodeInvalid)
		}
		return err
	})
}
