package upkeep

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/leaf/collect"
)

// shape is how the rows of a table look: by that their pages are told apart, in a file whose
// schema does not say which page is of which table.
type shape struct {
	table   string
	entry   bool // it is a table WITHOUT ROWID
	columns []shapeColumn
}

type shapeColumn struct {
	name, kind       string
	notNull, implied bool // implied: a row may lack it: it may be NULL, or came later with a default
	key              bool // it is another name of the rowid, and NULL in the row
}

// shapesOf returns the shapes of the tables whose rows salvageLeaves copies. Those of older
// versions are among them: they lack columns at the end, which have defaults. project_aliases
// is not: its rows look like those of an index.
func shapesOf(ctx context.Context, tx *sql.Tx) (list []shape, err error) {
	tables := append([]string{"observation_files", "paths", "record_hashes"}, salvagedWhole...)
	for _, table := range append(tables, collect.Map(db.Numbered, func(t db.NumberedTable) string { return t.Table })...) {
		s := shape{table: table}
		// A view counts as WITHOUT ROWID here: observation_files was such a table.
		if s.entry, err = db.Value[bool](ctx, tx, "SELECT wr OR type = 'view' FROM pragma_table_list WHERE schema = 'main' AND name = ?", table); err != nil {
			return nil, err
		}
		if s.columns, err = db.All(ctx, tx, func(c *shapeColumn) []any { return []any{&c.name, &c.kind, &c.notNull, &c.implied, &c.key} },
			`SELECT name, type, "notnull", NOT "notnull" OR NOT ?2 AND dflt_value IS NOT NULL, pk AND type = 'INTEGER' AND NOT ?2 FROM pragma_table_info(?1)`, table, s.entry); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// fits reports whether a row can be one of the table.
func (s *shape) fits(row sqlite.Row) bool {
	if row.Entry != s.entry || len(row.Values) > len(s.columns) {
		return false
	}
	for i, c := range s.columns {
		switch {
		case i >= len(row.Values):
			if !c.implied {
				return false
			}
		case row.Values[i] == nil:
			if c.notNull && !c.key {
				return false
			}
		case c.key || !holds(c.kind, row.Values[i]):
			return false
		}
	}
	switch s.table { // those that an index could have as well
	case "tombstones":
		return slices.Contains([]any{"record", "content", "event", records.TombErasure, records.TombSession, records.TombProject, records.TombRange}, row.Values[0])
	case "observation_files":
		return len(row.Values) > 3 && slices.Contains([]any{"read", "modified"}, row.Values[3])
	}
	return true
}

// holds reports whether a column of a type can have the value.
func holds(kind string, value any) bool {
	switch value.(type) {
	case string:
		return kind == "TEXT" || kind == "ANY" || kind == ""
	case []byte:
		return kind == "ANY" || kind == "BLOB"
	case float64:
		return kind == "REAL"
	}
	return kind == "INTEGER" || kind == "REAL"
}

// memoryNumber returns the number of the memory if the row is the counter that has it.
func memoryNumber(row sqlite.Row) (number int64, ok bool) {
	if row.Entry && len(row.Values) == 2 && row.Values[0] == db.CounterMemory {
		number, ok = row.Values[1].(int64)
	}
	return number, ok
}

// salvageLeaves copies the rows with numbers above last, by table, that stand in any page of
// the damaged file, also where no schema and no other page leads to it. A row that breaks a
// rule of the schema is left out; the hashes of records tell afterwards whether a row is right.
// paths has the texts of paths by number and gets those that stand in the pages. In a new
// database, all last 0, the memory's own number becomes that of the damaged one. It returns the
// errors of ctx and of a full disk, and of its own statements.
func salvageLeaves(ctx context.Context, path string, to *sql.Tx, last map[string]int64, paths map[int64]string) (copied int, err error) {
	shapes, err := shapesOf(ctx, to)
	if err != nil {
		return 0, err
	}
	var files, hashes [][]any
	fresh := !slices.ContainsFunc(db.Numbered, func(t db.NumberedTable) bool { return last[t.Table] > 0 })
	prepared := map[string]*sql.Stmt{}
	insert := func(table string, columns []shapeColumn, values []any) error {
		names := collect.Map(columns[:len(values)], func(c shapeColumn) string { return c.name })
		query := "INSERT OR IGNORE INTO " + table + " (" + strings.Join(names, ", ") + ") VALUES (?" + strings.Repeat(", ?", len(values)-1) + ")"
		if prepared[query] == nil {
			statement, err := to.PrepareContext(ctx, query) //nolint:sqlclosecheck // the transaction closes it
			if err != nil {
				return err
			}
			prepared[query] = statement
		}
		result, err := prepared[query].ExecContext(ctx, values...)
		if err == nil && table == "observation_files" {
			copied++ // a trigger of the view has inserted it
		} else if err == nil {
			n, _ := result.RowsAffected() // SQLite knows it
			copied += int(n)
		}
		if ctx.Err() != nil || sqlite.Full(err) {
			return err
		}
		return nil // it breaks a rule
	}
	err = sqlite.Leaves(ctx, path, func(row sqlite.Row) error {
		if number, ok := memoryNumber(row); ok && fresh { // the copies are of that memory
			_, err := to.ExecContext(ctx, "UPDATE counters SET value = ? WHERE name = ?", number, db.CounterMemory)
			return err
		}
		i := slices.IndexFunc(shapes, func(s shape) bool { return s.fits(row) })
		if i < 0 {
			return nil
		}
		switch s := shapes[i]; s.table {
		case "paths":
			paths[row.ID], _ = row.Values[1].(string)
		case "file_refs", "observation_files":
			files = append(files, row.Values)
		case "record_hashes":
			hashes = append(hashes, row.Values)
		default:
			if !s.entry && (row.ID <= last[s.table] || row.ID > db.HighestNumber) {
				return nil
			}
			for i, c := range s.columns[:len(row.Values)] {
				if c.key {
					row.Values[i] = row.ID
				}
			}
			return insert(s.table, s.columns, row.Values)
		}
		return nil
	})
	if err != nil {
		return copied, err
	}
	for _, f := range files {
		if number, ok := f[2].(int64); ok {
			text, known := paths[number]
			if !known {
				continue
			}
			f[2], f[3] = text, map[any]string{int64(0): "read", int64(1): "modified"}[f[3]]
		}
		if number, _ := f[0].(int64); number > last["file_refs"] {
			if err := insert("observation_files", shapes[0].columns, f); err != nil { // the first of shapesOf
				return copied, err
			}
		}
	}
	// The hashes of the copies say nothing about what the rows were before. A row that could not be
	// copied has a hash alone then, so that it is missed.
	for _, h := range hashes { // of four values where damaged_at is NULL
		kind := slices.IndexFunc(records.HashedKinds, func(k *records.Kind) bool { return string(k.Kind) == h[0] })
		if number, _ := h[1].(int64); kind >= 0 && number > last[records.HashedKinds[kind].Table] {
			if _, err := to.ExecContext(ctx, `INSERT INTO record_hashes (kind, id, text, rest, damaged_at) VALUES (?, ?, ?, ?, ?)
				ON CONFLICT (kind, id) DO UPDATE SET text = excluded.text, rest = excluded.rest, damaged_at = excluded.damaged_at`,
				append(h, nil)[:5]...); err != nil {
				return copied, err
			}
		}
	}
	return copied, nil
}
