package rank

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
