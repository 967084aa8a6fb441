package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"

	driversqlite "modernc.org/sqlite"

	"claudemem/internal/keep/index/words"
)

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

// The SQL function path_keys(path), by which a trigger stores the keys of a new path.
func init() {
	driversqlite.MustRegisterFunction("path_keys", &driversqlite.FunctionImpl{
		NArgs: 1, Deterministic: true, VolatileArgs: true, // otherwise a path ends at its first NUL
		Scalar: func(_ *driversqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
			path, _ := args[0].(string)
			return JSONList(words.PathKeys(path)), nil
		},
	})
}

// RefillPathKeys stores the keys of all paths: of migration 3, when no trigger did it yet, and
// of a database that was salvaged.
func RefillPathKeys(ctx context.Context, tx *sql.Tx) error {
	insert, err := tx.PrepareContext(ctx, "INSERT INTO path_segments (segment, path_id) VALUES (?, ?)")
	if err != nil {
		return err
	}
	defer func() { _ = insert.Close() }()
	type storedPath struct {
		id   int64
		path string
	}
	const page = 1000
	for after := int64(0); ; {
		paths, err := All(ctx, tx, func(p *storedPath) []any { return []any{&p.id, &p.path} },
			"SELECT id, path FROM paths WHERE id > ? ORDER BY id LIMIT ?", after, page)
		if err != nil {
			return err
		}
		for _, p := range paths {
			for _, key := range words.PathKeys(p.path) {
				if _, err := insert.ExecContext(ctx, key, p.id); err != nil {
					return err
				}
			}
			after = p.id
		}
		if len(paths) < page {
			return nil
		}
	}
}
