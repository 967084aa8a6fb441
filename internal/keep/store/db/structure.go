package db

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

const (
	// CounterMemory is the counter that holds the memory's own number, which the schema gives.
	CounterMemory = "memory_id"
	// CounterRedacted begins the counter of what a secret rule masked; the rule follows.
	CounterRedacted = "redacted:"
)

// Findings bounds the problems that Verify returns.
const Findings = 20

// NumberedTable is a table with the column that numbers its rows.
type NumberedTable struct{ Table, Number string }

// Numbered are the tables whose rows are numbered as they come: a salvage copies the new ones.
// file_refs and paths go together.
var Numbered = []NumberedTable{
	{"sessions", "id"}, {"prompts", "id"}, {"observations", "id"},
	{"session_summaries", "id"}, {"learnings", "id"}, {"function_map", "id"}, {"events", "id"}, {"pending_messages", "event_id"},
	{"llm_calls", "id"}, {"injections", "id"}, {"given_lines", "id"}, {"event_log", "id"}, {"foreign_texts", "id"}, {"file_refs", "observation_id"},
}

// object is an entry of a database's schema: a table, index, view or trigger. SQL is "" for an
// index that a constraint of its table makes.
type object struct{ Kind, Name, Table, SQL string }

// String names the object for an error. Its name may be a stranger's text.
func (o object) String() string {
	name := fmt.Sprintf("%s %.60q", o.Kind, o.Name)
	if o.Table != o.Name {
		name += fmt.Sprintf(" of %.60q", o.Table)
	}
	return name
}

const objectColumns = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema"

func objectFields(o *object) []any { return []any{&o.Kind, &o.Name, &o.Table, &o.SQL} }

// normalized returns the object with one space in place of each run of comments and blanks in its
// SQL, in which programs that were released differ. Quoted words stay as they are.
func (o object) normalized() object {
	var b strings.Builder
	through := func(from int, mark string) int { // the end of what begins at from
		if i := strings.Index(o.SQL[from:], mark); i >= 0 {
			return from + i + len(mark)
		}
		return len(o.SQL)
	}
	gap := false
	for i := 0; i < len(o.SQL); {
		blank, end := false, i+1
		switch c := o.SQL[i]; {
		case strings.HasPrefix(o.SQL[i:], "--"):
			blank, end = true, through(i, "\n")
		case strings.HasPrefix(o.SQL[i:], "/*"):
			blank, end = true, through(i+2, "*/")
		case strings.IndexByte(" \t\n\f\r", c) >= 0:
			blank = true
		case c == '[':
			end = through(i, "]")
		case strings.IndexByte("'\"`", c) >= 0:
			end = through(i+1, string(c))
		}
		if !blank {
			b.WriteString(o.SQL[i:end])
		} else if !gap {
			b.WriteByte(' ')
		}
		i, gap = end, blank
	}
	o.SQL = b.String()
	return o
}

