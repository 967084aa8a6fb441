package rank

import "math"

// Pieces are the query's word pieces, ready to be compared with those of documents.
// Not safe for concurrent use: what was compared once is kept.
type Pieces struct {
	vector func(piece uint16) []int8
	query  []unit
	shares []float64
	rows   map[uint16][]float32 // a document's piece to its cosines with the query's
}

type unit struct {
	values []int8
	length float64
}

// NewPieces takes the query's pieces, how much each counts (shares, of any sum) and
// where vectors of pieces come from; the scale of a vector does not matter.
func NewPieces(pieces []uint16, shares []float64, vector func(piece uint16) []int8) *Pieces {
	p := &Pieces{vector: vector, rows: map[uint16][]float32{}}
	sum := 0.0
	for i, n := range pieces {
		v := vector(n)
		p.query = append(p.query, unit{v, math.Sqrt(float64(dot(v, v)))})
		p.shares = append(p.shares, shares[i])
		sum += shares[i]
	}
	for i := range p.shares {
		p.shares[i] /= max(sum, 1e-9)
	}
	return p
}

// MaxSim adds up, over the query's pieces, the square of the best cosine with one of
// the document's pieces, each by its share: 0 to 1.
func (p *Pieces) MaxSim(document []uint16) float64 {
	best := make([]float32, len(p.query))
	for _, n := range document {
		row, ok := p.rows[n]
		if !ok {
			row = make([]float32, len(p.query))
			v := p.vector(n)
			length := math.Sqrt(float64(dot(v, v)))
			for i, u := range p.query {
				if length > 0 && u.length > 0 {
					row[i] = float32(float64(dot(u.values, v)) / (length * u.length))
				}
			}
			p.rows[n] = row
		}
		for i, c := range row {
			best[i] = max(best[i], c)
		}
	}
	sum := 0.0
	for i, c := range best {
		sum += p.shares[i] * float64(c) * float64(c)
	}
	return sum
}

func dot(a, b []int8) int32 {
	var s0, s1, s2, s3 int32
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += int32(a[i]) * int32(b[i])
		s1 += int32(a[i+1]) * int32(b[i+1])
		s2 += int32(a[i+2]) * int32(b[i+2])
		s3 += int32(a[i+3]) * int32(b[i+3])
	}
	for ; i < len(a); i++ {
		s0 += int32(a[i]) * int32(b[i])
	}
	return s0 + s1 + s2 + s3
}
