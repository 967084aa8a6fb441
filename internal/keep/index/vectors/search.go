package vectors

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"claudemem/internal/leaf/collect"
)

// Match is a document and its fragment that comes nearest to a query.
type Match struct {
	Document uint32
	Fragment uint8 // its name
	// Cosine is between -1 and 1, of the vectors as they are kept (4 bits a number).
	Cosine float32
}

const (
	// exactFragments is the greatest number of eligible fragments that are all compared.
	exactFragments = 20_000
	// exactReads bounds the number of reads that this may take: fragments that lie
	// scattered in a large file cost two to five microseconds each.
	exactReads = 800
	// candidateFragments is the number of fragments whose vectors are read, after a search by
	// codes, for at most candidateDocuments documents, and moreFragments the number for each
	// further one. codesPerRead is how many codes are compared with the whole query for each
	// vector that is read. In the table a scan by so many bits chooses codes, and the vectors of
	// the closest of these are read. The shares are those of the 10, 50 and 150 nearest documents
	// (by the floats) that 60 queries found in 252,826 fragments of package corpus; the last
	// column is how many of 1,500 queries found their target among the first 20 hits in 100,000
	// observations, where 6,000 documents were gathered by words, and where 40,000 were.
	//
	//	bits   codes   vectors    10    50   150   target
	//	 128   1,800       200                              1,038
	//	 128   3,600       200  .980  .910  .720     780    1,039
	//	 128   5,400       200  .988  .920  .731     781
	//	 128  10,000       200  .988  .927  .738
	//	 128  60,000       600                       782
	//	 256   1,800       200  .990  .929  .739     784
	//
	// The documents that are missed are far from the query: with the second and with the last line
	// the retrieval sets have the same nDCG@10 to four digits, with the first ovs-fixes has .4879
	// instead of .4883 and the others the same. To read a vector takes longer than to compare a
	// hundred codes. Codes of the same size with two bits a number, the sign and whether it is
	// large, found less in more time.
	candidateFragments = 200
	candidateDocuments = 150
	moreFragments      = 3
	codesPerRead       = 9
	// gapBytes is the longest unneeded stretch that is read to save a second call.
	gapBytes = 4 << 10
	// readBytes bounds one read.
	readBytes = 64 << 10
	// scanPerDocument is the number of slots that a scan passes in the time that
	// finding and sorting the slots of one document takes.
	scanPerDocument = 64
	// parallelSlots is the least number of slots for a goroutine of its own.
	parallelSlots = 1 << 18
)

// place is a slot as it was in memory.
type place struct {
	slot, document uint32
	distance       uint32
}

// Query is a text as it is compared: with the vectors of most documents, and with those
// of others, which are of another table. Others may be nil: then Other is not used.
type Query struct {
	Vector, Other []float32
	Others        Documents
}

// Search returns the n documents whose best fragments are nearest to the query by
// cosine, the best first, of those that are eligible (nil: all), and after them those that
// are exactly as near as the last, n more at most. A query of another length, of zeros or
// not of numbers finds nothing.
func (s *Set) Search(query Query, eligible Documents, n int) []Match {
	q, ok := s.prepareBoth(query)
	if !ok || n <= 0 {
		return nil
	}
	read := candidateFragments + moreFragments*max(0, n-candidateDocuments)
	codes := codesPerRead * read
	places, all := s.gather(eligible, exactFragments)
	if !all || s.reads(places) > exactReads {
		s.memory.RLock()
		if all {
			places = s.nearest(&q, places, codes)
		} else {
			places = s.scan(&q, eligible, codes)
		}
		places = s.closest(&q, places, read)
		s.memory.RUnlock()
	}
	return best(s.compare(&q, places), n)
}

// Compare returns the best fragment of each of these documents that has one, the
// best first.
func (s *Set) Compare(query Query, documents ...uint32) []Match {
	q, ok := s.prepareBoth(query)
	if !ok {
		return nil
	}
	var places []place
	s.memory.RLock()
	for _, d := range documents {
		places = s.slotsOf(places, d)
	}
	s.memory.RUnlock()
	return best(s.compare(&q, inOrder(places)), len(documents))
}

// inOrder sorts places by their slots and leaves each only once.
func inOrder(places []place) []place {
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.slot, b.slot) })
	return slices.Compact(places)
}

