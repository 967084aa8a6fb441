package db

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claudemem/internal/keep/sqlite"
)

var updateSchema = flag.Bool("update-schema", false, "write schema.sql from the migrations")

// TestFreshSchema: schema.sql makes what the migrations make, in the same order, and the same rows.
func TestFreshSchema(t *testing.T) {
	migrated := inMemory(t)
	for _, step := range migrations {
		if err := step.apply(t.Context(), migrated); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := migrated.Exec("DELETE FROM counters WHERE name = 'compact'"); err != nil { // there is nothing to make smaller
		t.Fatal(err)
	}
	if *updateSchema {
		if err := os.WriteFile("schema.sql", []byte(scriptOf(t, migrated)), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Skip("written; run again without -update-schema")
	}
	fresh := inMemory(t)
	if err := migrate(t.Context(), fresh, withDefaults(Options{}).Logger); err != nil {
		t.Fatal(err)
	}
	want, got := stateOf(t, migrated), stateOf(t, fresh)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("schema.sql is not what the migrations make; `go test -run TestFreshSchema -update-schema` writes it (-migrations +schema.sql):\n%s", diff)
	}
}

func inMemory(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open(sqlite.Driver, "file::memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1) // each connection has a database of its own
	return db
}

// stateOf returns the pragmas, objects and rows of a database; the memory's own number, which is
// random, as whether there is one.
func stateOf(t *testing.T, db *sql.DB) (state []string) {
	t.Helper()
	for _, pragma := range []string{"user_version", "application_id"} {
		n, err := Value[int64](context.Background(), db, "PRAGMA "+pragma)
		if err != nil {
			t.Fatal(err)
		}
		state = append(state, fmt.Sprint(pragma, " ", n))
	}
	for _, o := range objectsOf(t, db) {
		state = append(state, fmt.Sprintf("%+v", o.normalized()))
		if o.Kind != "table" || strings.HasPrefix(o.SQL, "CREATE VIRTUAL") {
			continue
		}
		columns, err := Column[string](context.Background(), db, "SELECT name FROM pragma_table_xinfo(?)", o.Name)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := All(context.Background(), db, func(row *[]any) []any {
			*row = make([]any, len(columns))
			fields := make([]any, len(columns))
			for i := range fields {
				fields[i] = &(*row)[i]
			}
			return fields
		}, "SELECT * FROM "+o.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if row[0] == CounterMemory {
				row[1] = row[1] != int64(0)
			}
			if o.Name == "sqlite_sequence" && row[1] == int64(0) {
				continue // left by a migration that copied no row; as good as none
			}
			state = append(state, fmt.Sprint(o.Name, row))
		}
	}
	return state
}

func objectsOf(t *testing.T, db *sql.DB) []object {
	t.Helper()
	objects, err := All(context.Background(), db, objectFields, objectColumns+" ORDER BY rowid")
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// scriptOf returns the statements that make the objects of a database. What SQLite makes itself
// has none.
func scriptOf(t *testing.T, db *sql.DB) string {
	t.Helper()
	objects := slices.DeleteFunc(objectsOf(t, db), func(o object) bool {
		return o.SQL == "" || strings.HasPrefix(o.Name, "sqlite_")
	})
	var b strings.Builder
	b.WriteString("-- The newest schema, for a memory that is new. Written by TestFreshSchema from the migrations; not to be edited.\n")
	for _, o := range objects {
		b.WriteString("\n" + o.SQL + ";\n")
	}
	b.WriteString("\nINSERT INTO counters (name, value) VALUES ('memory_id', random() & 0x7fffffffffffffff);\n")
	return b.String()
}
