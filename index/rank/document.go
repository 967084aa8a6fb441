package rank

import (
	"encoding/binary"
	"errors"
)

// Field is a part of a document that has a weight of its own.
type Field int

// The fields of a document.
const (
	Title Field = iota
	Text        // text and facts
	Files
	Concepts
	Parts      // the parts of identifiers and paths, of all other fields
	Neighbours // the prompts before and after a prompt

	NumFields
)

// Document is the scored form of a document: the hashes of its words by field, in order
// of position. 0 is a gap: it counts as a position and matches no word, and stands
// between texts that do not follow each other (two facts, two paths).
type Document struct {
	Words [NumFields][]uint32
}

// errDocument says that a stored document is damaged.
var errDocument = errors.New("decode document: damaged")

// Length returns the length for length normalisation: the words of Text and Neighbours,
// without gaps. Titles are all about as long, and many files make no long text;
// neighbours count since a prompt has so few words of its own that one more or less
// would decide otherwise (docs/how-search-ranks.md).
func (d *Document) Length() int {
	n := 0
	for _, f := range [...]Field{Text, Neighbours} {
		for _, w := range d.Words[f] {
			if w != 0 {
				n++
			}
		}
	}
	return n
}

// Encode appends the stored form of a document to b: the number of words of each
// field, then the words, all little-endian uint32.
func (d *Document) Encode(b []byte) []byte {
	for _, words := range d.Words {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(words))) //nolint:gosec // a field has far fewer words
	}
	for _, words := range d.Words {
		for _, w := range words {
			b = binary.LittleEndian.AppendUint32(b, w)
		}
	}
	return b
}

// Decode reads the stored form into d, whose memory it uses again: no allocation
// once d has held a document as large.
func (d *Document) Decode(b []byte) error {
	const head = 4 * int(NumFields)
	if len(b) < head || len(b)%4 != 0 {
		return errDocument
	}
	rest := b[head:]
	for f := range d.Words {
		n := uint64(binary.LittleEndian.Uint32(b[4*f:]))
		if n*4 > uint64(len(rest)) {
			return errDocument
		}
		words := d.Words[f][:0]
		for i := range int(n) { //nolint:gosec // checked against the length above
			words = append(words, binary.LittleEndian.Uint32(rest[4*i:]))
		}
		d.Words[f] = words
		rest = rest[4*n:]
	}
	if len(rest) != 0 {
		return errDocument
	}
	return nil
}
