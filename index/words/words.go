// Package words takes text apart into what is searched for: words in their
// stems, the parts of identifiers and paths, and CJK text as overlapping pairs.
// Documents and queries go the same way.
package words

// A Word is a searchable word of a text.
type Word struct {
	// Text is the stem in lower case: what is compared.
	Text string
	// Position counts the words of a text from 0. The parts of an identifier share
	// the position of the identifier.
	Position int
	// Part says that it is a part of an identifier whose whole is a word too.
	Part bool
}
