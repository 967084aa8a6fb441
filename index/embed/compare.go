package embed

import "math"

// Cosine returns the likeness of two pieces, from -1 to 1.
func (t *Table) Cosine(a, b uint16) float32 {
	if int(a) >= len(t.tokens) || int(b) >= len(t.tokens) {
		return 0
	}
	return float32(dot(t.values(a), t.values(b))) * t.norm(a) * t.norm(b)
}

// norm returns 1/length of an entry's values.
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

// dot returns the dot product of two vectors of int8 values.
func dot(a, b string) int32 {
	var s0, s1, s2, s3 int32 // four sums, so that they need not wait for each other
	for len(a) >= 8 && len(b) >= 8 {
		s0 += int32(int8(a[0])) * int32(int8(b[0]))
		s1 += int32(int8(a[1])) * int32(int8(b[1]))
		s2 += int32(int8(a[2])) * int32(int8(b[2]))
		s3 += int32(int8(a[3])) * int32(int8(b[3]))
		s0 += int32(int8(a[4])) * int32(int8(b[4]))
		s1 += int32(int8(a[5])) * int32(int8(b[5]))
		s2 += int32(int8(a[6])) * int32(int8(b[6]))
		s3 += int32(int8(a[7])) * int32(int8(b[7]))
		a, b = a[8:], b[8:]
	}
	for i := range min(len(a), len(b)) {
		s0 += int32(int8(a[i])) * int32(int8(b[i]))
	}
	return s0 + s1 + s2 + s3
}

// Comparison compares the pieces of one text, a query, with those of others. It
// remembers what it has compared: the documents that a query finds share most of
// their words. It is for one goroutine.
type Comparison struct {
	table *Table
	query []uint16
	known map[uint16]int // where a piece's cosines begin in rows
	rows  []float32
}

// Compare prepares a comparison with a query of these pieces.
func (t *Table) Compare(query []uint16) *Comparison {
	return &Comparison{table: t, query: query, known: map[uint16]int{}}
}

// Best sets best[i] to the cosine of the query's piece i with the piece of the
// document that is nearest to it, 0 where none is on the same side. best has the
// query's length.
func (c *Comparison) Best(best []float32, document []uint16) {
	clear(best)
	for _, p := range document {
		for i, x := range c.row(p) {
			if x > best[i] {
				best[i] = x
			}
		}
	}
}

// row returns the cosines of the query's pieces with p.
func (c *Comparison) row(p uint16) []float32 {
	n := len(c.query)
	at, ok := c.known[p]
	if !ok {
		at = len(c.rows)
		for _, q := range c.query {
			c.rows = append(c.rows, c.table.Cosine(q, p))
		}
		c.known[p] = at
	}
	return c.rows[at : at+n]
}
