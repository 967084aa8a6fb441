package vectors

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTogether: however the places are shared out, the wanted nearest are found, of those that
// are as far as the last the ones with the lowest slots.
func TestTogether(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		places := make([]place, r.IntN(400))
		for i := range places {
			places[i] = place{slot: uint32(2 * i), document: 1, distance: uint32(r.IntN(1 + r.IntN(65)))}
		}
		wanted := 1 + r.IntN(60)
		parts := make([]*nearest, 1+r.IntN(3))
		for i := range parts {
			parts[i] = newNearest(wanted, 64, 64)
		}
		for _, p := range places {
			parts[r.IntN(len(parts))].offer(p)
		}
		want := slices.Clone(places)
		slices.SortFunc(want, func(a, b place) int { return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.slot, b.slot)) })
		want = want[:min(wanted, len(want))]
		slices.SortFunc(want, func(a, b place) int { return cmp.Compare(a.slot, b.slot) })
		if got := together(parts...); !slices.Equal(got, want) {
			t.Fatalf("%d wanted of %d, in %d parts: got %v, want %v", wanted, len(places), len(parts), got, want)
		}
	}
}
