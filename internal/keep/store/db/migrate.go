package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"claudemem/internal/memory"

	driversqlite "modernc.org/sqlite"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// newestSchema makes the newest schema in an empty database: what all migrations make, without
// the tables and rows that later ones drop. TestFreshSchema writes it, with -update, and compares.
//
//go:embed schema.sql
var newestSchema string

// applicationID marks our files in SQLite's header ("CMem"). CheckStructure compares it; a database
// of version 0 has none yet.
const applicationID = 0x434d656d

// migration is one numbered step of the schema.
type migration struct {
	version int
	name    string
	script  string
	// refill does what SQL cannot express; nil for nothing.
	refill func(ctx context.Context, tx *sql.Tx) error
}

// migrations are the embedded steps in order, numbered from 1 without a gap.
var migrations = mustReadMigrations(migrationFiles)

// newest makes in one step what migrations make.
var newest = []migration{{SchemaVersion(), "schema.sql", newestSchema, nil}}

// refills are the parts of migrations that SQL cannot express, by version.
var refills = map[int]func(ctx context.Context, tx *sql.Tx) error{
	6: packStored,
}

// SchemaVersion is the newest schema this program knows.
func SchemaVersion() int { return len(migrations) }

// mustReadMigrations panics on files that were named wrongly at build time.
func mustReadMigrations(files fs.FS) []migration {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		panic(err)
	}
	slices.Sort(names)
	var steps []migration
	for i, name := range names {
		number, _, _ := strings.Cut(path.Base(name), "_")
		version, err := strconv.Atoi(number)
		if err != nil || version != i+1 {
			panic(fmt.Sprintf("migration %s: want number %04d", name, i+1))
		}
		script, err := fs.ReadFile(files, name)
		if err != nil {
			panic(err)
		}
		steps = append(steps, migration{version, path.Base(name), string(script), refills[version]})
	}
	return steps
}

// CheckMigratable returns an error when migrate cannot bring the schema of the
// file at path up to this program's, without opening the file for writing. A
// missing or empty file is fine.
func CheckMigratable(ctx context.Context, path string) error {
	_, err := FileVersion(ctx, path)
	return err
}

// FileVersion returns the version of the schema of the file at path, 0 for a missing or
// empty one. The error is that of checkVersion for one that cannot be migrated, or of
// CheckStructure for one that is not as the migrations make it.
func FileVersion(ctx context.Context, path string) (version int, err error) {
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 && !HasLog(path) {
		return 0, nil
	}
	// Not by reading the header: this process may have the database open (sqlite.KeepOpen).
	err = WithReader(ctx, path, func(db *sql.DB) error {
		if version, err = VersionOf(ctx, db); err == nil {
			err = checkVersion(version)
		}
		if err == nil && version > 0 {
			err = CheckStructure(ctx, db)
		}
		return err
	})
	return version, err
}

// beforeMigration calls the option of that name if the database at path has an older
// schema. It returns its error, or that of FileVersion for a database that must not be opened.
func beforeMigration(ctx context.Context, path string, opts Options) error {
	version, err := FileVersion(ctx, path)
	if err != nil || opts.BeforeMigration == nil || version == 0 || version == SchemaVersion() {
		return err
	}
	return opts.BeforeMigration(ctx, version)
}

// HasLog reports whether there is a write-ahead log with something in it.
func HasLog(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0
}

// VersionOf returns the version of the schema of a database, 0 for one without our schema.
func VersionOf(ctx context.Context, q Querier) (int, error) {
	return Value[int](ctx, q, "PRAGMA user_version")
}

// checkReadable returns an error when this program cannot read schema version.
func checkReadable(version int) error {
	if err := checkVersion(version); err != nil {
		return err
	}
	switch {
	case version == 0:
		return memory.Errorf(memory.CodeNoMemory, "the database is empty").
			WithHint("it is filled when the first session is captured")
	case version < SchemaVersion():
		return memory.Errorf(memory.CodeOlderSchema, "the database has schema %d, this program reads %d", version, SchemaVersion()).
			WithHint("start the worker, which migrates it: claude-mem worker start")
	}
	return nil
}

// errNegativeSchema is the cause of checkVersion's error for a negative schema version.
var errNegativeSchema = errors.New("another program wrote this number, or memory.db is damaged")

// checkVersion returns an error for a schema version that is newer than this
// program's, or negative: no claude-mem writes a negative one.
func checkVersion(version int) error {
	switch {
	case version > SchemaVersion():
		return memory.Errorf(memory.CodeNewerSchema,
			"the database has schema %d, this program knows %d", version, SchemaVersion()).
			WithHint("a newer claude-mem wrote it: install that version, or set CLAUDE_MEM_DATA_DIR to another directory")
	case version < 0:
		return memory.Errorf(memory.CodeStorage,
			"the database has schema %d: %w", version, errNegativeSchema).
			WithHint("keep a copy of memory.db; then restore a backup of it, or set CLAUDE_MEM_DATA_DIR to another directory")
	}
	return nil
}