// prepared is a query as it is compared.
type prepared struct {
	vector []float32 // of any length
	code   []uint64  // the words that are compared first
	// products are of the query's numbers, of length 1, as the file has those of the vectors.
	products products
}

// both is a query as it is compared with the vectors of most documents, and of others.
type both struct {
	prepared
	other  prepared
	others Documents
}

// of returns what a document's vectors are compared with.
func (q *both) of(document uint32) *prepared {
	if q.others.Has(document) {
		return &q.other
	}
	return &q.prepared
}

// prepareBoth prepares a query; false for one that finds nothing, also if only Other is unfit.
func (s *Set) prepareBoth(query Query) (q both, ok bool) {
	if q.prepared, ok = s.prepare(query.Vector); !ok || query.Others == nil {
		return q, ok
	}
	q.others = query.Others
	q.other, ok = s.prepare(query.Other)
	return q, ok
}

// prepare returns the query as it is compared; false for a vector of zeros, of another length
// and for one with NaN or infinity.
func (s *Set) prepare(query []float32) (q prepared, ok bool) {
	if len(query) != s.dims {
		return q, false
	}
	largest := 0.0
	for _, x := range query {
		if x-x != 0 {
			return q, false
		}
		largest = max(largest, math.Abs(float64(x)))
	}
	if largest == 0 {
		return q, false
	}
	turned := s.coder.turned(query)
	q.vector, q.code = query, make([]uint64, s.coder.scannedWords())
	signs(q.code, s.coder.arranged(turned))
	first := s.coder.first(turned)
	square := 0.0
	for _, x := range first {
		square += float64(x) * float64(x)
	}
	numbers := make([]float32, len(first))
	for i, x := range first {
		numbers[i] = float32(float64(x) / math.Sqrt(square))
	}
	q.products = productsOf(numbers)
	return q, true
}

// gather lists the eligible slots in order; all is false, and there are no places, when there are
// more than limit. A slot may change as soon as it has returned.
func (s *Set) gather(eligible Documents, limit int) (places []place, all bool) {
	s.memory.RLock()
	defer s.memory.RUnlock()
	if eligible == nil && s.used > limit {
		return nil, false
	}
	if eligible != nil {
		switch n := eligible.Len(); {
		case n == 0:
			return nil, true
		case n > limit: // more documents than that have more fragments as well, as a rule
			return nil, false
		case n*scanPerDocument < s.used:
			for document := range eligible.All() {
				if places = s.slotsOf(places, document); len(places) > limit {
					return nil, false
				}
			}
			return inOrder(places), true
		}
	}
	for number, c := range s.chunks {
		for at, document := range c.documents {
			if document == 0 || eligible != nil && !eligible.Has(document) {
				continue
			}
			if len(places) == limit {
				return nil, false
			}
			places = append(places, place{slot: uint32(number*chunkSlots + at), document: document})
		}
	}
	return places, true
}

// reads counts the calls that reading the places takes.
func (s *Set) reads(places []place) int {
	gap := uint32(s.gapSlots())
	n := 0
	for i, p := range places {
		if i == 0 || p.slot-places[i-1].slot > gap {
			n++
		}
	}
	return n
}

func (s *Set) gapSlots() int { return 1 + gapBytes/s.recordSize() }

// scan lists the wanted nearest of all eligible slots, by the distance of codes. The caller
// holds s.memory.
func (s *Set) scan(q *both, eligible Documents, wanted int) []place {
	limit, greatest := s.sample(q, eligible, wanted), uint32(64*len(q.code)) //nolint:gosec // a few thousand
	places := s.scanWithin(q, eligible, wanted, limit)
	if len(places) < wanted && limit < greatest { // the sample had more near codes than its share
		places = s.scanWithin(q, eligible, wanted, greatest)
	}
	return places
}

// sample returns a limit for the distance, so that the scan passes over most codes at once. It
// looks at the first slots of each chunk: within the limit they have half as many codes again as
// their share of the wanted. Where they have too few, the limit is the greatest distance.
func (s *Set) sample(q *both, eligible Documents, wanted int) uint32 {
	const share = 64 // one of so many slots is looked at
	counts := make([]int, 64*len(q.code)+1)
	for _, c := range s.chunks {
		for at, document := range c.documents[:chunkSlots/share] {
			if document != 0 && (eligible == nil || eligible.Has(document)) {
				code := q.of(document).code
				counts[distance(code, c.scanned[at*len(code):])]++
			}
		}
	}
	enough, within := wanted/share*3/2+leastSample, 0
	for limit, n := range counts {
		if within += n; within >= enough {
			return uint32(limit) //nolint:gosec // a few thousand
		}
	}
	return uint32(len(counts) - 1) //nolint:gosec // a few thousand
}

