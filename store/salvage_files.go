package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"claudemem/sqlite"
)

// salvageFiles copies the files of the observations above the last one that has files in to.
// The same path has another number in each database, so that a file goes by the text of its
// path; one whose text cannot be read is left out.
func salvageFiles(ctx context.Context, from *sql.DB, to *sql.Tx) (copied int, err error) {
	last, err := value[int64](ctx, to, "SELECT coalesce(max(observation_id), 0) FROM file_refs")
	if err != nil {
		return 0, err
	}
	query, texts, err := damagedFiles(ctx, from)
	if err != nil || query == "" {
		return 0, err
	}
	insert, err := to.PrepareContext(ctx, "INSERT OR IGNORE INTO file_refs (observation_id, position, path_id, modified, file_hash, symbols) VALUES (?, ?, ?, "+roleNumber+", ?, ?)")
	if err != nil {
		return 0, err
	}
	defer func() { _ = insert.Close() }()
	numbers := map[string]int64{} // in to
	err = readAround(ctx, from, query, "observation_id", last, func(scan sqlite.Scan) (at int64, err error) {
		var position, path, role, hash, symbols any
		if err := scan(&at, &position, &path, &role, &hash, &symbols); err != nil {
			return at, err
		}
		text, readable := path.(string)
		if number, ok := path.(int64); ok {
			text, readable = texts[number]
		}
		if !readable {
			return at, nil
		}
		number, ok := numbers[text]
		if !ok {
			number, err = salvagePath(ctx, to, text)
			if sqlite.Full(err) {
				return at, err
			}
			if err != nil {
				return at, nil //nolint:nilerr // see below
			}
			numbers[text] = number
		}
		result, err := insert.ExecContext(ctx, at, position, number, role, hash, symbols)
		if sqlite.Full(err) {
			return at, err
		}
		if err != nil {
			return at, nil //nolint:nilerr // a row that breaks a rule of the schema was damaged
		}
		n, err := result.RowsAffected()
		copied += int(n)
		return at, err
	})
	return copied, err
}

// damagedFiles returns a query for the files of the damaged database, as readAround takes it,
// and the texts of its paths by number: the query gives a number in place of the text if the
// schema has them. An older schema has the text in each row. Without a readable schema the
// query is "".
func damagedFiles(ctx context.Context, from *sql.DB) (query string, texts map[int64]string, err error) {
	columns, err := column[string](ctx, from, "SELECT name FROM pragma_table_info('file_refs')")
	if err == nil && len(columns) > 0 {
		texts, err = damagedPaths(ctx, from)
		return "SELECT observation_id, position, path_id, iif(modified, 'modified', 'read'), file_hash, symbols FROM file_refs WHERE observation_id", texts, err
	}
	columns, err = column[string](ctx, from, "SELECT name FROM pragma_table_info('observation_files')")
	switch {
	case ctx.Err() != nil:
		return "", nil, ctx.Err()
	case err != nil || len(columns) == 0:
		return "", nil, nil //nolint:nilerr // nothing of it can be read
	}
	symbols := "''" // before schema 4
	if slices.Contains(columns, "symbols") {
		symbols = "symbols"
	}
	return "SELECT observation_id, position, path, role, file_hash, " + symbols + " FROM observation_files WHERE observation_id", nil, nil
}

// damagedPaths returns the texts of the paths that can be read, by number: from the table, and
// where that is unreadable from its index, which has them too.
func damagedPaths(ctx context.Context, from *sql.DB) (map[int64]string, error) {
	texts := map[int64]string{}
	take := func(scan sqlite.Scan) (number int64, err error) {
		var text string
		if err := scan(&number, &text); err != nil {
			return number, err
		}
		if _, ok := texts[number]; !ok {
			texts[number] = text
		}
		return number, nil
	}
	if err := readAround(ctx, from, "SELECT id, path FROM paths WHERE id", "id", 0, take); err != nil {
		return nil, err
	}
	for _, order := range []string{"path", "path DESC"} {
		err := each(ctx, from, func(scan sqlite.Scan) error { _, err := take(scan); return err },
			"SELECT id, path FROM paths INDEXED BY sqlite_autoindex_paths_1 ORDER BY "+order)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			break
		}
	}
	return texts, nil
}

// salvagePath returns the number of a path in the restored database, which gets it if it lacks
// it.
func salvagePath(ctx context.Context, to *sql.Tx, path string) (number int64, err error) {
	number, err = value[int64](ctx, to, "SELECT id FROM paths WHERE path = ?", path)
	if err == nil || !errors.Is(err, sql.ErrNoRows) {
		return number, err
	}
	result, err := to.ExecContext(ctx, "INSERT INTO paths (path) VALUES (?)", path)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}
