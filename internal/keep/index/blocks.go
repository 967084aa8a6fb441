package index

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/memory"
)

// The table blocks has what the catalogue holds of the documents, and the slots of their
// vectors, blockDocuments documents a row: opening an index of 175,000 documents takes 25
// times longer with a row for each. A row is written anew with each batch that changes one
// of its documents.
//
// A block begins with the list of its types: their number, then length and text of each. Of
// each document follow, as uvarints or, where a number may be negative, as varints:
//
//	numbers left out since the document before it
//	kind
//	record, minus that of the document before
//	session, likewise
//	time, likewise
//	project
//	place of its type in the list plus one, 0 for none
//	length in words
//	number of fragments plus one, 0 for a document that waits for its vectors
//	the first slot, minus the one behind the last slot of the document before
//	the code of each fragment's name

// blockDocuments is such that a block of usual documents (17 bytes each) fills a page.
const blockDocuments = 200

// blockEntry is a document in a block.
type blockEntry struct {
	entry
	typ    memory.ObservationType
	length int
	// waits says that it has no vectors yet; otherwise names are the codes of its
	// fragments, which have the slots from first on.
	waits bool
	first uint32
	names []uint16
}

// block is a row of the table, by the place of the document.
type block [blockDocuments]blockEntry

func blockOf(document uint32) (number, place uint32) {
	return document / blockDocuments, document % blockDocuments
}

// encode returns the stored form, nil for a block without documents.
func (k *block) encode() []byte {
	var types []memory.ObservationType
	empty := true
	for i := range k {
		empty = empty && k[i].kind == 0
		if k[i].kind != 0 && k[i].typ != "" && !slices.Contains(types, k[i].typ) {
			types = append(types, k[i].typ)
		}
	}
	if empty {
		return nil
	}
	b := binary.AppendUvarint(make([]byte, 0, 4096), uint64(len(types)))
	for _, t := range types {
		b = append(binary.AppendUvarint(b, uint64(len(t))), t...)
	}
	var last entry
	left, slot := 0, uint32(0)
	for i := range k {
		e := &k[i]
		if e.kind == 0 {
			left++
			continue
		}
		b = binary.AppendUvarint(b, uint64(left)) //nolint:gosec // below blockDocuments
		left = 0
		b = append(b, byte(e.kind))
		b = binary.AppendVarint(b, e.record-last.record)
		b = binary.AppendVarint(b, e.session-last.session)
		b = binary.AppendVarint(b, e.createdAt-last.createdAt)
		last = e.entry
		b = binary.AppendUvarint(b, uint64(e.project))
		b = binary.AppendUvarint(b, uint64(slices.Index(types, e.typ)+1)) //nolint:gosec // from 0
		b = binary.AppendUvarint(b, uint64(max(e.length, 0)))             //nolint:gosec // not negative
		if e.waits {
			b = append(b, 0)
			continue
		}
		b = binary.AppendUvarint(b, uint64(len(e.names)+1))
		if len(e.names) == 0 {
			continue
		}
		b = binary.AppendVarint(b, int64(e.first)-int64(slot))
		slot = e.first + uint32(len(e.names)) //nolint:gosec // a few dozen
		for _, name := range e.names {
			b = binary.AppendUvarint(b, uint64(name))
		}
	}
	return b
}

// blockReader reads the numbers of a block; once one is damaged all are 0.
type blockReader struct {
	b    []byte
	fail bool
}

