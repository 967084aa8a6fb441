package train

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"claudemem/internal/keep/index/embed"
)

const (
	// epochs is how often each pair is seen. 15 were worse than 6.
	epochs = 6
	// averaged is the number of last epochs whose vectors the trained ones are the mean of:
	// so it matters less in which order the pairs came last.
	averaged = 3
	// batchPairs is the number of pairs of which each title has to find its text.
	batchPairs = 192
	// leastBatch is the least number of pairs at the end of an epoch that are trained on:
	// with a few, all is easy.
	leastBatch = 32
	// temperature divides the cosines.
	temperature = .07
	// rate is the step of Adagrad, with one size for all dimensions of a piece. With .02,
	// commits were found as well and code less well.
	rate = .01
	// way is how much of the way from the base's vectors to the trained ones the table
	// goes. With all of it, fewer answers are found that are old or about something else;
	// with half of it, fewer that say the same in other words (docs/how-search-ranks.md).
	way  = .65
	seed = 1
	// method changes with the numbers above and with the code below: another method gives
	// another table from the same records.
	method = "4"
)

// Pair is a record as it is trained on: the pieces of its title, and of its text without
// the title.
type Pair struct {
	Title, Text []uint16
}

// Input returns the hash of what a table is trained on: the base, the method and the
// pairs. The same input gives the same table.
func Input(base *embed.Table, pairs []Pair) (sum [sha256.Size]byte) {
	h := sha256.New()
	var b []byte
	write := func() { _, _ = h.Write(b); b = b[:0] } // never fails
	b = append(b, base.Model()+"\x00"+method+"\x00"...)
	for _, p := range pairs {
		for _, pieces := range [][]uint16{p.Title, p.Text} {
			b = binary.LittleEndian.AppendUint32(b, uint32(len(pieces))) //nolint:gosec // at most 512
			for _, piece := range pieces {
				b = binary.LittleEndian.AppendUint16(b, piece)
			}
		}
		write()
	}
	write()
	h.Sum(sum[:0])
	return sum
}

// Table returns base trained on pairs, which were drawn from a number of records (of), and the same
// as a file. It does not learn from a pair whose title or text has no pieces. It calls rest after
// each batch, a few milliseconds of work; an error of rest ends the training.
func Table(base *embed.Table, pairs []Pair, of int, rest func() error) (*embed.Table, []byte, error) {
	training := embed.Training{Records: len(pairs), Of: of, Input: Input(base, pairs)}
	pairs = slices.Clone(pairs)
	pairs = slices.DeleteFunc(pairs, func(p Pair) bool { return len(p.Title) == 0 || len(p.Text) == 0 })
	t := newTrainer(base, pairs)
	random := rand.New(rand.NewPCG(seed, uint64(len(pairs)))) //nolint:gosec // it shall be the same each time
	mean := make([]float32, len(t.vectors))
	for epoch := range epochs {
		random.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
		for batch := range slices.Chunk(pairs, batchPairs) {
			if len(batch) < leastBatch {
				continue
			}
			t.step(batch)
			if err := rest(); err != nil {
				return nil, nil, err
			}
		}
		if epoch >= epochs-averaged {
			add(mean, t.vectors, 1./averaged)
		}
	}
	for i, entry := range t.entries {
		for d, from := range base.Entry(entry) {
			to := &mean[i*t.dims+d]
			*to = from + way*(*to-from)
		}
	}
	return base.WithVectors(training, t.entries, mean)
}

// trainer holds the vectors that are trained, and the memory of a step.
type trainer struct {
	dims    int
	entries []uint16 // ascending
	row     []int32  // by entry, its place in entries
	vectors []float32
	// squares are Adagrad's sums of squared gradients.
	squares []float64

	titles, texts side
	cosines       []float32 // of each title of a batch with each text
	change        []float32 // of the loss by each of these
	// gradient has the sums by entry, zeros between steps but for those of touched.
	gradient  []float32
	isTouched []bool  // by place in entries, whether it is in touched
	touched   []int32 // the places of the pieces of the batch
}

// side holds the titles or the texts of a batch.
type side struct {
	units    []float32 // vectors of length 1
	lengths  []float32 // before
	gradient []float32 // of the loss by the units
}

// newTrainer returns a trainer that begins with the base's vectors of the pieces that occur in pairs;
// it has no others.
func newTrainer(base *embed.Table, pairs []Pair) *trainer {
	t := &trainer{dims: base.Dimensions(), row: make([]int32, base.Entries())}
	for _, p := range pairs {
		for _, pieces := range [][]uint16{p.Title, p.Text} {
			for _, piece := range pieces {
				t.row[piece] = 1
			}
		}
	}
	for entry, there := range t.row {
		if there == 0 {
			continue
		}
		t.row[entry] = int32(len(t.entries))                        //nolint:gosec // fewer than 1<<16
		t.entries = append(t.entries, uint16(entry))                //nolint:gosec // a piece's number
		t.vectors = append(t.vectors, base.Entry(uint16(entry))...) //nolint:gosec // a piece's number
	}
	n := len(t.entries)
	t.squares, t.isTouched = make([]float64, n), make([]bool, n)
	t.gradient = make([]float32, n*t.dims)
	for _, s := range []*side{&t.titles, &t.texts} {
		s.units, s.gradient = make([]float32, batchPairs*t.dims), make([]float32, batchPairs*t.dims)
		s.lengths = make([]float32, batchPairs)
	}
	t.cosines, t.change = make([]float32, batchPairs*batchPairs), make([]float32, batchPairs*batchPairs)
	return t
}