// leastSample is how many more of the sample have to be within a distance: where few are wanted,
// chance counts for more.
const leastSample = 16

// scanWithin is scan for distances up to a limit. The caller holds s.memory.
func (s *Set) scanWithin(q *both, eligible Documents, wanted int, limit uint32) []place {
	workers := min(runtime.GOMAXPROCS(0), 1+len(s.chunks)*chunkSlots/parallelSlots)
	parts := make([]*nearest, workers)
	for w := range parts {
		parts[w] = newNearest(wanted, 64*len(q.code), limit)
	}
	// Each worker takes the next chunk when it is done with one: a processor that looks up the
	// words of the query meanwhile helps as soon as it can.
	var taken atomic.Int32
	work := func(part *nearest) {
		for i := int(taken.Add(1)) - 1; i < len(s.chunks); i = int(taken.Add(1)) - 1 {
			part.scan(s.chunks[i], uint32(i*chunkSlots), q, eligible)
		}
	}
	var wg sync.WaitGroup
	for _, part := range parts[1:] {
		wg.Go(func() { work(part) })
	}
	work(parts[0])
	wg.Wait()
	return together(parts...)
}

// nearest is scan for places that are listed already; one that has changed since is left out. The
// caller holds s.memory.
func (s *Set) nearest(q *both, places []place, wanted int) []place {
	greatest := 64 * len(q.code)
	near := newNearest(wanted, greatest, uint32(greatest)) //nolint:gosec // a few thousand
	for _, p := range places {
		if s.document(p.slot) != p.document {
			continue // changed since
		}
		scanned, _ := s.chunks[p.slot/chunkSlots].code(int(p.slot % chunkSlots))
		p.distance = distance(q.of(p.document).code, scanned)
		near.offer(p)
	}
	return together(near)
}

// copiedCodes is how many codes are copied before they are compared. They lie scattered in memory:
// a processor waits for many of them at once if nothing else is between the reads.
const copiedCodes = 32

// closest returns the wanted places whose codes are the likeliest to be of near vectors, in
// the order of their slots. The caller has held s.memory since it listed the places.
func (s *Set) closest(q *both, places []place, wanted int) []place {
	if len(places) <= wanted {
		return places
	}
	mine := s.coder.shares(q.vector)
	others := mine
	if q.others != nil {
		others = s.coder.shares(q.other.vector)
	}
	near := make([]int32, len(places)) // of places
	size := s.coder.words
	compare := func(from, to int) {
		codes := make([]uint64, 0, copiedCodes*size)
		for from < to {
			part := places[from:min(from+copiedCodes, to)]
			codes = codes[:0]
			for _, p := range part {
				scanned, rest := s.chunks[p.slot/chunkSlots].code(int(p.slot % chunkSlots))
				codes = append(append(codes, scanned...), rest...)
			}
			for i, p := range part {
				by := mine
				if q.others.Has(p.document) {
					by = others
				}
				near[from+i] = by.of(codes[i*size : (i+1)*size])
			}
			from += len(part)
		}
	}
	collect.InHalves(len(places), compare)
	limit, next, spare := limitOf(near, wanted)
	kept := places[:0]
	for i, p := range places {
		switch {
		case near[i] >= next:
		case near[i] >= limit && spare > 0:
			spare--
		default:
			continue
		}
		kept = append(kept, p)
	}
	return kept
}

// limitOf returns what the wanted largest of the numbers, of which there are more, have to
// reach: all that reach next are among them, and spare of those that reach only limit. The
// two are a small part of the numbers' range apart.
func limitOf(numbers []int32, wanted int) (limit, next int32, spare int) {
	const steps = 1 << 11
	lowest, highest := int64(slices.Min(numbers)), int64(slices.Max(numbers))
	width := (highest-lowest)/steps + 1
	var counts [steps + 1]int
	for _, x := range numbers {
		counts[(int64(x)-lowest)/width]++
	}
	step, above := steps, 0
	for above+counts[step] < wanted {
		above += counts[step]
		step--
	}
	limit = int32(lowest + int64(step)*width)                           //nolint:gosec // at most highest
	next = int32(min(lowest+int64(step+1)*width, int64(math.MaxInt32))) //nolint:gosec // bounded
	return limit, next, wanted - above
}

