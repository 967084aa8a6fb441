package tokens

import (
	"strings"

	"claudemem/internal/capture/redact/shapes"
)

// An index finds the prefixes or the names of [Kinds] by two bytes next to each other: a
// prefix by those that end at its anchor, its first rarest byte, a name by its first two.
type index struct {
	// heads has the first entry for two bytes (keyOf), from 1; 0 for none.
	heads [1 << 10]uint16
	// thirds has the third bytes of the entries for two bytes, as a set of bits by their
	// low five bits: those before the two of a prefix or behind the two of a name.
	thirds  [1 << 10]uint32
	entries [maxEntries]indexEntry
	n       uint16
}

// maxEntries is more than an index has.
const maxEntries = 512

// An indexEntry is a prefix or a name of a kind.
type indexEntry struct {
	kind   *Kind
	text   string
	anchor uint8
	next   uint16 // the next entry for the same bytes, from 1
}

// The hook starts for every tool call and fills them each time, in 20 µs.
var prefixes, names index

// Stops has the bytes before each byte that is the anchor of a prefix, as bits of their
// low five bits.
var Stops [256]uint32

const anyByte = 0xff

func init() {
	for n := len(Kinds) - 1; n >= 0; n-- { // the first kind with a prefix comes first
		k := &Kinds[n]
		if k.Flags&Near != 0 {
			continue // the worker's
		}
		separator := byte(' ')
		if k.Phrase() {
			separator = '|'
		}
		eachBackwards(k.Prefixes, separator, k.addPrefix)
		eachBackwards(k.Names, ' ', func(name string) { names.add(0, name[2], indexEntry{kind: k, text: name}) })
	}
}

// eachBackwards calls visit with each word of a list, the last first.
func eachBackwards(list string, separator byte, visit func(word string)) {
	for list != "" {
		start := strings.LastIndexByte(list, separator) + 1
		visit(list[start:])
		list = list[:max(0, start-1)]
	}
}

// addPrefix puts a prefix into the index.
func (k *Kind) addPrefix(prefix string) {
	anchor := 1
	for i := 2; i < len(prefix); i++ {
		if rarity(prefix[i-1], prefix[i]) > rarity(prefix[anchor-1], prefix[anchor]) {
			anchor = i
		}
	}
	third := byte(anyByte)
	if anchor > 1 {
		third = prefix[anchor-2] & 31
	}
	prefixes.add(anchor-1, third, indexEntry{kind: k, text: prefix, anchor: uint8(anchor)})
	c := prefix[anchor]
	for _, c := range [...]byte{c, c ^ 0x20} {
		Stops[c] |= 1 << (prefix[anchor-1] & 31)
		if k.Flags&AnyCase == 0 || !shapes.IsLetter(c) {
			break
		}
	}
}

// add adds an entry whose two bytes begin at i of its text. third is the byte beside them,
// anyByte if it has none.
func (x *index) add(i int, third byte, e indexEntry) {
	key := keyOf(e.text[i], e.text[i+1])
	if third == anyByte {
		x.thirds[key] = ^uint32(0)
	} else {
		x.thirds[key] |= 1 << (third & 31)
	}
	e.next = x.heads[key]
	x.entries[x.n] = e
	x.n++
	x.heads[key] = x.n
}

// keyOf returns the low five bits of two bytes: letters count the same in both cases.
func keyOf(a, b byte) int { return int(a&31)<<5 | int(b&31) }

// rarity is higher for pairs of bytes that text has fewer of, and highest for those at
// whose second the scanner stops anyway.
func rarity(before, c byte) int {
	switch {
	case shapes.OneOf(c, "-_.~$"):
		return 5000
	case shapes.OneOf(c, "ABJKQVXZ"):
		return 4000
	case shapes.IsUpper(c):
		return 3000
	case c == ':': // the scanner has much to do there
		return 0
	}
	return 3000 - int(commonness(before))*int(commonness(c))/2
}

// commonness returns roughly how many of a thousand bytes of text are c.
func commonness(c byte) byte {
	switch {
	case c == ' ':
		return 150
	case shapes.IsLower(c):
		return [...]byte{60, 12, 30, 30, 90, 20, 15, 20, 60, 2, 7, 35, 20, 60, 60, 20, 2, 60, 60, 70, 25, 10, 12, 5, 12, 2}[c-'a']
	}
	return 10
}
