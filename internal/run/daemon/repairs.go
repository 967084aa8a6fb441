package daemon

import (
	"slices"

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

// heldRepair returns the repair of a file for the same reason within the last day, with a notice
// for the user, nil without one.
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

// noteRepair notes a repair that is made, and reports whether it could.
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
