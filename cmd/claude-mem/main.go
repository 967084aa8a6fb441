// Command claude-mem is the command line of the memory and its worker. Where the small
// program claude-mem-hook is not installed, it also runs the hooks.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"claudemem/internal/capture/wire"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
)

// version is the version of this program.
var version = wire.Program

func main() { os.Exit(run(os.Args[1:])) }

// run runs the command of the arguments and returns the exit code. Hook verbs come
// first: the host waits for them, so they skip the set-up of the other commands.
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

// app holds the inputs and outputs of a command.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	now            func() time.Time
}

// execute runs the command line args, reports an error and returns the exit code.
func (a *app) execute(ctx context.Context, args []string) int {
	out := &output{w: a.stdout}
	a.stdout = out
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := out.outcome(root.ExecuteContext(ctx))
	report(a.stderr, err, asksForJSON(args))
	return exitCode(err)
}

// people returns a printer for output that people read: colours and width fit the
// terminal.
func (a *app) people() *printer {
	p := &printer{now: a.now(), color: wantsColor(a.stdout, a.getenv)}
	p.w = terminalWriter{a.stdout, p.color}
	if f, ok := fileOf(a.stdout); ok && isTerminal(f) {
		p.width, _, _ = term.GetSize(f.Fd()) // 0 when it cannot be found out
	}
	return p
}

// note writes a message for people to standard error.
func (a *app) note(format string, args ...any) {
	_, _ = fmt.Fprintf(terminalWriter{w: a.stderr}, format+"\n", args...)
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "claude-mem",
		Short: "A memory for coding agents",
		Long:  "claude-mem records the work of a coding agent and gives the next session\nthe relevant records.",
		Example: `  claude-mem demo                 # replay a recorded session
  claude-mem recent               # the newest records of this project
  claude-mem search rate limiter  # search the records`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          knownCommand,
	}
	// Not cobra's own flag: with a template for it the linker keeps every method of every
	// type, 2.7 MB.
	printVersion := root.Flags().BoolP("version", "v", false, "version for claude-mem")
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if *printVersion {
			return a.show(false, nil, func(p *printer) { p.printf("%s\n", versionLine()) })
		}
		return cmd.Help()
	}
	root.SetFlagErrorFunc(wrongFlag)
	root.SetHelpFunc(help(root.HelpFunc()))
	root.AddGroup(
		&cobra.Group{ID: groupMemory, Title: "Memory:"},
		&cobra.Group{ID: groupRun, Title: "Running:"},
		&cobra.Group{ID: groupHook, Title: "Hooks (the host runs them):"},
		&cobra.Group{ID: groupSeldom, Title: "Seldom needed:"},
	)
	helping := helpCommand()
	root.SetHelpCommand(helping)
	add := func(group string, commands ...*cobra.Command) {
		for _, cmd := range commands {
			cmd.GroupID = group
		}
		root.AddCommand(commands...)
	}
	add(groupMemory, a.searchCommand(), a.timelineCommand(), a.recentCommand(), a.showCommand(), a.browseCommand(), a.sessionsCommand(), a.projectsCommand(),
		a.rememberCommand(), a.editCommand(), a.pinCommand(), a.unpinCommand(), a.learnCommand(), a.hideCommand(), a.unhideCommand(), a.forgetCommand(),
		a.outlineCommand(), a.changesCommand(), a.agentFilesCommand(), a.statsCommand(), a.queueCommand(), a.demoCommand())
	add(groupRun, helping, a.openCommand(), a.workerCommand(), a.configCommand(), a.modeCommand(), a.backupCommand(), a.restoreCommand(), a.exportCommand(),
		a.importCommand(), a.versionCommand(), a.installCommand(), a.uninstallCommand(), a.doctorCommand())
	add(groupHook, a.hookCommands()...)
	add(groupSeldom, a.reindexCommand(), a.completionCommand(), a.manCommand(), a.mcpCommand())
	root.AddCommand(scriptingTopic())
	withDefaults(root)
	return root
}

// parent adds subcommands to a command, which alone prints its help.
func parent(cmd *cobra.Command, subs ...*cobra.Command) *cobra.Command {
	cmd.Args, cmd.RunE = knownCommand, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(subs...)
	return cmd
}

// ifChanged returns a flag's value if the flag was given, else nil.
func ifChanged[T any](cmd *cobra.Command, flag string, value *T) *T {
	if cmd.Flags().Changed(flag) {
		return value
	}
	return nil
}

// jsonFlag adds --json.
func jsonFlag(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("json", false, "print JSON for programs")
}
