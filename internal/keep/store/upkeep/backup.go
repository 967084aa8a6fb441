package upkeep

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/memory"
)

// Place identifies a memory and how far it has got.
type Place struct {
	// Memory is the memory's own number, 0 when it has none yet.
	Memory int64
	// Position is the number of the last change of the feed, Received that of the last
	// event.
	Position, Received int64
}

// Contents describes one state of a memory.
type Contents struct {
	// Schema is the version of the schema, 0 for a database without tables.
	Schema int
	Place
	// Observations counts them, without hidden ones. Newest is the time of the newest
	// observation, summary or prompt, 0 for none.
	Observations int
	Newest       memory.Millis
	// Began is when the first event was received, 0 for none.
	Began memory.Millis
}

// Empty reports whether nothing was ever stored in the memory.
func (p Place) Empty() bool { return p.Position == 0 && p.Received == 0 }

// Contents returns the present state of the memory. Its parts are read one after the other: a
// commit may come between them.
func (s *Upkeep) Contents(ctx context.Context) (c Contents, err error) {
	defer db.Wrap(&err, "read contents")
	return contents(ctx, s.Reader)
}

// Place returns the present place of the memory.
func (s *Upkeep) Place(ctx context.Context) (p Place, err error) {
	defer db.Wrap(&err, "read place")
	return ReadPlace(ctx, s.Reader)
}

func ReadPlace(ctx context.Context, q db.Querier) (p Place, err error) {
	err = q.QueryRowContext(ctx, `SELECT
		coalesce((SELECT value FROM counters WHERE name = ?), 0),
		coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0),
		coalesce((SELECT max(id) FROM events), 0)`, db.CounterMemory).Scan(&p.Memory, &p.Position, &p.Received)
	return p, err
}

// ReadContents returns the state of the database at path, which may have an older schema
// and is not changed. A missing file is an error that is fs.ErrNotExist. The codes of other
// errors: CodeNewerSchema, CodeStorage.
func ReadContents(ctx context.Context, path string) (c Contents, err error) {
	defer db.Wrap(&err, "read "+filepath.Base(path))
	if _, err := os.Stat(path); err != nil {
		return c, memory.Errorf(memory.CodeStorage, "%w", err)
	}
	if err := db.CheckMigratable(ctx, path); err != nil {
		return c, err
	}
	err = db.WithReader(ctx, path, func(db *sql.DB) (err error) {
		c, err = contents(ctx, db)
		return err
	})
	return c, err
}

// contents reads the state of a database, of an older schema too; only Schema if that is 0.
func contents(ctx context.Context, q db.Querier) (c Contents, err error) {
	if c.Schema, err = db.Value[int](ctx, q, "PRAGMA user_version"); err != nil || c.Schema <= 0 {
		return c, err
	}
	if c.Place, err = ReadPlace(ctx, q); err != nil {
		return c, err
	}
	err = q.QueryRowContext(ctx, `SELECT
		(SELECT count(*) FROM observations WHERE pinned IN (0, 1) AND deleted_at IS NULL),
		max(coalesce((SELECT max(created_at) FROM observations WHERE pinned = 0 AND deleted_at IS NULL), 0),
			coalesce((SELECT max(created_at) FROM session_summaries), 0), coalesce((SELECT max(created_at) FROM prompts), 0)),
		coalesce((SELECT received_at FROM events ORDER BY id LIMIT 1), 0)`).Scan(&c.Observations, &c.Newest, &c.Began)
	return c, err
}

// Copy writes the database at path, as it is at this moment, into a new file. It works
// beside the writer, which it does not hold up. The copy is not synced. A damaged database
// is an error that Damaged reports.
func Copy(ctx context.Context, path, to string) (err error) {
	defer db.Wrap(&err, "copy "+filepath.Base(path))
	path, err = filepath.Abs(path)
	if err != nil {
		return err
	}
	// Not query_only, which VACUUM INTO takes for its own database too.
	db, err := sqlite.OpenReaders(ctx, sqlite.Source(path, []string{"mode=ro"}, db.BusyTimeout))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", to)
	return err
}

// Verify reads all of the database at path and returns what is wrong with it, at most 20
// sentences; none if it is sound. It works beside the writer.
func Verify(ctx context.Context, path string) (wrong []string, err error) {
	defer db.Wrap(&err, "verify "+filepath.Base(path))
	if err = db.CheckMigratable(ctx, path); err == nil {
		err = db.WithReader(ctx, path, func(db *sql.DB) error {
			wrong, err = verify(ctx, db)
			return err
		})
	}
	if db.Damaged(err) {
		return append(wrong, err.Error()), nil
	}
	return wrong, err
}

// Verify is the function Verify for the open memory. For both, damage and a schema that claude-mem
// has not made are findings; an error says that the database could not be checked.
func (s *Upkeep) Verify(ctx context.Context) (wrong []string, err error) {
	wrong, err = verify(ctx, s.Reader.DB)
	if db.Damaged(err) {
		return append(wrong, err.Error()), nil
	}
	return wrong, db.Fault("verify memory", err)
}

// indexFault are the findings of Verify that concern an index alone: the rows are there.
var indexFault = regexp.MustCompile(`^(row \d+ missing from index |wrong # of entries in index |row \d+ values differ from index |non-unique entry in index )`)

// RebuildIndexes repairs a database of which only indexes are damaged, by what Verify has
// found, and reports whether it is sound then. If anything else is damaged it changes nothing
// and returns false. The database is open nowhere else.
func RebuildIndexes(ctx context.Context, path string, wrong []string) (sound bool, err error) {
	defer db.Wrap(&err, "rebuild indexes")
	if slices.ContainsFunc(wrong, func(line string) bool { return !indexFault.MatchString(line) }) {
		return false, nil
	}
	db, err := sqlite.OpenWriter(path, db.WriteSource(path))
	if err != nil {
		return false, err
	}
	_, err = db.ExecContext(ctx, "REINDEX")
	if err := errors.Join(err, db.Close()); err != nil {
		return false, err
	}
	wrong, err = Verify(ctx, path)
	return err == nil && len(wrong) == 0, err
}

// verify returns SQLite's findings, at most 20. It looks at the schema first, and returns an
// error for one that is not claude-mem's: SQLite's check evaluates the expressions in it.
func verify(ctx context.Context, q db.Querier) (wrong []string, err error) {
	version, err := db.VersionOf(ctx, q)
	if err == nil && version == 0 {
		err = db.CheckOurs(ctx, q)
	}
	if err == nil {
		err = db.CheckStructure(ctx, q)
	}
	if err != nil {
		return nil, err
	}
	lines, err := db.Column[string](ctx, q, fmt.Sprintf("PRAGMA integrity_check(%d)", db.Findings))
	return slices.DeleteFunc(lines, func(line string) bool { return line == "ok" }), err
}

// QuickCheck lets SQLite look for damage, without comparing indexes with their rows, and returns
// what it finds, at most 5 lines; none is the good answer. On a large file it takes long: ctx
// ends it.
func (s *Upkeep) QuickCheck(ctx context.Context) ([]string, error) {
	found, err := db.Column[string](ctx, s.Reader, "PRAGMA quick_check(5)")
	return slices.DeleteFunc(found, func(line string) bool { return line == "ok" }), db.Fault("check memory", err)
}