var readBuffers = sync.Pool{New: func() any { b := make([]byte, readBytes); return &b }}

// readTogether is the least number of places for which two goroutines share the reading.
const readTogether = 100

// compare reads the vectors of places, which are in order, and returns their
// cosines, in the same order. What is no longer the document's, or damaged, is left out.
func (s *Set) compare(query *both, places []place) []Match {
	if len(places) < readTogether {
		return s.readMatches(query, places)
	}
	var halves [2][]Match
	collect.InHalves(len(places), func(from, to int) { halves[min(from, 1)] = s.readMatches(query, places[from:to]) })
	return append(halves[0], halves[1]...)
}

// readMatches is compare by one goroutine. A place that cannot be
// read, or has another document by now, has no match.
func (s *Set) readMatches(query *both, places []place) []Match {
	size := s.recordSize()
	pooled := readBuffers.Get().(*[]byte)
	defer readBuffers.Put(pooled)
	buf := *pooled
	most := uint32(len(buf) / size)
	gap := uint32(s.gapSlots())
	matches := make([]Match, 0, len(places))
	for len(places) > 0 {
		first, run := places[0].slot, 1
		// As many as fit into buf and have no wide gap between them.
		for run < len(places) && places[run].slot-places[run-1].slot <= gap && places[run].slot-first < most {
			run++
		}
		part := buf[:int(places[run-1].slot-first+1)*size]
		// A file that is too short, closed or unreadable gives fewer bytes.
		read, _ := s.file.ReadAt(part, s.offset(first))
		for _, p := range places[:run] {
			at := int(p.slot-first) * size
			if at+size > read {
				break
			}
			r, ok := s.decode(part[at : at+size])
			if !ok || r.document != p.document || r.scale == 0 {
				continue
			}
			cosine := query.of(r.document).products.with(r.numbers) * r.scale
			matches = append(matches, Match{r.document, r.fragment, max(-1, min(cosine, 1))})
		}
		places = places[run:]
	}
	return matches
}

// best keeps each document's best fragment and returns the n best of these.
// What is equally near stands in the order of slots, in which matches are.
func best(matches []Match, n int) []Match {
	if n == 0 {
		return nil
	}
	// To order all of 20,000 would take longer than to compare them: the first few
	// times n have n documents, unless these have very many fragments.
	for most := 4 * n; ; most *= 4 {
		part := matches
		if most < len(matches) {
			part = top(matches, most)
		}
		kept := onePerDocument(part, n)
		if len(kept) >= n || len(part) == len(matches) {
			return kept
		}
	}
}

// onePerDocument returns the n matches with the highest cosines, the highest first, with
// only the best of each document, and those that are as near as the last, n more at most.
func onePerDocument(matches []Match, n int) []Match {
	// Numbers are ordered much faster than matches: the cosine's bits, turned so that
	// a larger one gives a smaller number, then the place in the list.
	order := make([]uint64, len(matches))
	for i, m := range matches {
		bits := math.Float32bits(m.Cosine)
		if bits>>31 == 0 {
			bits = ^bits &^ (1 << 31)
		}
		order[i] = uint64(bits)<<32 | uint64(uint32(i))
	}
	slices.Sort(order)
	seen := make(map[uint32]bool, min(n, len(matches)))
	kept := make([]Match, 0, min(n, len(matches)))
	for _, key := range order {
		m := matches[uint32(key)]
		if len(kept) >= 2*n || len(kept) >= n && m.Cosine < kept[n-1].Cosine {
			break
		}
		if !seen[m.Document] {
			seen[m.Document] = true
			kept = append(kept, m)
		}
	}
	return kept
}

// top returns at least n of the best matches, and no match that is worse than one
// that it leaves out.
func top(matches []Match, n int) []Match {
	const steps = 1 << 12
	step := func(m Match) int { return int(min(max(m.Cosine+1, 0), 2) * (steps / 2)) }
	var counts [steps + 1]int
	for _, m := range matches {
		counts[step(m)]++
	}
	limit := steps
	for sum := counts[limit]; sum < n && limit > 0; sum += counts[limit] {
		limit--
	}
	part := make([]Match, 0, n+n/4)
	for _, m := range matches {
		if step(m) >= limit {
			part = append(part, m)
		}
	}
	return part
}
