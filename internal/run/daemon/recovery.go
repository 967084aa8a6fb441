package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claudemem/internal/keep/backup"
	"claudemem/internal/keep/index"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/upkeep"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/serve/api"
)

const (
	// noticeRecovery is the notice of what became of a database that was not as expected.
	noticeRecovery = "recovery"
	// brokenIndexes is the reason for which indexes of memory.db are rebuilt.
	brokenIndexes = "an index of memory.db was damaged"
	// verifyLimit is the size of a database that is verified before the worker serves, if it
	// was changed while no worker ran; a larger one is verified in the background.
	verifyLimit = 32 << 20
)

// secure compares memory.db with what the last worker left, before it is opened. A database
// that is damaged, gone or emptied is recovered, and so is an older copy if a backup is newer.
// told is the notice for the user, "" if nothing is wrong. It first completes a restore or
// recovery that was interrupted.
func (w *Worker) secure(ctx context.Context) (told string, err error) {
	resumed, err := backup.Resume(ctx, w.cfg.DataDir, w.cfg.Clock())
	if err != nil {
		return "", err
	}
	if resumed {
		told = "claude-mem: a restore or recovery of memory.db had been interrupted. It is now complete."
		if folders := backup.Asides(w.cfg.DataDir); len(folders) > 0 {
			told += " The former file is kept in " + filepath.Dir(folders[0]) + "."
		}
		return told, nil
	}
	mark := backup.ReadMark(w.cfg.DataDir)
	has, err := upkeep.ReadContents(ctx, w.databasePath())
	switch {
	case db.Damaged(err), err != nil && memory.CodeOf(err) == memory.CodeInternal && mark.Memory != 0:
		return w.recover(ctx, mark, fmt.Sprintf("memory.db is damaged (%v)", err))
	case errors.Is(err, fs.ErrNotExist):
		return w.recoverLost(ctx, mark, "memory.db was missing")
	case err != nil:
		return "", nil //nolint:nilerr // opening it reports the error
	case has.Empty():
		return w.recoverLost(ctx, mark, "memory.db was empty")
	}
	if wrong := w.verifyChanged(ctx, mark); len(wrong) > 0 {
		var sound bool
		if w.heldRepair(control.Database, brokenIndexes) == nil {
			sound, err = upkeep.RebuildIndexes(ctx, w.databasePath(), wrong)
		}
		if !sound {
			w.warn(ctx, "rebuild indexes of the memory", err)
			return w.recover(ctx, mark, "memory.db is damaged ("+strings.Join(wrong, "; ")+")")
		}
		w.noteRepair(control.Database, brokenIndexes)
		w.log.Error("indexes of the memory were rebuilt", "because", strings.Join(wrong, "; "))
		told = "claude-mem: an index of memory.db was damaged (" + wrong[0] + "). It was rebuilt; no rows were lost."
	}
	if mark.Memory != 0 && has.Memory != 0 && mark.Memory != has.Memory {
		// The index is of the other memory: its records are not these, nor is its place.
		if err := backup.RemoveDerived(w.cfg.DataDir); err != nil {
			return "", err
		}
		return fmt.Sprintf("claude-mem: memory.db is another memory than the one used here until %s. `claude-mem restore --list` lists the backups of both.", control.OnDay(mark.At)), nil
	}
	older, err := w.secureOlder(ctx, mark, has)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(told + "\n" + older + w.eraseForgotten(ctx)), nil
}

// eraseForgotten erases from memory.db what it lacks of what was forgotten in it: a copy that was
// put here by hand, or a forget whose process died before its commit. It returns what is told.
func (w *Worker) eraseForgotten(ctx context.Context) string {
	applied, err := backup.ApplyErasures(ctx, w.cfg.DataDir, w.databasePath())
	if err == nil && applied.Erasures > 0 {
		err = backup.RemoveDerived(w.cfg.DataDir)
	}
	if err != nil {
		w.log.Error("erase what was forgotten from the memory", "error", err)
		return " claude-mem: memory.db may have what was forgotten: " + err.Error() + "."
	}
	if applied.Erasures == 0 {
		return ""
	}
	return " claude-mem: memory.db is an older copy." + erasedText(applied)
}

