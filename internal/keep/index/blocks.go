package index

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/memory"
)

// The table blocks has what the catalogue holds of the documents, blockDocuments documents a row:
// opening an index of 175,000 documents takes 25 times longer with a row for each. A row is
// written anew with each batch that changes one of its documents.
//
// Of each place of a block there is a byte with the kind, 0 for no document. Of a document
// follow, as uvarints or, where a number may be negative, as varints:
//
//	record, minus that of the document before
//	session, likewise
//	time, likewise
//	project
//	length of its type in bytes, then the type
//	length in words
//	number of vectors, or waits

// blockDocuments is such that a block of usual documents (17 bytes each) fills a page.
const blockDocuments = 200

// blockEntry is a document in a block.
type blockEntry struct {
	entry
	typ    memory.ObservationType
	length int
}

// block is a row of the table, by the place of the document.
type block [blockDocuments]blockEntry

func blockOf(document uint32) (number, place uint32) {
	return document / blockDocuments, document % blockDocuments
}

// encode returns the stored form.
func (k *block) encode() []byte {
	b := make([]byte, 0, 4096)
	var last entry
	for i := range k {
		e := &k[i]
		b = append(b, byte(e.kind))
		if e.kind == 0 {
			continue
		}
		b = binary.AppendVarint(b, e.record-last.record)
		b = binary.AppendVarint(b, e.session-last.session)
		b = binary.AppendVarint(b, e.createdAt-last.createdAt)
		last = e.entry
		b = binary.AppendUvarint(b, uint64(e.project))
		b = append(binary.AppendUvarint(b, uint64(len(e.typ))), e.typ...)
		b = binary.AppendUvarint(b, uint64(max(e.length, 0))) //nolint:gosec // not negative
		b = append(b, e.vectors)
	}
	return b
}

// blockReader reads the numbers of a block; once one is damaged all are 0.
type blockReader struct {
	b    []byte
	fail bool
}

// skip moves behind a number of so many bytes, at most 0 for a damaged one.
func (r *blockReader) skip(size int) {
	if r.fail = r.fail || size <= 0; r.fail {
		r.b = nil
		return
	}
	r.b = r.b[size:]
}

// unsigned returns a number of at most most; a larger one is damage.
func (r *blockReader) unsigned(most uint64) uint64 {
	n, size := binary.Uvarint(r.b)
	if n > most {
		n, size = 0, 0
	}
	r.skip(size)
	return n
}

// signed returns a number; 0, and the reader fails, at the end.
func (r *blockReader) signed() int64 {
	n, size := binary.Varint(r.b)
	r.skip(size)
	return n
}

// byte returns a byte; 0, and the reader fails, at the end.
func (r *blockReader) byte() (n byte) {
	if len(r.b) > 0 {
		n = r.b[0]
	}
	r.skip(min(len(r.b), 1))
	return n
}

// decode reads the stored form over what k had; sqlite.ErrDamaged for what encode does not write.
func (k *block) decode(b []byte) error {
	r := blockReader{b: b}
	var last blockEntry
	for i := range k {
		k[i] = blockEntry{}
		e := entry{kind: kind(r.byte())}
		if e.kind == 0 {
			continue
		}
		e.record = last.record + r.signed()
		e.session = last.session + r.signed()
		e.createdAt = last.createdAt + r.signed()
		e.project = uint32(r.unsigned(1 << 24)) //nolint:gosec // bounded
		last.entry = e
		if n := r.unsigned(uint64(len(r.b))); n <= uint64(len(r.b)) {
			if typ := r.b[:n]; string(typ) != string(last.typ) { // or the two share their memory
				last.typ = memory.ObservationType(typ)
			}
			r.b = r.b[n:]
		}
		k[i] = blockEntry{entry: e, typ: last.typ, length: int(r.unsigned(1 << 32))} //nolint:gosec // bounded
		if k[i].vectors = r.byte(); int(e.kind) > len(memory.RecordKinds()) {
			return sqlite.ErrDamaged
		}
	}
	if r.fail || len(r.b) > 0 {
		return sqlite.ErrDamaged
	}
	return nil
}

// eachBlock calls fn for the rows of a query for number and entries. The block is good until it
// returns.
func eachBlock(ctx context.Context, q sqlite.QueryOnly, fn func(number uint32, k *block) error, query string, args ...any) (err error) {
	k := new(block)
	var number uint32
	var entries []byte
	for range selected(ctx, q, &err, query, args...).Into(&number, &entries) {
		if number > 1<<31/blockDocuments {
			return sqlite.ErrDamaged
		}
		stored, err := unsealed(number, entries)
		if err == nil {
			err = k.decode(stored)
		}
		if err == nil {
			err = fn(number, k)
		}
		if err != nil {
			return err
		}
	}
	return err
}

// blockChanges are the blocks that a batch changes, read when they are first needed.
type blockChanges map[uint32]*block

// at returns a document of its block, for reading and changing: write stores the change. A block
// that cannot be read is empty, and t fails.
func (c blockChanges) at(t *sqlite.Batch, document uint32) *blockEntry {
	number, place := blockOf(document)
	if c[number] == nil {
		c[number] = new(block) // without a row it has no documents
		t.Fail(eachBlock(context.Background(), t, func(_ uint32, stored *block) error {
			*c[number] = *stored
			return nil
		}, "SELECT number, entries FROM blocks WHERE number = ?", number))
	}
	return &c[number][place]
}

// write stores the changed blocks; one without documents has no row.
func (c blockChanges) write(t *sqlite.Batch) {
	for _, number := range slices.Sorted(maps.Keys(c)) {
		query, args := "DELETE FROM blocks WHERE number = ?", []any{number}
		if k := c[number]; slices.ContainsFunc(k[:], func(e blockEntry) bool { return e.kind != 0 }) {
			query, args = "INSERT OR REPLACE INTO blocks(number, entries) VALUES (?, ?)", append(args, sealed(number, k.encode()))
		}
		t.Exec(query, args...)
	}
}

// loadEntries fills the catalogue with the documents of a query for number and entries. only,
// unless nil, are the documents that are wanted.
func (b *base) loadEntries(ctx context.Context, q querier, only map[uint32]bool, query string, args ...any) error {
	c := b.cat
	return eachBlock(ctx, q, func(number uint32, k *block) error {
		for place := range k {
			e, document := &k[place], number*blockDocuments+uint32(place) //nolint:gosec // below blockDocuments
			if e.kind == 0 || only != nil && !only[document] {
				continue
			}
			// A damaged number must not ask for memory without bound.
			if document == 0 || int(e.project) >= len(c.paths) || int(document) > len(c.entries)+1<<24 {
				return sqlite.ErrDamaged
			}
			e.entry.typ = c.typeNumber(e.typ)
			c.put(document, e.entry, e.length)
		}
		return nil
	}, query, args...)
}
