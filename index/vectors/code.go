package vectors

import "math"

// coder turns vectors into codes of their signs. Vectors of few dimensions have
// too few signs to tell near from far, so they are turned in space several times,
// and each turn gives its signs; see codeBits.
type coder struct {
	dims  int
	words int // uint64s of a code
	// size is the power of two that a vector is filled up to; 0 for plain signs.
	size int
	// flips has, for each turn, a sign for each dimension.
	flips [][]float32
}

// codeBits is the least number of bits of a code.
const codeBits = 256

func newCoder(dims int) *coder {
	if dims >= codeBits {
		return &coder{dims: dims, words: (dims + 63) / 64}
	}
	size := 64
	for size < dims {
		size *= 2
	}
	c := &coder{dims: dims, size: size, words: codeBits / 64}
	random := uint64(0x9E3779B97F4A7C15) // codes are in memory only: any seed does
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

// code writes the code of v to out; work has room for size numbers.
// A turn is a change of random signs and a Walsh–Hadamard transform, which turns in
// size × log2(size) additions instead of size².
func (c *coder) code(out []uint64, v []float32, work []float32) {
	if c.size == 0 {
		signs(out, v)
		return
	}
	per := c.size / 64
	for turn, flips := range c.flips {
		for i, x := range v {
			work[i] = x * flips[i]
		}
		clear(work[len(v):])
		hadamard(work)
		signs(out[turn*per:(turn+1)*per], work)
	}
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
