//go:build unix

package world

import (
	"compress/gzip"
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ReleasedDatabase returns a memory.db of a released schema.
func ReleasedDatabase(t testing.TB, schema int) []byte {
	t.Helper()
	packed, err := os.Open(Root("internal", "keep", "store", "testdata", fmt.Sprintf("schema-%04d.db.gz", schema)))
	Must(t, err)
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	Must(t, err)
	content, err := io.ReadAll(z)
	Must(t, err)
	return content
}

// UndoMigration makes the database one of the schema before, object by object as the kept file of
// that schema has them: a migration adds tables and columns, and replaces the rest. The older
// worker, which is of the same source, cannot write to it: the hooks keep the events until the newer
// one has migrated it.
func (m *Memory) UndoMigration() {
	m.T.Helper()
	former := m.Schema() - 1
	was := objectsOf(m.T, releasedSchema(m.T, former))
	m.Database(func(db *sql.DB) error {
		is := objectsOf(m.T, db)
		script := "PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE;\n"
		for _, kind := range []string{"trigger", "view", "index", "table"} {
			for name, o := range is {
				if o.kind == kind && o.sql != "" && was[name].sql != o.sql && (kind != "table" || was[name].sql == "") {
					script += fmt.Sprintf("DROP %s %q;\n", kind, name)
				}
			}
		}
		for name, o := range is {
			for _, column := range o.columns {
				if o.kind == "table" && was[name].sql != "" && !slices.Contains(was[name].columns, column) {
					script += fmt.Sprintf("ALTER TABLE %q DROP COLUMN %q;\n", name, column)
				}
			}
		}
		for _, kind := range []string{"index", "view", "trigger"} {
			for name, o := range was {
				if o.kind == kind && o.sql != is[name].sql {
					script += o.sql + ";\n"
				}
			}
		}
		if _, err := db.Exec(script + fmt.Sprintf("PRAGMA user_version = %d; COMMIT", former)); err != nil {
			return fmt.Errorf("%w in\n%s", err, script)
		}
		return nil
	})
}

// releasedSchema opens a copy of the kept database of a released schema.
func releasedSchema(t testing.TB, version int) *sql.DB {
	t.Helper()
	packed, err := os.Open(Root("internal", "keep", "store", "testdata", fmt.Sprintf("schema-%04d.db.gz", version)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = packed.Close() }()
	path := filepath.Join(t.TempDir(), "released.db")
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(unpacked)
	if err == nil {
		err = os.WriteFile(path, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// object is an entry of a database's schema; columns are those of a table.
type object struct {
	kind, sql string
	columns   []string
}

// objectsOf returns the objects of a database's schema by name.
func objectsOf(t testing.TB, db *sql.DB) map[string]object {
	t.Helper()
	rows, err := db.Query(`SELECT type, name, coalesce(sql, ''), (SELECT coalesce(group_concat(name), '') FROM pragma_table_info(o.name)) FROM sqlite_schema o WHERE name NOT LIKE 'sqlite%'`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	objects := map[string]object{}
	for rows.Next() {
		var name, columns string
		var o object
		if err := rows.Scan(&o.kind, &name, &o.sql, &columns); err != nil {
			t.Fatal(err)
		}
		o.columns = strings.Split(columns, ",")
		objects[name] = o
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return objects
}

// Schema returns the version of the database's schema.
func (m *Memory) Schema() (version int) {
	m.T.Helper()
	m.Database(func(db *sql.DB) error { return db.QueryRow("PRAGMA user_version").Scan(&version) })
	return version
}

// Database opens the database for use.
func (m *Memory) Database(use func(*sql.DB) error) {
	m.T.Helper()
	db, err := sql.Open("sqlite", filepath.Join(m.Dir, "memory.db")+"?_pragma=busy_timeout(5000)")
	if err == nil {
		err = use(db)
	}
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		m.T.Fatal(err)
	}
}
