// Package cli is what all commands share: the inputs and outputs of a command line (App), the
// flags that several commands have, the projects and records that arguments name, completions,
// questions, errors and exit codes.
//
// Place in the flow: between the commands and package access, which opens the memory.
package cli

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"time"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"

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
	if err != nil {
		return nil, err
	}
	return a.Place(dataDir).ForCommand(), nil
}

// Place returns where the memory of a data directory is.
func (a *App) Place(dataDir string) access.Place {
	return access.Place{DataDir: dataDir, Getenv: a.Getenv, Clock: a.Now}
}

// WithMemory completes a command that reads or changes the memory, and has --json.
func (a *App) WithMemory(cmd *cobra.Command, run func(context.Context, *access.Memory, []string) error) *cobra.Command {
	a.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, given []string) error {
		m, err := a.Memory()
		if err != nil {
			return err
		}
		defer m.Close()
		return run(cmd.Context(), m, given)
	}
	return cmd
}

// WithDataDir completes a command that needs the data directory.
func (a *App) WithDataDir(cmd *cobra.Command, run func(ctx context.Context, dataDir string, given []string) error) *cobra.Command {
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
		return "", memory.Errorf(memory.CodeInvalid, "there is no home directory").
			WithHint("set " + settings.DataDirKey + " to the directory of the memory")
	}
	return dir, nil
}

// Home returns the user's home directory by the environment, "" if it is not set.
func (a *App) Home() string {
	if runtime.GOOS == "windows" {
		return a.Getenv("USERPROFILE")
	}
	return a.Getenv("HOME")
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
	cmd.Flags().BoolVar(&a.JSON, "json", false, "print JSON for programs")
}
