package index

import (
	"encoding/binary"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"

	"claudemem/internal/keep/index/embed"
	"claudemem/internal/keep/index/rank"
	"claudemem/internal/keep/index/words"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// analysed is a document as the index stores it.
type analysed struct {
	document memory.Document
	digest   int64
	length   int
	words    rank.Document
	pieces   []uint16 // each once
	text     string   // the words, each once, and those of the title as tokens, for the full-text index
	terms    []uint32 // each once
	fragment []fragment
	// cut are the fragments' pieces, when there is a table of them.
	cut [][]uint16
	// vectors are the fragments' vectors; nil when the document shall wait for them.
	vectors [][]float32
}

// fragment is a text of a document that has a vector.
type fragment struct {
	name uint8
	text string
}

// Codes of fragments' names; facts follow.
const (
	fragmentTitle uint8 = iota
	fragmentText
	fragmentNarrative
	fragmentFact
)

// maxFacts bounds the fragments of a document; observers write a handful.
const maxFacts = 64

// maxPieces bounds what MaxSim compares of a document.
const maxPieces = 512

// fragmentName returns the name of a fragment's place in its record: title, text,
// narrative, or fact_0, fact_1 and so on.
func fragmentName(code uint8) string {
	if names := [...]string{"title", "text", "narrative"}; int(code) < len(names) {
		return names[code]
	}
	return "fact_" + strconv.Itoa(int(code-fragmentFact))
}

// fragmentsOf lists the texts of a document that get vectors of their own: an
// observation's title, narrative and facts, a summary's title and text, a
// prompt's text. Empty ones, and facts beyond maxFacts, have none.
func fragmentsOf(d *memory.Document) []fragment {
	f := make([]fragment, 0, 2+len(d.Facts))
	if d.Title != "" {
		f = append(f, fragment{fragmentTitle, d.Title})
	}
	if d.Text != "" {
		name := fragmentText
		if d.Kind == memory.RecordObservation {
			name = fragmentNarrative
		}
		f = append(f, fragment{name, d.Text})
	}
	for i, fact := range d.Facts {
		if fact != "" && i < maxFacts {
			f = append(f, fragment{fragmentFact + uint8(i), fact}) //nolint:gosec // below maxFacts
		}
	}
	return f
}

// analyser takes documents apart; it keeps its memory from one to the next and
// is not safe for concurrent use.
type analyser struct {
	scored rank.Document
	text   []byte
	seen   map[uint32]struct{}
	digest []byte
}

func newAnalyser() *analyser { return &analyser{seen: map[uint32]struct{}{}} }

// analyseAll takes documents apart; table may be nil.
func analyseAll(documents []memory.Document, table *embed.Table) []*analysed {
	a := newAnalyser()
	return collect.MapPtr(documents, func(d *memory.Document) *analysed { return a.analyse(d, table) })
}

// maxGap is the number of positions that stand for a gap between words: more than
// the distance at which words count as neighbours (rank's proximity).
const maxGap = 4

// add appends the hashes of words to a field of the document, with a gap between calls;
// the parts of compound words go to the field parts. Each word that the document did not have yet
// goes to a.text, and those of titles go there as tokens, too.
func (a *analyser) add(field, parts rank.Field, list []words.Word) {
	at := &a.scored.Words[field]
	start := len(*at)
	if start > 0 {
		for range maxGap {
			*at = append(*at, 0)
		}
		start = len(*at)
	}
	last := 0
	for _, w := range list {
		h := hash(w.Text)
		if _, ok := a.seen[h]; !ok {
			a.seen[h] = struct{}{}
			a.text = append(append(a.text, w.Text...), ' ')
		}
		if w.Part {
			a.scored.Words[parts] = append(a.scored.Words[parts], h)
			continue
		}
		if field == rank.Title {
			a.text = append(append(a.text, headingToken(w.Text)...), ' ')
		}
		if gap := w.Position - last - 1; gap > 0 && len(*at) > start {
			for range min(gap, maxGap) {
				*at = append(*at, 0)
			}
		}
		last = w.Position
		*at = append(*at, h)
	}
}

// hash returns the hash of a word, which is never 0: 0 stands for a gap.
func hash(word string) uint32 {
	if h := words.Hash(word); h != 0 {
		return h
	}
	return 1
}

// analyse returns the words, fragments, digest and, with a table, the pieces of a
// document. The result does not share memory with a.
func (a *analyser) analyse(d *memory.Document, table *embed.Table) *analysed {
	a.scored, a.text = rank.Document{}, a.text[:0]
	clear(a.seen)
	a.add(rank.Title, rank.Parts, words.Text(d.Title))
	a.add(rank.Text, rank.Parts, words.Text(d.Text))
	for _, fact := range d.Facts {
		a.add(rank.Text, rank.Parts, words.Text(fact))
	}
	a.add(rank.Files, rank.Parts, words.Paths(d.Files))
	for _, name := range d.Symbols {
		a.add(rank.Files, rank.Parts, words.Text(name))
	}
	for _, concept := range d.Concepts {
		a.add(rank.Concepts, rank.Parts, words.Text(concept))
	}
	// What stands beside a prompt counts little, and so do the parts of its words.
	a.add(rank.Neighbours, rank.Neighbours, words.Text(d.Neighbours))

	out := &analysed{document: *d, digest: a.digestOf(d), length: a.scored.Length(), words: a.scored, text: string(a.text), fragment: fragmentsOf(d)}
	out.terms = slices.AppendSeq(make([]uint32, 0, len(a.seen)), maps.Keys(a.seen))
	if table != nil {
		out.cut = collect.Map(out.fragment, func(f fragment) []uint16 { return table.Pieces(f.text) })
		out.pieces = distinctPieces(out.cut)
	}
	return out
}

// digestOf returns a hash of all parts of d that the index uses, so that a change of
// others costs nothing.
func (a *analyser) digestOf(d *memory.Document) int64 {
	b := a.digest[:0]
	text := func(s string) {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	list := func(l []string) {
		b = binary.AppendUvarint(b, uint64(len(l)))
		for _, s := range l {
			text(s)
		}
	}
	text(d.ProjectPath)
	b = binary.AppendVarint(b, int64(d.Session))
	b = binary.AppendVarint(b, int64(d.CreatedAt))
	b = binary.AppendVarint(b, d.Previous)
	text(string(d.Type))
	text(d.Title)
	text(d.Text)
	list(d.Facts)
	list(d.Concepts)
	list(d.Files)
	if len(d.Symbols) > 0 { // most have none, and their digest is that of earlier versions
		list(d.Symbols)
	}
	text(d.Neighbours)
	a.digest = b
	h := fnv.New64a()
	_, _ = h.Write(b)           // never fails
	return int64(h.Sum64() | 1) //nolint:gosec // a pattern of bits, never 0
}

// distinctPieces lists a document's pieces, each once, up to maxPieces.
func distinctPieces(cut [][]uint16) []uint16 {
	var list []uint16
	seen := map[uint16]struct{}{}
	for _, pieces := range cut {
		for _, p := range pieces {
			if _, ok := seen[p]; ok || len(seen) == maxPieces {
				continue
			}
			seen[p] = struct{}{}
			list = append(list, p)
		}
	}
	return list
}

// termsOf fills seen with the hashes of a document's words, each once.
func termsOf(d *rank.Document, seen map[uint32]struct{}) {
	clear(seen)
	for _, field := range d.Words {
		for _, h := range field {
			if h != 0 {
				seen[h] = struct{}{}
			}
		}
	}
}
