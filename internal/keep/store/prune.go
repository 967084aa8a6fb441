package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/memory"
)

// How long rows are kept that tell what claude-mem itself did.
const (
	changesKept = 30 * 24 * time.Hour
	journalKept = 180 * 24 * time.Hour
)

// prunedTogether is the number of rows that a commit of Prune deletes; arrivals wait
// meanwhile.
const prunedTogether = 500

// prunedTable is a table whose rows are deleted when they are old. rows selects the numbers
// of up to ?2 rows from before ?1, gone deletes the rows of a list of numbers.
type prunedTable struct {
	name       string
	kept       time.Duration
	rows, gone string
}

// The rows of the change feed go from its beginning, so that it has no gap: a follower whose
// place is gone starts anew. A row from the future, of a clock that was wrong, does not
// keep those before it. lookups go with their rows of event_log.
var prunedTables = []prunedTable{
	{"changes", changesKept,
		`SELECT seq FROM changes WHERE seq < coalesce((SELECT seq FROM changes WHERE created_at BETWEEN ?1 AND ?3 ORDER BY seq LIMIT 1),
			(SELECT max(seq) FROM changes)) ORDER BY seq LIMIT ?2`,
		"DELETE FROM changes WHERE seq IN (SELECT value FROM json_each(?))"},
	{"event_log", journalKept,
		"SELECT id FROM event_log WHERE created_at < ?1 AND ?3 > 0 ORDER BY created_at LIMIT ?2",
		"DELETE FROM event_log WHERE id IN (SELECT value FROM json_each(?))"},
	{"llm_calls", journalKept,
		"SELECT id FROM llm_calls WHERE started_at < ?1 AND ?3 > 0 AND outcome <> 'reserved' ORDER BY started_at LIMIT ?2",
		"DELETE FROM llm_calls WHERE id IN (SELECT value FROM json_each(?))"},
	{"foreign_texts", foreignKept,
		"SELECT id FROM foreign_texts WHERE created_at < ?1 AND ?3 > 0 LIMIT ?2",
		"DELETE FROM foreign_texts WHERE id IN (SELECT value FROM json_each(?))"},
	{"injections", journalKept,
		"SELECT id FROM injections WHERE created_at < ?1 AND ?3 > 0 LIMIT ?2",
		"DELETE FROM injections WHERE id IN (SELECT value FROM json_each(?))"},
}

// Pruned are the numbers of rows that Prune has deleted, by table.
type Pruned map[string]int

// Prune deletes the rows of the change feed that are older than 30 days, and those of
// event_log, llm_calls and injections that are older than 180 days, in small commits. Ages
// are judged by agingTime. An error leaves what was deleted before it.
func (s *Store) Prune(ctx context.Context) (Pruned, error) {
	const what = "prune"
	now, err := inKeeping(ctx, s, what, (*tx).agingTime)
	if err != nil {
		return nil, err
	}
	pruned := Pruned{}
	for _, table := range prunedTables {
		for {
			// Looked up by a reader: a look through a whole table must not keep arrivals waiting.
			ids, err := column[int64](ctx, s.reader, table.rows, int64(now.Add(-table.kept)), prunedTogether, int64(s.now().Add(24*time.Hour)))
			if err != nil {
				return pruned, fault(what, err)
			}
			if len(ids) == 0 {
				break
			}
			n, err := inKeeping(ctx, s, what, func(t *tx) (int, error) { return t.change(table.gone, jsonList(ids)) })
			if err != nil {
				return pruned, err
			}
			pruned[table.name] += n
			if len(ids) < prunedTogether {
				break
			}
		}
	}
	return pruned, nil
}

// vacuumStep gives up to 500 free pages (2 MB) back; arrivals wait meanwhile.
const vacuumStep = "PRAGMA incremental_vacuum(500)"

// Vacuum gives the free pages of the database back to the file system, in small commits,
// down to about slack bytes, which new rows will use soon. It returns how many bytes that
// were.
func (s *Store) Vacuum(ctx context.Context, slack int64) (given int64, err error) {
	const what = "vacuum"
	for {
		var free, page int64
		if err := s.reader.QueryRowContext(ctx, "SELECT (SELECT freelist_count FROM pragma_freelist_count), (SELECT page_size FROM pragma_page_size)").Scan(&free, &page); err != nil {
			return given, fault(what, err)
		}
		if free*page <= slack {
			return given, nil
		}
		left, err := inKeeping(ctx, s, what, (*tx).vacuum)
		if err != nil || left >= free { // not less in a file that was made without auto_vacuum
			return given, err
		}
		given += (free - left) * page
	}
}

// vacuum gives some free pages back and returns how many are left.
func (t *tx) vacuum() (left int64, err error) {
	// The statement has a row, without content, for each page.
	if err := each(context.Background(), t, func(sqlite.Scan) error { return nil }, vacuumStep); err != nil {
		return 0, err
	}
	return t.number("SELECT freelist_count FROM pragma_freelist_count")
}

// Checkpoint copies the write-ahead log into the database and cuts it to nothing, so that
// neither file has the bytes of deleted rows. It waits for readers that are under way.
// CodeConflict when one keeps the log for longer, such as another program.
func (s *Store) Checkpoint(ctx context.Context) error {
	const what = "checkpoint"
	for try := range checkpointTries {
		if try > 0 {
			select {
			case <-ctx.Done():
				return fault(what, ctx.Err())
			case <-time.After(checkpointPause):
			}
		}
		var busy int
		err := s.write(ctx, what, job{keepsSessions: true, bare: true, run: func(t *tx) error {
			return t.checkpoint(&busy)
		}})
		if err != nil || busy == 0 {
			return err
		}
	}
	return fault(what, memory.Errorf(memory.CodeConflict, "another program reads memory.db, so the log of its changes stays").
		WithHint("close it, such as a shell of sqlite3, and try again"))
}

// TrimLog does the same once, if the log has more than above bytes, and returns how many it
// gave back: none with a reader in the way. Arrivals wait for it, so it is for times in which
// nothing is captured. SQLite itself only writes the log anew from its beginning, so that the
// file stays as large as it once was.
func (s *Store) TrimLog(ctx context.Context, above int64) (given int64, err error) {
	const what = "trim log"
	size, err := logSize(s.path)
	if err != nil || size <= above {
		return 0, fault(what, err)
	}
	var busy int
	err = s.write(ctx, what, job{keepsSessions: true, bare: true, run: func(t *tx) error {
		return t.checkpoint(&busy)
	}})
	if err != nil || busy != 0 {
		return 0, err
	}
	return size, nil
}

// logSize returns the size of the write-ahead log, 0 without one.
func logSize(path string) (int64, error) {
	info, err := os.Stat(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Checkpoint tries 50 times and pauses in between, so that arrivals can be written.
const (
	checkpointTries = 50
	checkpointPause = 100 * time.Millisecond
)

// checkpoint tries to empty the log; busy is 1 when a reader is in the way. It does not wait
// for that reader: arrivals would.
func (t *tx) checkpoint(busy *int) (err error) {
	ctx := context.Background()
	if _, err := t.w.conn.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil {
		return err
	}
	defer func() {
		_, back := t.w.conn.ExecContext(ctx, "PRAGMA "+busyTimeout)
		err = errors.Join(err, back)
	}()
	var pages, copied int
	return t.w.conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(busy, &pages, &copied)
}
