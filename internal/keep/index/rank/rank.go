// Package rank scores a document for a query: keywords, how near they stand to
// each other, and likeness of meaning. It is arithmetic without a database: a
// Document is hashes of words by field, a Query is terms with their frequencies,
// and the same two give the same score on every machine.
//
// In the flow it stands behind the gathering of candidates: package index finds a
// few hundred documents that may fit, and this package scores how well each does.
package rank

// LikenessWeight, PromptLikenessWeight and MaxSimWeight are how much meaning counts
// beside the share of the largest keyword score; a prompt is said in passing, to
// somebody who knows what it is about, and its vector tells less than that of a
// record. MaxSimBest is for how many of the best documents MaxSim is worth its time
// (docs/how-search-ranks.md).
const (
	LikenessWeight       = 1.0
	PromptLikenessWeight = 0.6
	MaxSimWeight         = 0.5
	MaxSimBest           = 60
)

// LikenessWeightOf returns the weight of likeness in the score of a prompt or of another
// record.
func LikenessWeightOf(prompt bool) float64 {
	if prompt {
		return PromptLikenessWeight
	}
	return LikenessWeight
}

// Combine adds up what a document is worth: the share that its keywords and their
// proximity have of the largest of the query, the best cosine of its fragments and
// its MaxSim.
func Combine(keywordShare, likeness, maxSim float64, prompt bool) float64 {
	return keywordShare + LikenessWeightOf(prompt)*max(likeness, 0) + MaxSimWeight*maxSim
}

// CompanyWeight is the weight of the best score of a record of the same day
// (docs/how-search-ranks.md).
const CompanyWeight = 0.1

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
