// Command claude-mem is the command line of the memory and its worker. Where the small
// program claude-mem-hook is not installed, it also runs the hooks.
package main

import (
	"context"
	"os"
	"os/signal"
	"time"

	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/cmd/claude-mem/internal/service"
	"claudemem/cmd/claude-mem/internal/setup"
	"claudemem/cmd/claude-mem/internal/transfer"

	"github.com/spf13/cobra"
)

func main() { os.Exit(run(os.Args[1:])) }

// run runs the command of the arguments and returns the exit code. Hook verbs come
// first: the host waits for them, so they skip the set-up of the other commands.
func run(args []string) int {
	if runHook(args) {
		return 0
	}
	ctx, stop := signal.NotifyContext(context.Background(), stopSignals...)
	defer stop()
	a := &app{&cli.App{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Now: time.Now}}
	return a.execute(ctx, args)
}

// app is the command line with the commands of this package.
type app struct{ *cli.App }

// execute runs the command line args, reports an error and returns the exit code.
func (a *app) execute(ctx context.Context, args []string) int {
	out := &print.Output{W: a.Stdout}
	a.Stdout = out
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	err := out.Outcome(root.ExecuteContext(ctx))
	cli.Report(a.Stderr, err, cli.AsksForJSON(args))
	return cli.ExitCode(err)
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "claude-mem",
		Short: "A memory for coding agents",
		Long:  "claude-mem records the work of a coding agent and gives the next session\nthe relevant records.",
		Example: `  claude-mem demo                 # replay a recorded session
  claude-mem search rate limiter  # search the records
  claude-mem open                 # see them in a browser`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cli.KnownCommand,
	}
	// Not cobra's own flag: with a template for it the linker keeps every method of every
	// type, 2.7 MB.
	printVersion := root.Flags().BoolP("version", "v", false, "version for claude-mem")
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if *printVersion {
			a.People().Printf("%s\n", versionLine())
			return nil
		}
		return cmd.Help()
	}
	root.SetFlagErrorFunc(cli.WrongFlag)
	root.SetHelpFunc(help(root.HelpFunc()))
	root.AddGroup(
		&cobra.Group{ID: groupMemory, Title: "Memory:"},
		&cobra.Group{ID: groupRun, Title: "Running:"},
		&cobra.Group{ID: groupHook, Title: "Hooks (the host runs them):"},
		&cobra.Group{ID: groupSeldom, Title: "Seldom needed:"},
	)
	helping := helpCommand()
	root.SetHelpCommand(helping)
	running, moving, setting := &service.Verbs{App: a.App}, &transfer.Verbs{App: a.App}, &setup.Verbs{App: a.App}
	add := func(group string, commands ...*cobra.Command) {
		for _, cmd := range commands {
			cmd.GroupID = group
		}
		root.AddCommand(commands...)
	}
	add(groupMemory, a.searchCommand(), a.timelineCommand(), a.recentCommand(), a.showCommand(), a.browseCommand(), a.sessionsCommand(), a.givenCommand(), a.reopenCommand(), a.projectsCommand(),
		a.rememberCommand(), a.editCommand(), a.pinCommand(), a.unpinCommand(), a.learnCommand(), a.hideCommand(), a.unhideCommand(), a.forgetCommand(),
		a.outlineCommand(), a.changesCommand(), a.fixCommand(), a.howCommand(), a.statsCommand())
	add(groupRun, helping, running.OpenCommand(), running.WorkerCommand(), a.configCommand(), moving.BackupCommand(), moving.RestoreCommand(), moving.ExportCommand(),
		moving.ImportCommand(), moving.SyncCommand(), moving.TeamCommand(), setting.InstallCommand(), setting.DoctorCommand())
	add(groupHook, a.hookCommands()...)
	add(groupSeldom, a.reindexCommand(), a.completionCommand(), a.mcpCommand(), a.modeCommand(), a.queueCommand(), a.mergeCommand(), a.agentFilesCommand(), moving.ShareCommand(), moving.UnshareCommand(), a.experimentCommand(), a.impactCommand(), setting.UninstallCommand(), setting.UpgradeCommand(), running.DemoCommand(), a.versionCommand())
	root.AddCommand(scriptingTopic())
	cli.WithDefaults(root)
	return root
}
