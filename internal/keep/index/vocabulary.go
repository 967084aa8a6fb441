package index

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"claudemem/internal/keep/index/rank"
	"claudemem/internal/keep/sqlite"
)

// A row of contents has a document's words as numbers of the vocabulary, each a uvarint: of a
// hash of four bytes the number takes one and a half, since words that many documents have
// come early, in the order of their frequency, and so have low numbers. Number 0 is rank's gap.
//
// The table vocabulary has the hashes in rows of vocabularyRow, little-endian uint32. A
// word that no document has any more leaves a zero.

// vocabularyRow is the number of hashes in a row of the table vocabulary, which fills a page.
const vocabularyRow = 1000

// maxWords bounds the memory that a damaged row can ask for.
const maxWords = 1 << 27

// vocabulary is the table in memory. The catalogue's lock guards hashes; the rest belongs
// to the writer.
type vocabulary struct {
	hashes []uint32 // by number; 0 is none
	// numbers has the number of each hash, end is the first number beyond all; they are made at
	// the first write.
	numbers map[uint32]uint32
	end     uint32
}

// load adds a row of the table.
func (v *vocabulary) load(row uint32, hashes []byte) error {
	if row >= maxWords/vocabularyRow || len(hashes) != 4*vocabularyRow {
		return sqlite.ErrDamaged
	}
	v.hashes = reach(v.hashes, (row+1)*vocabularyRow-1)
	_, err := binary.Decode(hashes, binary.LittleEndian, v.hashes[row*vocabularyRow:(row+1)*vocabularyRow])
	return err
}

// index prepares v for the writer.
func (v *vocabulary) index() {
	if v.numbers != nil {
		return
	}
	v.numbers, v.end = make(map[uint32]uint32, len(v.hashes)), 1
	for n, h := range v.hashes {
		if h != 0 {
			v.numbers[h] = uint32(n) //nolint:gosec // below maxWords
			v.end = uint32(n) + 1    //nolint:gosec // below maxWords
		}
	}
}

// wordChanges are the changes of the vocabulary by a batch, which the vocabulary takes over
// after the commit.
type wordChanges struct {
	v     *vocabulary
	added map[uint32]uint32 // hash to number
	gone  map[uint32]uint32 // likewise
}

// change begins a batch's changes.
func (v *vocabulary) change() *wordChanges {
	v.index()
	return &wordChanges{v: v, added: map[uint32]uint32{}, gone: map[uint32]uint32{}}
}

// number returns the number of a hash, a new one for a new hash: v has that only after commit.
func (w *wordChanges) number(hash uint32) uint32 {
	if n, ok := w.v.numbers[hash]; ok {
		return n
	}
	if n, ok := w.added[hash]; ok {
		return n
	}
	n := w.v.end + uint32(len(w.added)) //nolint:gosec // below maxWords
	w.added[hash] = n
	return n
}

// introduce gives numbers to the new words of documents, the most frequent first: small numbers
// take fewer bytes.
func (w *wordChanges) introduce(documents []*analysed) {
	counts := map[uint32]int{}
	for _, d := range documents {
		for _, field := range d.words.Words {
			for _, hash := range field {
				if _, ok := w.v.numbers[hash]; !ok && hash != 0 {
					counts[hash]++
				}
			}
		}
	}
	for _, hash := range slices.SortedFunc(maps.Keys(counts), func(x, y uint32) int {
		return cmp.Or(cmp.Compare(counts[y], counts[x]), cmp.Compare(x, y))
	}) {
		w.number(hash)
	}
}

// drop notes that no document has a word any more.
func (w *wordChanges) drop(hash uint32) {
	if n, ok := w.v.numbers[hash]; ok {
		w.gone[hash] = n
	}
}

// write stores the changes in the table.
func (w *wordChanges) write(t *sqlite.Batch) {
	changed := map[uint32][]byte{}
	set := func(number, hash uint32) {
		row := number / vocabularyRow
		b, ok := changed[row]
		if !ok {
			b = w.v.row(row)
			changed[row] = b
		}
		binary.LittleEndian.PutUint32(b[4*(number%vocabularyRow):], hash)
	}
	for hash, number := range w.added {
		set(number, hash)
	}
	for _, number := range w.gone {
		set(number, 0)
	}
	for row, hashes := range changed {
		t.Exec("INSERT OR REPLACE INTO vocabulary(row, hashes) VALUES (?, ?)", row, sealed(row, hashes))
	}
}

// row returns a row of the table as v has it.
func (v *vocabulary) row(row uint32) []byte {
	b := make([]byte, 4*vocabularyRow)
	for i := range vocabularyRow {
		if n := int(row)*vocabularyRow + i; n < len(v.hashes) {
			binary.LittleEndian.PutUint32(b[4*i:], v.hashes[n])
		}
	}
	return b
}

