package backup

import (
	"context"

	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/upkeep"
	"claudemem/internal/memory"
)

// Suspect returns an error with CodeStorage if the database of a data directory, open for
// reading, is not the memory that the last worker left: it is damaged, another one, or lacks
// changes. db is nil when there is none. It compares numbers, so it is quick, and does not see
// every damage. The next worker recovers the memory, or takes it as it is.
func Suspect(ctx context.Context, dataDir string, db *store.Store) error {
	mark := ReadMark(dataDir)
	var place upkeep.Place
	if db != nil {
		var err error
		if place, err = db.Place(ctx); err != nil {
			return err
		}
	}
	suspect := func(format string, args ...any) error {
		return memory.Errorf(memory.CodeStorage, format, args...).
			WithHint("claude-mem worker start: it restores what the backups have, and tells what it found")
	}
	switch {
	case mark.Position == 0 && mark.Received == 0:
		return nil
	case place.Empty():
		return suspect("memory.db is missing or empty, and there was a memory")
	case mark.Damage != "":
		return suspect("memory.db is damaged: %s", mark.Damage)
	case place.Memory != mark.Memory:
		return suspect("memory.db is another memory than the one that was used here")
	case place.Position < mark.Position || place.Received < mark.Received:
		return suspect("memory.db lacks %d changes and %d events that it had", max(0, mark.Position-place.Position), max(0, mark.Received-place.Received))
	}
	return nil
}
