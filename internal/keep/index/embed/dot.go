package embed

// dotInGo returns the dot product of two vectors of int8 values.
func dotInGo(a, b string) int32 {
	var s0, s1, s2, s3 int32 // four sums, so that they need not wait for each other
	for len(a) >= 8 && len(b) >= 8 {
		s0 += int32(int8(a[0])) * int32(int8(b[0]))
		s1 += int32(int8(a[1])) * int32(int8(b[1]))
		s2 += int32(int8(a[2])) * int32(int8(b[2]))
		s3 += int32(int8(a[3])) * int32(int8(b[3]))
		s0 += int32(int8(a[4])) * int32(int8(b[4]))
		s1 += int32(int8(a[5])) * int32(int8(b[5]))
		s2 += int32(int8(a[6])) * int32(int8(b[6]))
		s3 += int32(int8(a[7])) * int32(int8(b[7]))
		a, b = a[8:], b[8:]
	}
	for i := range min(len(a), len(b)) {
		s0 += int32(int8(a[i])) * int32(int8(b[i]))
	}
	return s0 + s1 + s2 + s3
}
