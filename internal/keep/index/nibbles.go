package index

import "encoding/binary"

// A nibbleCode writes a number in 1 to 8 nibbles, half bytes, so that frequent numbers,
// which are small, take less than a byte. The first nibble says how many follow, always
// as many, and the rest of the number is in these, the most significant first. The 16
// first nibbles go to numbers of one nibble, of two and so on, and each of these classes
// starts where the one before ends: if two first nibbles have no other and six have one,
// these are 0 and 1, and 2 to 97. In a byte the upper nibble comes first. A row of an odd
// number of nibbles ends with padding.
//
// The counts below are those that take least, of all that are possible, for the words
// of 100,000 observations of proof/bench/search (index.db has 30.1 million, those of prompts and
// summaries among them, and 13.8 million pieces):
//
//	bytes a number      uvarint   nibbles   order-0 entropy
//	word                1.476     1.266     1.178
//	distance of pieces  1.262     1.046     0.979
type nibbleCode [16]firstNibble

// firstNibble is the class of a first nibble.
type firstNibble struct {
	base uint32 // the first number that begins with it
	mask uint32 // of the bits that follow it
	bits uint64 // of a number, its own four included
}

var (
	// wordCode is for numbers of the vocabulary, up to maxWords. Those below 1,119,330 have
	// at most six nibbles; 100,000 observations have 173,000 words.
	wordCode = newNibbleCode(2, 6, 4, 1, 1, 1, 0, 1)
	// pieceCode is for distances of pieces, up to 1<<16 - 1.
	pieceCode = newNibbleCode(5, 6, 3, 1, 1)
)

// padding is a nibble that begins no number of one nibble in any code.
const padding = 15

// newNibbleCode returns the code that has so many first nibbles of numbers of one nibble,
// of two and so on, 16 in all.
func newNibbleCode(counts ...int) *nibbleCode {
	var code nibbleCode
	first, base := 0, uint32(0)
	for following, count := range counts {
		for range count {
			code[first] = firstNibble{base: base, mask: 1<<(4*following) - 1, bits: uint64(4 + 4*following)} //nolint:gosec // at most 7
			base += 1 << (4 * following)
			first++
		}
	}
	return &code
}

// nibbleWriter makes a row of numbers.
type nibbleWriter struct {
	code   *nibbleCode
	b      []byte
	buffer uint64 // in its lowest bits, fewer than 8 between two numbers, what b lacks
	bits   uint64 // the number of these
}

// write appends a number.
func (w *nibbleWriter) write(n uint32) {
	first := 0
	for first < 15 && w.code[first+1].base <= n {
		first++
	}
	class := &w.code[first]
	w.buffer = (w.buffer<<4|uint64(first))<<(class.bits-4) | uint64(n-class.base) //nolint:gosec // below 16
	for w.bits += class.bits; w.bits >= 8; w.bits -= 8 {
		w.b = append(w.b, byte(w.buffer>>(w.bits-8))) //nolint:gosec // the upper ones are in b
	}
}

// row returns the row, padded.
func (w *nibbleWriter) row() []byte {
	if w.bits > 0 {
		return append(w.b, byte(w.buffer<<4|padding)) //nolint:gosec // as in write
	}
	return w.b
}

// nibbleReader reads the numbers of a row.
type nibbleReader struct {
	code   *nibbleCode
	b      []byte // what buffer does not have
	buffer uint64 // in its highest bits what comes next
	bits   uint64 // the number of these
}

// read fills list with the numbers that come next, and returns how many there were: fewer
// than list has room for if the row ends before.
func (r *nibbleReader) read(list []uint32) int {
	// Local copies stay in registers: every search reads tens of thousands of numbers.
	code, b, buffer, bits := r.code, r.b, r.buffer, r.bits
	n := 0
	for ; n < len(list); n++ {
		if len(b) >= 8 {
			// The bits that do not make a whole byte are there again at the next time.
			buffer |= binary.BigEndian.Uint64(b) >> (bits & 63)
			b = b[(63-bits)/8:]
			bits += (63 - bits) / 8 * 8
		} else {
			for ; len(b) > 0 && bits <= 56; bits += 8 {
				buffer |= uint64(b[0]) << (56 - bits)
				b = b[1:]
			}
		}
		class := &code[buffer>>60]
		if class.bits > bits {
			break
		}
		list[n] = class.base + uint32(buffer>>((64-class.bits)&63))&class.mask //nolint:gosec // masked
		buffer <<= class.bits & 63
		bits -= class.bits
	}
	r.b, r.buffer, r.bits = b, buffer, bits
	return n
}

// left returns the number of nibbles that are not read, padding included.
func (r *nibbleReader) left() int {
	return 2*len(r.b) + int(r.bits/4) //nolint:gosec // at most 16
}

// ended says whether the row has only the padding left that its writer put there.
func (r *nibbleReader) ended() bool {
	left := r.left()
	return left == 0 || left == 1 && r.buffer>>60 == padding
}
