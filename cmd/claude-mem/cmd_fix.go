package main

import (
	"context"
	"io"
	"regexp"
	"slices"
	"strings"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/capture/toolcall"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// fixes is what `claude-mem fix --json` prints.
type fixes struct {
	Count        int                    `json:"count"`
	Observations []memory.ObservationID `json:"observations"`
	Text         string                 `json:"text"`
}

// fixCommand returns the command `claude-mem fix`: show what followed an error before.
func (a *app) fixCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fix ERROR",
		Short: "Show what made an error go away before",
		Long: `Show the records of this project that have the same error and what fixed it: what an agent is
told when a command fails. Give the error as the command printed it, behind -- if it begins
with -. Without such a record nothing is printed.`,
		Example: "  claude-mem fix \"panic: assignment to entry in nil map\"\n  claude-mem fix -- \"--- FAIL: TestTotal (0.00s)\"\n  go test ./... 2>&1 | tail -40 | claude-mem fix -",
		Args:    cli.Args(cobra.MinimumNArgs(1)),
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return memory.Errorf(memory.CodeInvalid, "%w", err).WithHint("an error that begins with - goes behind --: claude-mem fix -- \"--- FAIL: …\"")
	})
	project := a.ProjectFlag(cmd, ".", "the project: a directory or name")
	return a.WithDataDir(cmd, func(ctx context.Context, dataDir string, given []string) error {
		where, err := a.ProjectNamed(*project)
		if err != nil {
			return err
		}
		failure := strings.Join(given, " ")
		if failure == "-" {
			content, err := io.ReadAll(io.LimitReader(a.Stdin, maxError))
			if err != nil {
				return memory.Errorf(memory.CodeStorage, "read standard input: %w", err)
			}
			failure = string(content)
		}
		found, err := a.Place(dataDir).Fixes(ctx, where, failure)
		if err != nil {
			return err
		}
		done := fixes{Count: len(found.Injection.Observations), Observations: print.NotNil(found.Injection.Observations), Text: found.Text}
		if err := a.Show(done, func(p *print.Printer) { p.Printf("%s%s", done.Text, print.If(done.Count > 0, "\n")) }); err == nil && done.Count == 0 {
			a.Note("No record of this project has this error and what fixed it. `claude-mem search` looks for its words.")
		}
		return err
	})
}

// maxError bounds an error that is read, in bytes.
const maxError = 64 << 10

// worked is what `claude-mem how --json` prints.
type worked struct {
	Count    int             `json:"count"`
	Commands []workedCommand `json:"commands"`
}

// workedCommand is a command that passed.
type workedCommand struct {
	Command string `json:"command"`
	Times   int    `json:"times"`
	LastAt  string `json:"last_at"`
}

const (
	// howShown bounds the commands that are listed, howRecords the records that are read.
	howShown   = 5
	howRecords = 1000
)

var (
	// passes finds the commands that a record says have passed.
	passes = regexp.MustCompile("`([^`\n]+)` (?:passes|works)\\b")

	// doubted finds words in front of a command, in its sentence, with which it has not passed, or not yet.
	doubted = regexp.MustCompile(`(?i)\b(?:not|never|no longer|cannot|[a-z]+n['’]t|if|until|once|when|whether|unless|should|must|sure)\b[^.;:\n]*$`)
)

// howCommand returns the command `claude-mem how`: list the commands that worked in a project.
func (a *app) howCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "how test|build|run",
		Short: "List the commands that tested, built or ran this project",
		Long: `List up to five commands that passed in this project, the most recent first, with how often
records tell so: the newest 1,000 observations are read, whose facts name the commands that passed.
A command that passed and that no record names is not known.`,
		Example:   "  claude-mem how test\n  claude-mem how build --json",
		ValidArgs: []string{"test", "build", "run"},
		Args:      cli.Args(cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs)),
	}
	project := a.ProjectFlag(cmd, ".", "the project: a directory or name")
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, given []string) error {
		where, err := a.ProjectNamed(*project)
		if err != nil {
			return err
		}
		done := worked{Commands: []workedCommand{}}
		if _, _, err := api.ReadPages(howRecords, func(p api.Paged) (api.Page[api.Observation], error) {
			p.Project = where
			page, err := m.Observations(ctx, api.ObservationsRequest{Format: api.FormatFull, Paged: p})
			for i := range page.Results {
				done.add(&page.Results[i], given[0])
			}
			return page, err
		}); err != nil {
			return a.EmptyMemory(err, done)
		}
		done.Commands = done.Commands[:min(len(done.Commands), howShown)] // the most recent ones
		done.Count = len(done.Commands)
		return a.Show(done, func(p *print.Printer) {
			for _, c := range done.Commands {
				p.Printf("%s   # %s, last %s\n", text.Terminal(c.Command), text.Count(c.Times, "record"), c.LastAt[:10])
			}
			if done.Count == 0 {
				a.Note("No record of this project names a command for this that passed.")
			}
		})
	})
}

// add adds the commands of a kind that an observation says have passed, each once. Observations come the
// newest first. That of a stranger's words counts nothing: they may name any command.
func (w *worked) add(o *api.Observation, kind string) {
	if o.Provenance.Foreign() {
		return
	}
	counted := map[string]bool{}
	whole := strings.Join(append([]string{o.Title, o.Subtitle, o.Narrative}, o.Facts...), "\n")
	for _, at := range passes.FindAllStringSubmatchIndex(whole, -1) {
		line := whole[at[2]:at[3]]
		isKind := func(c toolcall.Command) bool { return c.Kind.String() == kind }
		if counted[line] || doubted.MatchString(whole[:at[0]]) || !slices.ContainsFunc(toolcall.ParseCommands(line), isKind) {
			continue
		}
		counted[line] = true
		i := slices.IndexFunc(w.Commands, func(c workedCommand) bool { return c.Command == line })
		if i < 0 {
			i = len(w.Commands)
			w.Commands = append(w.Commands, workedCommand{Command: line, LastAt: api.ISO(o.CreatedAtEpoch)})
		}
		w.Commands[i].Times++
	}
}
