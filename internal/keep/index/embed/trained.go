package embed

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
)

// A trained table has the words of another one, its base, and vectors of its own for
// some of the entries. As a file it is, little-endian:
//
//	8 bytes            magic and version
//	uint32             dimensions
//	uint32             number of entries with vectors of their own
//	uint32             number of records that it was trained on
//	uint32             number of records of which these were drawn
//	32 bytes           hash of the base and of what it was trained on
//	uint16 × entries   their numbers, ascending
//	float32 × entries  a scale each
//	int8 × entries × dimensions
//	32 bytes           SHA-256 of the above
const (
	trainedMagic = "CMTABLE1"
	trainedHead  = len(trainedMagic) + 16 + sha256.Size
)

// Training describes what a table was trained on.
type Training struct {
	// Records is the number of records, drawn from Of.
	Records, Of int
	// Input is a hash of the base and of all that the training had: the same input gives
	// the same table.
	Input [sha256.Size]byte
}

// trained holds what a trained table has of its own.
type trained struct {
	training Training
	data     string   // the file
	rows     []uint16 // by entry, the row in the file plus 1; 0: that of the base
	scales   int      // offsets into data
	vectors  int
}

// Entry returns the vector of an entry, of the length that it has in a sum.
func (t *Table) Entry(entry uint16) []float32 {
	out := make([]float32, t.dims)
	t.add(out, []uint16{entry})
	return out
}

// Entries returns the number of entries.
func (t *Table) Entries() int { return len(t.tokens) }

// Training returns what the table was trained on by WithVectors; false for a built-in one.
func (t *Table) Training() (Training, bool) {
	if t.own == nil {
		return Training{}, false
	}
	return t.own.training, true
}

// WithVectors returns a table with the words of t, which is built in, and other vectors
// for some entries, and the same as a file for OpenTrained. entries ascend; vectors has
// their vectors one after the other. The vectors are rounded to 8 bits a dimension.
func (t *Table) WithVectors(training Training, entries []uint16, vectors []float32) (*Table, []byte, error) {
	if len(vectors) != len(entries)*t.dims {
		return nil, nil, fmt.Errorf("train embedding table: %d numbers for %d entries", len(vectors), len(entries))
	}
	file := make([]byte, 0, trainedHead+len(entries)*(6+t.dims)+sha256.Size)
	file = append(file, trainedMagic...)
	for _, n := range [...]int{t.dims, len(entries), training.Records, training.Of} {
		file = binary.LittleEndian.AppendUint32(file, uint32(n)) //nolint:gosec // none is so large
	}
	file = append(file, training.Input[:]...)
	for _, e := range entries {
		file = binary.LittleEndian.AppendUint16(file, e)
	}
	values := make([]byte, 0, len(vectors))
	for i := range entries {
		var scale float32
		values, scale = appendRounded(values, vectors[i*t.dims:(i+1)*t.dims])
		file = binary.LittleEndian.AppendUint32(file, math.Float32bits(scale))
	}
	file = append(file, values...)
	sum := sha256.Sum256(file)
	file = append(file, sum[:]...)
	table, err := t.OpenTrained(file)
	return table, file, err
}

// appendRounded appends a vector as signed bytes, the largest as ±127, and returns what to
// multiply these by.
func appendRounded(b []byte, v []float32) ([]byte, float32) {
	largest := float32(0)
	for _, x := range v {
		largest = max(largest, max(x, -x))
	}
	if largest == 0 {
		return append(b, make([]byte, len(v))...), 0
	}
	for _, x := range v {
		b = append(b, byte(int8(math.RoundToEven(float64(x)*127/float64(largest)))))
	}
	return b, largest / 127
}

var errTrained = errors.New("no trained table of this program, or a damaged one")

// OpenTrained opens the file of a table that was trained further from t. An error says
// that it is damaged or from another program; another base of the same size is not noticed.
func (t *Table) OpenTrained(file []byte) (*Table, error) {
	if len(file) < trainedHead+sha256.Size || string(file[:len(trainedMagic)]) != trainedMagic {
		return nil, errTrained
	}
	body := file[:len(file)-sha256.Size]
	sum := sha256.Sum256(body)
	if string(sum[:]) != string(file[len(body):]) {
		return nil, errTrained
	}
	own := &trained{data: string(file), rows: make([]uint16, len(t.tokens))}
	dims, entries := binary.LittleEndian.Uint32(file[8:]), int(binary.LittleEndian.Uint32(file[12:]))
	own.training.Records = int(binary.LittleEndian.Uint32(file[16:]))
	own.training.Of = int(binary.LittleEndian.Uint32(file[20:]))
	copy(own.training.Input[:], file[24:])
	own.scales = trainedHead + 2*entries
	own.vectors = own.scales + 4*entries
	if int(dims) != t.dims || entries > len(t.tokens) || len(body) != own.vectors+entries*t.dims {
		return nil, errTrained
	}
	for row := range entries {
		entry := binary.LittleEndian.Uint16(file[trainedHead+2*row:])
		if int(entry) >= len(t.tokens) || own.rows[entry] != 0 {
			return nil, errTrained
		}
		own.rows[entry] = uint16(row + 1) //nolint:gosec // fewer than maxEntries
	}
	return &Table{
		// The name has a hash of the vectors themselves: with another processor the same
		// input may give others.
		model: t.model + "+" + hex.EncodeToString(sum[:8]),
		dims:  t.dims, data: t.data, tokens: t.tokens, scales: t.scales, vectors: t.vectors,
		slots: t.slots, mask: t.mask, norms: make([]atomic.Uint32, len(t.tokens)), own: own,
	}, nil
}
