package vectors

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
)

// The file begins with
//
//	8 bytes    magic and version
//	uint32     dimensions
//	32 bytes   SHA-256 of the model's name
//	16 bytes   zeros
//	uint32     CRC-32C of the above
//
// and goes on with one record a slot, from slot 0, all little-endian:
//
//	uint32     CRC-32C of the rest of the record
//	uint32     document
//	uint8      which fragment of the document it is
//	float32    scale
//	4 bits × numbers of the first turn (coder): which level each is next to (levels.go); the
//	           vector is scale times these. Their signs are the code's first words
//	uint64 × other words of the code
//
// An empty slot is all zeros, which is also what a hole in a file reads as.
const (
	magic      = "CMVECT03" // a change of the format changes the digits
	headerSize = 64
	recordHead = 13 // what stands before the numbers
	// maxDimensions is the size of the largest models of 2026.
	maxDimensions = 4096
	// maxSlots bounds the memory that one wrong number of a slot or a document can
	// take. SQLite gives numbers in order, so this is 50 million observations.
	maxSlots = 1 << 28
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	// ErrMismatch means that the file holds vectors of another model or format.
	ErrMismatch = errors.New("vectors of another model or format")
)

// header returns the head of a vector file: magic, dimensions, a hash of the model's
// name, checksum.
func header(model string, dims int) []byte {
	h := make([]byte, headerSize)
	copy(h, magic)
	binary.LittleEndian.PutUint32(h[8:], uint32(dims))
	sum := sha256.Sum256([]byte(model))
	copy(h[12:], sum[:])
	binary.LittleEndian.PutUint32(h[headerSize-4:], crc32.Checksum(h[:headerSize-4], castagnoli))
	return h
}

// checkHeader returns ErrMismatch for a header that is not exactly the one that
// would be written.
func checkHeader(f io.ReaderAt, model string, dims int) error {
	got := make([]byte, headerSize)
	if n, err := f.ReadAt(got, 0); n < headerSize {
		if err == io.EOF {
			return ErrMismatch
		}
		return fmt.Errorf("read vector file: %w", err)
	}
	if string(got) != string(header(model, dims)) {
		return ErrMismatch
	}
	return nil
}

// startFile makes f an empty file of vectors. It is emptied in place: a search
// that has it open reads records that fail their checksum, not those of another model.
func startFile(f *os.File, model string, dims int) error {
	if err := f.Truncate(0); err != nil {
		return fmt.Errorf("empty vector file: %w", err)
	}
	if _, err := f.WriteAt(header(model, dims), 0); err != nil {
		return fmt.Errorf("write vector file: %w", err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("sync vector file: %w", err)
	}
	return nil
}

func (s *Set) recordSize() int {
	return recordHead + s.coder.levelBytes() + 8*(s.coder.words-s.coder.signWords())
}

func (s *Set) offset(slot uint32) int64 {
	return headerSize + int64(slot)*int64(s.recordSize())
}

// encode appends the record of a document's fragment to b. The vector has length 1 afterwards
// whatever it had before; one of zeros (a text that says nothing to the model) has scale 0.
func (s *Set) encode(b []byte, document uint32, f Fragment) []byte {
	start := len(b)
	b = append(b, make([]byte, s.recordSize())...)
	record := b[start:]
	binary.LittleEndian.PutUint32(record[4:], document)
	record[8] = f.Name
	turned := s.coder.turned(f.Vector)
	scale := quantise(record[recordHead:recordHead+s.coder.levelBytes()], s.coder.first(turned))
	binary.LittleEndian.PutUint32(record[9:], math.Float32bits(scale))
	code := make([]uint64, s.coder.words)
	signs(code, turned)
	rest := record[recordHead+s.coder.levelBytes():]
	for i, word := range code[s.coder.signWords():] {
		binary.LittleEndian.PutUint64(rest[8*i:], word)
	}
	binary.LittleEndian.PutUint32(record, crc32.Checksum(record[4:], castagnoli))
	return b
}

// record is what stands before the other words of the code in a record.
type record struct {
	document uint32
	fragment uint8
	scale    float32
	numbers  []byte // the record's own bytes
}

// decode checks a record, whose bytes r goes on using; ok is false for an empty slot and for a damaged
// record.
func (s *Set) decode(b []byte) (r record, ok bool) {
	r.document = binary.LittleEndian.Uint32(b[4:])
	if r.document == 0 || r.document >= maxSlots || crc32.Checksum(b[4:], castagnoli) != binary.LittleEndian.Uint32(b) {
		return record{}, false
	}
	r.fragment, r.scale = b[8], math.Float32frombits(binary.LittleEndian.Uint32(b[9:]))
	r.numbers = b[recordHead : recordHead+s.coder.levelBytes()]
	return r, true
}

// readCode reads the code of a record into the two parts that it has in memory.
func (s *Set) readCode(scanned, others []uint64, record []byte) {
	numbers := record[recordHead : recordHead+s.coder.levelBytes()]
	signs := s.coder.signWords()
	for w := range signs {
		scanned[w] = signsOf(numbers[32*w : min(len(numbers), 32*w+32)])
	}
	rest := record[recordHead+len(numbers):]
	for i := range scanned[signs:] {
		scanned[signs+i] = binary.LittleEndian.Uint64(rest[8*i:])
	}
	rest = rest[8*(len(scanned)-signs):]
	for i := range others {
		others[i] = binary.LittleEndian.Uint64(rest[8*i:])
	}
}
