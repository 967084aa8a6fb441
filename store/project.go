package store

import (
	"context"
	"database/sql"

	"claudemem/index/words"
)

// addPath stores a new file path with the keys by which a file filter finds it.
func (t *tx) addPath(path string) error {
	n, err := t.change("INSERT INTO paths (path) VALUES (?) ON CONFLICT DO NOTHING", path)
	if err != nil || n == 0 {
		return err
	}
	id, err := t.number("SELECT id FROM paths WHERE path = ?", path)
	if err != nil {
		return err
	}
	for _, key := range words.PathKeys(path) {
		if _, err := t.exec("INSERT INTO path_segments (segment, path_id) VALUES (?, ?)", key, id); err != nil {
			return err
		}
	}
	return nil
}

// refillPathKeys stores the keys of all paths (migration 3).
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
