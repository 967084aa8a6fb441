package daemon

import (
	"context"
	"errors"
	"time"

	"claudemem/internal/keep/backup"
	"claudemem/internal/keep/store/upkeep"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/run/control"
)

// backUp is the chore that backs up the memory if it has changed since the newest backup.
func (w *Worker) backUp(ctx context.Context) error {
	err := w.backUpChanged(ctx)
	if errors.Is(err, backup.ErrDamaged) {
		w.foundDamage(err.Error())
	}
	if ctx.Err() == nil {
		w.backupFault.Store(&err)
	}
	return err
}

// backUpChanged makes a backup, unless the newest one has the same contents, nothing is remembered
// yet, or the setting BACKUP_KEEP is 0. backup.ErrDamaged for a damaged memory.
func (w *Worker) backUpChanged(ctx context.Context) error {
	keep := w.settings.get().Int(settings.KeyBackupKeep)
	has, err := w.store.Contents(ctx)
	if err != nil || keep <= 0 || has.Empty() {
		return err
	}
	list, err := backup.List(w.cfg.DataDir)
	if err != nil {
		return err
	}
	if len(list) > 0 {
		if saved, err := upkeep.ReadContents(ctx, list[0].Path); err == nil && saved == has {
			return nil
		}
	}
	made, err := backup.Make(ctx, w.cfg.DataDir, keep, w.cfg.Clock())
	if err == nil {
		w.log.Info("memory backed up", "file", made.Name, "bytes", made.Bytes)
	}
	return err
}

// A memory without a backup gets its first one when it has firstRecords observations, or any
// events for firstTime: it has something to lose before the first day is over.
const (
	firstRecords = 10
	firstTime    = time.Hour
)

// firstBackupDue reports whether the memory has no backup yet and something to lose. It is false
// while the user wants no backups, and when the backups or the memory cannot be read.
func (w *Worker) firstBackupDue(ctx context.Context) bool {
	if list, err := backup.List(w.cfg.DataDir); err != nil || len(list) > 0 || w.settings.get().Int(settings.KeyBackupKeep) <= 0 {
		return false
	}
	has, err := w.store.Contents(ctx)
	return err == nil && (has.Observations >= firstRecords || has.Began > 0 && w.cfg.Clock().Sub(has.Began.Time()) >= firstTime)
}

// beforeMigration backs up the database before it is migrated. A damaged one is an error, and
// the next worker recovers it. A backup that fails for want of space does not stop the worker:
// each migration is one transaction.
func (w *Worker) beforeMigration(ctx context.Context, from int) error {
	keep := w.cfg.Settings.Int(settings.KeyBackupKeep)
	if keep <= 0 {
		return nil
	}
	made, err := backup.Make(ctx, w.cfg.DataDir, keep, w.cfg.Clock())
	switch {
	case errors.Is(err, backup.ErrDamaged):
		w.noteDamage(err.Error())
		return err
	case err != nil:
		w.log.Error("back up memory before its migration", "error", err)
	default:
		w.log.Info("memory backed up before its migration", "schema", from, "file", made.Name)
	}
	return nil
}

// Restore replaces the memory of a data directory by a backup: it stops the worker, if one
// runs, checks the backup, sets the present database aside, and puts a copy of the backup in
// its place, without what was forgotten since. aside is the folder of the former database, "" for
// none. The codes of its errors: those of backup.Restore, CodeUnavailable when the worker does not
// stop.
func Restore(ctx context.Context, dataDir string, b backup.Backup, now time.Time) (aside string, applied backup.Applied, err error) {
	if _, err := control.Stop(ctx, dataDir, restoreStop); err != nil {
		return "", applied, err
	}
	err = withLock(ctx, dataDir, turnLimit, func() error { // no file of the memory is open
		// First: a worker that finds the old mark takes an older backup for a loss.
		mark := backup.ReadMark(dataDir)
		if err := backup.WriteMark(dataDir, backup.Mark{}); err != nil {
			return err
		}
		if aside, applied, err = backup.Restore(ctx, dataDir, b, now); err != nil {
			return errors.Join(err, backup.WriteMark(dataDir, mark))
		}
		return nil
	})
	return aside, applied, err
}

// restoreStop is how long Restore waits for the worker to end.
const restoreStop = 30 * time.Second