// step moves the vectors of the pieces of a batch, of at most batchPairs, towards a smaller loss.
func (t *trainer) step(batch []Pair) {
	for i, p := range batch {
		t.embed(&t.titles, i, p.Title)
		t.embed(&t.texts, i, p.Text)
	}
	t.compare(len(batch))
	for i, p := range batch {
		t.spread(&t.titles, i, p.Title)
		t.spread(&t.texts, i, p.Text)
	}
	t.move()
}

// embed sets the unit vector and the length of text i of a side; a text whose vectors cancel out has
// length 0, and spread leaves it out.
func (t *trainer) embed(s *side, i int, pieces []uint16) {
	unit := s.units[i*t.dims : (i+1)*t.dims]
	clear(unit)
	for _, p := range pieces {
		at := int(t.row[p]) * t.dims
		add(unit, t.vectors[at:at+t.dims], 1)
	}
	length := float32(math.Sqrt(float64(dot(unit, unit))))
	s.lengths[i] = length
	if length > 0 {
		for k := range unit {
			unit[k] /= length
		}
	}
}

// compare computes the loss's gradient by the unit vectors of n titles and texts. The loss is the
// cross entropy with which each title picks its text among all, plus that with which each text
// picks its title. The factor 1/temperature is left out: Adagrad divides it away.
func (t *trainer) compare(n int) {
	d := t.dims
	unit := func(s *side, i int) []float32 { return s.units[i*d : (i+1)*d] }
	for i := range n {
		title := unit(&t.titles, i)
		row := t.cosines[i*n : (i+1)*n]
		for j := range row {
			row[j] = dot(title, unit(&t.texts, j)) / temperature
		}
	}
	// The shares of the softmax by rows and by columns, less what they should be.
	// Cosines are at most 1, so the numbers stay far from the largest float.
	sums := make([]float64, 2*n)
	rows, columns := sums[:n], sums[n:]
	for i := range n {
		for j, x := range t.cosines[i*n : (i+1)*n] {
			e := math.Exp(float64(x) - 1/temperature)
			t.cosines[i*n+j] = float32(e)
			rows[i] += e
			columns[j] += e
		}
	}
	for i := range n {
		for j := range n {
			e := float64(t.cosines[i*n+j])
			t.change[i*n+j] = float32(e/rows[i] + e/columns[j])
		}
		t.change[i*n+i] -= 2
	}
	clear(t.titles.gradient[:n*d])
	clear(t.texts.gradient[:n*d])
	for i := range n {
		title, gradient := unit(&t.titles, i), t.titles.gradient[i*d:(i+1)*d]
		for j, x := range t.change[i*n : (i+1)*n] {
			add(gradient, unit(&t.texts, j), x)
			add(t.texts.gradient[j*d:(j+1)*d], title, x)
		}
	}
}

// spread adds the gradient of text i to that of its pieces.
func (t *trainer) spread(s *side, i int, pieces []uint16) {
	if s.lengths[i] == 0 {
		return
	}
	unit, g := s.units[i*t.dims:(i+1)*t.dims], s.gradient[i*t.dims:(i+1)*t.dims]
	// By the sum of the pieces: what is along it changes its length only.
	add(g, unit, -dot(g, unit))
	for _, p := range pieces {
		row := t.row[p]
		if !t.isTouched[row] {
			t.isTouched[row] = true
			t.touched = append(t.touched, row)
		}
		add(t.gradient[int(row)*t.dims:(int(row)+1)*t.dims], g, 1/s.lengths[i])
	}
}

// move does a step of Adagrad with the vectors of the pieces that were touched.
func (t *trainer) move() {
	for _, row := range t.touched {
		g := t.gradient[int(row)*t.dims : (int(row)+1)*t.dims]
		t.squares[row] += float64(dot(g, g)) / float64(t.dims)
		if t.squares[row] > 0 {
			add(t.vectors[int(row)*t.dims:(int(row)+1)*t.dims], g, float32(-rate/math.Sqrt(t.squares[row])))
		}
		clear(g)
		t.isTouched[row] = false
	}
	t.touched = t.touched[:0]
}

// dot returns the dot product of two vectors of the same length.
func dot(a, b []float32) float32 {
	var s0, s1, s2, s3 float32 // four sums, so that they need not wait for each other
	b = b[:len(a)]
	for len(a) >= 4 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	for i, x := range a {
		s0 += x * b[i]
	}
	return s0 + s1 + s2 + s3
}

// add adds x times b to a, which is of the same length.
func add(a, b []float32, x float32) {
	b = b[:len(a)]
	for len(a) >= 4 {
		a[0] += x * b[0]
		a[1] += x * b[1]
		a[2] += x * b[2]
		a[3] += x * b[3]
		a, b = a[4:], b[4:]
	}
	for i := range a {
		a[i] += x * b[i]
	}
}