// commit brings v up to date after the commit; the catalogue's lock is held.
func (w *wordChanges) commit() {
	v := w.v
	if len(w.added) > 0 {
		v.end += uint32(len(w.added))                                                     //nolint:gosec // below maxWords
		v.hashes = reach(v.hashes, (v.end+vocabularyRow-1)/vocabularyRow*vocabularyRow-1) // whole rows, as load has them
	}
	for hash, number := range w.added {
		v.hashes[number], v.numbers[hash] = hash, number
	}
	for hash, number := range w.gone {
		v.hashes[number] = 0
		delete(v.numbers, hash)
	}
}

// encodeWords returns the row's form of a document's words: the number of words of each
// field, then the words, new ones with new numbers.
func (w *wordChanges) encodeWords(d *rank.Document) []byte {
	var row []byte
	for _, field := range d.Words {
		row = binary.AppendUvarint(row, uint64(len(field)))
	}
	for _, field := range d.Words {
		for _, hash := range field {
			n := uint32(0)
			if hash != 0 {
				n = w.number(hash)
			}
			row = binary.AppendUvarint(row, uint64(n))
		}
	}
	return row
}

// decodeWords reads the row's form into d, whose memory it uses again: after an error d is to be
// left alone. A number that v does not have is a gap: a reader's vocabulary may be older than the
// row. A row that is cut short, or has more than its words, is sqlite.ErrDamaged.
func (v *vocabulary) decodeWords(b []byte, d *rank.Document) error {
	var lengths [rank.NumFields]int
	all := 0
	for f := range lengths {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)) { // each word has a byte at least
			return sqlite.ErrDamaged
		}
		lengths[f], b = int(n), b[size:]
		all += int(n)
	}
	if all > len(b) {
		return sqlite.ErrDamaged
	}
	for f, n := range lengths {
		words := slices.Grow(d.Words[f][:0], n)[:n]
		d.Words[f] = words
		for i := range words {
			number, size := binary.Uvarint(b)
			if size <= 0 {
				return sqlite.ErrDamaged
			}
			b = b[size:]
			words[i] = 0
			if number < uint64(len(v.hashes)) {
				words[i] = v.hashes[number]
			}
		}
	}
	if len(b) > 0 {
		return sqlite.ErrDamaged
	}
	return nil
}

// loadVocabulary fills the catalogue's vocabulary.
func (b *base) loadVocabulary(ctx context.Context, q querier) (err error) {
	v := &b.cat.vocabulary
	var row uint32
	var hashes sql.RawBytes
	for range selected(ctx, q, &err, "SELECT row, hashes FROM vocabulary ORDER BY row").Into(&row, &hashes) {
		unsealed, err := unsealed(row, hashes)
		if err == nil {
			err = v.load(row, unsealed)
		}
		if err != nil {
			return err
		}
	}
	return err
}

// A row of contents has a document's pieces in rising order, each as the number of pieces
// between it and the one before, a uvarint.

// packPieces returns the row's form of a list of pieces, each of which is there once.
func packPieces(pieces []uint16) []byte {
	sorted := slices.Clone(pieces)
	slices.Sort(sorted)
	row := make([]byte, 0, len(sorted)+len(sorted)/4)
	next := uint16(0)
	for _, p := range sorted {
		row = binary.AppendUvarint(row, uint64(p-next))
		next = p + 1
	}
	return row
}

// unpackPieces appends the pieces of a row to list, up to the first that is damaged.
func unpackPieces(list []uint16, b []byte) []uint16 {
	next := uint64(0)
	for len(b) > 0 {
		distance, size := binary.Uvarint(b)
		piece := next + distance
		if size <= 0 || distance > 1<<16-1 || piece > 1<<16-1 {
			break
		}
		list, b, next = append(list, uint16(piece)), b[size:], piece+1
	}
	return list
}

// content is a row of contents, valid until the next one is read.
type content struct {
	words, pieces sql.RawBytes
}

// readContents calls fn with the words and pieces of documents, in any order; one without a row is
// left out. sqlite.ErrDamaged for a row that was not written as it is.
func (b *base) readContents(ctx context.Context, documents []uint32, fn func(document uint32, row content) error) error {
	var d uint32
	var row content
	return each(sqlite.Brief(ctx), b.read, "SELECT document, words, pieces FROM contents WHERE document IN (SELECT value FROM json_each(?))", func(scan sqlite.Scan) error {
		if err := scan(&d, &row.words, &row.pieces); err != nil {
			return err
		}
		var failed, failed2 error
		row.words, failed = unsealed(d, row.words)
		row.pieces, failed2 = unsealed(d, row.pieces)
		if err := errors.Join(failed, failed2); err != nil {
			return err
		}
		return fn(d, row)
	}, jsonList(documents))
}