// erasedText returns what is told of the erasures that were applied to a copy, and of those that
// could not be, "" for none.
func erasedText(a backup.Applied) (text string) {
	if a.Erasures > 0 {
		text = fmt.Sprintf(" What was forgotten after it was made was erased from it (%d times).", a.Erasures)
	}
	if len(a.Unapplied) > 0 {
		text += " It may have what was forgotten: these erasures could not be applied to it: " + strings.Join(a.Unapplied, ", ") + "."
	}
	return text
}

// databasePath returns the path of memory.db.
func (w *Worker) databasePath() string { return filepath.Join(w.cfg.DataDir, control.Database) }

// verifyChanged verifies memory.db if it was changed since a worker closed it, or a worker
// has found damage. It returns what is wrong. A large one without known damage is left to the
// background (verifyLater), and so is one that no worker has closed (began).
func (w *Worker) verifyChanged(ctx context.Context, mark backup.Mark) []string {
	info, err := os.Stat(w.databasePath())
	if err != nil || mark.Damage == "" && (!mark.Clean || mark.Fits(info)) {
		return nil
	}
	if mark.Damage == "" && info.Size() > verifyLimit {
		w.verifyLater = true
		return nil
	}
	w.changed = true
	wrong, err := upkeep.Verify(ctx, w.databasePath())
	w.warn(ctx, "verify memory", err)
	return wrong
}

// recoverLost recovers a database that is gone, unless there never was one here, or nothing was
// in it: then it changes nothing and returns "". what says what is wrong with memory.db, for the
// log and the notice. The result is that of recover.
func (w *Worker) recoverLost(ctx context.Context, mark backup.Mark, what string) (string, error) {
	if mark.Position == 0 && mark.Received == 0 {
		if mark.Memory != 0 {
			return "", nil // nothing was in it
		}
		if list, err := backup.List(w.cfg.DataDir); err != nil || len(list) == 0 {
			return "", nil //nolint:nilerr // opening the memory reports a directory that cannot be read
		}
	}
	return w.recover(ctx, mark, what)
}

// recover replaces the database by what backups and the damaged one still have. If it did so
// for the same reason within a day, it changes nothing and returns an error, so that no worker
// starts and events wait in the spool until a person decides.
func (w *Worker) recover(ctx context.Context, mark backup.Mark, what string) (told string, err error) {
	reason, _, _ := strings.Cut(what, " (")
	if held := w.heldRepair(control.Database, reason); held != nil {
		return "", memory.Errorf(memory.CodeStorage, "%s", held.Text()).
			WithHint("check the disk; then `claude-mem doctor --fix` repairs it again. Nothing was changed, and events wait in the spool")
	}
	w.log.Error("the memory is recovered", "because", what)
	done, err := backup.Recover(ctx, w.cfg.DataDir, w.cfg.Clock())
	if err != nil {
		return "", err
	}
	w.noteRepair(control.Database, reason)
	for _, unsound := range done.Unsound {
		w.log.Error("a backup is not sound", "error", unsound)
	}
	text := "claude-mem: " + what + "."
	if n := len(done.Unsound); n > 0 {
		text += fmt.Sprintf(" Backups that cannot be used were passed over (%d): %v.", n, done.Unsound[0])
	}
	switch {
	case done.From != nil:
		text += fmt.Sprintf(" The backup of %s was restored", control.OnDay(done.From.At))
		if done.Rows > 0 {
			text += fmt.Sprintf(", with %d newer rows that could still be read", done.Rows)
		}
		text += "." + erasedText(done.Applied)
	case done.Rows > 0:
		text += fmt.Sprintf(" There was no backup; %d rows that could still be read are in a new database.", done.Rows)
	default:
		text += " There was no backup: a new memory was started."
	}
	if done.Unread != nil {
		w.log.Error("no rows could be read of the damaged memory", "error", done.Unread)
		text += fmt.Sprintf(" No rows of the damaged file could be copied: %v.", done.Unread)
	}
	if mark.At > 0 {
		text += " It was last in use on " + control.OnDay(mark.At) + "."
	}
	if done.Aside != "" {
		text += " The former file is kept in " + done.Aside + "."
	}
	w.log.Error("the memory was recovered", "rows", done.Rows, "aside", done.Aside, "backup", done.From != nil)
	return text, nil
}

