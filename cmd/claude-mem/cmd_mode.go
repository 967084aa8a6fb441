package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"claudemem"
	"claudemem/observer/mode"
	"claudemem/settings"

	"github.com/spf13/cobra"
)

// modeCommand returns the command `claude-mem mode`: show and check modes: the rules of
// what to remember.
func (a *app) modeCommand() *cobra.Command {
	return parent(&cobra.Command{
		Use:     "mode",
		Short:   "Show and check modes: the rules of what to remember",
		GroupID: groupRun,
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
		Args:    noArgs,
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
		used := resolved.Text(settings.KeyMode)
		if used == "" {
			used = mode.Default
		}
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
	mark := " "
	if m.Active {
		mark = "*"
	}
	p.printf("%s %s  %s\n", mark, p.style(styleBold, m.Name), oneLine(m.Description, 100))
	if m.File != "" {
		p.printf("    %s\n", p.style(styleDim, m.File))
	}
	if m.Error != "" {
		p.printf("    %s: %s\n", p.style(styleRed, "cannot be used"), oneLine(m.Error, 0))
	}
}

// modeJSON is a mode, complete: what it inherits is in it.
type modeJSON struct {
	Name         string                    `json:"name"`
	Description  string                    `json:"description"`
	Types        []mode.Type               `json:"types"`
	FallbackType claudemem.ObservationType `json:"fallback_type"`
	Concepts     []mode.Concept            `json:"concepts"`
	Wording      mode.Wording              `json:"wording"`
	PromptTokens int                       `json:"prompt_tokens"`
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
"concepts": [{"id", "definition"}], "wording": {"role", "worth", "skip", "good", "bad"}, "prompt_tokens"}.
Without prompt_tokens this is the form of a mode's file.`,
		Example: "  claude-mem mode show code\n  claude-mem mode show research --prompt",
		Args:    args(cobra.ExactArgs(1)),
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
		system := mode.System(m, mode.Facts{})
		if *prompt {
			a.people().printf("%s\n", safe(strings.TrimRight(system, "\n")))
			return nil
		}
		out := modeJSON{
			Name: m.Name, Description: m.Description, Types: m.Types, FallbackType: m.Fallback,
			Concepts: m.Concepts, Wording: m.Wording, PromptTokens: claudemem.EstimateTokens(system),
		}
		if out.Concepts == nil {
			out.Concepts = []mode.Concept{}
		}
		out.Wording.Worth, out.Wording.Skip, out.Wording.Bad = notNil(m.Wording.Worth), notNil(m.Wording.Skip), notNil(m.Wording.Bad)
		return a.show(*asJSON, out, out.print)
	})
	return cmd
}

// unknownMode adds the nearest mode to the error about a mode.
func unknownMode(name, dir string, err error) error {
	if claudemem.CodeOf(err) != claudemem.CodeNotFound {
		return err
	}
	modes, listing := mode.List(dir)
	if listing != nil {
		return err
	}
	var names []string
	for _, m := range modes {
		names = append(names, m.Name)
	}
	if meant := nearest(name, names); meant != "" {
		return claudemem.Errorf(claudemem.CodeNotFound, "%w", err).WithHint(fmt.Sprintf("did you mean `claude-mem mode show %s`?", meant))
	}
	return err
}

// print prints a mode in full for people.
func (m modeJSON) print(p *printer) {
	p.printf("%s  %s\n", p.style(styleBold, m.Name), oneLine(m.Description, 0))
	p.heading("Types")
	for _, t := range m.Types {
		p.printf("  %s %s: %s", t.Glyph, t.ID, oneLine(t.Definition, 0))
		if t.ID == m.FallbackType {
			p.printf("%s", p.style(styleDim, " (when the model names no type)"))
		}
		p.printf("\n")
	}
	if len(m.Concepts) > 0 {
		p.heading("Concepts")
	}
	for _, c := range m.Concepts {
		p.printf("  %s: %s\n", c.ID, oneLine(c.Definition, 0))
	}
	p.printf("%s\n  %s\n", p.style(styleBold, "Role"), oneLine(m.Wording.Role, 0))
	for _, part := range []struct {
		title string
		lines []string
	}{{"Worth recording", m.Wording.Worth}, {"Not worth recording", m.Wording.Skip}} {
		if len(part.lines) > 0 {
			p.heading(part.title)
		}
		for _, l := range part.lines {
			p.printf("  - %s\n", oneLine(l, 0))
		}
	}
	p.printf("The instructions have about %d tokens; --prompt prints them.\n", m.PromptTokens)
}

// modeCheckJSON is the outcome of a check.
type modeCheckJSON struct {
	File     string        `json:"file"`
	OK       bool          `json:"ok"`
	Problems []problemJSON `json:"problems"`
}

type problemJSON struct {
	// Field is where, "" for the file as a whole.
	Field   string `json:"field"`
	Message string `json:"message"`
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

		Args: args(cobra.ExactArgs(1)),
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.withDataDir(func(_ *cobra.Command, dataDir string, given []string) error {
		file := given[0]
		if !strings.ContainsAny(file, `/\.`) {
			file = filepath.Join(modesDir(dataDir), file+".json")
		}
		problems := mode.Check(file)
		out := modeCheckJSON{File: file, OK: len(problems) == 0, Problems: []problemJSON{}}
		for _, problem := range problems {
			out.Problems = append(out.Problems, problemJSON{problem.Field, problem.Message})
		}
		err := a.show(*asJSON, out, func(p *printer) {
			for _, problem := range problems {
				p.printf("%s\n", oneLine(problem.String(), 0))
			}
			if out.OK {
				p.printf("%s can be used\n", file)
			}
		})
		if err == nil && !out.OK {
			err = quietly(claudemem.CodeInvalid)
		}
		return err
	})
	return cmd
}
