package vectors

import (
	"cmp"
	"math/rand/v2"
	"path/filepath"
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

// TestScan: a scan lists exactly the wanted nearest, also where the codes by which it guesses
// their distance are all nearer than the others, and where some documents have another query.
func TestScan(t *testing.T) {
	const slots, wanted = 40_000, 3600
	for name, misleading := range map[string]bool{"like the others": false, "misleading": true} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(9, 10))
			s, err := Open(filepath.Join(t.TempDir(), "vectors.bin"), "m", 8)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			query := Query{Vector: randomVector(r, 8)}
			for slot := range uint32(slots) {
				v := randomVector(r, 8)
				if misleading && slot%chunkSlots < chunkSlots/64 {
					v = query.Vector
				}
				if slot%7 == 3 {
					continue // empty
				}
				if err := s.PutAt(slot, slot/3+1, v); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Sync(); err != nil {
				t.Fatal(err)
			}
			var even Documents
			for d := uint32(0); d <= slots/3+1; d += 2 {
				even.Add(d)
			}
			for _, query := range []Query{query, {Vector: query.Vector, Other: randomVector(r, 8), Others: even}} {
				q, ok := s.prepareBoth(query)
				if !ok {
					t.Fatal("no query")
				}
				for _, eligible := range []Documents{nil, even} {
					var want []place
					for slot := range uint32(slots) {
						document := s.document(slot)
						if document != 0 && (eligible == nil || eligible.Has(document)) {
							scanned, _ := s.chunks[slot/chunkSlots].code(int(slot % chunkSlots))
							want = append(want, place{slot, document, distance(q.of(document).code, scanned)})
						}
					}
					slices.SortStableFunc(want, func(a, b place) int { return cmp.Compare(a.distance, b.distance) })
					want = want[:wanted]
					slices.SortFunc(want, func(a, b place) int { return cmp.Compare(a.slot, b.slot) })
					if got := s.scan(&q, eligible, wanted); !slices.Equal(got, want) {
						t.Errorf("two queries %v, filter %v: got %d places, not the nearest %d", query.Others != nil, eligible != nil, len(got), len(want))
					}
				}
			}
		})
	}
}

// TestMarkWithin: exactly the codes within the limit are marked, by the processor's own
// instructions as by the loop that takes their place.
func TestMarkWithin(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for limit := range uint32(130) {
		code := [2]uint64{r.Uint64(), r.Uint64()}
		codes := make([]uint64, 128*(1+r.IntN(3)))
		for i := range codes {
			codes[i] = code[i%2]
			for range r.IntN(40) {
				codes[i] ^= 1 << r.IntN(64)
			}
			if r.IntN(20) == 0 {
				codes[i] = ^code[i%2] // all bits differ
			}
		}
		want := make([]uint64, len(codes)/128)
		for i := range len(codes) / 2 {
			if distance(code[:], codes[2*i:]) <= limit {
				want[i/64] |= 1 << (i % 64)
			}
		}
		for name, mark := range map[string]func(marks, codes []uint64, code [2]uint64, limit uint32){
			"this processor": markWithin, "Go": markWithinInGo,
		} {
			got := make([]uint64, len(want))
			for i := range got {
				got[i] = r.Uint64() // what was there before
			}
			if mark(got, codes, code, limit); !slices.Equal(got, want) {
				t.Fatalf("%s, limit %d: got %x, want %x", name, limit, got, want)
			}
		}
	}
}