// migrate brings the schema up to this program's version, one transaction a step: after an
// error it has the version of the last step that was done. An empty database gets the newest
// schema in one step.
func migrate(ctx context.Context, db *sql.DB, log *slog.Logger) error {
	version, err := VersionOf(ctx, db)
	if err != nil {
		return err
	}
	if err := checkVersion(version); err != nil {
		return err
	}
	if version == 0 {
		if err := CheckOurs(ctx, db); err != nil {
			return err
		}
	}
	steps := migrations[version:]
	if version == 0 {
		steps = newest
	}
	for _, step := range steps {
		if err := step.apply(ctx, db); err != nil {
			return fmt.Errorf("migration %s: %w", step.name, err)
		}
		log.Info("schema migrated", "version", step.version)
	}
	compact(ctx, db, log)
	if version == SchemaVersion() {
		return nil
	}
	// Into the header, where an older program looks before it opens the file.
	return checkpoint(ctx, db)
}

// compact makes the file as small as its content if a migration has asked for it: rows that
// became shorter leave space that no other row can use. A full disk only puts it off to the next
// start.
func compact(ctx context.Context, db *sql.DB, log *slog.Logger) {
	asked, err := Value[bool](ctx, db, "SELECT EXISTS (SELECT 1 FROM counters WHERE name = 'compact')")
	if err != nil || !asked {
		return
	}
	err = checkpoint(ctx, db) // VACUUM writes all of it to the log
	if err == nil {
		_, err = db.ExecContext(ctx, "VACUUM")
	}
	if err == nil {
		_, err = db.ExecContext(ctx, "DELETE FROM counters WHERE name = 'compact'")
	}
	if err != nil {
		log.Warn("the migrated database was not made smaller", "error", err)
		_ = checkpoint(ctx, db) // what the attempt has written to the log
	}
}

// checkpoint copies the log into the file and empties it. A reader in the way is no error: the
// log stays then.
func checkpoint(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return err
}

// CheckOurs returns an error, CodeStorage, if a database whose schema has version 0 has anything in
// its schema all the same: it is another program's. The first migration writes version and
// applicationID together with the tables.
func CheckOurs(ctx context.Context, q Querier) error {
	tables, err := Value[int](ctx, q, "SELECT count(*) FROM sqlite_master")
	if err != nil {
		return err
	}
	if tables > 0 {
		return memory.Errorf(memory.CodeStorage, "the database is another program's").
			WithHint("move it away, or set CLAUDE_MEM_DATA_DIR to another directory")
	}
	return nil
}

// apply runs a migration, with its refill, in one transaction and sets user_version.
func (m migration) apply(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	script := m.script + fmt.Sprintf("\nPRAGMA application_id = %d;\nPRAGMA user_version = %d;\n", applicationID, m.version)
	if _, err := tx.ExecContext(ctx, script); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	if m.refill != nil {
		if err := m.refill(ctx, tx); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

// Packing brings texts and hashes of schema 5 and before to the form that they have now: of all
// records, when a memory is migrated, and of those that a salvage brings. Rows that have the form
// already do not change. A row whose new hash another row of its session has keeps the old form:
// the migration must not fail for it. The triggers that keep record_hashes leave a wrong hash
// wrong.
var Packing = []string{
	`UPDATE OR IGNORE observations SET subtitle = packed(subtitle), narrative = packed(narrative), facts = packed(facts),
		content_hash = coalesce(substr(unhex(nullif(content_hash, '')), 1, 16), content_hash), files_key = coalesce(unhex(nullif(files_key, '')), files_key)
		WHERE typeof(content_hash) = 'text'`,
	`UPDATE session_summaries SET investigated = packed(investigated), learned = packed(learned), completed = packed(completed),
		next_steps = packed(next_steps), notes = packed(notes)`,
	// As texts these hashes have 32 digits now, the first of the 64 that they had.
	`UPDATE OR REPLACE tombstones SET key = substr(key, 1, 32) WHERE kind = 'content'`,
	`UPDATE unread_records SET content = substr(content, 1, 32) WHERE kind = 'observation'`,
}

// feedOfPacked are the triggers that are not there while a migration packs.
var feedOfPacked = []string{
	`CREATE TRIGGER observations_updated AFTER UPDATE ON observations BEGIN
		INSERT INTO changes (kind, id, operation) VALUES ('observation', NEW.id, 'update');
	END`,
	`CREATE TRIGGER session_summaries_updated AFTER UPDATE ON session_summaries BEGIN
		INSERT INTO changes (kind, id, operation) VALUES ('summary', NEW.id, 'update');
	END`,
}

// packStored packs what is stored (migration 6).
func packStored(ctx context.Context, tx *sql.Tx) error {
	return ExecEach(ctx, tx, append(Packing[:len(Packing):len(Packing)], feedOfPacked...))
}

// ExecEach runs statements one after the other.
func ExecEach(ctx context.Context, tx *sql.Tx, statements []string) error {
	for _, statement := range statements {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%.40s: %w", statement, err)
		}
	}
	return nil
}

// The SQL function path_keys(path) of migration 7: no key has to be stored, since migration 9 drops
// their table.
func init() {
	driversqlite.MustRegisterDeterministicScalarFunction("path_keys", 1, func(*driversqlite.FunctionContext, []driver.Value) (driver.Value, error) { return "[]", nil })
}
