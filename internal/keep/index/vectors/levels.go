package vectors

import (
	"encoding/binary"
	"math"
)

// levels are the magnitudes that a number of a vector is rounded to, where the mean square of
// the numbers is 1: those with the least error for 16 levels of a normal distribution, which
// the numbers of turned vectors nearly have (Max, Quantizing for Minimum Distortion, IRE
// Transactions on Information Theory, 1960, table I). A cosine is off by .008 for 128 numbers.
var levels = [8]float32{.1284, .3881, .6568, .9424, 1.256, 1.618, 2.069, 2.733}

// limits are half way between two levels.
var limits = func() (half [len(levels) - 1]float32) {
	for i := range half {
		half[i] = (levels[i] + levels[i+1]) / 2
	}
	return half
}()

// negative is the bit of a level's four that is set for a number below zero.
const negative = 8

// level returns the level that x is nearest to.
func level(x float32) byte {
	sign := byte(math.Float32bits(x)>>31) * negative
	magnitude := math.Float32frombits(math.Float32bits(x) &^ (1 << 31))
	n := byte(0)
	for _, limit := range limits {
		if magnitude >= limit {
			n++
		}
	}
	return sign | n
}

// ofLevel returns the number that a level stands for.
func ofLevel(l byte) float32 {
	if l&negative != 0 {
		return -levels[l&^negative]
	}
	return levels[l]
}

// stretches are what a vector is multiplied by before it is rounded; the best is taken. Few
// numbers are rarely distributed as the levels suppose.
var stretches = [...]float32{.8, .86, .92, .96, 1, 1.04, 1.08, 1.14, 1.22}

// quantise writes v as levels into out, two a byte, the first in the lower half, and returns what to
// multiply these by: so that the product with v, of length 1, is exactly 1. The error of
// another's product then has no sign that is more likely (Gao and others, RaBitQ, SIGMOD 2024). A
// vector of zeros gives 0, and out stays as it is.
func quantise(out []byte, v []float32) float32 {
	square := 0.0
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if square == 0 {
		return 0
	}
	unit := math.Sqrt(float64(len(v)) / square)
	var best, scale float64
	rounded := make([]byte, len(out))
	for _, stretch := range stretches {
		factor := float32(unit) * stretch
		clear(rounded)
		var product, own float64
		for i, x := range v {
			l := level(x * factor)
			rounded[i/2] |= l << (4 * (i & 1))
			y := float64(ofLevel(l))
			product += float64(x) * y
			own += y * y
		}
		if cosine := product / math.Sqrt(own); cosine > best {
			best, scale = cosine, math.Sqrt(square)/product
			copy(out, rounded)
		}
	}
	return float32(scale)
}

// products has, for each byte of numbers of 4 bits, the products of its 256 values with the
// two numbers of a query.
type products [][256]float32

// productsOf returns the products of a query.
func productsOf(query []float32) products {
	list := make(products, (len(query)+1)/2)
	for at := range list {
		low, high := query[2*at], float32(0)
		if 2*at+1 < len(query) {
			high = query[2*at+1]
		}
		var of [16]float32
		for l := range of {
			of[l] = low * ofLevel(byte(l)) //nolint:gosec // below 16
		}
		sums := &list[at]
		for h := range 16 {
			x := high * ofLevel(byte(h)) //nolint:gosec // below 16
			for l, y := range of {
				sums[16*h+l] = y + x
			}
		}
	}
	return list
}

// with returns the product of the query and numbers of 4 bits.
func (p products) with(numbers []byte) float32 {
	var a, b float32
	numbers = numbers[:len(p)]
	for len(p) >= 4 {
		a += p[0][numbers[0]] + p[1][numbers[1]]
		b += p[2][numbers[2]] + p[3][numbers[3]]
		p, numbers = p[4:], numbers[4:]
	}
	for i := range p {
		a += p[i][numbers[i]]
	}
	return a + b
}

// signsOf returns the signs of up to 64 numbers of 4 bits in the order of coder.arranged.
func signsOf(numbers []byte) (word uint64) {
	var padded [32]byte
	if len(numbers) < len(padded) {
		copy(padded[:], numbers)
		numbers = padded[:]
	}
	for i := range 4 {
		word |= binary.LittleEndian.Uint64(numbers[8*i:]) >> 3 & 0x1111111111111111 << i
	}
	return word
}
