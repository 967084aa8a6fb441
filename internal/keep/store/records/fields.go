package records

import (
	"slices"
	"strings"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/memory"
)

// flags say what applies to a column besides that it is one of the record.
type flags uint8

const (
	// inText and inRest say which of the two hashes of a record covers the column.
	inText flags = 1 << iota
	inRest
	// added columns are newer than stored hashes: an empty one changes none, so that records of
	// older memories, backups and salvaged files keep theirs.
	added
	// rewritten columns get new values when a record is made again in the same row.
	rewritten
	// later columns are not set when a row is inserted.
	later
	// unread fields are those of writeOnly, unwritten ones those of readOnly.
	unread
	unwritten
)

// walk is what a walk over the fields of a record is for.
type walk uint8

const (
	forSQL     walk = iota // collects what SQL has to know
	forReading             // collects the destinations in the record
	forInsert              // collects the arguments of an INSERT
	forUpdate              // collects the arguments of an UPDATE
	forExport              // collects the places in the portable form
	forImport              // copies the portable form into the record
)

// fields is a walk over the declaration of a record.
type fields struct {
	walk
	alias  string     // of the record's table
	list   []declared // what forSQL has collected
	values []any      // what the others have
}

// declared is a field as SQL knows it.
type declared struct {
	// column is "" for a field that is no column of the record's table.
	column string
	flags
	// read, exported and written say whether the record and its portable form are read from it,
	// and whether statements write it. value is the expression that is read, argument that of
	// what is written.
	read, exported, written bool
	value, argument         string
	packed                  bool
}

// field declares a column, and where the record (own) and its portable form (exported) have it,
// nil if they do not. as makes of such a place the value that the driver scans into and takes as
// an argument: db.Plain, or how the column is encoded (db.ToText, db.ToList).
func field[T any](f *fields, column string, is flags, as func(*T) any, own, exported *T) {
	declare(f, column, "", is, as, own, exported)
}

// writeOnly declares a column that is written only: write is an expression with one argument,
// which is made of a field of the record.
func writeOnly[T any](f *fields, column string, is flags, write string, as func(*T) any, own *T) {
	declare(f, column, write, is|unread, as, own, nil)
}

// readOnly declares a field that is read only, by an expression.
func readOnly[T any](f *fields, expression string, as func(*T) any, own, exported *T) {
	declare(f, "", expression, unwritten, as, own, exported)
}

// declare does with a field what the walk is for. expression is what stands in a statement in
// place of the column that is read, or of the argument that is written; "" for the column as it
// is, or a "?".
func declare[T any](f *fields, column, expression string, is flags, as func(*T) any, own, exported *T) {
	place := own
	switch {
	case f.walk == forSQL:
		d := declared{column: column, flags: is, read: own != nil && is&unread == 0, exported: exported != nil, written: own != nil && is&unwritten == 0}
		if d.value, d.argument = expression, expression; expression == "" {
			d.value, d.argument = f.alias+column, "?"
		}
		if own != nil {
			_, d.packed = as(own).(db.PackedColumn)
		}
		f.list = append(f.list, d)
		return
	case f.walk == forImport:
		if own != nil && exported != nil {
			*own = *exported
		}
		return
	case f.walk == forExport:
		place = exported
	case f.walk == forReading && is&unread != 0, f.walk == forInsert && is&(later|unwritten) != 0, f.walk == forUpdate && is&rewritten == 0:
		return
	}
	if place != nil {
		f.values = append(f.values, as(place))
	}
}