// secureOlder notices that the database lacks changes that it had: its write-ahead log was
// deleted, or an older copy was put in its place. The newest backup of the same memory that has
// more and can be restored is. It returns what is told, "" if nothing is lacking.
func (w *Worker) secureOlder(ctx context.Context, mark backup.Mark, has upkeep.Contents) (string, error) {
	reached := mark.Position
	if seen, err := index.Look(ctx, filepath.Join(w.cfg.DataDir, control.Index)); err == nil {
		reached = max(reached, seen.Cursor)
	}
	if has.Position >= reached && has.Received >= mark.Received {
		return "", nil
	}
	text := fmt.Sprintf("claude-mem: memory.db lacks %d changes and %d events that it had: its write-ahead log was deleted, or an older copy was put in its place.",
		max(0, reached-has.Position), max(0, mark.Received-has.Received))
	list, err := backup.List(w.cfg.DataDir)
	if err != nil {
		return "", err
	}
	for _, b := range list {
		saved, err := upkeep.ReadContents(ctx, b.Path)
		if err != nil || saved.Memory != has.Memory || saved.Position <= has.Position {
			continue
		}
		aside, applied, err := backup.Restore(ctx, w.cfg.DataDir, b, w.cfg.Clock())
		if err != nil {
			w.log.Warn("restore backup", "file", b.Name, "error", err)
			continue
		}
		return text + fmt.Sprintf(" The backup of %s, which is newer, was restored; the former file is kept in %s.", control.OnDay(b.At), aside) + erasedText(applied), nil
	}
	return text + " No backup is newer.", nil
}

// openMark adds the step to Close that writes the mark after the store is closed. Steps run in
// reverse order: it is called before the store is opened.
func (w *Worker) openMark() {
	w.opened("mark", func(ctx context.Context) error {
		if lost, _ := w.lockFile(); w.store == nil || lost {
			return nil // the directory is another worker's
		}
		if w.verifyCut.Load() {
			return nil // the mark of a worker that runs: the next one verifies
		}
		mark := backup.ReadMark(w.cfg.DataDir)
		if has, err := upkeep.ReadContents(ctx, w.databasePath()); err == nil {
			mark.Memory, mark.Position, mark.Received = has.Memory, has.Position, has.Received
		}
		info, err := os.Stat(w.databasePath())
		if err != nil {
			return nil //nolint:nilerr // the next start tells that it is gone
		}
		mark.Close(info)
		mark.At = memory.MillisOf(w.cfg.Clock())
		return backup.WriteMark(w.cfg.DataDir, mark)
	})
}

// began adds the notice of secure, writes the mark, and verifies the memory in the background
// if the last worker did not close it, or it was changed since.
func (w *Worker) began(ctx context.Context, mark backup.Mark, told string) error {
	if told != "" {
		if err := w.store.AddNotice(ctx, noticeRecovery, told); err != nil {
			return err
		}
	}
	if mark.Damage != "" { // recovered, or not found again
		if err := backup.WriteMark(w.cfg.DataDir, backup.Mark{}); err != nil {
			return err
		}
	}
	w.keepMark(ctx)
	if w.changed || told != "" {
		// Before the first answer; the file is small, or was read completely just now.
		w.warn(ctx, "verify records", w.mendRecords(ctx, func() error { return nil }))
	}
	if told == "" && mark.Memory != 0 && (!mark.Clean || w.verifyLater) {
		w.checkDamage()
	}
	return nil
}

