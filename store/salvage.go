package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
	"strings"

	"claudemem/openfile"
	"claudemem/sqlite"
)

// salvaged are the tables whose new rows Salvage copies, in the order of their references,
// with the column that numbers their rows. salvageFiles copies paths and file_refs.
var salvaged = []struct{ table, number string }{
	{"sessions", "id"}, {"prompts", "id"}, {"observations", "id"},
	{"session_summaries", "id"}, {"learnings", "id"}, {"function_map", "id"}, {"events", "id"}, {"pending_messages", "event_id"},
	{"llm_calls", "id"}, {"injections", "id"}, {"event_log", "id"}, {"foreign_texts", "id"},
}

// salvagedWhole are the tables whose rows are not numbered in the order of their making, with
// the columns of their keys. Salvage copies each row whose key is missing.
var salvagedWhole = []struct{ table, key string }{
	{"tombstones", "kind, key"}, {"project_aliases", "path"}, {"unread_turns", "session_id, prompt_number"}, {"unread_messages", "event_id"},
	{"unread_records", "session_id, prompt_number, kind, record_id"}, {"hidden_records", "kind, id"}, {"notices", "key"},
}

// Salvage adds to the database at into, which is sound and open nowhere else, the newer rows
// of the damaged database at path, as far as they can be read. Rows that were deleted from the
// damaged database are deleted at into, too. It returns how many rows it copied and deleted.
// Events that cannot be read are booked as forgotten. The damaged file may be changed: it is
// a copy.
func Salvage(ctx context.Context, path, into string) (copied int, err error) {
	defer wrap(&err, "salvage memory")
	if err := padDatabase(path); err != nil {
		return 0, err
	}
	if err := restoreStructure(ctx, path); err != nil {
		return 0, err
	}
	from, err := sqlite.OpenReaders(ctx, sqlite.Source(path, nil, busyTimeout))
	if err != nil {
		return 0, err
	}
	defer func() { _ = from.Close() }()
	to, err := sqlite.OpenWriter(into, sqlite.Source(into, []string{"_txlock=immediate"}, busyTimeout, "synchronous(full)", "foreign_keys(0)"))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	tx, err := to.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }()
	last, err := lastHashed(ctx, tx)
	if err != nil {
		return 0, err
	}
	for _, t := range salvaged {
		n, err := salvageTable(ctx, from, tx, t.table, t.number)
		copied += n
		if err != nil {
			return copied, err
		}
	}
	n, err := salvageFiles(ctx, from, tx)
	copied += n
	if err != nil {
		return copied, err
	}
	for _, t := range salvagedWhole {
		n, err := salvageWhole(ctx, from, tx, t.table, t.key)
		copied += n
		if err != nil {
			return copied, err
		}
	}
	if err := salvageCounters(ctx, from, tx); err != nil {
		return copied, err
	}
	if err := salvageHashes(ctx, from, tx, last); err != nil {
		return copied, err
	}
	if err := repairSalvaged(ctx, tx); err != nil {
		return copied, err
	}
	return copied, tx.Commit()
}

// lastHashed returns the highest number of each of hashedKinds.
func lastHashed(ctx context.Context, tx *sql.Tx) (last []int64, err error) {
	for _, k := range hashedKinds {
		n, err := value[int64](ctx, tx, "SELECT coalesce(max(id), 0) FROM "+k.table)
		if err != nil {
			return nil, err
		}
		last = append(last, n)
	}
	return last, nil
}

// salvageHashes copies the hashes of the rows above last: those of the copies say nothing
// about what the rows were before. A row that could not be copied has a hash alone then, so
// that it is missed.
func salvageHashes(ctx context.Context, from *sql.DB, to *sql.Tx, last []int64) error {
	insert, err := to.PrepareContext(ctx, `INSERT INTO record_hashes (kind, id, text, rest, damaged_at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (kind, id) DO UPDATE SET text = excluded.text, rest = excluded.rest, damaged_at = excluded.damaged_at`)
	if err != nil {
		return err
	}
	defer func() { _ = insert.Close() }()
	for i, k := range hashedKinds {
		full := error(nil)
		// Those that cannot be read are missing: their rows count as they were copied.
		_ = each(ctx, from, func(scan sqlite.Scan) error {
			row := make([]any, 4)
			if err := scan(&row[0], &row[1], &row[2], &row[3]); err != nil {
				return err
			}
			if _, err := insert.ExecContext(ctx, append([]any{string(k.kind)}, row...)...); sqlite.Full(err) {
				full = err
				return err
			}
			return nil
		}, "SELECT id, text, rest, damaged_at FROM record_hashes WHERE kind = ? AND id > ?", string(k.kind), last[i])
		if full != nil {
			return full
		}
	}
	return nil
}