// Kind is what SQL has to know of a kind of records.
type Kind struct {
	// Name is that of the portable form. Kind is that in record_hashes, "" without hashes.
	Name, Table string
	Kind        memory.RecordKind
	// read and Exported are the columns of the record and of its portable form, in rows r (s
	// for sessions).
	read, Exported string
	// Insert inserts a record, InsertExported a portable one. Update sets the rewritten columns
	// of a row; the condition follows.
	Insert, InsertExported, Update string
	// Text and Rest are the columns under the two hashes, Hashed both: all but the number. Packed
	// are those with packed texts, Added those with the flag added.
	Text, Rest, Hashed, Packed, Added []string
	// Scan reads a row with the columns of Exported.
	Scan func(sqlite.Scan) (memory.Portable, error)
}

// record is a kind of records of the type R with the portable form P.
type record[R, P any] struct {
	Kind
	declare func(*fields, *R, *P)
	// own and portable stand in for the one that a walk does not touch.
	own      R
	portable P
	size     int
}

// newRecord returns a kind of records whose fields declare names. portable makes a Portable of
// the portable form. alias is the name of the table's rows in statements: r, or s for sessions.
// Only a kind without readOnly fields in its portable form, a session, has an InsertExported
// that is SQL.
func newRecord[R, P any](name, table string, kind memory.RecordKind, alias string, declare func(*fields, *R, *P), portable func(*P) memory.Portable) *record[R, P] {
	r := &record[R, P]{Kind: Kind{Name: name, Table: table, Kind: kind}, declare: declare}
	f := fields{alias: alias + "."}
	declare(&f, &r.own, &r.portable)
	r.size = len(f.list)
	var read, exported, set, columns, values, exportedColumns []string
	for _, d := range f.list {
		if d.read {
			read = append(read, d.value)
		}
		if d.exported {
			exported, exportedColumns = append(exported, d.value), append(exportedColumns, d.column)
		}
		if d.written && d.flags&later == 0 {
			columns, values = append(columns, d.column), append(values, d.argument)
		}
		if d.flags&rewritten != 0 {
			set = append(set, d.column+" = "+d.argument)
		}
		if d.flags&inText != 0 {
			r.Text = append(r.Text, d.column)
		}
		if d.flags&inRest != 0 {
			r.Rest = append(r.Rest, d.column)
		}
		if d.flags&added != 0 {
			r.Added = append(r.Added, d.column)
		}
		if d.packed {
			r.Packed = append(r.Packed, d.column)
		}
	}
	r.Hashed = slices.Concat(r.Text, r.Rest)
	r.read, r.Exported = strings.Join(read, ", "), strings.Join(exported, ", ")
	r.Insert = insertInto(table, columns, values)
	r.InsertExported = insertInto(table, exportedColumns, slices.Repeat([]string{"?"}, len(exportedColumns)))
	r.Update = "UPDATE " + table + " SET " + strings.Join(set, ", ")
	r.Scan = func(scan sqlite.Scan) (memory.Portable, error) {
		p := new(P)
		err := scan(r.Places(p)...)
		return portable(p), err
	}
	return r
}

func insertInto(table string, columns, values []string) string {
	return "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES (" + strings.Join(values, ", ") + ")"
}

// values returns what a walk collects.
func (r *record[R, P]) values(w walk, own *R, portable *P) []any {
	f := fields{walk: w, values: make([]any, 0, r.size)}
	r.declare(&f, own, portable)
	return f.values
}

// fields returns the destinations of read.
func (r *record[R, P]) fields(own *R) []any { return r.values(forReading, own, &r.portable) }

// Inserted returns the arguments of Insert, Rewritten those of Update.
func (r *record[R, P]) Inserted(own *R) []any  { return r.values(forInsert, own, &r.portable) }
func (r *record[R, P]) Rewritten(own *R) []any { return r.values(forUpdate, own, &r.portable) }

// Places returns the destinations of Exported, which are the arguments of InsertExported.
func (r *record[R, P]) Places(p *P) []any { return r.values(forExport, &r.own, p) }

// Imported returns the record of a portable form, with the fields that both have.
func (r *record[R, P]) Imported(p *P) *R {
	own := new(R)
	r.declare(&fields{walk: forImport}, own, p)
	return own
}
