package control

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"claudemem/internal/keep/index"
	"claudemem/internal/keep/store"
	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// repairsName is the file of the repairs, beside what is repaired.
const repairsName = "repairs.json"

// repairTime is the time within which a file is not repaired twice for the same reason.
const repairTime = 24 * time.Hour

// Repair is the last repair of a file for a reason.
type Repair struct {
	File   string        `json:"file"` // index.db, index.vec, index.table or memory.db
	Reason string        `json:"reason"`
	At     memory.Millis `json:"at"`
	// Needed is when it was needed again within a day and not made, 0 for never.
	Needed memory.Millis `json:"needed,omitempty"`
}

// Text describes a repair that was needed again.
func (r Repair) Text() string {
	return fmt.Sprintf("%s was repaired on %s and needs it again (%s). It is not repaired twice a day for the same reason.", r.File, OnDay(r.At), r.Reason)
}

// Recent reports whether the repair was made within a day of now.
func (r Repair) Recent(now time.Time) bool { return now.Sub(r.At.Time()).Abs() < repairTime }

// OnDay returns a time for people, in UTC.
func OnDay(at memory.Millis) string { return at.Time().UTC().Format("2 January 2006 15:04 UTC") }

// repairing guards the file of the repairs.
var repairing sync.Mutex

// Repairs returns the repairs in a data directory, none if their file is missing or unreadable.
func Repairs(dataDir string) (list []Repair) {
	if file, _, err := openfile.Beginning(filepath.Join(dataDir, repairsName), 1<<20); err == nil {
		_ = json.Unmarshal(file, &list)
	}
	return list
}

// EditRepairs replaces the repairs in a data directory by what edit returns; nil leaves them. edit
// may change the list that it gets. Calls of this process take turns.
func EditRepairs(dataDir string, edit func([]Repair) []Repair) error {
	repairing.Lock()
	defer repairing.Unlock()
	list := edit(Repairs(dataDir))
	if list == nil {
		return nil
	}
	path := filepath.Join(dataDir, repairsName)
	if err := WriteJSON(path, list); err != nil {
		return DiskError("write", path, err)
	}
	return nil
}

// HeldRepairs returns the repairs of memory.db, or of the index, that were needed again within a
// day and are not made.
func HeldRepairs(dataDir string, ofMemory bool, now time.Time) []Repair {
	return slices.DeleteFunc(Repairs(dataDir), func(r Repair) bool {
		return r.Needed == 0 || (r.File == Database) != ofMemory || !r.Recent(now)
	})
}

// AllowRepairs forgets the repairs of memory.db, or of the index, so that they may be made again.
func AllowRepairs(dataDir string, ofMemory bool) error {
	return EditRepairs(dataDir, func(list []Repair) []Repair {
		kept := slices.DeleteFunc(slices.Clone(list), func(r Repair) bool { return (r.File == Database) == ofMemory })
		if len(kept) == len(list) {
			return nil
		}
		return kept
	})
}

// WriteJSON writes v into a file that is for its owner only (mode 0600), whole or not at all.
func WriteJSON(path string, v any) error {
	content, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return atomicfile.WriteOwn(path, content, 0o600)
}

// VerifyIndex reads all of the search index of a data directory and compares its records with
// those of the database. wrong says what is not as it should be. compared is false, and wrong
// has only damage of the file, when one of both has changes that the other lacks. The codes of
// its errors are those of index.Verify.
func VerifyIndex(ctx context.Context, db *store.Store, dataDir string) (wrong []string, compared bool, err error) {
	_, before, err := db.ChangeRange(ctx)
	if err != nil {
		return nil, false, err
	}
	seen, err := index.Verify(ctx, filepath.Join(dataDir, Index))
	if err != nil {
		return nil, false, err
	}
	wrong = seen.Wrong
	refs, err := db.FilterRecords(ctx, memory.Query{}, nil, memory.OrderOldest)
	if err != nil {
		return wrong, false, err
	}
	if _, after, err := db.ChangeRange(ctx); err != nil || after != before || seen.Cursor != after {
		return wrong, false, err
	}
	missing := collect.Set(refs)
	foreign := 0
	for _, r := range seen.Records {
		if !missing[r] {
			foreign++
		}
		delete(missing, r)
	}
	if len(missing) > 0 {
		wrong = append(wrong, text.Count(len(missing), "record")+" of the memory missing")
	}
	if foreign > 0 {
		wrong = append(wrong, text.Count(foreign, "record")+" that the memory does not have")
	}
	return wrong, true, nil
}
