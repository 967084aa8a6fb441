package transfer

import (
	"cmp"
	"context"
	"fmt"

	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/keep/backup"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/run/daemon"

	"github.com/spf13/cobra"
)

// BackupCommand returns the command `claude-mem backup`: back the memory up now.
func (a *Verbs) BackupCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup",
		Short: "Back the memory up now",
		Long: `Copy the database into the folder backups of the data directory, while the worker runs,
and read the whole copy back. Then the oldest backups beyond ` + settings.KeyBackupKeep + ` are deleted.

The worker does the same once a day and before it migrates the database. A damaged
database is not backed up, and no backup is deleted then.`,
		Example: "  claude-mem backup\n  claude-mem backup --json",
	}
	return a.WithDataDir(cmd, func(ctx context.Context, dataDir string, _ []string) error {
		resolved, err := settings.Load(dataDir, a.Getenv)
		if err != nil {
			return err
		}
		made, err := backup.Make(ctx, dataDir, max(1, resolved.Int(settings.KeyBackupKeep)), a.Now())
		return a.Done(made, err, func(p *print.Printer) {
			p.Printf("%s written (%s) and verified\n", text.Terminal(made.Path), text.Bytes(made.Bytes))
		})
	})
}

// restoreJSON is what `claude-mem restore --json` prints.
type restoreJSON struct {
	Backups      []backup.Backup `json:"backups"`
	Restored     *backup.Backup  `json:"restored,omitempty"`
	Observations int             `json:"observations,omitempty"`
	Aside        string          `json:"aside,omitempty"`
	*backup.Applied
}

// RestoreCommand returns the command `claude-mem restore`: put a backup in place of the
// memory.
func (a *Verbs) RestoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restore [BACKUP]",
		Short: "Restore a backup of the memory, or list the backups",
		Long: `Replace the memory by a backup: by the newest one, or by BACKUP, its name or the path of
a file. The backup is read completely first. The worker is stopped; the next hook
starts it. The present database is not deleted: it is moved into a folder below aside
in the data directory. The index is rebuilt.

What was captured after the backup is not in it. What was forgotten after the backup is erased
from the copy before it is put in place; what cannot be is named, such as what was forgotten in
another memory than that of the file.`,
		Example: "  claude-mem restore --list\n  claude-mem restore\n  claude-mem restore memory-20260301T040000Z-6f1c2a9be0d34875-7.db --yes",
	}
	list := cmd.Flags().BoolP("list", "l", false, "list the backups and restore nothing")
	yes := cmd.Flags().BoolP("yes", "y", false, "do not ask")
	cmd.ValidArgsFunction = cli.FirstOnly(cli.Completion(a.backupNames))
	return a.WithDataDir(cmd, func(ctx context.Context, dataDir string, given []string) error {
		backups, err := backup.List(dataDir)
		if err != nil {
			return err
		}
		if *list {
			return a.Show(restoreJSON{Backups: print.NotNil(backups)}, func(p *print.Printer) { printBackups(p, backups) })
		}
		return a.restore(ctx, dataDir, cmp.Or(cmp.Or(given...), "latest"), *yes)
	})
}

// printBackups prints a list of backups.
func printBackups(p *print.Printer, list []backup.Backup) {
	if len(list) == 0 {
		p.Printf("No backups yet: the worker makes one a day, `claude-mem backup` makes one now.\n")
		return
	}
	p.Columns(collect.MapPtr(list, func(b *backup.Backup) []string {
		return []string{p.When(b.At), text.Bytes(b.Bytes), text.Terminal(b.Name)}
	}))
}

// backupNames returns the names of the backups, for completion.
func (a *Verbs) backupNames(context.Context) []cobra.Completion {
	dataDir, err := a.DataDir()
	if err != nil {
		return nil
	}
	list, _ := backup.List(dataDir)
	return collect.MapPtr(list, func(b *backup.Backup) cobra.Completion { return b.Name })
}

// restore restores the backup that the user names, by its name or path, or "latest", after a
// question unless sure; a "no" is no error. The backup is read completely before it asks.
func (a *Verbs) restore(ctx context.Context, dataDir, named string, sure bool) error {
	chosen, err := backup.Find(dataDir, named)
	if err != nil {
		return err
	}
	has, err := backup.Check(ctx, chosen)
	if err != nil {
		return err
	}
	if !sure {
		a.Note("%s has %s, the newest record of %s.", print.Line(chosen.Name, 0), text.Count(has.Observations, "observation"), a.People().Ago(has.Newest))
		if ok, err := a.Confirm(fmt.Sprintf("Put it in place of %s?", print.Line(dataDir, 0))); err != nil || !ok {
			return err
		}
	}
	aside, applied, err := daemon.Restore(ctx, dataDir, chosen, a.Now())
	if err != nil {
		return err
	}
	backups, err := backup.List(dataDir)
	if err != nil && memory.CodeOf(err) != memory.CodeStorage {
		return err
	}
	for _, erasures := range applied.Unapplied {
		a.Note("it may still have what was forgotten: could not apply %s", erasures)
	}
	return a.Show(restoreJSON{print.NotNil(backups), &chosen, has.Observations, aside, &applied}, func(p *print.Printer) {
		p.Printf("%s restored, with %s\n", text.Terminal(chosen.Name), text.Count(has.Observations, "observation"))
		if applied.Erasures > 0 {
			p.Printf("what was forgotten after it was made is erased from it (%s)\n", text.Count(applied.Erasures, "erasure"))
		}
		if aside != "" {
			p.Printf("the former memory is in %s\n", text.Terminal(aside))
		}
	})
}
