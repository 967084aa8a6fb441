package upkeep

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/leaf/openfile"
)

// salvagedWhole are the tables whose rows are not numbered in the order of their making: each
// row whose key is missing is copied.
var salvagedWhole = []string{"tombstones", "unread_turns", "unread_messages", "unread_records", "hidden_records", "claims", "notices", "imports", "imported", "judgements", "trials"}

// Salvage adds to the database at into, which is sound and open nowhere else, the newer rows
// of the damaged database at path, as far as they stand in pages that can be read. Rows that
// were deleted from the damaged database are deleted at into, too, if its tables can be read. It
// returns how many rows it copied and deleted; unread is why the tables cannot be read, nil if
// they can. Events that cannot be read are booked as forgotten. With an error, and if there is
// nothing to copy, into stays as it is. The damaged file may be changed: it is a copy.
func Salvage(ctx context.Context, path, into string) (copied int, unread, err error) {
	defer db.Wrap(&err, "salvage memory")
	to, err := sqlite.OpenWriter(into, sqlite.Source(into, []string{"_txlock=immediate"}, db.BusyTimeout, "synchronous(full)", "foreign_keys(0)"))
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	tx, err := to.BeginTx(ctx, nil)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = tx.Rollback() }()
	last := map[string]int64{}
	for _, t := range db.Numbered {
		if last[t.Table], err = db.Value[int64](ctx, tx, "SELECT coalesce(max("+t.Number+"), 0) FROM "+t.Table); err != nil {
			return 0, nil, err
		}
	}
	paths := map[int64]string{}
	if copied, unread = salvageTables(ctx, path, tx, last, paths); ctx.Err() != nil || sqlite.Full(unread) {
		return 0, nil, unread
	}
	n, err := salvageLeaves(ctx, path, tx, last, paths)
	if copied += n; err != nil || copied == 0 {
		return 0, unread, err
	}
	if err := repairSalvaged(ctx, tx); err != nil {
		return 0, unread, err
	}
	return copied, unread, tx.Commit()
}

// salvageTables takes over from the damaged database what its tables have to be read for:
// deletions, counters, aliases of projects, and into paths the texts of paths from their index, in
// case that their pages are lost. It also brings the log of the file into it.
func salvageTables(ctx context.Context, path string, to *sql.Tx, last map[string]int64, paths map[int64]string) (changed int, err error) {
	if err := padDatabase(path); err != nil {
		return 0, err
	}
	if err := db.RestoreStructure(ctx, path); err != nil {
		return 0, err
	}
	from, err := sqlite.OpenReaders(ctx, sqlite.Source(path, nil, db.BusyTimeout))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	for _, table := range deletable {
		n, err := salvageDeletions(ctx, from, to, table, last[table])
		changed += n
		if err != nil {
			return changed, err
		}
	}
	// memory_id is no counter: it names the memory, and stays.
	if err := copyRows(ctx, from, to, fmt.Sprintf("SELECT name, value FROM counters WHERE name <> 'memory_id' AND value <= %d", int64(db.HighestNumber)),
		"INSERT INTO counters (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)"); err != nil {
		return changed, err
	}
	if err := copyRows(ctx, from, to, "SELECT path, project, created_at FROM project_aliases", "INSERT OR IGNORE INTO project_aliases VALUES (?, ?, ?)"); err != nil {
		return changed, err
	}
	for table, columns := range map[string]string{"shared_records": "kind, key, id, ulid, project, hashes, state, gone, mine, unsent, pending", "team_records": "kind, key, id, ulid, project, holders, act, pulled, hashes, state, seq, unsent",
		"shared_state": "name, value", "project_identities": "identity, path"} {
		insert := "INSERT OR REPLACE INTO " + table + " (" + columns + ") VALUES (" + strings.TrimPrefix(strings.Repeat(", ?", strings.Count(columns, ",")+1), ", ") + ")"
		if err := copyRows(ctx, from, to, "SELECT "+columns+" FROM "+table, insert); err != nil {
			return changed, err
		}
	}
	for _, order := range []string{"path", "path DESC"} {
		// What is unreadable of it is missing.
		found, _ := db.Pairs[int64, string](ctx, from, "SELECT id, path FROM paths INDEXED BY sqlite_autoindex_paths_1 ORDER BY "+order)
		maps.Copy(paths, found)
	}
	return changed, nil
}

// copyRows inserts into to what a query returns from the damaged database, until a row cannot be
// read. It returns the errors of ctx and of a full disk.
func copyRows(ctx context.Context, from *sql.DB, to *sql.Tx, query, insert string) error {
	err := db.Each(ctx, from, func(scan sqlite.Scan) error {
		var row []any
		if err := scan(AnyRow(strings.Count(insert, "?"))(&row)...); err != nil {
			return err
		}
		_, err := to.ExecContext(ctx, insert, row...)
		return err
	}, query)
	if ctx.Err() != nil || sqlite.Full(err) {
		return err
	}
	return nil
}

// padDatabase gives a truncated database the size that its header names, up to padMost: SQLite
// refuses to open a shorter one. A file without a header is an error.
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

// salvageDeletions deletes the rows up to last that the damaged database does not have, if
// all its numbers can be read, and returns how many those are. A table without such rows counts
// as lost, not as deleted.
func salvageDeletions(ctx context.Context, from *sql.DB, to *sql.Tx, table string, last int64) (int, error) {
	kept, err := db.Column[int64](ctx, from, "SELECT id FROM "+table+" NOT INDEXED WHERE id <= ?", last)
	if err != nil || len(kept) == 0 {
		return 0, nil //nolint:nilerr // not known: they stay
	}
	result, err := to.ExecContext(ctx, "DELETE FROM "+table+" WHERE id <= ? AND id NOT IN (SELECT value FROM json_each(?))", last, db.JSONList(kept))
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return int(n), err
}

// repairSalvaged restores what must hold between tables after rows were copied that may have
// lost others.
func repairSalvaged(ctx context.Context, tx *sql.Tx) error {
	if err := db.ExecEach(ctx, tx, db.Packing); err != nil {
		return err
	}
	return db.ExecEach(ctx, tx, []string{
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
		`DELETE FROM given_lines WHERE injection_id NOT IN (SELECT id FROM injections)`,
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
	})
}
