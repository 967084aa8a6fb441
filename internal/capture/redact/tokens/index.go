package tokens

import (
	"strings"

	"claudemem/internal/capture/redact/shapes"
)

// An Index finds words in a text by two bytes next to each other: the anchor, which is a
// byte of the word behind its first, and the byte before it.
type Index[T any] struct {
	// heads has the first entry for two bytes (shapes.KeyOf), from 1; 0 for none.
	heads [1 << 10]uint16
	// thirds has the bytes that the entries for two bytes have before these, as a set of bits
	// by their low five bits.
	thirds  [1 << 10]uint32
	entries [maxEntries]entry[T]
	n       uint16
}

// maxEntries is more than an index has.
const maxEntries = 512

// An entry is a word of an index, and what it stands for.
type entry[T any] struct {
	text   string
	value  T
	anchor uint8
	next   uint16 // the next entry for the same bytes, from 1
}

// Add adds a word with an anchor, an index of text from 1; it is found before the words that were
// added earlier. More than maxEntries words panic.
func (x *Index[T]) Add(text string, anchor int, value T) {
	key := shapes.KeyOf(text[anchor-1], text[anchor])
	third := ^uint32(0)
	if anchor > 1 {
		third = 1 << (text[anchor-2] & 31)
	}
	x.thirds[key] |= third
	x.entries[x.n] = entry[T]{text, value, uint8(anchor), x.heads[key]}
	x.n++
	x.heads[key] = x.n
}

// first returns the number of the first entry that can have its anchor at i, 0 for none; i is above
// 0. The caller compares the word, which may begin before s: letter case and other bytes count only
// in part here.
func (x *Index[T]) first(s string, i int) uint16 {
	if key := shapes.KeyOf(s[i-1], s[i]); i < 2 || x.thirds[key]>>(s[i-2]&31)&1 != 0 {
		return x.heads[key]
	}
	return 0
}

// Each calls visit with each word in s, in any letter case and within longer words too, until it
// returns true, and reports whether it has. All words were added with the third byte as anchor.
func (x *Index[T]) Each(s string, visit func(value T, start, end int) bool) bool {
	for i := 2; i < len(s); i++ {
		for n := x.first(s, i); n != 0; n = x.entries[n-1].next {
			if e := &x.entries[n-1]; shapes.HasPrefixFold(s[i-2:], e.text) && visit(e.value, i-2, i-2+len(e.text)) {
				return true
			}
		}
	}
	return false
}

// The prefixes and the names of [Kinds]. The hook starts for every tool call and fills them
// each time, in 70 to 90 µs.
var prefixes, names Index[*Kind]

// Stops has the bytes before each byte that is the anchor of a prefix, as bits of their
// low five bits.
var Stops [256]uint32

// init fills prefixes, names and, by addPrefix, Stops. Kinds that are Near are left to package rules.
func init() {
	for n := len(Kinds) - 1; n >= 0; n-- { // the first kind with a prefix comes first
		k := &Kinds[n]
		if k.Flags&Near != 0 {
			continue // the worker's
		}
		separator := " "
		if k.Phrase() {
			separator = "|"
		}
		eachBackwards(k.Prefixes, separator, k.addPrefix)
		eachBackwards(k.Names, " ", func(name string) { names.Add(name, 2, k) })
	}
}

// eachBackwards calls visit with each word of a list, the last first.
func eachBackwards(list, separator string, visit func(word string)) {
	for list != "" {
		start := strings.LastIndex(list, separator) + 1
		visit(list[start:])
		list = list[:max(0, start-1)]
	}
}

// addPrefix puts a prefix, of at least two bytes, into the index. Its anchor is its first rarest
// byte behind the first.
func (k *Kind) addPrefix(prefix string) {
	anchor, least := 1, int8(colon+1)
	for i := 1; i < len(prefix); i++ {
		f := frequencies[prefix[i]]
		if f > 0 && frequencies[prefix[i-1]] == common { // text has more of such pairs
			f = min(f+1, colon)
		}
		if f < least {
			anchor, least = i, f
		}
	}
	prefixes.Add(prefix, anchor, k)
	c := prefix[anchor]
	for _, c := range [...]byte{c, c ^ 0x20} {
		Stops[c] |= 1 << (prefix[anchor-1] & 31)
		if k.Flags&AnyCase == 0 || !shapes.IsLetter(c) {
			break
		}
	}
}

// Numbers of bytes: the more of a byte text has, the higher. The scanner has much to do at a colon.
const letter, common, colon = 1, 2, 3

// frequencies has the number of each byte; below 0 are those at which the scanner stops anyway.
var frequencies = [256]int8{
	':': colon,
	'e': common, 't': common, 'a': common, 'o': common, 'i': common, 'n': common, 's': common, 'r': common, 'l': common, 'c': common, 'd': common, ' ': common,
	'b': letter, 'f': letter, 'g': letter, 'h': letter, 'j': letter, 'k': letter, 'm': letter, 'p': letter, 'q': letter, 'u': letter, 'v': letter, 'w': letter, 'x': letter, 'y': letter, 'z': letter,
	'A': -1, 'B': -1, 'J': -1, 'K': -1, 'Q': -1, 'V': -1, 'X': -1, 'Z': -1, '-': -2, '_': -2, '.': -2, '~': -2, '$': -2,
}
