package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"claudemem/internal/distil/observer/mode"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"

	"github.com/spf13/cobra"
)

// modeCommand returns the command `claude-mem mode`: show and check modes: the rules of
// what to remember.
func (a *app) modeCommand() *cobra.Command {
	return parent(&cobra.Command{
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

// modesDir returns the directory of the user's modes.
func modesDir(dataDir string) string { return filepath.Join(dataDir, "modes") }

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
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		resolved, dataDir, err := a.loadSettings()
		if err != nil {
			return err
		}
		modes, err := mode.List(modesDir(dataDir))
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
		return a.show(*asJSON, out, func(p *printer) {
			for _, m := range out {
				m.print(p)
			}
			if !found {
				a.note("warning: unknown mode %q in settings; using %q", oneLine(used, 60), mode.Default)
			}
		})
	}
	return cmd
}

// print prints the line of a mode in the list, "*" before the active one.
func (m modeLineJSON) print(p *printer) {
	mark := cmp.Or(textIf(m.Active, "*"), " ")
	p.printf("%s %s  %s\n", mark, p.style(styleBold, m.Name), oneLine(m.Description, 100))
	if m.File != "" {
		p.printf("    %s\n", p.style(styleDim, m.File))
	}
	if m.Error != "" {
		p.printf("    %s: %s\n", p.style(styleRed, "cannot be used"), oneLine(m.Error, 0))
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
	asJSON := jsonFlag(cmd)
	cmd.ValidArgsFunction = firstOnly(completion(a.modeChoices()))
	prompt := cmd.Flags().Bool("prompt", false, "print the instructions for the model")
	cmd.MarkFlagsMutuallyExclusive("json", "prompt")
	cmd.RunE = a.withDataDir(func(_ *cobra.Command, dataDir string, given []string) error {
		m, err := mode.Load(given[0], modesDir(dataDir))
		if err != nil {
			return unknownMode(given[0], modesDir(dataDir), err)
		}
		system := mode.System(m, "")
		if *prompt {
			a.people().printf("%s\n", safe(strings.TrimRight(system, "\n")))
			return nil
		}
		m.Concepts, m.Wording.Worth, m.Wording.Skip, m.Wording.Bad = notNil(m.Concepts), notNil(m.Wording.Worth), notNil(m.Wording.Skip), notNil(m.Wording.Bad)
		out := modeJSON{m, memory.EstimateTokens(system)}
		return a.show(*asJSON, out, out.print)
	})
	return cmd
}

// unknownMode adds the nearest mode to the error about a mode.
func unknownMode(name, dir string, err error) error {
	if memory.CodeOf(err) != memory.CodeNotFound {
		return err
	}
	modes, _ := mode.List(dir) // an error leaves the hint out
	if meant := nearest(name, mapped(modes, func(m *mode.Listed) string { return m.Name })); meant != "" {
		return memory.Errorf(memory.CodeNotFound, "%w", err).WithHint(fmt.Sprintf("did you mean `claude-mem mode show %s`?", meant))
	}
	return err
}

// print prints a mode in full for people.
func (m modeJSON) print(p *printer) {
	p.printf("%s  %s\n", p.style(styleBold, m.Name), oneLine(m.Description, 0))
	p.heading("Types")
	for _, t := range m.Types {
		fallback := textIf(t.ID == m.Fallback, " (when the model names no type)")
		p.printf("  %s %s: %s%s\n", t.Glyph, t.ID, oneLine(t.Definition, 0), p.style(styleDim, fallback))
	}
	p.list("Concepts", "", mapped(m.Concepts, func(c *mode.Concept) string { return c.ID + ": " + c.Definition }))
	p.list("Role", "", []string{m.Wording.Role})
	p.list("Worth recording", "- ", m.Wording.Worth)
	p.list("Not worth recording", "- ", m.Wording.Skip)
	p.printf("The instructions have about %d tokens; --prompt prints them.\n", m.PromptTokens)
}

// list prints foreign lines below a heading; nothing when there are none.
func (p *printer) list(title, mark string, lines []string) {
	if len(lines) > 0 {
		p.heading(title)
	}
	for _, line := range lines {
		p.printf("  %s%s\n", mark, oneLine(line, 0))
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
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.withDataDir(func(_ *cobra.Command, dataDir string, given []string) error {
		file := given[0]
		if !strings.ContainsAny(file, `/\.`) {
			file = filepath.Join(modesDir(dataDir), file+".json")
		}
		problems := mode.Check(file)
		ok := len(problems) == 0
		err := a.show(*asJSON, map[string]any{"file": file, "ok": ok, "problems": notNil(problems)}, func(p *printer) {
			for _, problem := range problems {
				p.printf("%s\n", oneLine(problem.String(), 0))
			}
			if ok {
				p.printf("%s can be used\n", file)
			}
		})
		if err == nil && !ok {
			err = quietly(memory.CodeInvalid)
		}
		return err
	})
	return cmd
}
