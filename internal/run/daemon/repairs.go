package daemon

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

const (
	// repairsName is the file of the repairs, beside what is repaired.
	repairsName = "repairs.json"
	// noticeRepair is the notice of a repair that is not made again.
	noticeRepair = "repair"
)

// Repair is the last repair of a file for a reason.
type Repair struct {
	File   string        `json:"file"` // index.db, index.vec, index.table or memory.db
	Reason string        `json:"reason"`
	At     memory.Millis `json:"at"`
	// Needed is when it was needed again within a day and not made, 0 for never.
	Needed memory.Millis `json:"needed,omitempty"`
}

// repairing guards the file of the repairs.
var repairing sync.Mutex

// Repairs returns the repairs in a data directory, none if their file is missing or unreadable.
func Repairs(dataDir string) (list []Repair) {
	if file, _, err := openfile.Beginning(filepath.Join(dataDir, repairsName), 1<<20); err == nil {
		_ = json.Unmarshal(file, &list)
	}
	return list
}

// HeldRepairs returns the repairs of memory.db, or of the index, that were needed again within a
// day and are not made.
func HeldRepairs(dataDir string, mem bool, now time.Time) []Repair {
	return slices.DeleteFunc(Repairs(dataDir), func(r Repair) bool {
		return r.Needed == 0 || (r.File == databaseName) != mem || now.Sub(r.At.Time()).Abs() >= daily
	})
}

// AllowRepairs forgets the repairs of memory.db, or of the index, so that they may be made again.
func AllowRepairs(dataDir string, mem bool) error {
	repairing.Lock()
	defer repairing.Unlock()
	list := Repairs(dataDir)
	kept := slices.DeleteFunc(slices.Clone(list), func(r Repair) bool { return (r.File == databaseName) == mem })
	if len(kept) == len(list) {
		return nil
	}
	return writeRepairs(dataDir, kept)
}

func writeRepairs(dataDir string, list []Repair) error {
	path := filepath.Join(dataDir, repairsName)
	if err := writeOwnJSON(path, list); err != nil {
		return diskError("write", path, err)
	}
	return nil
}

// writeOwnJSON writes a file that is for its owner only.
func writeOwnJSON(path string, v any) error {
	content, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return atomicfile.WriteOwn(path, content, 0o600)
}

// mayRepair notes a repair and reports whether it may be made: not for the same reason again
// within a day, or a cause that repairs do not cure would be repaired for ever.
func (w *Worker) mayRepair(file, reason string) bool {
	return w.heldRepair(file, reason) == nil && w.noteRepair(file, reason)
}

// heldRepair returns the repair of a file for the same reason within the last day, with a notice
// for the user, nil without one.
func (w *Worker) heldRepair(file, reason string) *Repair {
	repairing.Lock()
	defer repairing.Unlock()
	list, now := Repairs(w.cfg.DataDir), w.cfg.Clock()
	at := slices.IndexFunc(list, func(r Repair) bool { return r.File == file && r.Reason == reason })
	if at < 0 || now.Sub(list[at].At.Time()).Abs() >= daily {
		return nil
	}
	held := &list[at]
	if held.Needed != 0 {
		return held // the user has the notice
	}
	held.Needed = memory.MillisOf(now)
	w.log.Error("a repair is not made again within a day", "file", file, "reason", reason)
	err := writeRepairs(w.cfg.DataDir, list)
	if err == nil && w.store != nil {
		err = w.store.AddNotice(w.life, noticeRepair, "claude-mem: "+held.Text()+" `claude-mem doctor` shows what to do.")
	}
	if err != nil {
		w.log.Warn("keep notice of a repair", "error", err)
	}
	return held
}

// noteRepair notes a repair that is made, and reports whether it could.
func (w *Worker) noteRepair(file, reason string) bool {
	repairing.Lock()
	defer repairing.Unlock()
	list := slices.DeleteFunc(Repairs(w.cfg.DataDir), func(r Repair) bool { return r.File == file && r.Reason == reason })
	err := writeRepairs(w.cfg.DataDir, append(list, Repair{File: file, Reason: reason, At: memory.MillisOf(w.cfg.Clock())}))
	if err != nil {
		w.log.Error("note repair", "error", err)
	}
	return err == nil
}

// Text describes a repair that was needed again.
func (r Repair) Text() string {
	return fmt.Sprintf("%s was repaired on %s and needs it again (%s). It is not repaired twice a day for the same reason.", r.File, onDay(r.At), r.Reason)
}

// StartReindex implements httpapi.Worker: a person may have the index rebuilt at any time.
func (w *Worker) StartReindex() error {
	if err := AllowRepairs(w.cfg.DataDir, false); err != nil {
		return err
	}
	return w.finder.StartReindex()
}

// Reindexing implements httpapi.Worker.
func (w *Worker) Reindexing() api.Reindexing { return w.finder.Reindexing() }
