package vectors

import (
	"slices"
	"testing"
)

// TestCodesStayTheSame: codes are in files, so whoever changes them changes magic too.
func TestCodesStayTheSame(t *testing.T) {
	for _, test := range []struct {
		dims int
		want []uint64
	}{
		{128, []uint64{0xfcfdd56c22d2c535, 0x909545c832d940d0, 0x4611a10404f2847c, 0x98177dd22c2bdf84}},
		{256, []uint64{0x423e211f108f8847, 0x23e211f108f8847c, 0x3e211f108f8847c4, 0xe211f108f8847c42}}, // plain signs: -8 -7 -4 1 …
	} {
		v := make([]float32, test.dims)
		for i := range v {
			v[i] = float32(i*i%17) - 8
		}
		c := newCoder(test.dims)
		got := make([]uint64, c.words)
		if signs(got, c.turned(v)); !slices.Equal(got, test.want) {
			t.Errorf("%d dimensions: got %#x, want %#x", test.dims, got, test.want)
		}
	}
}