// keepMark writes the mark if the memory has changed since it was last written, or the mark still
// says that it was closed. A mark of damage stays.
func (w *Worker) keepMark(ctx context.Context) {
	place, err := w.store.Place(ctx)
	if err != nil {
		return // health reports it
	}
	mark := backup.Mark{Memory: place.Memory, Position: place.Position, Received: place.Received}
	if old := backup.ReadMark(w.cfg.DataDir); old.Damage != "" || !old.Clean && old.Memory == mark.Memory && old.Position == mark.Position && old.Received == mark.Received {
		return
	}
	mark.At = memory.MillisOf(w.cfg.Clock())
	w.warn(ctx, "keep mark", backup.WriteMark(w.cfg.DataDir, mark))
}

// verifyPause is the least time between two verifications that errors ask for.
const verifyPause = time.Minute

// checkDamage verifies the memory in the background, after an unclean stop, an error that says
// that it is damaged, or a read of a record that has changed. If the file is damaged, the
// worker stops, and the next one recovers it; records are repaired at once.
func (w *Worker) checkDamage() {
	now := w.cfg.Clock().UnixNano()
	if last := w.verifiedAt.Load(); last != 0 && now-last < int64(verifyPause) && now >= last || !w.verifiedAt.CompareAndSwap(last, now) {
		return
	}
	w.verifying.Go(func() {
		wrong, err := w.store.Verify(w.life)
		w.warn(w.life, "verify memory", err)
		if len(wrong) > 0 && w.life.Err() == nil {
			w.foundDamage(strings.Join(wrong, "; "))
			return
		}
		w.warn(w.life, "verify records", w.mendRecords(w.life, pausing(w.life)))
		w.verifyCut.Store(w.life.Err() != nil)
	})
}

// foundDamage stops the worker because its memory is damaged: the next one recovers it.
func (w *Worker) foundDamage(what string) {
	w.log.Error("the memory is damaged, stopping", "damage", what)
	w.damage.Store(&what)
	w.noteDamage(what)
	w.Shutdown()
}

// noteDamage writes what is wrong with the memory into the mark: the next worker verifies
// and recovers it.
func (w *Worker) noteDamage(what string) {
	mark := backup.ReadMark(w.cfg.DataDir)
	mark.Damage = what
	if err := backup.WriteMark(w.cfg.DataDir, mark); err != nil {
		w.log.Error("note damage", "error", err)
	}
}

// noticeRepair is the notice of a repair that is not made again.
const noticeRepair = "repair"

// mayRepair notes a repair and reports whether it may be made: not for the same reason again
// within a day, or a cause that repairs do not cure would be repaired for ever.
func (w *Worker) mayRepair(file, reason string) bool {
	return w.heldRepair(file, reason) == nil && w.noteRepair(file, reason)
}

// heldRepair returns the repair of a file for the same reason within the last day, nil without
// one. The first call that finds it notes that it was needed again, and tells the user once the
// store is open.
func (w *Worker) heldRepair(file, reason string) (held *control.Repair) {
	now := w.cfg.Clock()
	err := control.EditRepairs(w.cfg.DataDir, func(list []control.Repair) []control.Repair {
		at := slices.IndexFunc(list, func(r control.Repair) bool { return r.File == file && r.Reason == reason })
		if at < 0 || !list[at].Recent(now) {
			return nil
		}
		held = &list[at]
		if held.Needed != 0 {
			return nil // nothing to write: the user has the notice
		}
		held.Needed = memory.MillisOf(now)
		w.log.Error("a repair is not made again within a day", "file", file, "reason", reason)
		return list
	})
	if err == nil && held != nil && held.Needed == memory.MillisOf(now) && w.store != nil {
		err = w.store.AddNotice(w.life, noticeRepair, "claude-mem: "+held.Text()+" `claude-mem doctor` shows what to do.")
	}
	w.warn(w.life, "keep notice of a repair", err)
	return held
}