func (r *blockReader) unsigned(most uint64) uint64 {
	if len(r.b) > 0 && r.b[0] < 0x80 && uint64(r.b[0]) <= most { // as most are
		n := r.b[0]
		r.b = r.b[1:]
		return uint64(n)
	}
	n, size := binary.Uvarint(r.b)
	if size <= 0 || n > most {
		r.b, r.fail = nil, true
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *blockReader) signed() int64 {
	n, size := binary.Varint(r.b)
	if size <= 0 {
		r.b, r.fail = nil, true
		return 0
	}
	r.b = r.b[size:]
	return n
}

// decodeBlock calls fn for each document of a stored block, with its place. The names are
// good until fn returns.
func decodeBlock(b []byte, fn func(place uint32, e *blockEntry)) error {
	r := blockReader{b: b}
	types := []memory.ObservationType{""}
	for range r.unsigned(blockDocuments) {
		n := r.unsigned(uint64(len(r.b)))
		if n > uint64(len(r.b)) {
			return sqlite.ErrDamaged
		}
		types = append(types, memory.ObservationType(r.b[:n]))
		r.b = r.b[n:]
	}
	var e blockEntry
	var names [8]uint16
	place, slot := uint64(0), int64(0)
	for len(r.b) > 0 && !r.fail {
		place += r.unsigned(blockDocuments)
		e.kind = kind(r.unsigned(uint64(len(memory.RecordKinds())))) //nolint:gosec // bounded
		e.record += r.signed()
		e.session += r.signed()
		e.createdAt += r.signed()
		e.project = uint32(r.unsigned(1 << 24)) //nolint:gosec // bounded
		e.typ = types[r.unsigned(uint64(len(types)-1))]
		e.length = int(r.unsigned(1 << 32)) //nolint:gosec // bounded
		n := r.unsigned(maxFacts + 4)
		e.waits, e.first, e.names = n == 0, 0, names[:0]
		if n > 1 {
			slot += r.signed()
			if slot < 0 || slot > maxSlotNumber {
				return sqlite.ErrDamaged
			}
			e.first = uint32(slot) //nolint:gosec // bounded
			for range n - 1 {
				e.names = append(e.names, uint16(r.unsigned(1<<16-2))) //nolint:gosec // bounded
			}
			slot += int64(n - 1) //nolint:gosec // bounded
		}
		if r.fail || place >= blockDocuments || e.kind == 0 {
			return sqlite.ErrDamaged
		}
		fn(uint32(place), &e) //nolint:gosec // bounded
		place++
	}
	if r.fail {
		return sqlite.ErrDamaged
	}
	return nil
}

// eachBlock calls fn for the documents of the rows of a query for number and entries.
func eachBlock(rows func(fn func(scan sqlite.Scan) error) error, fn func(document uint32, e *blockEntry) error) error {
	return rows(func(scan sqlite.Scan) error {
		var number uint32
		var entries sql.RawBytes
		if err := scan(&number, &entries); err != nil {
			return err
		}
		if number > 1<<31/blockDocuments {
			return sqlite.ErrDamaged
		}
		stored, err := unsealed(number, entries)
		if err != nil {
			return err
		}
		var failed error
		err = decodeBlock(stored, func(place uint32, e *blockEntry) {
			if failed == nil {
				failed = fn(number*blockDocuments+place, e)
			}
		})
		return errors.Join(err, failed)
	})
}

// readBlock returns the block of a number, an empty one when there is none.
func (b *base) readBlock(ctx context.Context, number uint32) (*block, error) {
	k := new(block)
	err := b.write.each(ctx, "SELECT entries FROM blocks WHERE number = ?", func(scan sqlite.Scan) error {
		var entries []byte
		if err := scan(&entries); err != nil {
			return err
		}
		stored, err := unsealed(number, entries)
		if err != nil {
			return err
		}
		return decodeBlock(stored, func(place uint32, e *blockEntry) {
			k[place] = *e
			k[place].names = slices.Clone(e.names)
		})
	}, number)
	return k, err
}

// writeBlock stores a block.
func (b *base) writeBlock(ctx context.Context, number uint32, k *block) error {
	if entries := k.encode(); entries != nil {
		return b.write.exec(ctx, "INSERT OR REPLACE INTO blocks(number, entries) VALUES (?, ?)", number, sealed(number, entries))
	}
	return b.write.exec(ctx, "DELETE FROM blocks WHERE number = ?", number)
}

// blockChanges are the blocks that a batch changes, read when they are first needed.
type blockChanges struct {
	b      *base
	blocks map[uint32]*block
}

func (b *base) changeBlocks() *blockChanges { return &blockChanges{b, map[uint32]*block{}} }

// at returns a document of its block, for reading and changing.
func (c *blockChanges) at(ctx context.Context, document uint32) (*blockEntry, error) {
	number, place := blockOf(document)
	k, ok := c.blocks[number]
	if !ok {
		var err error
		if k, err = c.b.readBlock(ctx, number); err != nil {
			return nil, err
		}
		c.blocks[number] = k
	}
	return &k[place], nil
}

// takeSlots makes a document wait for vectors, and calls free with each slot that it had.
func (c *blockChanges) takeSlots(ctx context.Context, document uint32, free func(slot uint32)) error {
	e, err := c.at(ctx, document)
	if err != nil {
		return err
	}
	for i := range e.names {
		free(e.first + uint32(i)) //nolint:gosec // a few dozen
	}
	e.waits, e.first, e.names = true, 0, nil
	return nil
}

// write stores the changed blocks.
func (c *blockChanges) write(ctx context.Context) error {
	for _, number := range slices.Sorted(maps.Keys(c.blocks)) {
		if err := c.b.writeBlock(ctx, number, c.blocks[number]); err != nil {
			return err
		}
	}
	return nil
}

// loadEntries fills the catalogue with the documents of a query for number and entries. slots,
// which may be nil, is called for each of them that has slots, with the first slot and the names
// of its fragments, which are good until it returns. only, unless nil, are the documents that
// are wanted.
func (b *base) loadEntries(ctx context.Context, q querier, only map[uint32]bool, slots func(document, first uint32, names []uint16), query string, args ...any) error {
	c := b.cat
	return eachBlock(func(fn func(sqlite.Scan) error) error { return each(ctx, q, query, fn, args...) }, func(document uint32, e *blockEntry) error {
		if only != nil && !only[document] {
			return nil
		}
		if document == 0 || int(e.project) >= len(c.paths) || int(document) > len(c.entries)+1<<24 {
			return sqlite.ErrDamaged
		}
		e.entry.typ = c.typeNumber(e.typ)
		c.put(document, e.entry, e.length)
		if slots == nil || e.waits {
			c.waiting[document] = struct{}{}
			return nil
		}
		if len(e.names) > 0 {
			slots(document, e.first, e.names)
		}
		return nil
	})
}
