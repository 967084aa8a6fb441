package store_test

import (
	"context"
	"database/sql/driver"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	driversqlite "modernc.org/sqlite"

	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/upkeep"
	"claudemem/internal/memory"
)

// tripped counts the calls of the SQL function tripwire, which only foreign schemas call.
var tripped atomic.Int64

func init() {
	driversqlite.MustRegisterFunction("tripwire", &driversqlite.FunctionImpl{NArgs: -1, Deterministic: true,
		Scalar: func(*driversqlite.FunctionContext, []driver.Value) (driver.Value, error) {
			tripped.Add(1)
			return int64(1), nil
		}})
}

// foreignSchemas change the schema of a memory as a stranger would, each with what the refusal
// has to name.
var foreignSchemas = map[string]struct{ script, named string }{
	"trigger":                   {"CREATE TRIGGER evil AFTER INSERT ON events BEGIN SELECT tripwire(); DELETE FROM observations; END", `trigger "evil" of "events"`},
	"temporary-like":            {"CREATE TRIGGER evil INSTEAD OF INSERT ON observation_files BEGIN SELECT tripwire(); END", `trigger "evil"`},
	"trigger's body":            {edited("trigger", "observations_inserted", "BEGIN", "BEGIN SELECT tripwire();"), `trigger "observations_inserted"`},
	"trigger's event":           {edited("trigger", "observations_deleted", "AFTER DELETE", "BEFORE DELETE"), `trigger "observations_deleted"`},
	"no trigger":                {"DROP TRIGGER observations_hashed", `trigger "observations_hashed" of "observations" is missing`},
	"view for a table":          {"DROP TABLE notices; CREATE VIEW notices AS SELECT 'k' AS key, tripwire() AS text, 1 AS created_at", `view "notices"`},
	"other view":                {"DROP VIEW observation_files; CREATE VIEW observation_files AS SELECT observation_id, position, tripwire() AS path, 'read' AS role, file_hash, symbols FROM file_refs", `view "observation_files"`},
	"one more view":             {"CREATE VIEW extra AS SELECT tripwire()", `view "extra"`},
	"generated column":          {"ALTER TABLE notices ADD COLUMN g INTEGER GENERATED ALWAYS AS (tripwire()) VIRTUAL", `table "notices" is not as`},
	"one more column":           {"ALTER TABLE events ADD COLUMN extra TEXT", `table "events" is not as`},
	"check":                     {edited("table", "notices", "text       TEXT    NOT NULL", "text TEXT NOT NULL CHECK (tripwire())"), `table "notices" is not as`},
	"default":                   {edited("table", "sessions", "DEFAULT 0", "DEFAULT 7"), `table "sessions" is not as`},
	"no NOT NULL":               {edited("table", "tombstones", "NOT NULL", ""), `table "tombstones" is not as`},
	"not strict":                {edited("table", "tombstones", "STRICT, ", ""), `table "tombstones" is not as`},
	"index":                     {"CREATE INDEX extra ON events (received_at)", `index "extra" of "events"`},
	"index of an expression":    {"CREATE INDEX extra ON events (tripwire(id))", `index "extra" of "events"`},
	"condition of an index":     {"CREATE INDEX extra ON events (id) WHERE tripwire(id)", `index "extra" of "events"`},
	"other index":               {"DROP INDEX file_refs_path; CREATE INDEX file_refs_path ON file_refs (path_id, position)", `index "file_refs_path"`},
	"virtual table":             {"CREATE VIRTUAL TABLE extra USING fts5(a)", `table "extra"`},
	"virtual for a table":       {"DROP TABLE notices; CREATE VIRTUAL TABLE notices USING fts5(key, text, created_at)", `table "notices" is not as`},
	"one more table":            {"CREATE TABLE extra (a)", `table "extra"`},
	"statistics of an own form": {"PRAGMA writable_schema = 1; INSERT INTO sqlite_schema VALUES ('table', 'sqlite_stat1', 'sqlite_stat1', 2, 'CREATE TABLE sqlite_stat1(tbl,idx,stat,x CHECK (tripwire()))')", `table "sqlite_stat1"`},
	"another application":       {"PRAGMA application_id = 5", "application"},
	"older version":             {"PRAGMA user_version = 3", `table "observations" is not as`},
	"highest number":            {"UPDATE sqlite_sequence SET seq = 9223372036854775807 WHERE name = 'changes'", "the numbers of changes are too high"},
	"number as a text":          {"UPDATE sqlite_sequence SET seq = 'x' WHERE name = 'changes'", "the numbers of changes are too high"},
	"highest counter":           {"INSERT OR REPLACE INTO counters (name, value) VALUES ('processed_seq', 9223372036854775807)", "the numbers of processed_seq are too high"},
	"highest row":               {"INSERT INTO events (id, event_key, kind, occurred_at, received_at, outcome) VALUES (9223372036854775807, 'k', 'tool', 1, 1, 'forgotten')", "the numbers of events are too high"},
	"a name of escapes":         {"CREATE TABLE \"\x1b[31m" + strings.Repeat("x", 100000) + "\" (a)", `table "\x1b[31mxxx`},
}

