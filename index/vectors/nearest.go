package vectors

import (
	"math/bits"
	"slices"
)

// nearest collects the places with the smallest distances of those that it is offered, in the
// order of their slots. Instead of keeping
// them in order it counts how often each distance came; the limit falls as soon as
// enough lie below it.
type nearest struct {
	wanted int
	counts []int // by distance
	limit  uint32
	within int // counts up to limit
	places []place
}

func newNearest(wanted, bits int) *nearest {
	return &nearest{wanted: wanted, counts: make([]int, bits+1), limit: uint32(bits), places: emptyPlaces()}
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
	if len(n.places) > 8*n.wanted {
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

func (n *nearest) prune() {
	n.places = slices.DeleteFunc(n.places, func(p place) bool { return p.distance > n.limit })
}

// together returns the wanted places of all parts, which are used up, in the order of their
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
		merged := merge(emptyPlaces(), first.places, part.places)
		keepPlaces(first.places)
		keepPlaces(part.places)
		first.places = merged
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

// merge appends two lists that are in the order of their slots to a third, in that order.
func merge(list, a, b []place) []place {
	list = slices.Grow(list, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0].slot < b[0].slot {
			list, a = append(list, a[0]), a[1:]
		} else {
			list, b = append(list, b[0]), b[1:]
		}
	}
	return append(append(list, a...), b...)
}

// scan offers the places of a chunk whose code is near enough. first is the chunk's
// first slot; eligible nil means all documents.
func (n *nearest) scan(c *chunk, first uint32, q *both, eligible Documents) {
	if len(q.code) == 4 { // the built-in model
		if q.others == nil {
			n.scan4(c, first, [4]uint64(q.code), eligible)
		} else {
			n.scanBoth4(c, first, q, eligible)
		}
		return
	}
	for at, document := range c.documents {
		if document == 0 || eligible != nil && !eligible.Has(document) {
			continue
		}
		code := q.of(document).code
		if d := distance(code, c.codes[at*len(code):]); d <= n.limit {
			n.offer(place{first + uint32(at), document, d})
		}
	}
}

// scan4 is scan for codes of four words. The variables spare a look into memory for each word
// and a check of bounds, which is a third of the time.
func (n *nearest) scan4(c *chunk, first uint32, q [4]uint64, eligible Documents) {
	q0, q1, q2, q3, limit := q[0], q[1], q[2], q[3], n.limit
	for at := range c.documents {
		v := (*[4]uint64)(c.codes[4*at:])
		d := uint32(bits.OnesCount64(q0^v[0]) + bits.OnesCount64(q1^v[1]) + bits.OnesCount64(q2^v[2]) + bits.OnesCount64(q3^v[3]))
		if d > limit { // Most are too far. Only for the others is their document looked up.
			continue
		}
		if document := c.documents[at]; document != 0 && (eligible == nil || eligible.Has(document)) {
			n.offer(place{first + uint32(at), document, d})
			limit = n.limit
		}
	}
}

// scanBoth4 is scan4 for a query with other documents.
func (n *nearest) scanBoth4(c *chunk, first uint32, query *both, eligible Documents) {
	most, other, limit := [4]uint64(query.code), [4]uint64(query.other.code), n.limit
	for at, document := range c.documents {
		q := &most
		if query.others.Has(document) {
			q = &other
		}
		v := (*[4]uint64)(c.codes[4*at:])
		d := uint32(bits.OnesCount64(q[0]^v[0]) + bits.OnesCount64(q[1]^v[1]) + bits.OnesCount64(q[2]^v[2]) + bits.OnesCount64(q[3]^v[3]))
		if d > limit {
			continue
		}
		if document != 0 && (eligible == nil || eligible.Has(document)) {
			n.offer(place{first + uint32(at), document, d})
			limit = n.limit
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
