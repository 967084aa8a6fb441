package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// packing brings texts and hashes of schema 5 and before to the form that they have now: of all
// records, when a memory is migrated, and of those that a salvage brings. Rows that have the form
// already do not change. A row whose new hash another row of its session has keeps the old form:
// the migration must not fail for it. The triggers that keep record_hashes leave a wrong hash
// wrong.
var packing = []string{
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
	return execEach(ctx, tx, append(packing[:len(packing):len(packing)], feedOfPacked...))
}

// execEach runs statements one after the other.
func execEach(ctx context.Context, tx *sql.Tx, statements []string) error {
	for _, statement := range statements {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%.40s: %w", statement, err)
		}
	}
	return nil
}

// upgraded calls use with the path of a database of this schema that says what the one at path
// says: path itself, or of an older one a copy that was migrated and is deleted afterwards.
func (s *Store) upgraded(ctx context.Context, path string, use func(path string) error) (err error) {
	version, err := fileVersion(ctx, path)
	if err != nil {
		return err
	}
	if version == SchemaVersion() {
		return use(path)
	}
	// Package backup deletes folders of this name that a killed process has left.
	folder, err := os.MkdirTemp(filepath.Dir(s.path), ".salvage-repair-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	copied := filepath.Join(folder, filepath.Base(path))
	if err := Copy(ctx, path, copied); err != nil {
		return err
	}
	migrated, err := Open(ctx, copied, Options{Logger: s.log})
	if err != nil {
		return err
	}
	if err := migrated.Close(); err != nil {
		return err
	}
	return use(copied)
}
