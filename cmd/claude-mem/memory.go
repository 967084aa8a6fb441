package main

import (
	"context"
	"path/filepath"

	"claudemem/internal/keep/backup"
	"claudemem/internal/keep/store"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// openMemory opens the database for reading: reading needs no worker, unless the database is
// not the one that the last worker left.
func openMemory(ctx context.Context, dataDir string) (*store.Store, error) {
	s, err := store.OpenReadOnly(ctx, databasePath(dataDir))
	if err != nil && memory.CodeOf(err) != memory.CodeNoMemory {
		return nil, err
	}
	if suspect := backup.Suspect(ctx, dataDir, s); suspect != nil {
		if s != nil {
			_ = s.Close() // it has only read
		}
		return nil, suspect
	}
	return s, err
}

// databasePath returns the path of the database in a data directory.
func databasePath(dataDir string) string { return filepath.Join(dataDir, "memory.db") }

// emptyMemory turns the error that there is no memory yet into the empty answer
// of a list; other errors are returned.
func (a *app) emptyMemory(err error, asJSON bool, empty any) error {
	if memory.CodeOf(err) != memory.CodeNoMemory {
		return err
	}
	if asJSON {
		return writeJSON(a.stdout, empty)
	}
	a.note("Nothing is remembered yet: no session has been captured.\n" +
		"The agent's hooks capture sessions; `claude-mem demo` shows an example.")
	a.noteHistory(context.Background())
	return nil
}

// nothingRemembered explains an empty list, and names where records are.
func (a *app) nothingRemembered(ctx context.Context, m api.Memory, project string) error {
	stats, err := m.Stats(ctx, api.StatsRequest{Brief: true})
	if err != nil {
		return err
	}
	totals, waits := stats.Totals, stats.Queue.Pending+stats.Queue.Processing
	switch {
	case project != "" && totals.Observations > 0:
		a.note("No observations of %s yet. `--all` shows %s of other projects.", oneLine(project, 0), text.Count(totals.Observations, "observation"))
	case waits > 0:
		a.note("Nothing is remembered yet: %s waiting to be distilled.", waiting(waits))
	default:
		a.note("Nothing is remembered yet. Each turn is distilled; turns of routine reading make no records.")
	}
	a.noteHistory(ctx)
	return nil
}

// waiting returns "1 event is" or "3 events are".
func waiting(n int) string {
	if n == 1 {
		return "1 event is"
	}
	return text.Count(n, "event") + " are"
}
