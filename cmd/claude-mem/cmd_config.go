package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/cmd/claude-mem/internal/setup"
	"claudemem/internal/distil/observer/mode"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

func (a *app) configCommand() *cobra.Command {
	return cli.Parent(&cobra.Command{
		Use:   "config",
		Short: "Show and change settings",
		Long: `Show and change settings. For commands and hooks an environment variable of the same
name overrides config.json; for the worker the file overrides the environment.
The prefix CLAUDE_MEM_ may be left out.`,
		Example: "  claude-mem config list\n  claude-mem config get CONTEXT_BUDGET\n  claude-mem config set CONTEXT_BUDGET 1500",
	}, a.configListCommand(), a.configGetCommand(), a.configSetCommand(), (&setup.Verbs{App: a.App}).ConfigImportCommand())
}

// setting returns the setting of a key, with or without its prefix, and the data directory.
// CodeNotFound for an unknown key, with the nearest one as hint.
func (a *app) setting(name string) (settings.Value, string, error) {
	resolved, dataDir, err := a.LoadSettings()
	if err != nil {
		return settings.Value{}, "", err
	}
	v, err := resolved.Get(name)
	return v, dataDir, unknownSetting(name, err)
}

func (a *app) configListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List every setting with its value and origin",
		Long:    `List every setting: key, value, origin of the value, default, help.`,
		Example: "  claude-mem config list --json",
	}
	a.JSONFlag(cmd)
	changed := cmd.Flags().Bool("changed", false, "only settings that are not at their default")
	cmd.RunE = func(*cobra.Command, []string) error {
		resolved, _, err := a.LoadSettings()
		if err != nil {
			return err
		}
		shown := collect.Keep(resolved.List(), func(v settings.Value) bool { return !*changed || v.Origin != settings.FromDefault })
		out := collect.Map(shown, settings.Value.View)
		return a.Show(out, func(p *print.Printer) {
			if len(out) == 0 {
				a.Note("all settings at their defaults")
			}
			for _, s := range out {
				origin := string(s.Origin)
				origin += print.If(s.Default != "" && s.Origin != settings.FromDefault, "; default "+print.Line(s.Default, 60))
				p.Printf("%s = %s%s\n    %s\n", p.Style(print.Bold, s.Key), print.Line(s.Value, 120), p.Style(print.Dim, "  ("+origin+")"), s.Help)
			}
		})
	}
	return cmd
}

func (a *app) configGetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "get KEY",
		Short:   "Print the value of a setting",
		Example: "  claude-mem config get WORKER_PORT",
	}
	a.JSONFlag(cmd)
	cmd.ValidArgsFunction = cli.FirstOnly(a.CompleteSetting)
	cmd.RunE = func(_ *cobra.Command, given []string) error {
		v, _, err := a.setting(given[0])
		return a.Done(v.View(), err, func(p *print.Printer) { p.Printf("%s\n", v.Shown()) })
	}
	return cmd
}

func (a *app) configSetCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "set KEY VALUE",
		Short: "Change a setting in config.json",
		Long: `Change a setting in config.json; the rest of that file is kept. An empty value
removes the setting, so that its default applies. The value - is read from standard
input, so that a key stays out of the shell's history.
A running worker applies settings of capture from the next event on; provider, key,
model, mode, language and caps from the next batch on; RECALL from the next prompt on;
START_LINE and CONTEXT_… from the next session on; AGENT_FILES from the next summary on;
all others after a restart.`,
		Example: "  claude-mem config set CONTEXT_BUDGET 1500\n  claude-mem config set CONTEXT_BUDGET ''\n  claude-mem config set ANTHROPIC_API_KEY - <key.txt",

		ValidArgsFunction: a.CompleteSetting,
		RunE: func(cmd *cobra.Command, given []string) error {
			setting, dataDir, err := a.setting(given[0])
			if err != nil {
				return err
			}
			key, value := setting.Key, given[1]
			if value == "-" {
				if value, err = readValue(a.Stdin); err != nil {
					return err
				}
			}
			notes, err := settings.Change(dataDir, key, value)
			if err != nil {
				return unknownValue(setting.Setting, value, err)
			}
			for _, note := range notes {
				a.Note("%s", note)
			}
			if value != "" {
				setting.Value = value
				a.Note("%s = %s", key, print.Line(setting.Shown(), 120))
				if key == settings.KeyMode {
					if _, err := mode.Load(value, access.ModesDir(dataDir)); memory.CodeOf(err) == memory.CodeNotFound { // it may be written later
						a.Note("warning: unknown mode %q; `claude-mem mode list` lists the modes", print.Line(value, 60))
					}
				}
			}
			if a.Getenv(key) != "" && a.Getenv(key) != value {
				a.Note("note: the environment variable %s overrides it for commands and hooks", key)
			}
			_, _ = control.Look(cmd.Context(), dataDir) // a running worker notices the change, and retries what waited
			a.Note(print.Or(setting.AtOnce(), "a running worker applies it at once", "`claude-mem worker restart` applies it to a running worker"))
			return nil
		},
	}
}

