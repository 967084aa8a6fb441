package vectors

import "math/bits"

// markWithinInGo sets, for each code of two words, the bit of its number: 1 if its distance from code
// is at most limit, otherwise 0. Bit i%64 of marks[i/64] belongs to code i. codes has 64 codes for
// each word of marks.
func markWithinInGo(marks, codes []uint64, code [2]uint64, limit uint32) {
	for i := range marks {
		mark := uint64(0)
		// Nearly all codes are too far: four are compared at a time.
		for at := 0; at < 64; at += 4 {
			four := (*[8]uint64)(codes[128*i+2*at:])
			d0 := distance2(code, four[0], four[1])
			d1 := distance2(code, four[2], four[3])
			d2 := distance2(code, four[4], four[5])
			d3 := distance2(code, four[6], four[7])
			if min(d0, d1, d2, d3) > limit {
				continue
			}
			for k, d := range [...]uint32{d0, d1, d2, d3} {
				if d <= limit {
					mark |= 1 << (at + k)
				}
			}
		}
		marks[i] = mark
	}
}

// distance2 is distance for codes of two words.
func distance2(code [2]uint64, a, b uint64) uint32 {
	return uint32(bits.OnesCount64(code[0]^a) + bits.OnesCount64(code[1]^b))
}
