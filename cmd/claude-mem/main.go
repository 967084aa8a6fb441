// Command claude-mem is the memory's command line, its worker and, when its
// small twin claude-mem-hook is not there, its hooks.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"claudemem"

	"github.com/spf13/cobra"
)

// version is set by the linker (-X main.version=…) in a release.
var version = "0.1.0-dev"

func main() { os.Exit(run(os.Args[1:])) }

// run does what the arguments ask and returns the exit code. Hook verbs are
// taken out first: they run in the host's time and must not pay for the rest.
func run(args []string) int {
	if runHook(args) {
		return 0
	}
	ctx, stop := signal.NotifyContext(context.Background(), stopSignals...)
	defer stop()
	a := &app{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		getenv: os.Getenv, now: time.Now,
	}
	return a.execute(ctx, args)
}

// app is what a command may touch of the outside.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	now            func() time.Time
}

func (a *app) execute(ctx context.Context, args []string) int {
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	report(a.stderr, err)
	return exitCode(err)
}

func (a *app) people() *printer {
	return &printer{w: a.stdout, now: a.now(), color: wantsColor(a.stdout, a.getenv)}
}

// note tells a person something that is not data.
func (a *app) note(format string, args ...any) {
	_, _ = fmt.Fprintf(a.stderr, format+"\n", args...)
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "claude-mem",
		Short: "A memory for coding agents",
		Long: `claude-mem remembers what a coding agent did and gives the next session what matters.

Hooks capture the agent's work, an observer distils it into observations and
summaries, and the next session starts with the few that count.

Data on standard output, everything else on standard error. --json gives every
command that prints data a form for programs: times are Unix milliseconds,
fields may be added but are not renamed.

Exit codes (hook commands always exit 0):
` + exitHelp() + `
Environment:
  CLAUDE_MEM_DATA_DIR  where the memory is kept (default ~/.claude-mem)
  NO_COLOR             no colour`,
		Example: `  claude-mem demo                # see it work, needs nothing
  claude-mem recent              # what was remembered of this project
  claude-mem search rate limiter # find it again
  claude-mem show 12 S3          # an observation, a session
  claude-mem learn add gotcha 'Amounts are whole cents.'
  claude-mem stats --json        # counts, the queue's books, what it cost`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          knownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = false
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return claudemem.Errorf(claudemem.CodeInvalid, "%w", err).
			WithHint(fmt.Sprintf("`%s --help` lists the flags", cmd.CommandPath()))
	})
	root.AddGroup(
		&cobra.Group{ID: groupMemory, Title: "Memory:"},
		&cobra.Group{ID: groupRun, Title: "Running:"},
		&cobra.Group{ID: groupHook, Title: "Hooks (run by the host, JSON on standard input):"},
	)
	root.SetHelpCommandGroupID(groupRun)
	root.SetCompletionCommandGroupID(groupRun)
	root.AddCommand(
		a.searchCommand(), a.timelineCommand(), a.recentCommand(), a.showCommand(), a.sessionsCommand(), a.projectsCommand(),
		a.learnCommand(), a.statsCommand(), a.queueCommand(), a.demoCommand(),
		a.workerCommand(), a.configCommand(), a.modeCommand(), a.reindexCommand(), a.versionCommand(),
	)
	root.AddCommand(a.hookCommands()...)
	return root
}

// The groups of commands in the help of the root.
const (
	groupMemory = "memory"
	groupRun    = "run"
	groupHook   = "hook"
)

// knownCommand is the Args of a command that only has subcommands: whatever is
// left is a command that does not exist.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := claudemem.Errorf(claudemem.CodeInvalid, "unknown command %q for %q", args[0], cmd.CommandPath())
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return err.WithHint(fmt.Sprintf("did you mean `%s %s`?", cmd.CommandPath(), near[0]))
	}
	return err.WithHint(fmt.Sprintf("`%s --help` lists the commands", cmd.CommandPath()))
}

// args wraps a cobra argument check so that its error has a code and a hint.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if err := check(cmd, given); err != nil {
			return claudemem.Errorf(claudemem.CodeInvalid, "%w", err).
				WithHint(fmt.Sprintf("usage: %s", cmd.UseLine()))
		}
		return nil
	}
}

// jsonFlag adds --json.
func jsonFlag(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("json", false, "print JSON for programs")
}
