package transfer

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/move/devices"
	"claudemem/internal/run/daemon"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// SyncCommand returns the command `claude-mem sync`: one memory on all of a person's machines.
func (a *Verbs) SyncCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sync",
		Short: "Have one memory on all of your machines",
		Long: `Share this memory with your other machines by a folder that something else synchronises:
Syncthing, a cloud drive, a mounted disk; or by a git repository, which claude-mem then fetches
and pushes by itself. What is in the folder is encrypted; the key is a sheet of 24 words that is never in it. The worker sends what is new after some seconds and looks
every minute. Nothing waits for the folder. docs/devices.md says what is protected, and what is not.`,
		Example: "  claude-mem sync init ~/Sync/memory\n  claude-mem sync join ~/Sync/memory\n  claude-mem sync status",
	}
	return cli.Parent(cmd, a.syncInitCommand(), a.syncJoinCommand(), a.syncStatusCommand(), a.syncNowCommand(), a.syncDevicesCommand(), a.syncRetireCommand(), a.syncRekeyCommand(), a.syncLeaveCommand())
}

func (a *Verbs) syncInitCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "init DIR [--git [ADDRESS]]",
		Short: "Share this memory by a folder",
		Long: `Make a key, print it as a sheet of 24 words, and write the memory into DIR, encrypted.
The words are shown once. Write them down: who has them and the folder can read the memory, and
without them no machine can join. On each other machine: claude-mem sync join DIR

With --git the files travel by the branch claude-mem of a repository: of ADDRESS, else of the
remote origin of the clone in DIR. It has to take pushes without a question (ssh with a key, or
~/.netrc), also those that replace the branch: git's configuration and hooks have no part in it.`,
		Example: "  claude-mem sync init ~/Sync/memory\n  claude-mem sync init ~/.memory --git git@example.com:ada/memory.git",
		Args:    cli.Args(cobra.RangeArgs(1, 2)),
	}
	byGit := gitFlag(cmd)
	label := cmd.Flags().String("name", "", "what this machine is called; its host name unless given")
	return a.WithDataDir(cmd, func(ctx context.Context, dataDir string, given []string) error {
		at, err := placeOf(ctx, given, *byGit)
		if err != nil {
			return err
		}
		sheet, err := devices.Init(ctx, dataDir, at, deviceLabel(*label))
		if err != nil {
			return err
		}
		answer, err := daemon.SyncDevices(ctx, dataDir, api.DevicesRequest{Project: cli.Here()})
		answer.Words = sheet
		if err != nil { // the words are shown all the same: they are made
			a.Note("The folder could not be written yet; the worker tries again.")
		}
		if at.Remote != "" {
			a.Note("What is forgotten leaves the branch with the next complete set. The remote keeps the encrypted files of earlier commits until it collects them, and clones keep them for good.")
		}
		return cmp.Or(a.Show(answer, func(p *print.Printer) {
			p.Printf("%s records written to the folder. The words of its key, shown this once:\n\n", text.Grouped(answer.Sent))
			printSheet(p, sheet)
			p.Printf("\nWrite them down. On your other machine: claude-mem sync join %s\n", joinWords(given[0], at))
		}), err)
	})
}

// gitFlag adds the flag by which a folder travels by git.
func gitFlag(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("git", false, "exchange by git: with the repository ADDRESS, else with the remote origin of the clone in DIR")
}

// placeOf returns where a memory is shared: arguments are a folder and the address of a repository. CodeInvalid for an address without --git.
func placeOf(ctx context.Context, given []string, byGit bool) (at devices.Place, err error) {
	at.Folder = given[0]
	if !byGit {
		if len(given) > 1 {
			return at, memory.Errorf(memory.CodeInvalid, "%.60q is more than a folder", given[1]).WithHint("--git exchanges by a repository")
		}
		return at, nil
	}
	at.Remote, err = devices.GitAddress(ctx, at.Folder, append(given, "")[1])
	return at, err
}

// joinWords returns what `claude-mem sync join` is told on another machine.
func joinWords(folder string, at devices.Place) string {
	return cli.ShellWord(folder) + print.If(at.Remote != "", " --git "+cli.ShellWord(at.Remote))
}

// printSheet prints the words of a key, six a line.
func printSheet(p *print.Printer, sheet []string) {
	for i := 0; i < len(sheet); i += 6 {
		p.Printf("    %s\n", strings.Join(sheet[i:min(i+6, len(sheet))], " "))
	}
}

