package daemon

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"claudemem/internal/keep/backup"
	"claudemem/internal/keep/store/care"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/serve/api"
)

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
			return nil // the user has the notice
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
	var paths []string
	for _, b := range list {
		paths = append(paths, b.Path)
	}
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
func recordsText(done care.Repaired) string {
	said := fmt.Sprintf("claude-mem: %s had changed on the disk, or were gone.", text.Count(done.Total(), "record"))
	for _, part := range []struct {
		list []care.Mismatch
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
		var names []string
		for _, m := range part.list[:min(len(part.list), namedRecords)] {
			names = append(names, m.String())
		}
		if len(part.list) > namedRecords {
			names = append(names, "…")
		}
		said += fmt.Sprintf(" %d %s (%s).", len(part.list), part.what, strings.Join(names, ", "))
	}
	return said + " Check the disk; `claude-mem doctor --deep` reads all of the memory."
}
