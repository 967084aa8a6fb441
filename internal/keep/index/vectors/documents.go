package vectors

import (
	"iter"
	"math/bits"
)

// Documents is a set of document numbers, a bit each; nil is the empty set.
type Documents []uint64

// Add puts a document into the set.
func (d *Documents) Add(document uint32) {
	word := int(document >> 6)
	if word >= len(*d) {
		*d = append(*d, make([]uint64, word+1-len(*d))...)
	}
	(*d)[word] |= 1 << (document & 63)
}

// Remove takes a document out of the set.
func (d Documents) Remove(document uint32) {
	if word := int(document >> 6); word < len(d) {
		d[word] &^= 1 << (document & 63)
	}
}

// Has reports whether a document is in the set.
func (d Documents) Has(document uint32) bool {
	word := int(document >> 6)
	return word < len(d) && d[word]>>(document&63)&1 == 1
}

// All yields the documents of the set in order.
func (d Documents) All() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for i, word := range d {
			for ; word != 0; word &= word - 1 {
				if !yield(uint32(i)<<6 + uint32(bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}

// Len counts the documents of the set.
func (d Documents) Len() int {
	n := 0
	for _, word := range d {
		n += bits.OnesCount64(word)
	}
	return n
}