// edited is a script that changes the SQL of an object in the schema itself.
func edited(kind, name, from, to string) string {
	return fmt.Sprintf("PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = replace(sql, '%s', '%s') WHERE type = '%s' AND name = '%s'; PRAGMA writable_schema = RESET", from, to, kind, name)
}

// TestForeignSchemaIsRefused: a database with a schema that claude-mem has not made is refused with
// the name of what is foreign, before anything of it is evaluated, by all that open or read it.
func TestForeignSchemaIsRefused(t *testing.T) {
	for name, tt := range foreignSchemas {
		t.Run(name, func(t *testing.T) {
			path := sound(t)
			rawExec(t, path, tt.script)
			before := tripped.Load()
			_, read := upkeep.ReadContents(t.Context(), path)
			_, opened := store.Open(t.Context(), path, store.Options{})
			wrong, err := upkeep.Verify(t.Context(), path)
			for how, got := range map[string]string{"contents": fmt.Sprint(read), "open": fmt.Sprint(opened), "verify": fmt.Sprint(wrong, err)} {
				if !strings.Contains(got, tt.named) || len(got) > 2000 {
					t.Errorf("%s: %.300s; want %s", how, got, tt.named)
				}
			}
			if !db.Damaged(read) || memory.CodeOf(read) != memory.CodeStorage {
				t.Errorf("%v is not told as damage", read)
			}
			if n := tripped.Load() - before; n > 0 {
				t.Errorf("%d foreign expressions were evaluated", n)
			}
		})
	}
}

// sound returns the path of a memory with something in it, closed.
func sound(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "memory.db")
	if soundFile != nil {
		if err := os.WriteFile(path, soundFile, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	s, err := store.Open(t.Context(), path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.AddObservation(t.Context(), memory.NewObservation{ProjectPath: "/p", Type: "decision", Title: "one"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if soundFile, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// soundFile is what sound has made first.
var soundFile []byte

// TestOwnSchemasAreNotForeign: memories of all versions, as they were made and as they were
// migrated, also with SQLite's statistics and other blanks and comments.
func TestOwnSchemasAreNotForeign(t *testing.T) {
	check := func(t *testing.T, path string) {
		t.Helper()
		if wrong, err := upkeep.Verify(context.Background(), path); err != nil || len(wrong) > 0 {
			t.Errorf("%v, %v", wrong, err)
		}
	}
	for version := 1; version <= db.SchemaVersion(); version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			path := sound(t)
			if _, err := os.Stat(releasedName(version)); err == nil {
				path = unpacked(t, releasedName(version))
			}
			check(t, path)
			s, err := store.Open(t.Context(), path, store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			rawExec(t, path, "ANALYZE; "+edited("table", "notices", "text       TEXT", "text /* a comment */  TEXT -- another\n"))
			check(t, path)
			rawExec(t, path, "VACUUM")
			check(t, path)
		})
	}
}

// TestSalvageOfForeign: the rows of a foreign database are copied without anything of its schema
// being evaluated, and make a sound memory.
func TestSalvageOfForeign(t *testing.T) {
	m := newMemory(t)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	empty, err := os.ReadFile(m.path)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range foreignSchemas {
		t.Run(name, func(t *testing.T) {
			from, into := sound(t), filepath.Join(t.TempDir(), "into.db")
			rawExec(t, from, tt.script)
			if err := os.WriteFile(into, empty, 0o600); err != nil {
				t.Fatal(err)
			}
			before := tripped.Load()
			if _, _, err := salvage(t, from, into); err != nil {
				t.Fatal(err)
			}
			if n := tripped.Load() - before; n > 0 {
				t.Errorf("%d foreign expressions were evaluated", n)
			}
			if wrong, err := upkeep.Verify(t.Context(), into); err != nil || len(wrong) > 0 {
				t.Errorf("%v, %v", wrong, err)
			}
			if rows := rawRows(t, into, "SELECT title FROM observations"); fmt.Sprint(rows) != "[[one]]" {
				t.Errorf("observations %v", rows)
			}
		})
	}
}
