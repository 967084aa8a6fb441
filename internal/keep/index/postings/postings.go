// Package postings reads, from the tables of an FTS5 index with detail=none, the lists of the
// documents that have a token. A query by MATCH returns them one by one through the whole
// machinery of a virtual table, at 0.16 µs each and 25 µs a query; read from the pages, as they
// are kept, a document takes some nanoseconds, and all tokens of a text take a handful of queries.
//
// The layout of the pages is told at the top of SQLite's ext/fts5/fts5_index.c. It is a part of
// the file format, which later versions of SQLite go on reading and writing.
package postings

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"math"
	"slices"
	"sync"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/leaf/collect"
)

// Query runs a query, which is one of Table.Queries, and calls row for each row that it returns.
// All queries of one call of Read must see the same state of the database.
type Query func(ctx context.Context, query string, row func(scan sqlite.Scan) error, args ...any) error

// Table is an FTS5 table with detail=none.
type Table struct{ structure, directory, pages string }

// Of returns the table with a name, which must need no quotes.
func Of(name string) Table {
	return Table{
		// FTS5 keeps the list of segments under this number.
		structure: "SELECT block FROM " + name + "_data WHERE id = 10",
		// The only page of a segment on which the list of a token can begin.
		directory: "SELECT s.key, t.key, (SELECT pgno >> 1 FROM " + name + "_idx WHERE segid = s.value AND term <= CAST('0' || t.value AS BLOB) ORDER BY term DESC LIMIT 1) " +
			"FROM json_each(?) s CROSS JOIN json_each(?) t",
		// In the order of the list.
		pages: "SELECT d.id, d.block FROM json_each(?) j CROSS JOIN " + name + "_data d ON d.id = j.value",
	}
}

// Queries returns the SQL texts that Read passes to a Query.
func (t Table) Queries() []string { return []string{t.structure, t.directory, t.pages} }

// Read calls fn once for each token, with its place in tokens and the documents that have it, the
// lowest number first. The list may include documents that were deleted or that no longer have the
// token. It is valid until fn returns. Read returns the errors of query, and sqlite.ErrDamaged.
func (t Table) Read(ctx context.Context, query Query, tokens []string, fn func(token int, documents []uint32)) error {
	if len(tokens) == 0 {
		return nil
	}
	segments, err := t.segments(ctx, query)
	if err != nil {
		return err
	}
	r := readings.Get().(*reading) //nolint:forcetypeassert // New makes nothing else
	defer readings.Put(r)
	r.documents = r.documents[:0]
	if r.walks, err = t.begin(ctx, query, segments, tokens); err != nil {
		return err
	}
	// So a list of many pages takes few queries, and at most as many pages too much as it has.
	for ahead := int64(1); ; ahead *= 2 {
		if more, err := t.readPages(ctx, query, r, ahead); err != nil {
			return err
		} else if !more {
			break
		}
	}
	for token := range tokens {
		r.list = r.list[:0]
		for at := token; at < len(r.walks); at += len(tokens) {
			r.add(r.walks[at].spans)
		}
		fn(token, r.list)
	}
	return nil
}

// segments reads which segments the index has.
func (t Table) segments(ctx context.Context, query Query) (list []segment, err error) {
	found := false
	err = query(ctx, t.structure, func(scan sqlite.Scan) error {
		var block sql.RawBytes
		if err := scan(&block); err != nil {
			return err
		}
		found = true
		list, err = parseStructure(block)
		return err
	})
	if err == nil && !found { // an empty table has one, too
		err = sqlite.ErrDamaged
	}
	return list, err
}

// begin returns a walk for each token in each segment, ordered by segment, then by token. A walk
// stands where the token's list can begin; whether there is one shows when it is read.
func (t Table) begin(ctx context.Context, query Query, segments []segment, tokens []string) ([]walk, error) {
	list, _ := json.Marshal(collect.Map(segments, func(s segment) int64 { return s.number })) // never fails
	wanted, _ := json.Marshal(tokens)                                                         // nor for texts
	walks := make([]walk, len(segments)*len(tokens))
	err := query(ctx, t.directory, func(scan sqlite.Scan) error {
		var s, token int
		var page sql.NullInt64
		if err := scan(&s, &token, &page); err != nil {
			return err
		}
		walks[s*len(tokens)+token] = walk{
			term: append([]byte{'0'}, tokens[token]...),
			// The directory may still have pages before the first, which were merged into another segment.
			// Without an entry (NULL) the list begins on the first.
			next: segments[s].page(max(page.Int64, segments[s].first)), last: segments[s].page(segments[s].last),
		}
		return nil
	}, string(list), string(wanted))
	return walks, err
}