// deviceLabel returns what a machine is called.
func deviceLabel(given string) string {
	host, _ := os.Hostname()
	name, _, _ := strings.Cut(host, ".")
	return text.Line(cmp.Or(given, name, "device"))
}

func (a *Verbs) syncJoinCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "join DIR [--git [ADDRESS]]",
		Short: "Join the memory in a folder, with the words of its key",
		Long: `Join the memory that another of your machines has in DIR. The 24 words of its sheet are read from
standard input. Then both machines have the records of both. After ` + "`sync rekey`" + ` on another
machine the same command takes the new words. --git is that of ` + "`sync init`" + `.`,
		Example: "  claude-mem sync join ~/Sync/memory\n  claude-mem sync join ~/Sync/memory < sheet.txt",
		Args:    cli.Args(cobra.RangeArgs(1, 2)),
	}
	byGit := gitFlag(cmd)
	label := cmd.Flags().String("name", "", "what this machine is called; its host name unless given")
	return a.WithDataDir(cmd, func(ctx context.Context, dataDir string, given []string) error {
		at, err := placeOf(ctx, given, *byGit)
		if err != nil {
			return err
		}
		if print.IsTerminal(a.Stdin) {
			a.Note("Type the 24 words of the sheet, on one line or on several:")
		}
		sheet, err := readSheet(a.Stdin)
		if err != nil {
			return err
		}
		if err := devices.Join(ctx, dataDir, at, deviceLabel(*label), sheet); err != nil {
			return err
		}
		return a.syncNow(ctx, dataDir, api.DevicesRequest{Project: cli.Here()})
	})
}

// readSheet reads lines until there are 24 words.
func readSheet(from io.Reader) (string, error) {
	lines := bufio.NewScanner(io.LimitReader(from, 64<<10))
	sheet := ""
	for len(strings.Fields(sheet)) < devices.Words && lines.Scan() {
		sheet += " " + lines.Text()
	}
	return sheet, lines.Err()
}

func (a *Verbs) syncNowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "now",
		Short:   "Exchange records with the folder now",
		Long:    `Write what other machines do not have into the folder, and take in what they have written.`,
		Example: "  claude-mem sync now",
	}
	return a.WithDataDir(cmd, func(ctx context.Context, dataDir string, _ []string) error {
		return a.syncNow(ctx, dataDir, api.DevicesRequest{Project: cli.Here()})
	})
}

// syncNow makes a request and prints what was done.
func (a *Verbs) syncNow(ctx context.Context, dataDir string, r api.DevicesRequest) error {
	report, end := a.Progress("Syncing", nil)
	report(0, 0)
	answer, err := daemon.SyncDevices(ctx, dataDir, r)
	end()
	return a.Done(answer, err, func(p *print.Printer) {
		p.Printf("%s sent, %s received, %s of them new here\n", text.GroupedCount(answer.Sent, "record"), text.GroupedCount(answer.Received, "record"), text.Grouped(answer.Added))
		for _, refused := range answer.Refused {
			a.Note("refused %s: %s", refused.Name, print.Line(refused.Reason, 200))
		}
		if answer.Fault != "" {
			a.Note("The folder has not all records yet, the worker tries again: %s", print.Line(answer.Fault, 300))
		}
		if len(answer.Words) > 0 {
			p.Printf("The words of the new key, shown this once:\n\n")
			printSheet(p, answer.Words)
			p.Printf("\nType them on each other machine that you still have: claude-mem sync join DIR\n")
		}
	})
}

func (a *Verbs) syncStatusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Show the folder, the machines and what is wrong",
		Long:    `Show by which folder this memory is shared, when it was last exchanged, and what was refused.`,
		Example: "  claude-mem sync status\n  claude-mem sync status --json",
	}
	return a.WithDataDir(cmd, func(ctx context.Context, dataDir string, _ []string) error {
		status, err := daemon.DevicesStatus(ctx, dataDir)
		return a.Done(status, err, func(p *print.Printer) {
			p.Printf("folder   %s\n", print.Line(status.Folder, 0))
			if status.Remote != "" {
				p.Printf("remote   %s\n", print.Line(status.Remote, 0))
			}
			p.Printf("this     %s (%s)\n", print.Line(status.Label, 60), status.Device)
			printSynced(p, status.SyncedAt, "", status.Fault)
			printDevices(p, status.Devices)
			printRefused(p, collect.Map(status.Refused, func(r memory.RefusedFile) string { return r.Name + ": " + r.Reason }))
			for _, r := range status.Contested {
				p.Printf("edited   %s on two machines at once, in force is: %s\n", r.Name(), print.Line(r.Text, 100))
			}
		})
	})
}

