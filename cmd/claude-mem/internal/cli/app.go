// Package cli is what all commands share: the inputs and outputs of a command line (App), the
// flags that several commands have, the projects and records that arguments name, completions,
// questions, errors and exit codes.
//
// Place in the flow: between the commands and package access, which opens the memory.
package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/agentfiles"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
)

// App holds the inputs and outputs of a command.
type App struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Now            func() time.Time
	// JSON is --json: results are printed for programs.
	JSON bool
}

// Memory returns the memory of the data directory, read and changed through its worker
// or, without one, in the files. It opens nothing yet.
func (a *App) Memory() (*access.Memory, error) {
	dataDir, err := a.DataDir()
	return a.Place(dataDir).ForCommand(), err
}

// Place returns where the memory of a data directory is.
func (a *App) Place(dataDir string) access.Place {
	return access.Place{DataDir: dataDir, Getenv: a.Getenv, Clock: a.Now}
}

// WithMemory completes a command that reads or changes the memory, and has --json. One that lists
// projects (ScopeFlags) ends with CodeNotFound for a name that none has.
func (a *App) WithMemory(cmd *cobra.Command, run func(context.Context, *access.Memory, []string) error) *cobra.Command {
	a.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, given []string) error {
		m, err := a.Memory()
		if err != nil {
			return err
		}
		defer m.Close()
		if named := cmd.Flags().Lookup("project"); named != nil && named.Changed && cmd.Flags().Lookup("all") != nil && !IsPath(named.Value.String()) {
			if err := m.CheckProject(cmd.Context(), named.Value.String()); err != nil && memory.CodeOf(err) != memory.CodeNoMemory {
				return err
			}
		}
		return run(cmd.Context(), m, given)
	}
	return cmd
}

// WithDataDir is InDataDir for a command with --json.
func (a *App) WithDataDir(cmd *cobra.Command, run func(ctx context.Context, dataDir string, given []string) error) *cobra.Command {
	a.JSONFlag(cmd)
	return a.InDataDir(cmd, run)
}

// InDataDir completes a command that needs the data directory.
func (a *App) InDataDir(cmd *cobra.Command, run func(ctx context.Context, dataDir string, given []string) error) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, given []string) error {
		dataDir, err := a.DataDir()
		if err != nil {
			return err
		}
		return run(cmd.Context(), dataDir, given)
	}
	return cmd
}

// Show prints v as JSON, or for people as text prints it.
func (a *App) Show(v any, text func(*print.Printer)) error {
	if a.JSON {
		return print.JSON(a.Stdout, v)
	}
	text(a.People())
	return nil
}

// Done is Show for what a call has made, or returns its error.
func (a *App) Done(made any, err error, text func(*print.Printer)) error {
	if err != nil {
		return err
	}
	return a.Show(made, text)
}

// Answer prints what the memory has answered, or its error: as JSON, or for people as text
// prints it. Where there is no memory yet the answer is empty.
func Answer[A any](a *App, found A, err error, empty A, text func(*print.Printer) error) error {
	switch {
	case err != nil:
		return a.EmptyMemory(err, empty)
	case a.JSON:
		return print.JSON(a.Stdout, found)
	}
	return text(a.People())
}

// DataDir returns the absolute path of the data directory; it may not exist yet.
func (a *App) DataDir() (string, error) {
	dir := settings.DataDir(a.Getenv)
	if dir == "" {
		return "", memory.Errorf(memory.CodeInvalid, "%s", settings.NoDataDir(a.Getenv)).
			WithHint("set " + settings.DataDirKey + " to the directory of the memory")
	}
	return dir, nil
}

// Home returns the user's home directory by the environment, "" if it is not set.
func (a *App) Home() string {
	return a.Getenv(print.Or(runtime.GOOS == "windows", "USERPROFILE", "HOME"))
}

// People returns a printer for output that people read: colours and width fit the
// terminal.
func (a *App) People() *print.Printer {
	p := &print.Printer{Now: a.Now(), Color: print.WantsColor(a.Stdout, a.Getenv)}
	p.W = print.Terminal{W: a.Stdout, Styled: p.Color}
	if f, ok := print.File(a.Stdout); ok && print.IsTerminal(f) {
		p.Width, _, _ = term.GetSize(f.Fd()) // 0 when it cannot be found out
	}
	return p
}

// Note writes a message for people to standard error.
func (a *App) Note(format string, args ...any) {
	_, _ = fmt.Fprintf(print.Terminal{W: a.Stderr}, format+"\n", args...)
}

// Parent adds subcommands to a command, which alone prints its help.
func Parent(cmd *cobra.Command, subs ...*cobra.Command) *cobra.Command {
	cmd.Args, cmd.RunE = KnownCommand, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(subs...)
	return cmd
}

