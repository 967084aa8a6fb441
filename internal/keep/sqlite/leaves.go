package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"

	"claudemem/internal/leaf/openfile"
)

// Row is a row as it stands in a page, without its table's name.
type Row struct {
	// Entry says that it is of an index, or of a table WITHOUT ROWID; ID is the rowid otherwise.
	Entry bool
	ID    int64
	// Values are nil, int64, float64, string or []byte, without the nils at the end.
	Values []any
}

const (
	// leafColumns is how many values of a row Leaves reads.
	leafColumns = 40
	// usualPage is the size of pages where the header does not say it.
	usualPage = 4096
)

// Leaves calls take with each row in the database file at path, page by page, whatever became of
// its header, its schema and the pages that lead to others. It has the pages read by SQLite:
// two tables without types take the place of the schema, and of these each page becomes the root.
// Pages that are free (the file has a map of them: auto_vacuum) are left out, as their rows were
// deleted. A page that cannot be read is left out without an error; an error of take ends it.
// The file is a copy without a log, open nowhere else; afterwards it is as before. It stands in a
// directory of the caller's own, since path with ".untyped" behind it must not exist.
func Leaves(ctx context.Context, path string, take func(Row) error) (err error) {
	f, err := openfile.Open(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	first := make([]byte, 1<<16)
	n, _ := f.ReadAt(first, 0) // a shorter one has the rest in zeros
	size := int64(binary.BigEndian.Uint16(first[16:]))
	if size == 1 {
		size = 1 << 16
	}
	if size < 512 || size&(size-1) != 0 {
		size = usualPage
	}
	page, err := untypedPage(ctx, path+".untyped", size)
	if err != nil {
		return err
	}
	first = first[:min(int64(n), size)]
	if _, err := f.WriteAt(page, 0); err != nil {
		return err
	}
	defer func() {
		_, back := f.WriteAt(first, 0)
		err = errors.Join(err, back, f.Truncate(info.Size()))
	}()
	db, err := sql.Open(Driver, Source(path, nil, "journal_mode(off)", "synchronous(off)", "cell_size_check(1)"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	entries := size/5 + 1 // of a page of the map, and that page
	for number := int64(2); number <= info.Size()/size; number++ {
		var kind, state [1]byte
		of := (number-2)/entries*entries + 2
		if _, err := f.ReadAt(kind[:], (number-1)*size); err != nil {
			return err
		}
		if _, err := f.ReadAt(state[:], (of-1)*size+5*(number-of-1)); number > of && err == nil && state[0] == mapFree {
			continue
		}
		if err := readLeaf(ctx, db, kind[0], number, take); err != nil {
			return err
		}
	}
	return nil
}

// The kinds of pages that have rows, and the mark of a free page in the map of pages
// (https://www.sqlite.org/fileformat.html#b_tree_pages, #pointer_map_or_ptrmap_pages).
const (
	tableLeaf     = 13
	indexLeaf     = 10
	indexInterior = 2
	mapFree       = 2
)

// untypedPage returns the first page of a database that has two tables without types, leaf and
// entry, and as many pages as its file has. It makes the file at path for that.
func untypedPage(ctx context.Context, path string, size int64) (page []byte, err error) {
	db, err := OpenWriter(path, Source(path, nil, fmt.Sprintf("page_size(%d)", size)))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.Remove(path)) }()
	columns := leafNames()
	_, err = db.ExecContext(ctx, "CREATE TABLE leaf ("+columns+"); CREATE TABLE entry ("+columns+", PRIMARY KEY ("+columns+")) WITHOUT ROWID")
	if err := errors.Join(err, db.Close()); err != nil {
		return nil, err
	}
	if page, err = openfile.Read(path); err != nil {
		return nil, err
	}
	page = page[:size]
	page[92]++ // then the size of the file counts, and not the header's
	return page, nil
}

// leafNames returns the names of the columns of the table that a leaf is read as.
func leafNames() string {
	names := make([]string, leafColumns)
	for i := range names {
		names[i] = fmt.Sprintf("c%d", i)
	}
	return strings.Join(names, ", ")
}

// readLeaf calls take with the rows of one page: from the first on until one cannot be read,
// then from the last backwards. A page that is damaged ends without an error: it returns those of
// take and ctx, and SQLite's others when it cannot make the page a root.
func readLeaf(ctx context.Context, db *sql.DB, kind byte, number int64, take func(Row) error) error {
	table, id, order := "leaf", "rowid", "rowid DESC"
	switch kind {
	case tableLeaf:
	case indexLeaf, indexInterior:
		table, id, order = "entry", "0", strings.ReplaceAll(leafNames(), ",", " DESC,")+" DESC"
	default:
		return nil
	}
	// RESET reads the schema again, and ends writable_schema.
	if _, err := db.ExecContext(ctx, fmt.Sprintf("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = %d WHERE name = '%s'; PRAGMA writable_schema = RESET", number, table)); err != nil {
		if Damaged(err) {
			err = nil // the page cannot be a root
		}
		return err
	}
	var failed error
	for _, order := range []string{"", " ORDER BY " + order} {
		rows, err := db.QueryContext(ctx, "SELECT "+id+", * FROM "+table+order)
		err = Rows(rows, err).Each(func(scan Scan) error {
			row := Row{Entry: kind != tableLeaf, Values: make([]any, leafColumns)}
			fields := []any{&row.ID}
			for i := range row.Values {
				fields = append(fields, &row.Values[i])
			}
			if err := scan(fields...); err != nil {
				return err
			}
			for len(row.Values) > 0 && row.Values[len(row.Values)-1] == nil {
				row.Values = row.Values[:len(row.Values)-1]
			}
			failed = take(row)
			return failed
		})
		if failed != nil || ctx.Err() != nil {
			return errors.Join(failed, ctx.Err())
		}
		if err == nil {
			break
		}
	}
	return nil
}