// readPages reads the next pages of all walks that are not done, up to ahead of each. It returns
// false when all are done.
func (t Table) readPages(ctx context.Context, query Query, r *reading, ahead int64) (more bool, err error) {
	waiting := map[int64][]*walk{} // by the page that they read next
	var pages []int64
	for i := range r.walks {
		w := &r.walks[i]
		if w.done {
			continue
		}
		waiting[w.next] = append(waiting[w.next], w)
		for page := w.next; page < w.next+ahead && page <= w.last; page++ {
			pages = append(pages, page)
		}
	}
	if len(pages) == 0 {
		return false, nil
	}
	slices.Sort(pages)
	list, _ := json.Marshal(slices.Compact(pages)) // never fails
	read := false
	var number int64
	var block sql.RawBytes
	err = query(ctx, t.pages, func(scan sqlite.Scan) error {
		if err := scan(&number, &block); err != nil {
			return err
		}
		for _, w := range waiting[number] {
			read = true
			if err := r.read(w, block); err != nil {
				return err
			}
			if !w.done { // its next page, if it was asked for, comes later: pages ascend
				waiting[w.next] = append(waiting[w.next], w)
			}
		}
		return nil
	}, string(list))
	if err == nil && !read { // they are missing
		err = sqlite.ErrDamaged
	}
	return true, err
}

// readings are used again: the lists of a query's words take half a megabyte.
var readings = sync.Pool{New: func() any { return new(reading) }}

// reading holds what one call of Read has read so far.
type reading struct {
	walks     []walk // by segment and token
	documents []uint32
	// list is the list of a token, part and spare are used while it is put together.
	list, part, spare []uint32
}

// add adds the documents of the spans, the list of a token in one segment, to the token's list.
func (r *reading) add(spans []span) {
	r.part = r.part[:0]
	for _, s := range spans {
		r.part = append(r.part, r.documents[s.from:s.to]...)
	}
	if len(r.list) == 0 {
		r.list, r.part = r.part, r.list
		return
	}
	r.spare = union(r.spare[:0], r.list, r.part)
	r.list, r.spare = r.spare, r.list
}

// union appends the numbers of two ascending lists to a third as one.
func union(list, a, b []uint32) []uint32 {
	for len(a) > 0 && len(b) > 0 {
		x, y := a[0], b[0]
		list = append(list, min(x, y))
		if x <= y {
			a = a[1:]
		}
		if y <= x {
			b = b[1:]
		}
	}
	return append(append(list, a...), b...)
}

// segment is a part of an index, with the documents of one or more transactions. Its pages are
// numbered from first to last.
type segment struct{ number, first, last int64 }

// page returns the number that a page of a segment has in the table of all pages.
func (s segment) page(page int64) int64 { return s.number<<37 + page }

// structureV2 marks the structure of a table with contentless_delete=1.
var structureV2 = []byte{0xff, 0, 0, 1}

// parseStructure returns the segments that a structure record lists: it has four bytes that change
// with the configuration, the mark, then numbers.
func parseStructure(b []byte) (list []segment, err error) {
	r := reader{b: b, at: 4}
	v2 := len(b) >= 8 && bytes.Equal(b[4:8], structureV2)
	if v2 {
		r.at = 8
	}
	levels := r.within(mostSegments)
	r.number() // of segments
	r.number() // of pages ever written
	for range levels {
		r.number() // of segments that are being merged
		for range r.within(mostSegments) {
			list = append(list, segment{int64(r.within(mostSegmentNumber)), int64(r.within(math.MaxInt32)), int64(r.within(math.MaxInt32))})
			if v2 {
				for range 5 { // where it comes from, and its deleted documents
					r.number()
				}
			}
		}
	}
	if r.broken {
		return nil, sqlite.ErrDamaged
	}
	return list, nil
}

const (
	mostSegments      = 2000 // and of levels: FTS5_MAX_SEGMENT
	mostSegmentNumber = 1<<16 - 1
)