// printSynced prints when the last exchange was, how much was behind then, and how it failed.
func printSynced(p *print.Printer, at memory.Millis, behind, fault string) {
	p.Printf("synced   %s\n", print.Join(", ", p.Ago(at), behind))
	if fault != "" {
		p.Printf("%s  %s\n", p.Style(print.Red, "failed "), print.Line(fault, 300))
	}
}

// printRefused prints what was refused and why.
func printRefused(p *print.Printer, reasons []string) {
	for _, reason := range reasons {
		p.Printf("%s  %s\n", p.Style(print.Red, "refused"), print.Line(reason, 250))
	}
}

func printDevices(p *print.Printer, list []memory.Device) {
	for i := range list {
		d := &list[i]
		p.Printf("device   %s (%s), %s\n", print.Line(d.Label, 60), d.Device, print.Join(", ", "seen "+p.Ago(d.SeenAt), print.If(d.Retired, "retired"),
			print.If(d.Missing > 0, fmt.Sprintf("%d of its files missing", d.Missing)), print.If(d.Behind > 0, fmt.Sprintf("%d files behind", d.Behind)),
			print.If(d.Lost, "the folder has lost files of it")))
	}
}

func (a *Verbs) syncDevicesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "devices",
		Short:   "List the other machines",
		Long:    `List the other machines that share this memory, when a file of each last came, and how far it is behind.`,
		Example: "  claude-mem sync devices\n  claude-mem sync devices --json",
	}
	return a.WithDataDir(cmd, func(ctx context.Context, dataDir string, _ []string) error {
		status, err := daemon.DevicesStatus(ctx, dataDir)
		if err != nil {
			return err
		}
		return a.Show(status.Devices, func(p *print.Printer) {
			printDevices(p, status.Devices)
			if len(status.Devices) == 0 {
				a.Note("No other machine yet: claude-mem sync join DIR, with the words of the sheet.")
			}
		})
	})
}

func (a *Verbs) syncRetireCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "retire DEVICE",
		Short: "Take no more files of a machine",
		Long: `Have all machines refuse what DEVICE writes from now on: one that was sold or broke. Its records stay.
One that was lost or stolen has the key: use ` + "`claude-mem sync rekey`" + ` as well.`,
		Example: "  claude-mem sync retire 3f1c2a9be0d34875",
		Args:    cli.Args(cobra.ExactArgs(1)),
	}
	return a.WithDataDir(cmd, func(ctx context.Context, dataDir string, given []string) error {
		return a.syncNow(ctx, dataDir, api.DevicesRequest{Action: "retire", Device: given[0]})
	})
}

func (a *Verbs) syncRekeyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rekey",
		Short: "Change the key, after a machine was lost",
		Long: `Make a new key and write all records anew. Its words are shown once; type them on each machine that you
still have. What a machine with the old words alone writes is refused. What it could read before, it can
read for ever.`,
		Example: "  claude-mem sync rekey",
	}
	return a.WithDataDir(cmd, func(ctx context.Context, dataDir string, _ []string) error {
		return a.syncNow(ctx, dataDir, api.DevicesRequest{Action: "rekey"})
	})
}

// ProjectsLinkCommand returns the command `claude-mem projects link`: call a project by the same name on several machines.
func (a *Verbs) ProjectsLinkCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "link DIR NAME",
		Short: "Make a directory the same project on all of your machines",
		Long: `Call the project of DIR by NAME on this machine. Typed with the same NAME on each of your machines
(` + "`claude-mem sync`" + `), it makes one project of directories that no remote and no first commit tells to be
one.`,
		Example: "  claude-mem projects link ~/notes notes",
		Args:    cli.Args(cobra.ExactArgs(2)),
	}
	return a.WithDataDir(cmd, func(ctx context.Context, dataDir string, given []string) error {
		project, err := a.ProjectNamed(given[0])
		if err != nil {
			return err
		}
		return a.syncNow(ctx, dataDir, api.DevicesRequest{Action: "link", Project: project, Name: given[1]})
	})
}

func (a *Verbs) syncLeaveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "leave",
		Short:   "End sharing on this machine",
		Long:    `Forget the key and the folder on this machine. The memory stays as it is, here and on the others.`,
		Example: "  claude-mem sync leave",
	}
	return a.WithDataDir(cmd, func(_ context.Context, dataDir string, _ []string) error {
		return a.Done(map[string]bool{"left": true}, devices.Leave(dataDir), func(p *print.Printer) {
			p.Printf("This memory is no longer shared. Its files in the folder stay for the other machines.\n")
		})
	})
}
