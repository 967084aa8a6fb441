package vectors

import (
	"cmp"
	"math"
)

// codeBits is the least number of bits of a code. Vectors of fewer dimensions have
// too few signs to tell near from far: they are turned in space at random, and each
// turn gives as many signs as there are dimensions. With the built-in table, on
// 102,841 fragments of commits, issues, abstracts and conversations and 826 queries,
// the 10, 100 and 300 documents nearest by the floats were among the 1,000 nearest
// codes as follows:
//
//	128 bits, plain signs   .946  .783  .602
//	128 bits, turned        .967  .835  .668
//	256 bits, two turns     .996  .942  .815   (of 2,000: .999 .979 .919)
//	512 bits, four turns   1.000  .988  .919
//
// To take the mean from the vectors first made no difference (.001).
const codeBits = 256

// scannedBits is how many bits of each code a scan compares; of a vector with more numbers it
// compares the signs of all. The other bits are compared for the nearest only, since most of a
// scan's time goes by with reading codes from memory.
const scannedBits = 128

// coder turns vectors into codes of their signs. Codes are in the file: another way
// to make them needs another version of it.
type coder struct {
	dims  int
	words int // uint64s of a code
	// size is the power of two that a vector is filled up to; 0 for plain signs.
	size int
	// flips has, for each turn, a sign for each dimension.
	flips [][]float32
}

// newCoder returns the coder of vectors of dims dimensions. From codeBits dimensions on
// each gives a bit; for fewer the codeBits bits come from fixed pseudo-random rotations.
func newCoder(dims int) *coder {
	if dims >= codeBits {
		return &coder{dims: dims, words: (dims + 63) / 64}
	}
	size := 64
	for size < dims {
		size *= 2
	}
	c := &coder{dims: dims, size: size, words: codeBits / 64}
	random := uint64(0x9E3779B97F4A7C15) // any would do
	for range codeBits / size {
		flips := make([]float32, size)
		for i := range flips {
			random ^= random << 13
			random ^= random >> 7
			random ^= random << 17
			flips[i] = 1
			if random>>60&1 == 1 {
				flips[i] = -1
			}
		}
		c.flips = append(c.flips, flips)
	}
	return c
}

// Code returns the code of a vector in the order of its numbers: the signs of the turned ones, for likeness by Hamming distance
// outside of the file.
func Code(v []float32) []uint64 {
	c := newCoder(len(v))
	out := make([]uint64, c.words)
	signs(out, c.turned(v))
	return out
}

// first returns those of the turned numbers that are the vector by themselves: of the first
// turn, or all.
func (c *coder) first(turned []float32) []float32 { return turned[:c.numbers()] }

// numbers is how many first returns.
func (c *coder) numbers() int { return cmp.Or(c.size, c.dims) }

// levelBytes is the size of that many numbers of 4 bits, signWords the words of the code that
// are their signs.
func (c *coder) levelBytes() int { return (c.numbers() + 1) / 2 }
func (c *coder) signWords() int  { return (c.numbers() + 63) / 64 }

// turned returns the numbers whose signs are the code of v: one a bit, of any scale, or v itself.
// A turn is a change of random signs and a Walsh–Hadamard transform, which takes size ×
// log2(size) additions instead of the size² of any other rotation.
func (c *coder) turned(v []float32) []float32 {
	if c.size == 0 {
		return v
	}
	largest := float32(math.SmallestNonzeroFloat32)
	for _, x := range v {
		largest = max(largest, x, -x)
	}
	out := make([]float32, c.size*len(c.flips))
	for turn, flips := range c.flips {
		part := out[turn*c.size : (turn+1)*c.size]
		for i, x := range v {
			part[i] = x / largest * flips[i] // so that no sum is infinite
		}
		hadamard(part)
	}
	return out
}

// shares tells how near a vector is to a query by the vector's code alone: the sum over
// the bits of the query's number there, negative where the bit is set. The query is not
// rounded to its signs, as it is for the distance of two codes. For each byte of a code
// there are the sums of its 256 values, in parts of shareUnit.
type shares [][256]int16

// scannedWords is how many words of a code are compared first.
func (c *coder) scannedWords() int { return min(c.words, max(c.signWords(), scannedBits/64)) }

// arranged returns turned numbers in the order in which the bits of a code in memory have their
// signs, with zeros up to a whole word. In each of the first words, bit 4i+k is the sign of the
// word's number 16k+i, because signsOf finds them fastest in this order. The other words are in
// the order of the file.
func (c *coder) arranged(turned []float32) []float32 {
	bits := make([]float32, 64*c.words)
	for bit := range bits {
		number := bit
		if bit < 64*c.signWords() {
			number = bit&^63 + 16*(bit%4) + bit%64/4
		}
		if number < len(turned) {
			bits[bit] = turned[number]
		}
	}
	return bits
}

// shareUnit is such that eight numbers of a query of length 1, whose sum is below 3, do not
// exceed an int16.
const shareUnit = 8192

// shares returns the sums of a query, not of zeros, for each byte of a code.
func (c *coder) shares(query []float32) shares {
	turned := c.arranged(c.turned(query))
	square := 0.0
	for _, x := range turned {
		square += float64(x) * float64(x)
	}
	unit := shareUnit / math.Sqrt(square)
	list := make(shares, 8*c.words)
	for at := range list {
		var sums [256]float64
		numbers := turned[8*at : 8*at+8]
		for _, x := range numbers {
			sums[0] += float64(x) * unit
		}
		for bit, x := range numbers {
			for value := 1 << bit; value < 2<<bit; value++ {
				sums[value] = sums[value-1<<bit] - 2*float64(x)*unit
			}
		}
		for value, sum := range sums {
			list[at][value] = int16(math.RoundToEven(sum)) //nolint:gosec // see shareUnit
		}
	}
	return list
}

// of returns the sum for a code.
func (s shares) of(code []uint64) int32 {
	var a, b int32
	for w, bits := range code {
		part := s[8*w : 8*w+8 : 8*w+8]
		a += int32(part[0][byte(bits)]) + int32(part[1][byte(bits>>8)]) +
			int32(part[2][byte(bits>>16)]) + int32(part[3][byte(bits>>24)])
		b += int32(part[4][byte(bits>>32)]) + int32(part[5][byte(bits>>40)]) +
			int32(part[6][byte(bits>>48)]) + int32(part[7][byte(bits>>56)])
	}
	return a + b
}

// signs writes a bit for each number: 1 where it is negative.
func signs(out []uint64, v []float32) {
	for w := range out {
		part := v[w*64 : min(len(v), w*64+64)]
		bits := uint64(0)
		for i, x := range part {
			bits |= uint64(math.Float32bits(x)>>31) << i
		}
		out[w] = bits
	}
}

// hadamard replaces v by its Walsh-Hadamard transform, not normalised. Its length is a
// power of two.
func hadamard(v []float32) {
	for half := 1; half < len(v); half *= 2 {
		for i := 0; i < len(v); i += 2 * half {
			low, high := v[i:i+half], v[i+half:i+2*half]
			for j, a := range low {
				b := high[j]
				low[j], high[j] = a+b, a-b
			}
		}
	}
}
