package pages_test

import (
	"slices"
	"testing"

	"claudemem/internal/keep/index/pages"
)

func TestMake(t *testing.T) {
	for _, n := range []int{0, 1, 1000, 1 << 20, 3<<20 + 7} {
		list := pages.Make[uint32](n)
		if len(list) != n || slices.ContainsFunc(list, func(x uint32) bool { return x != 0 }) {
			t.Errorf("%d numbers: got %d, or not all zeros", n, len(list))
		}
		for i := range list {
			list[i] = uint32(i)
		}
	}
}
