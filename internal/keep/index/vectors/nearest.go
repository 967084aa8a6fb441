package vectors

import (
	"math/bits"
	"slices"
)

// nearest collects the places with the smallest distances of those that it is offered, in the
// order of their slots. Instead of putting them in order it counts how often each distance came;
// the limit falls as soon as enough lie below it.
type nearest struct {
	wanted int
	counts []int // by distance
	limit  uint32
	within int // counts up to limit
	places []place
}

// newNearest returns a list for distances up to bits, of which wanted, at least one, are looked for. It
// keeps none above the limit.
func newNearest(wanted, bits int, limit uint32) *nearest {
	return &nearest{wanted: wanted, counts: make([]int, bits+1), limit: limit}
}

// offer keeps a place if its distance is within the limit, and lowers the limit as soon
// as nearer ones are enough.
func (n *nearest) offer(p place) {
	if p.distance > n.limit {
		return
	}
	n.places = append(n.places, p)
	n.counts[p.distance]++
	n.within++
	n.lower()
	if len(n.places) > 4*n.wanted {
		n.prune()
	}
}

// lower lowers the limit as far as enough lie within it.
func (n *nearest) lower() {
	for n.within-n.counts[n.limit] >= n.wanted {
		n.within -= n.counts[n.limit]
		n.limit--
	}
}

// prune drops the places that are beyond the limit by now.
func (n *nearest) prune() {
	n.places = slices.DeleteFunc(n.places, func(p place) bool { return p.distance > n.limit })
}

// together returns the wanted places of all parts, or all if there are fewer. The parts, with the same
// wanted number, were offered other slots each, and are used up. The places are in the order of their
// slots. Of those that are as far as the last the lowest slots are taken.
func together(parts ...*nearest) []place {
	first := parts[0]
	for _, part := range parts[1:] {
		// Up to the limit that results from the sum, each has counted all.
		for distance, n := range part.counts {
			first.counts[distance] += n
		}
		first.limit = min(first.limit, part.limit)
	}
	first.within = 0
	for _, n := range first.counts[:first.limit+1] {
		first.within += n
	}
	first.lower()
	first.prune()
	for _, part := range parts[1:] {
		part.limit = first.limit
		part.prune()
		first.places = append(first.places, part.places...)
	}
	if len(parts) > 1 {
		inOrder(first.places)
	}
	spare := first.wanted - (first.within - first.counts[first.limit])
	return slices.DeleteFunc(first.places, func(p place) bool {
		if p.distance < first.limit {
			return false
		}
		spare--
		return spare < 0
	})
}

// scan offers the places of a chunk whose code is near enough. first is the chunk's
// first slot; eligible nil means all documents.
func (n *nearest) scan(c *chunk, first uint32, q *both, eligible Documents) {
	if len(q.code) == 2 { // the built-in model
		n.scan2(c, first, q, eligible)
		return
	}
	for at, document := range c.documents {
		if document == 0 || eligible != nil && !eligible.Has(document) {
			continue
		}
		code := q.of(document).code
		if d := distance(code, c.scanned[at*len(code):]); d <= n.limit {
			n.offer(place{first + uint32(at), document, d})
		}
	}
}

// scan2 is scan for two words. Nearly all codes are too far: only for the others is their document
// looked up.
func (n *nearest) scan2(c *chunk, first uint32, q *both, eligible Documents) {
	var marks, others [chunkSlots / 64]uint64
	markWithin(marks[:], c.scanned, [2]uint64(q.code), n.limit)
	if q.others != nil {
		markWithin(others[:], c.scanned, [2]uint64(q.other.code), n.limit)
	}
	for i, mark := range marks {
		for mark |= others[i]; mark != 0; mark &= mark - 1 {
			at := 64*i + bits.TrailingZeros64(mark)
			document := c.documents[at]
			if document == 0 || eligible != nil && !eligible.Has(document) {
				continue
			}
			// Of the two queries the other one may be near. The limit may have fallen.
			n.offer(place{first + uint32(at), document, distance(q.of(document).code, c.scanned[2*at:])})
		}
	}
}

// distance returns the number of bits in which two codes of the same length differ.
func distance(a, b []uint64) uint32 {
	d := 0
	for i, x := range a {
		d += bits.OnesCount64(x ^ b[i])
	}
	return uint32(d)
}
