package upkeep

import (
	"context"
	"time"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/memory"
)

// How long rows are kept that tell what claude-mem itself did.
const (
	changesKept = 30 * 24 * time.Hour
	journalKept = 180 * 24 * time.Hour
	wordsKept   = 30 * 24 * time.Hour // of what sessions were given
)

// prunedTogether is the number of rows that a commit of Prune deletes; arrivals wait
// meanwhile.
const prunedTogether = 500

// prunedTable is a table whose rows are deleted when they are old. rows selects the numbers
// of up to ?2 rows from before ?1; ?3 is a day from now. The conditions ?3 > 0 are always true:
// all statements take the same arguments.
type prunedTable struct {
	name string
	kept time.Duration
	rows string
}

// The rows of the change feed go from its beginning, so that it has no gap: a follower whose
// ReadPlace is gone starts anew. A row from the future, of a clock that was wrong, does not
// keep those before it. lookups go with their rows of event_log.
var prunedTables = []prunedTable{
	{"changes", changesKept,
		`SELECT seq FROM changes WHERE seq < coalesce((SELECT seq FROM changes WHERE created_at BETWEEN ?1 AND ?3 ORDER BY seq LIMIT 1),
			(SELECT max(seq) FROM changes)) ORDER BY seq LIMIT ?2`},
	{"event_log", journalKept,
		"SELECT id FROM event_log WHERE created_at < ?1 AND ?3 > 0 AND event_type <> '" + records.EventTrial + "' ORDER BY created_at LIMIT ?2"},
	{"llm_calls", journalKept,
		"SELECT id FROM llm_calls WHERE started_at < ?1 AND ?3 > 0 AND outcome <> 'reserved' ORDER BY started_at LIMIT ?2"},
	{"foreign_texts", records.ForeignKept,
		"SELECT id FROM foreign_texts WHERE created_at < ?1 AND ?3 > 0 LIMIT ?2"},
	{"injections", journalKept,
		"SELECT id FROM injections WHERE created_at < ?1 AND ?3 > 0 AND arm = '' LIMIT ?2"},
}

// Pruned are the numbers of rows that Prune has deleted, by table.
type Pruned map[string]int

// Prune deletes the rows of the change feed and of foreign_texts that are older than 30 days, and
// those of event_log and injections (but for those of trials) and of llm_calls (but for open calls) that are older than 180 days,
// in small commits; the words of injections go after 30 days. Ages are judged by agingTime. An error leaves what was deleted before it,
// which Pruned counts.
func (s *Upkeep) Prune(ctx context.Context) (Pruned, error) {
	const what = "prune"
	now, err := db.InKeeping(ctx, s.DB, what, func(t *db.Tx) (memory.Millis, error) { return agingTime(t), nil })
	if err != nil {
		return nil, err
	}
	pruned := Pruned{}
	for _, table := range prunedTables {
		for {
			// Looked up by a reader: a look through a whole table must not keep arrivals waiting.
			ids, err := db.Column[int64](ctx, s.Reader, table.rows, int64(now.Add(-table.kept)), prunedTogether, int64(s.Now().Add(24*time.Hour)))
			if err != nil {
				return pruned, db.Fault(what, err)
			}
			if len(ids) == 0 {
				break
			}
			n, err := db.InKeeping(ctx, s.DB, what, func(t *db.Tx) (int, error) {
				return t.Exec("DELETE FROM "+table.name+" WHERE rowid IN (SELECT value FROM json_each(?))", db.JSONList(ids)), nil
			})
			if err != nil {
				return pruned, err
			}
			pruned[table.name] += n
			if len(ids) < prunedTogether {
				break
			}
		}
	}
	return pruned, s.WriteKeeping(ctx, what, func(t *db.Tx) {
		records.TrimWords(t, now.Add(-wordsKept))
	})
}

// vacuumStep gives up to 500 free pages (2 MB) back; arrivals wait meanwhile.
const vacuumStep = "PRAGMA incremental_vacuum(500)"

// Vacuum gives the free pages of the database back to the file system, in small commits,
// down to about slack bytes, which new rows will use soon. It returns how many bytes that
// were, 0 for a file that was made without auto_vacuum, which gives none back.
func (s *Upkeep) Vacuum(ctx context.Context, slack int64) (given int64, err error) {
	const what = "vacuum"
	for {
		var free, page int64
		if err := s.Reader.QueryRowContext(ctx, "SELECT (SELECT freelist_count FROM pragma_freelist_count), (SELECT page_size FROM pragma_page_size)").Scan(&free, &page); err != nil {
			return given, db.Fault(what, err)
		}
		if free*page <= slack {
			return given, nil
		}
		left, err := db.InKeeping(ctx, s.DB, what, func(t *db.Tx) (int64, error) { return vacuum(t), nil })
		if err != nil || left >= free { // not less in a file that was made without auto_vacuum
			return given, err
		}
		given += (free - left) * page
	}
}

