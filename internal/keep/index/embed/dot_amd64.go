package embed

import "golang.org/x/sys/cpu"

// fastDot says that the processor has AVX2.
var fastDot = cpu.X86.HasAVX2

// dot is dotInGo. On a processor with AVX2 it takes a quarter of the time.
func dot(a, b string) int32 {
	if !fastDot {
		return dotInGo(a, b)
	}
	n := min(len(a), len(b))
	whole := n &^ 15
	return dotAVX2(a[:whole], b[:whole]) + dotInGo(a[whole:n], b[whole:n])
}

// dotAVX2 is dot for vectors of the same length, a multiple of 16.
//
//go:noescape
func dotAVX2(a, b string) int32
