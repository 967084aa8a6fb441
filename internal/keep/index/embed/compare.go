package embed

import (
	"math"
	"slices"
	"sync"

	"claudemem/internal/leaf/collect"
)

// Cosine returns the likeness of two pieces, from -1 to 1.
func (t *Table) Cosine(a, b uint16) float32 {
	if int(a) >= len(t.tokens) || int(b) >= len(t.tokens) {
		return 0
	}
	return float32(dot(t.values(a), t.values(b))) * t.norm(a) * t.norm(b)
}

// norm returns 1/length of an entry's values, 1 for zeros, whose products are 0 anyway.
func (t *Table) norm(entry uint16) float32 {
	if bits := t.norms[entry].Load(); bits != 0 {
		return math.Float32frombits(bits)
	}
	v := t.values(entry)
	n := float32(1)
	if squares := dot(v, v); squares > 0 {
		n = float32(1 / math.Sqrt(float64(squares)))
	}
	t.norms[entry].Store(math.Float32bits(n)) // another goroutine computes the same
	return n
}

// Comparison has the cosines of the pieces of one text, a query, with those of documents, each
// computed once: the documents that a query finds share most of their words. Several goroutines
// may call Best; one calls Close at the end.
type Comparison struct {
	table *Table
	query []uint16
	norms []float32 // of the query's pieces, 1/length
	*compared
}

// compared is what a comparison remembers. It is used again: a search compares thousands
// of pieces.
type compared struct {
	known []uint32  // by piece, the number of its row plus 1; 0: not compared yet
	seen  []uint16  // the pieces that have a row, in the order of rows
	rows  []float32 // the cosines of a piece with each of the query's
}

var comparedPool = sync.Pool{New: func() any { return new(compared) }}

// Close gives the memory of the comparison back.
func (c *Comparison) Close() {
	for _, p := range c.seen {
		c.known[p] = 0
	}
	c.seen, c.rows = c.seen[:0], c.rows[:0]
	comparedPool.Put(c.compared)
	c.compared = nil
}

// Compare compares a query of these pieces, which the caller leaves as they are until Close, with
// documents, on two processors.
func (t *Table) Compare(query []uint16, documents [][]uint16) *Comparison {
	c := &Comparison{table: t, query: query, norms: make([]float32, len(query)), compared: comparedPool.Get().(*compared)}
	if len(c.known) == 0 {
		c.known = make([]uint32, math.MaxUint16+1)
	}
	for i, piece := range query {
		if int(piece) < len(t.tokens) {
			c.norms[i] = t.norm(piece)
		}
	}
	n := len(query)
	for _, document := range documents {
		for _, p := range document {
			if c.known[p] == 0 {
				c.seen = append(c.seen, p)
				c.known[p] = uint32(len(c.seen)) //nolint:gosec // at most as many as there are pieces
			}
		}
	}
	c.rows = slices.Grow(c.rows[:0], n*len(c.seen))[:n*len(c.seen)]
	collect.InHalves(len(c.seen), func(from, to int) {
		for i := from; i < to; i++ {
			c.fill(c.rows[n*i:n*(i+1)], c.seen[i])
		}
	})
	return c
}

// Best sets best[i] to the cosine of the query's piece i with the piece of the
// document that is nearest to it, 0 where none is on the same side. best has the
// query's length, and the document is one of those that Compare was given.
func (c *Comparison) Best(best []float32, document []uint16) {
	clear(best)
	n := len(c.query)
	for _, p := range document {
		at := n * int(c.known[p]-1)
		for i, x := range c.rows[at : at+n] {
			if x > best[i] {
				best[i] = x
			}
		}
	}
}

// fill sets row to the cosines of the query's pieces with p, 0 for a piece that the table
// does not have.
func (c *Comparison) fill(row []float32, p uint16) {
	if int(p) >= len(c.table.tokens) {
		clear(row)
		return
	}
	values, norm := c.table.values(p), c.table.norm(p)
	for i, piece := range c.query {
		row[i] = 0
		if int(piece) < len(c.table.tokens) {
			row[i] = float32(dot(c.table.values(piece), values)) * c.norms[i] * norm
		}
	}
}