// analyzed are the tables that ANALYZE of SQLite makes.
var analyzed = []object{
	{"table", "sqlite_stat1", "sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)"},
	{"table", "sqlite_stat4", "sqlite_stat4", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"},
}

// maxObjects bounds the objects of a schema that are looked at: ours have about a hundred.
const maxObjects = 1000

// digests has the digest of the objects of each version of the schema: to make them anew takes
// longer than a command may. TestDigests compares them with the migrations, and prints that of a new
// one. Version 3 changes no object.
var digests = [...]string{
	"67994d8914ef9c7532d53b3e8997987b41c018abd1f9e55863161ce53aa751a6",
	"3d8932082fb023d9d29e22133a03f08c9528895046841ae34cabcbc253576198",
	"3d8932082fb023d9d29e22133a03f08c9528895046841ae34cabcbc253576198",
	"235f1187a945867632848fd34c845918f90227d0b7e8bc70d6bd597bc6a6ce55",
	"f47af769d50a785c0fffb8039f6373b58372f8cd339eadcdb3aaba1f0a29dcf5",
	"5119fafc90aee0750d9f8d66c681de8c8919859a255d8d3bdff1140c3d476db8",
	"14dc86154971ba704ecd90990afe867d688bdff5e4bfd7ee25529727b3baf66f",
	"f5d41a685057c5f0b2665abbee80d9aa257cbc4a297bd511a69e0621dbb69c6c",
	"8286677ce83dd38feff3d215a0ac14f8c3af67b022753bb9f485f95fb03e6339",
	"8173d7657a52f9387127d7ba73c231174a5668c1171a2542c9db81981e775809",
	"d7c8e1755ea538cbc72cd798704000b6212156932a4e18eb4035deb8d4b3bcb1",
	"521eeeb04a3d94efc395ebbfe2add3402dd16cda607b61f4d90d590c72a4ac8d",
	"a2ec882f9a5d18d277c05db3bc3aba00ea4b41ad27db9169a824d903bb3226a7",
	"25b10b9ec315b2279f88185c1f0346821f90ea371aaa5096ac88bfbe6302d0c9",
	"32e0ee6edfc7b0ad7668768e68049136afd44af0cf985938dbb3b930b63330dd",
	"a5c732e0d02e6d964010fba21ada93b47400c233570ccb381d2ca37f90fe4a2e",
	"e26ace1bedcac14e4cd984e1699ccb5f55f8bca56e5986162a7ab086f8ee9955",
}

// digest returns a sum of normalized objects in any order.
func digest(objects []object) string {
	lines := make([]string, len(objects))
	for i, o := range objects {
		line := []string{o.Kind, o.Name, o.Table, o.SQL}
		for k := range line { // ours have no NUL: no object may look like two
			line[k] = strings.ReplaceAll(line[k], "\x00", "\x01")
		}
		lines[i] = strings.Join(line, "\x00")
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\x00\x00")))
	return hex.EncodeToString(sum[:])
}

// structureOf returns the objects of a memory of a version of the schema, from 1 on, in the order
// in which SQLite keeps them. The migrations make them in an empty database, or newest does. A memory that was
// migrated from an older version has the same ones, since each memory went through all of them.
func structureOf(ctx context.Context, version int) (list []object, err error) {
	db, err := sql.Open(sqlite.Driver, "file::memory:")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1) // each connection has a database of its own
	steps := migrations[:version]
	if version == SchemaVersion() {
		steps = newest
	}
	for _, step := range steps {
		if err := step.apply(ctx, db); err != nil {
			return nil, err
		}
	}
	return All(ctx, db, objectFields, objectColumns+" ORDER BY rowid")
}

// errForeign is the cause of an error for a database that claude-mem has not made so.
var errForeign = errors.New("the database is not as claude-mem makes it")

// foreign returns what of a database's schema is not as the migrations make it, at most 20
// sentences; none for a memory, and for a database without a version. Before the schema is known to be
// claude-mem's it reads nothing else: no trigger, view, virtual table, generated column or
// expression of a stranger is evaluated.
func foreign(ctx context.Context, q Querier) (list []string, err error) {
	version, err := Value[int](ctx, q, "PRAGMA user_version")
	if err != nil {
		return nil, err
	}
	if err := checkVersion(version); err != nil {
		return nil, err
	}
	if version == 0 {
		return nil, nil // CheckOurs looks at it before it is used
	}
	id, err := Value[int64](ctx, q, "PRAGMA application_id")
	if err != nil {
		return nil, err
	}
	if id != applicationID {
		list = append(list, "its application_id is another program's")
	}
	ours, err := All(ctx, q, objectFields, objectColumns+" LIMIT ?", maxObjects)
	if err != nil {
		return nil, err
	}
	ours = collect.Map(ours, object.normalized)
	if digest(ours) != digests[version-1] {
		other, err := compare(ctx, version, ours)
		if err != nil {
			return nil, err
		}
		list = append(list, other...)
	}
	if len(list) > 0 {
		return list[:min(len(list), Findings)], nil
	}
	numbers := "SELECT name, seq FROM sqlite_sequence UNION ALL SELECT name, value FROM counters WHERE name <> ?"
	for _, t := range Numbered {
		if slices.ContainsFunc(ours, func(o object) bool { return o.Kind == "table" && o.Name == t.Table }) {
			// In brackets the highest is the last of an index; else SQLite reads all numbers.
			numbers += " UNION ALL SELECT '" + t.Table + "', coalesce((SELECT max(" + t.Number + ") FROM " + t.Table + "), 0)"
		}
	}
	return Column[string](ctx, q, `SELECT printf('the numbers of %.60s are too high', name) FROM (`+numbers+`)
		WHERE typeof(seq) <> 'integer' OR seq NOT BETWEEN 0 AND ? LIMIT ?`, CounterMemory, int64(HighestNumber), Findings)
}

// compare returns what of the objects of a database is not as the migrations make it.
func compare(ctx context.Context, version int, objects []object) (list []string, err error) {
	ours, err := structureOf(ctx, version)
	if err != nil {
		return nil, err
	}
	expected, missing := make(map[object]bool, len(ours)), make(map[string]bool, len(ours))
	for _, o := range ours {
		expected[o.normalized()], missing[o.Name] = true, true
	}
	for _, o := range analyzed {
		expected[o] = true
	}
	for _, o := range objects {
		switch {
		case expected[o]: // once
		case missing[o.Name]:
			list = append(list, o.String()+" is not as claude-mem makes it")
		default:
			list = append(list, o.String()+" is not claude-mem's")
		}
		delete(expected, o)
		delete(missing, o.Name)
	}
	return append(list, collect.Pick(ours, func(o object) (string, bool) { return o.String() + " is missing", missing[o.Name] })...), nil
}

// HighestNumber is the highest number of a row or counter that a memory can have reached. From
// SQLite's highest on nothing more could be stored.
const HighestNumber = 1 << 62

// CheckStructure returns errForeign, CodeStorage, with the names of what is foreign in a
// database's schema; the error of checkVersion for a version that this program does not know.
func CheckStructure(ctx context.Context, q Querier) error {
	list, err := foreign(ctx, q)
	if err != nil || len(list) == 0 {
		return err
	}
	return memory.Errorf(memory.CodeStorage, "%w: %s", errForeign, strings.Join(list, "; ")).
		WithHint("another program changed it, or it comes from a stranger; what it names can be dropped in a copy of the file")
}

// RestoreStructure gives the database at path, a copy that is open nowhere else, the tables and
// views of its version as the migrations make them, where its schema is foreign: what a stranger
// has added is gone before a row is read, and the rows of a changed table are read as those of
// claude-mem's. A table that is none in the file, such as a view, is missing then.
func RestoreStructure(ctx context.Context, path string) (err error) {
	// With writable_schema SQLite also opens a schema that it cannot parse.
	db, err := sql.Open(sqlite.Driver, sqlite.Source(path, []string{"_txlock=immediate"}, BusyTimeout, "writable_schema(1)", "trusted_schema(0)"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	version, err := VersionOf(ctx, db)
	if err != nil || version <= 0 || version > SchemaVersion() {
		return nil // what can be read is seen when it is read
	}
	if list, err := foreign(ctx, db); err != nil || len(list) == 0 {
		return nil // likewise
	}
	ours, err := structureOf(ctx, version)
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := ExecEach(ctx, tx, []string{"CREATE TEMP TABLE there AS SELECT type, name, rootpage FROM sqlite_schema", "DELETE FROM sqlite_schema"}); err != nil {
		return err
	}
	for _, o := range ours {
		if o.Kind == "trigger" || o.Kind == "index" && o.SQL != "" {
			continue // no row is written, and each is found without an index
		}
		// The page where the rows begin is the file's; a view has none.
		if _, err := tx.ExecContext(ctx, `INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql)
			SELECT ?1, ?2, ?3, coalesce(max(rootpage), 0), nullif(?4, '') FROM there WHERE type = ?1 AND name = ?2 AND rootpage > 0
			HAVING ?1 = 'view' OR max(rootpage) > 0`, o.Kind, o.Name, o.Table, o.SQL); err != nil {
			return err
		}
	}
	return tx.Commit()
}