// vacuum gives some free pages back and returns how many are left.
func vacuum(t *db.Tx) (left int64) {
	// The statement has a row, without content, for each page.
	t.Fail(db.Each(context.Background(), t, func(sqlite.Scan) error { return nil }, vacuumStep))
	return t.Number("SELECT freelist_count FROM pragma_freelist_count")
}

// purgedTogether is the number of observations that a commit erases; arrivals wait
// meanwhile.
const purgedTogether = 50

// PurgeHidden erases the observations that were hidden at or before the time,
// with their files and concepts, and the paths that no other has, in small commits. It returns
// how many they were, with an error those before it.
func (s *Upkeep) PurgeHidden(ctx context.Context, hiddenBy memory.Millis) (int, error) {
	purged := 0
	for {
		n, err := db.InKeeping(ctx, s.DB, "purge observations", func(t *db.Tx) (int, error) { return purge(t, hiddenBy), nil })
		if err != nil {
			return purged, err
		}
		if purged += n; n > 0 {
			records.DropNearby(s.records)
		}
		if n < purgedTogether {
			return purged, nil
		}
	}
}

// purge deletes up to purgedTogether observations that were hidden at or before a time,
// with the paths that only they had, and returns how many.
func purge(t *db.Tx, hiddenBy memory.Millis) int {
	ids := db.Selected[memory.ObservationID](t, "SELECT id FROM observations WHERE deleted_at <= ? ORDER BY deleted_at, id LIMIT ?", int64(hiddenBy), purgedTogether)
	if len(ids) == 0 {
		return 0
	}
	records.EraseWords(t, "SELECT session_id FROM observations WHERE id", db.JSONList(ids))
	return records.DeleteObservations(t, ids)
}

const (
	// counterChore begins the counter with the time of a chore's last end.
	counterChore = "chore:"
	// counterAged is the time by which ages are judged, counterAgedAt when it last moved.
	counterAged   = "aged"
	counterAgedAt = "aged_at"
)

// ChoreDone returns when the chore of a name last ended, 0 for never.
func (s *Upkeep) ChoreDone(ctx context.Context, name string) (at memory.Millis, err error) {
	defer db.Wrap(&err, "read chore")
	return db.Value[memory.Millis](ctx, s.Reader, "SELECT coalesce((SELECT value FROM counters WHERE name = ?), 0)", counterChore+name)
}

// NoteChore stores that the chore of a name ended at a time.
func (s *Upkeep) NoteChore(ctx context.Context, name string, at memory.Millis) error {
	return s.WriteKeeping(ctx, "note chore", func(t *db.Tx) {
		t.SetCounter(counterChore+name, int64(at))
	})
}

const (
	// agesAtMost is how far the time by which ages are judged moves at once, and agesEvery
	// the least time between two moves.
	agesAtMost = 7 * 24 * time.Hour
	agesEvery  = 20 * time.Hour
)

// agingTime returns the time by which ages are judged when rows are deleted for their age.
// It is at most the present. It follows the clock by a week a day at most, from the newest
// event on: a clock that is a year ahead makes no records old at once, and a computer that
// was off for a year catches up. It stores how far it has got, which has to be committed.
func agingTime(t *db.Tx) memory.Millis {
	var aged, movedAt, newest memory.Millis
	now := t.Now()
	t.Row(`SELECT coalesce((SELECT value FROM counters WHERE name = ?1), 0), coalesce((SELECT value FROM counters WHERE name = ?2), 0),
		coalesce((SELECT received_at FROM events ORDER BY id DESC LIMIT 1), 0)`, []any{counterAged, counterAgedAt}, &aged, &movedAt, &newest)
	next := now
	switch {
	case aged != 0 && now < movedAt: // the clock was set back
		next = aged
	case aged != 0 && now < movedAt.Add(agesEvery):
		return min(aged, now)
	case aged != 0:
		next = max(aged, min(now, aged.Add(agesAtMost)))
	case newest != 0:
		next = min(now, newest.Add(agesAtMost))
	}
	t.SetCounter(counterAged, int64(next))
	t.SetCounter(counterAgedAt, int64(now))
	return min(next, now)
}