// IfChanged returns a flag's value if the flag was given, else nil.
func IfChanged[T any](cmd *cobra.Command, flag string, value *T) *T {
	if cmd.Flags().Changed(flag) {
		return value
	}
	return nil
}

// JSONFlag adds --json.
func (a *App) JSONFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.JSON, "json", false, "print JSON for programs; --json --help lists its fields")
}

// Confirm asks a person and returns whether the answer was yes; CodeForbidden where
// nobody is there to be asked.
func (a *App) Confirm(question string) (bool, error) {
	if !print.IsTerminal(a.Stdin) {
		return false, NotConfirmed("standard input is no terminal, so nobody can be asked")
	}
	_, _ = fmt.Fprintf(print.Terminal{W: a.Stderr}, "\n%s [y/N] ", question)
	// One byte at a time: what comes after the line belongs to the next question.
	answer, err := bufio.NewReaderSize(io.LimitReader(oneByte{a.Stdin}, 1024), 16).ReadString('\n')
	if errors.Is(err, io.EOF) && answer == "" {
		return false, NotConfirmed("standard input has ended, so nobody can be asked")
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true, nil
	}
	return false, nil
}

type oneByte struct{ r io.Reader }

func (o oneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(1, len(p))]) }

// NotConfirmed returns the error of a change that was not confirmed; the error says why.
func NotConfirmed(why string) error {
	return memory.Errorf(memory.CodeForbidden, "not confirmed: %s", why).
		WithHint("--yes goes ahead without asking")
}

// progressEvery and toldEvery are the shortest times between two updates of the line of progress on a
// terminal, and between two lines elsewhere.
const (
	progressEvery = 100 * time.Millisecond
	toldEvery     = 30 * time.Second
)

// Progress returns a function that updates a line of progress on a terminal, and one that clears the
// line; elsewhere what takes long prints a line now and then. The line has counts, or how much of total
// is done, and the time that is left. total is 0 while it is not known.
func (a *App) Progress(what string, counts func() string) (report func(done, total int), end func()) {
	live := print.IsTerminal(a.Stderr)
	begun, every := a.Now(), toldEvery
	shown := begun
	if live {
		every, shown = progressEvery, time.Time{}
	}
	report = func(done, total int) {
		now := a.Now()
		if now.Sub(shown) < every {
			return
		}
		shown = now
		line := what + " " + text.Grouped(done) + print.If(total > 0, " of "+text.Grouped(total))
		if counts != nil {
			line = what + ": " + counts()
		}
		if total > 0 {
			line += fmt.Sprintf(" (%d%%)", min(100, 100*done/total))
		}
		if took := now.Sub(begun); took > 3*time.Second && done > 0 && done < total {
			if minutes := int((took*time.Duration(total-done)/time.Duration(done) + time.Minute - 1) / time.Minute); minutes > 1 {
				line += ", " + text.Count(minutes, "minute") + " left"
			} else {
				line += ", less than a minute left"
			}
		}
		_, _ = fmt.Fprint(a.Stderr, print.If(live, "\r")+line+print.If(live, "\x1b[K")+print.If(!live, "\n"))
	}
	return report, func() {
		if live {
			_, _ = fmt.Fprint(a.Stderr, "\r\x1b[K")
		}
	}
}

// Targets returns the targets of agent files that are named, else those of the setting; CodeInvalid
// for an unknown one.
func (a *App) Targets(dataDir string, named []string) ([]agentfiles.Target, error) {
	if len(named) == 0 {
		resolved, err := settings.Load(dataDir, a.Getenv)
		if err != nil {
			a.Note("warning: %v", err)
		}
		named = resolved.Items(settings.KeyAgentFiles)
	}
	return agentfiles.ParseTargets(named)
}

// LoadSettings reads the settings of a command, and returns the data directory too. It warns of a
// broken file, and of values that have no effect, and uses the last good copy: that is no error.
func (a *App) LoadSettings() (*settings.Settings, string, error) {
	dataDir, err := a.DataDir()
	if err != nil {
		return nil, "", err
	}
	resolved, err := settings.Load(dataDir, a.Getenv)
	if err != nil {
		a.Note("warning: %s", err)
	}
	for _, problem := range resolved.Problems() {
		a.Note("warning: %s; it has no effect", problem)
	}
	return resolved, dataDir, nil
}

const SettingPrefix = "CLAUDE_MEM_"

// OlderSettings returns the settings of settings.json that were not imported yet.
func (a *App) OlderSettings(dataDir string) []settings.Older {
	list, err := settings.PendingImport(dataDir)
	if err != nil {
		a.Note("warning: %s", err)
	}
	return list
}
