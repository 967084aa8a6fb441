package store

import (
	"context"
	"database/sql"
	"database/sql/driver"

	driversqlite "modernc.org/sqlite"

	"claudemem/internal/keep/index/words"
)

// The SQL function path_keys(path), by which a trigger stores the keys of a new path.
func init() {
	driversqlite.MustRegisterFunction("path_keys", &driversqlite.FunctionImpl{
		NArgs: 1, Deterministic: true, VolatileArgs: true, // otherwise a path ends at its first NUL
		Scalar: func(_ *driversqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
			path, _ := args[0].(string)
			return jsonList(words.PathKeys(path)), nil
		},
	})
}

// addPath returns the number of a file path, which it stores if it is new.
func (t *tx) addPath(path string) (int64, error) {
	id, err := t.number("SELECT id FROM paths WHERE path = ?", path)
	if id != 0 || err != nil {
		return id, err
	}
	return t.insert("INSERT INTO paths (path) VALUES (?)", path)
}

// pathsOf returns the numbers of the paths of observations; both are lists of JSON.
func (t *tx) pathsOf(observations string) (numbers string, err error) {
	err = t.row("SELECT json_group_array(DISTINCT path_id) FROM file_refs WHERE observation_id IN (SELECT value FROM json_each(?))", []any{observations}, &numbers)
	return numbers, err
}

// dropPaths deletes those of the paths, a list of their numbers in JSON, that no observation
// has any more.
func (t *tx) dropPaths(numbers string) error {
	return t.exec(`DELETE FROM paths WHERE id IN (SELECT value FROM json_each(?))
		AND NOT EXISTS (SELECT 1 FROM file_refs f WHERE f.path_id = paths.id)`, numbers)
}

// refillPathKeys stores the keys of all paths: of migration 3, when no trigger did it yet, and
// of a database that was salvaged.
func refillPathKeys(ctx context.Context, tx *sql.Tx) error {
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
		paths, err := all(ctx, tx, func(p *storedPath) []any { return []any{&p.id, &p.path} },
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