// longestValue bounds a setting that is read from standard input, in bytes.
const longestValue = 64 << 10

// readValue reads a setting's value and trims the white space around it. CodeInvalid for an empty one
// and for one above longestValue.
func readValue(r io.Reader) (string, error) {
	raw, err := io.ReadAll(io.LimitReader(r, longestValue+1))
	if err != nil {
		return "", fmt.Errorf("read value: %w", err)
	}
	value := strings.TrimSpace(string(raw))
	if len(raw) > longestValue || value == "" {
		return "", memory.Errorf(memory.CodeInvalid, "standard input holds no value, or one that is too long")
	}
	return value, nil
}

// unknownSetting adds to the error the nearest setting, or those that contain the word. An error
// other than CodeNotFound, and nil, are returned as they are.
func unknownSetting(name string, err error) error {
	if memory.CodeOf(err) != memory.CodeNotFound {
		return err
	}
	bare := strings.TrimPrefix(strings.ToUpper(name), cli.SettingPrefix)
	var keys, near []string
	for _, s := range settings.All() {
		key := strings.TrimPrefix(s.Key, cli.SettingPrefix)
		keys = append(keys, key)
		if strings.Contains(key, bare) || strings.Contains(bare, key) {
			near = append(near, s.Key)
		}
	}
	e := memory.Errorf(memory.CodeNotFound, "there is no setting %q", print.Line(name, 60))
	if len(near) > 0 && len(near) <= 5 && bare != "" {
		return e.WithHint("did you mean " + strings.Join(near, ", ") + "?")
	}
	return e.WithHint(cli.DidYouMean(bare, keys, cli.SettingPrefix+"%s", "`claude-mem config list` shows every setting"))
}

// unknownValue adds the nearest valid value to the error about a value of a setting with choices;
// other errors are returned as they are.
func unknownValue(s settings.Setting, value string, err error) error {
	if memory.CodeOf(err) != memory.CodeInvalid || s.Kind != settings.Choice {
		return err
	}
	return withMeant(err, "config set "+strings.TrimPrefix(s.Key, cli.SettingPrefix), value, strings.Fields(s.Choices))
}

// withMeant adds to an error about a word the command with the nearest of the words that it takes, if one is near.
func withMeant(err error, command, word string, known []string) error {
	if meant := api.Nearest(word, known); meant != "" {
		return memory.Errorf(memory.CodeOf(err), "%w", err).WithHint(fmt.Sprintf("did you mean `claude-mem %s %s`?", command, meant))
	}
	return err
}

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
		Use:     "list",
		Short:   "List the modes",
		Long:    `List the built-in modes and your own; * marks the mode in use.`,
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
model. prompt_tokens estimates the tokens of these instructions in every call.`,
		Example: "  claude-mem mode show code\n  claude-mem mode show research --prompt",
	}
	cmd.ValidArgsFunction = cli.FirstOnly(cli.Completion(a.ModeChoices()))
	prompt := cmd.Flags().Bool("prompt", false, "print the instructions for the model")
	a.JSONFlag(cmd)
	cmd.MarkFlagsMutuallyExclusive("json", "prompt")
	return a.InDataDir(cmd, func(ctx context.Context, dataDir string, given []string) error {
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

// unknownMode adds the nearest mode to the error CodeNotFound about a mode; others are returned as
// they are.
func unknownMode(name, dir string, err error) error {
	if memory.CodeOf(err) != memory.CodeNotFound {
		return err
	}
	modes, _ := mode.List(dir) // an error leaves the hint out
	return withMeant(err, "mode show", name, collect.MapPtr(modes, func(m *mode.Listed) string { return m.Name }))
}

// print prints a mode in full for people.
func (m modeJSON) print(p *print.Printer) {
	p.Printf("%s  %s\n", p.Style(print.Bold, m.Name), print.Line(m.Description, 0))
	p.Heading("Types")
	for _, t := range m.Types {
		fallback := print.If(t.ID == string(m.Fallback), " (when the model names no type)")
		p.Printf("  %s %s: %s%s\n", t.Glyph, t.ID, print.Line(t.Definition, 0), p.Style(print.Dim, fallback))
	}
	printList(p, "Concepts", "", collect.MapPtr(m.Concepts, func(c *mode.Term) string { return c.ID + ": " + c.Definition }))
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
is 0 when the mode can be used and 2 when it cannot.`,
		Example: "  claude-mem mode check mine.json\n  claude-mem mode check mine",

		ValidArgsFunction: cobra.FixedCompletions([]string{"json"}, cobra.ShellCompDirectiveFilterFileExt),
	}
	return a.WithDataDir(cmd, func(ctx context.Context, dataDir string, given []string) error {
		file := print.Or(strings.ContainsAny(given[0], `/\.`), given[0], filepath.Join(access.ModesDir(dataDir), given[0]+".json"))
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
			a.Note("`claude-mem mode show code --json` shows the form of a mode's file, `claude-mem mode list` lists the modes")
			err = cli.Quietly(memory.CodeInvalid)
		}
		return err
	})
}
