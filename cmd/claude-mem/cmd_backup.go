package main

import (
	"cmp"
	"context"
	"fmt"

	"claudemem/internal/keep/backup"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/run/daemon"

	"github.com/spf13/cobra"
)

// backupCommand returns the command `claude-mem backup`: back the memory up now.
func (a *app) backupCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup",
		Short: "Back the memory up now",
		Long: `Copy the database into the folder backups of the data directory, while the worker runs,
and read the whole copy back. Then the oldest backups beyond ` + settings.KeyBackupKeep + ` are deleted.

The worker does the same once a day and before it migrates the database. A damaged
database is not backed up, and no backup is deleted then.

JSON: {"name", "path", "at", "bytes"}.`,
		Example: "  claude-mem backup\n  claude-mem backup --json",
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.withDataDir(func(cmd *cobra.Command, dataDir string, _ []string) error {
		resolved, err := settings.Load(dataDir, a.getenv)
		if err != nil {
			return err
		}
		made, err := backup.Make(cmd.Context(), dataDir, max(1, resolved.Int(settings.KeyBackupKeep)), a.now())
		if err != nil {
			return err
		}
		return a.show(*asJSON, made, func(p *printer) {
			p.printf("%s written (%s) and verified\n", safe(made.Path), text.Bytes(made.Bytes))
		})
	})
	return cmd
}

// restoreJSON is what `claude-mem restore --json` prints.
type restoreJSON struct {
	Backups      []backup.Backup `json:"backups"`
	Restored     *backup.Backup  `json:"restored,omitempty"`
	Observations int             `json:"observations,omitempty"`
	Aside        string          `json:"aside,omitempty"`
	*backup.Applied
}

// restoreCommand returns the command `claude-mem restore`: put a backup in place of the
// memory.
func (a *app) restoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restore [BACKUP]",
		Short: "Restore a backup of the memory, or list the backups",
		Long: `Replace the memory by a backup: by the newest one, or by BACKUP, its name or the path of
a file. The backup is read completely first. The worker is stopped; the next hook
starts it. The present database is not deleted: it is moved into a folder below aside
in the data directory. The index is rebuilt.

What was captured after the backup is not in it. What was forgotten after the backup is erased
from the copy before it is put in place; what cannot be is named, such as what was forgotten in
another memory than that of the file.

JSON: {"backups": [{"name", "path", "at", "bytes"}], "restored"?: one of these,
"observations"?, "aside"?: the folder of the former database,
"erasures"?: how often something was erased from it, "unapplied"?: [what could not be]}.`,
		Example: "  claude-mem restore --list\n  claude-mem restore\n  claude-mem restore memory-20260301T040000Z-6f1c2a9be0d34875-7.db --yes",
	}
	asJSON := jsonFlag(cmd)
	list := cmd.Flags().BoolP("list", "l", false, "list the backups and restore nothing")
	yes := cmd.Flags().BoolP("yes", "y", false, "do not ask")
	cmd.ValidArgsFunction = firstOnly(completion(a.backupNames))
	cmd.RunE = a.withDataDir(func(cmd *cobra.Command, dataDir string, given []string) error {
		backups, err := backup.List(dataDir)
		if err != nil {
			return err
		}
		if *list {
			return a.show(*asJSON, restoreJSON{Backups: notNil(backups)}, func(p *printer) { p.backups(backups) })
		}
		return a.restore(cmd, dataDir, cmp.Or(cmp.Or(given...), "latest"), *yes, *asJSON)
	})
	return cmd
}

// backups prints a list of backups.
func (p *printer) backups(list []backup.Backup) {
	if len(list) == 0 {
		p.printf("No backups yet: the worker makes one a day, `claude-mem backup` makes one now.\n")
		return
	}
	p.columns(mapped(list, func(b *backup.Backup) []string { return []string{p.when(b.At), text.Bytes(b.Bytes), safe(b.Name)} }))
}

// backupNames returns the names of the backups, for completion.
func (a *app) backupNames(context.Context) []cobra.Completion {
	dataDir, err := a.dataDir()
	if err != nil {
		return nil
	}
	list, _ := backup.List(dataDir)
	return mapped(list, func(b *backup.Backup) cobra.Completion { return b.Name })
}

// restore restores the backup that the user names, after a question unless sure.
func (a *app) restore(cmd *cobra.Command, dataDir, named string, sure, asJSON bool) error {
	ctx := cmd.Context()
	chosen, err := backup.Find(dataDir, named)
	if err != nil {
		return err
	}
	has, err := backup.Check(ctx, chosen)
	if err != nil {
		return err
	}
	if !sure {
		a.note("%s has %s, the newest record of %s.", oneLine(chosen.Name, 0), text.Count(has.Observations, "observation"), a.people().ago(has.Newest))
		if ok, err := a.confirm(fmt.Sprintf("Put it in place of %s?", oneLine(dataDir, 0))); err != nil || !ok {
			return err
		}
	}
	aside, applied, err := daemon.Restore(ctx, dataDir, chosen, a.now())
	if err != nil {
		return err
	}
	backups, err := backup.List(dataDir)
	if err != nil && memory.CodeOf(err) != memory.CodeStorage {
		return err
	}
	for _, erasures := range applied.Unapplied {
		a.note("it may still have what was forgotten: could not apply %s", erasures)
	}
	return a.show(asJSON, restoreJSON{notNil(backups), &chosen, has.Observations, aside, &applied}, func(p *printer) {
		p.printf("%s restored, with %s\n", safe(chosen.Name), text.Count(has.Observations, "observation"))
		if applied.Erasures > 0 {
			p.printf("what was forgotten after it was made is erased from it (%s)\n", text.Count(applied.Erasures, "erasure"))
		}
		if aside != "" {
			p.printf("the former memory is in %s\n", safe(aside))
		}
	})
}