// padDatabase gives a truncated database the size that its header names: SQLite refuses to
// open a shorter one.
func padDatabase(path string) error {
	f, err := openfile.Open(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	var header [32]byte
	if _, err := io.ReadFull(f, header[:]); err != nil {
		return err
	}
	page := int64(binary.BigEndian.Uint16(header[16:]))
	if page == 1 {
		page = 65536 // https://www.sqlite.org/fileformat.html#page_size
	}
	size := page * int64(binary.BigEndian.Uint32(header[28:]))
	info, err := f.Stat()
	if err != nil || info.Size() >= size || size > padMost {
		return err
	}
	return f.Truncate(size)
}

// padMost bounds the size that a damaged header can ask for.
const padMost = 16 << 30

// deletable are the tables whose rows a user deletes.
var deletable = []string{"observations", "prompts", "session_summaries", "learnings"}

// commonColumns returns the columns that a table has in both databases, none if those of the
// damaged one cannot be read.
func commonColumns(ctx context.Context, from *sql.DB, to *sql.Tx, table string) ([]string, error) {
	columns, err := column[string](ctx, to, "SELECT name FROM pragma_table_info(?)", table)
	if err != nil {
		return nil, err
	}
	there, err := column[string](ctx, from, "SELECT name FROM pragma_table_info(?)", table)
	if err != nil {
		return nil, nil //nolint:nilerr // nothing of it can be read
	}
	return slices.DeleteFunc(columns, func(c string) bool { return !slices.Contains(there, c) }), nil
}

// salvageWhole copies the rows of a table that to does not have: from the first on until one
// cannot be read, then from the last backwards.
func salvageWhole(ctx context.Context, from *sql.DB, to *sql.Tx, table, key string) (copied int, err error) {
	columns, err := commonColumns(ctx, from, to, table)
	if err != nil || len(columns) == 0 {
		return 0, err
	}
	take, closeTake, err := taker(ctx, to, table, columns, &copied)
	if err != nil {
		return 0, err
	}
	defer closeTake()
	for _, order := range []string{key, strings.ReplaceAll(key, ",", " DESC,") + " DESC"} {
		err := each(ctx, from, func(scan sqlite.Scan) error { _, err := take(scan); return err },
			"SELECT 0, "+strings.Join(columns, ", ")+" FROM "+table+" ORDER BY "+order)
		if ctx.Err() != nil {
			return copied, ctx.Err()
		}
		if err == nil || sqlite.Full(err) {
			return copied, err
		}
	}
	return copied, nil
}

// salvageCounters raises each counter to its value in the damaged database. memory_id is no
// counter: it names the memory, and stays.
func salvageCounters(ctx context.Context, from *sql.DB, to *sql.Tx) error {
	err := each(ctx, from, func(scan sqlite.Scan) error {
		var name string
		var n int64
		if err := scan(&name, &n); err != nil {
			return err
		}
		_, err := to.ExecContext(ctx, "INSERT INTO counters (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)", name, n)
		return err
	}, "SELECT name, value FROM counters WHERE name <> 'memory_id' AND value <= ?", int64(highestNumber))
	if ctx.Err() != nil || sqlite.Full(err) {
		return err
	}
	return nil // what cannot be read counts as before
}

// taker returns a function that inserts a row, of which the first column is its number, into
// a table, and adds to copied. A row that breaks a rule of the schema is left out.
func taker(ctx context.Context, to *sql.Tx, table string, columns []string, copied *int) (take func(sqlite.Scan) (int64, error), closeTake func(), err error) {
	insert, err := to.PrepareContext(ctx, "INSERT OR IGNORE INTO "+table+" ("+strings.Join(columns, ", ")+") VALUES (?"+strings.Repeat(", ?", len(columns)-1)+")")
	if err != nil {
		return nil, nil, err
	}
	take = func(scan sqlite.Scan) (at int64, err error) {
		row, fields := make([]any, len(columns)), make([]any, len(columns)+1)
		for i := range row {
			fields[i+1] = &row[i]
		}
		fields[0] = &at
		if err := scan(fields...); err != nil {
			return at, err
		}
		result, err := insert.ExecContext(ctx, row...)
		if sqlite.Full(err) {
			return at, err
		}
		if err != nil {
			return at, nil //nolint:nilerr // a row that breaks a rule of the schema was damaged
		}
		n, err := result.RowsAffected()
		*copied += int(n)
		return at, err
	}
	return take, func() { _ = insert.Close() }, nil
}

// salvageTable copies the rows of a table with numbers above those that to has, and repeats
// deletions of others.
func salvageTable(ctx context.Context, from *sql.DB, to *sql.Tx, table, number string) (copied int, err error) {
	columns, err := commonColumns(ctx, from, to, table)
	if err != nil || len(columns) == 0 {
		return 0, err
	}
	last, err := value[int64](ctx, to, "SELECT coalesce(max("+number+"), 0) FROM "+table)
	if err != nil {
		return 0, err
	}
	if slices.Contains(deletable, table) {
		if copied, err = salvageDeletions(ctx, from, to, table, last); err != nil {
			return 0, err
		}
	}
	take, closeTake, err := taker(ctx, to, table, columns, &copied)
	if err != nil {
		return 0, err
	}
	defer closeTake()
	err = readAround(ctx, from, "SELECT "+number+", "+strings.Join(columns, ", ")+" FROM "+table+" WHERE "+number+fmt.Sprintf(" <= %d AND ", int64(highestNumber))+number, number, last, take)
	return copied, err
}

const (
	// skipOneByOne is how many numbers are read one by one behind an unreadable place. Farther
	// from it the reader leaps: by 1/skipLeap of the distance, so that the number of reads
	// grows with the logarithm of what is lost.
	skipOneByOne = 500
	skipLeap     = 16
	// skipAtOnce is how many numbers are read one by one before the rest is tried again.
	skipAtOnce = 100
	// skipMost is the largest distance behind an unreadable place at which rows are looked for.
	skipMost = 100_000_000
)

// readAround calls take with each row that can be read of those with numbers above last, in
// order. query ends with the name of the column that is compared. A full disk, which only
// take can meet, ends it with that error. It can miss readable rows that lie between two
// unreadable places, farther than skipOneByOne behind the first.
func readAround(ctx context.Context, from *sql.DB, query, number string, last int64, take func(sqlite.Scan) (int64, error)) error {
	above := query + " > ? ORDER BY " + number
	readable := func(after int64) bool {
		nothing := func(sqlite.Scan) error { return nil }
		return each(ctx, from, nothing, above+" LIMIT 1", after) == nil
	}
	one := func(id int64) {
		// An unreadable row is left out; that is the purpose.
		_ = each(ctx, from, func(scan sqlite.Scan) error { _, err := take(scan); return err }, query+" = ?", id)
	}
	for skipped := int64(0); skipped < skipMost; {
		before := last
		err := each(ctx, from, func(scan sqlite.Scan) error {
			at, err := take(scan)
			last = max(last, at)
			return err
		}, above, last)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil || sqlite.Full(err) {
			return err
		}
		if last > before {
			skipped = 0
		}
		if skipped < skipOneByOne {
			for range skipAtOnce {
				last++
				skipped++
				one(last)
			}
			continue
		}
		leap := skipped / skipLeap
		skipped += leap
		if readable(last + leap) {
			// What is above the first readable number comes with the next query.
			last += int64(sort.Search(int(leap), func(n int) bool { return readable(last + int64(n)) }))
			one(last)
		} else {
			last += leap
		}
	}
	return nil
}

// salvageDeletions deletes the rows up to last that the damaged database does not have, if
// all its numbers can be read, and returns how many those are.
func salvageDeletions(ctx context.Context, from *sql.DB, to *sql.Tx, table string, last int64) (int, error) {
	kept, err := column[int64](ctx, from, "SELECT id FROM "+table+" NOT INDEXED WHERE id <= ?", last)
	if err != nil || len(kept) == 0 {
		return 0, nil //nolint:nilerr // not known: they stay
	}
	result, err := to.ExecContext(ctx, "DELETE FROM "+table+" WHERE id <= ? AND id NOT IN (SELECT value FROM json_each(?))", last, jsonList(kept))
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return int(n), err
}

// repairSalvaged restores what must hold between tables after rows were copied that may have
// lost others.
func repairSalvaged(ctx context.Context, tx *sql.Tx) error {
	if err := execEach(ctx, tx, packing); err != nil {
		return err
	}
	if err := execEach(ctx, tx, []string{
		// Sessions of which only records are left.
		`INSERT OR IGNORE INTO sessions (id, ulid, host, host_session_id, project, status, started_at, updated_at)
			SELECT session_id, printf('LOST%022d', session_id), 'claude-code', 'lost-' || session_id, max(project), 'interrupted', min(created_at), max(created_at)
			FROM (SELECT session_id, project, created_at FROM observations UNION ALL SELECT session_id, project, created_at FROM prompts
				UNION ALL SELECT session_id, project, created_at FROM session_summaries)
			WHERE session_id NOT IN (SELECT id FROM sessions) GROUP BY session_id`,
		`DELETE FROM file_refs WHERE observation_id NOT IN (SELECT id FROM observations)`,
		`DELETE FROM paths WHERE NOT EXISTS (SELECT 1 FROM file_refs f WHERE f.path_id = paths.id)`,
		`DELETE FROM function_map WHERE session_id NOT IN (SELECT id FROM sessions)`,
		`UPDATE function_map SET project = (SELECT s.project FROM sessions s WHERE s.id = function_map.session_id)
			WHERE project <> (SELECT s.project FROM sessions s WHERE s.id = function_map.session_id)`,
		`UPDATE observations SET superseded_by = NULL WHERE superseded_by NOT IN (SELECT id FROM observations)`,
		`UPDATE learnings SET superseded_by = NULL WHERE superseded_by NOT IN (SELECT id FROM learnings)`,
		`UPDATE events SET session_id = NULL WHERE session_id NOT IN (SELECT id FROM sessions)`,
		`UPDATE llm_calls SET session_id = NULL WHERE session_id NOT IN (SELECT id FROM sessions)`,
		`UPDATE injections SET session_id = NULL WHERE session_id NOT IN (SELECT id FROM sessions)`,
		`UPDATE event_log SET session_id = NULL WHERE session_id NOT IN (SELECT id FROM sessions)`,
		`UPDATE sessions SET prompt_count = coalesce((SELECT max(number) FROM prompts p WHERE p.session_id = sessions.id), 0)`,
		// The books: numbers without a gap, payloads of what waits and of nothing else. A number far
		// above all others is a damaged one.
		`DELETE FROM events WHERE id > 10000000 + (SELECT count(*) FROM events)`,
		`WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < (SELECT max(id) FROM events))
			INSERT INTO events (id, event_key, kind, occurred_at, received_at, outcome, reason)
			SELECT id, 'lost:' || id, 'tool', 0, 0, 'forgotten', 'lost: damaged database' FROM n
			WHERE (SELECT count(*) FROM events) > 0 AND id NOT IN (SELECT id FROM events)`,
		`DELETE FROM pending_messages WHERE event_id NOT IN (SELECT id FROM events WHERE outcome IN ('pending', 'processing', 'failed'))`,
		`UPDATE events SET outcome = 'forgotten', reason = 'lost: damaged database', processed_seq = NULL
			WHERE outcome IN ('pending', 'processing', 'failed') AND (session_id IS NULL OR id NOT IN (SELECT event_id FROM pending_messages))`,
		`DELETE FROM pending_messages WHERE event_id NOT IN (SELECT id FROM events WHERE outcome IN ('pending', 'processing', 'failed'))`,
		// The next confirmed work is numbered after all that is here.
		`INSERT INTO counters (name, value) SELECT 'processed_seq', max(processed_seq) FROM events HAVING max(processed_seq) > 0
			ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)`,
		`UPDATE events SET outcome = 'pending' WHERE outcome = 'processing'`,
		`UPDATE pending_messages SET claimer = NULL, claimed_at = NULL`,
		// What waits for a model: whole turns of sessions and events that are here.
		`DELETE FROM unread_turns WHERE session_id NOT IN (SELECT id FROM sessions)`,
		`DELETE FROM unread_messages WHERE event_id NOT IN (SELECT id FROM events) OR (session_id, prompt_number) NOT IN (SELECT session_id, prompt_number FROM unread_turns)`,
		`DELETE FROM unread_records WHERE (session_id, prompt_number) NOT IN (SELECT session_id, prompt_number FROM unread_turns)`,
		`DELETE FROM path_segments`,
	}); err != nil {
		return err
	}
	return refillPathKeys(ctx, tx)
}