// noteRepair notes now as the time of the last repair of a file for a reason, and reports whether
// that was stored; if not, it logs the error.
func (w *Worker) noteRepair(file, reason string) bool {
	err := control.EditRepairs(w.cfg.DataDir, func(list []control.Repair) []control.Repair {
		list = slices.DeleteFunc(list, func(r control.Repair) bool { return r.File == file && r.Reason == reason })
		return append(list, control.Repair{File: file, Reason: reason, At: memory.MillisOf(w.cfg.Clock())})
	})
	if err != nil {
		w.log.Error("note repair", "error", err)
	}
	return err == nil
}

// StartReindex implements httpapi.Worker: a person may have the index rebuilt at any time.
func (w *Worker) StartReindex() error {
	if err := control.AllowRepairs(w.cfg.DataDir, false); err != nil {
		return err
	}
	return w.finder.StartReindex()
}

// Reindexing implements httpapi.Worker.
func (w *Worker) Reindexing() api.Reindexing { return w.finder.Reindexing() }

// noticeRecords is the notice of records that were changed on the disk.
const noticeRecords = "records"

// verifyRest is the pause after every 200 records that are verified in the background: a
// million take half a minute.
const verifyRest = 5 * time.Millisecond

// pausing returns a function that pauses the work of a background verification, until ctx
// ends.
func pausing(ctx context.Context) func() error {
	return func() error {
		if !control.Pause(ctx, verifyRest) {
			return ctx.Err()
		}
		return nil
	}
}

// mendRecords compares all records with their hashes, repairs those that were changed on the
// disk from the backups, and adds a notice about them. pause is called after every 200 records; its
// error ends the work before anything is repaired. Of two calls at once the second waits.
func (w *Worker) mendRecords(ctx context.Context, pause func() error) error {
	w.mending.Lock()
	defer w.mending.Unlock()
	wrong, _, err := w.store.VerifyRecords(ctx, pause)
	if err != nil || len(wrong) == 0 {
		return err
	}
	list, err := backup.List(w.cfg.DataDir)
	w.warn(ctx, "list backups", err)
	paths := collect.Map(list, func(b backup.Backup) string { return b.Path })
	done, err := w.store.Repair(ctx, wrong, paths)
	w.log.Error("records were changed on the disk", "restored", done.Restored, "withheld", done.Withheld,
		"lost", done.Lost, "accepted", done.Accepted, "error", err)
	if done.Total() == 0 {
		return err
	}
	return cmp.Or(err, w.store.AddNotice(ctx, noticeRecords, recordsText(done)))
}

// namedRecords is how many records of a kind a notice names.
const namedRecords = 3

// recordsText returns the notice about repaired records.
func recordsText(done upkeep.Repaired) string {
	said := fmt.Sprintf("claude-mem: %s had changed on the disk, or were gone.", text.Count(done.Total(), "record"))
	for _, part := range []struct {
		list []upkeep.Mismatch
		what string
	}{
		{done.Restored, "restored from a backup"},
		{done.Withheld, "withheld because no backup has the text"},
		{done.Lost, "lost: no backup has them"},
		{done.Accepted, "kept, but their titles, files or counts may be wrong"},
	} {
		if len(part.list) == 0 {
			continue
		}
		names := collect.Map(part.list[:min(len(part.list), namedRecords)], upkeep.Mismatch.String)
		if len(part.list) > namedRecords {
			names = append(names, "…")
		}
		said += fmt.Sprintf(" %d %s (%s).", len(part.list), part.what, strings.Join(names, ", "))
	}
	return said + " Check the disk; `claude-mem doctor --deep` reads all of the memory."
}
