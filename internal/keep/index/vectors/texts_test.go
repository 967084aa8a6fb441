package vectors_test

import (
	"cmp"
	"slices"
	"testing"

	"claudemem/internal/keep/index/embed"
	"claudemem/internal/keep/index/vectors"
	"claudemem/internal/memory"
	"claudemem/proof/corpus"
)

// TestRecallOnTexts embeds observations and queries with the built-in table; there
// are too many fragments to compare them all.
func TestRecallOnTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector, and about nothing concurrent")
	}
	table, err := embed.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	c := corpus.New(1, 4500, memory.Millis(1_790_000_000_000))
	s := open(t, newPath(t), table.Model(), table.Dimensions())
	var all [][]float32
	var owners []uint32
	for n := range c.Observations() {
		o := c.Observation(n)
		for _, text := range append([]string{o.Title, o.Narrative}, o.Facts...) {
			v := table.Vector(table.Pieces(text))
			put(t, s, uint32(len(all)), uint32(n+1), v)
			all, owners = append(all, v), append(owners, uint32(n+1))
		}
	}
	flush(t, s)
	if len(all) <= 20_000 {
		t.Fatalf("%d fragments are compared exactly", len(all))
	}
	sum, queries := 0.0, 40
	for n := range queries {
		query := table.Vector(table.Pieces(c.Query(n).Text))
		best := map[uint32]float64{}
		for i, v := range all {
			best[owners[i]] = max(best[owners[i]], product(query, v))
		}
		want := make([]uint32, 0, len(best))
		for d := range best {
			want = append(want, d)
		}
		slices.SortFunc(want, func(a, b uint32) int { return cmp.Or(cmp.Compare(best[b], best[a]), cmp.Compare(a, b)) })
		got := documentsOf(s.Search(vectors.Query{Vector: query}, nil, 10))
		// Texts that say the same are as near as each other: what is no worse counts.
		found := 0
		for _, d := range got {
			if best[d] >= best[want[9]]-.002 {
				found++
			}
		}
		sum += float64(found) / 10
	}
	if got := sum / float64(queries); got < .92 {
		t.Errorf("got recall@10 %.3f, want at least .92", got)
	} else {
		t.Logf("%d fragments, recall@10 %.3f", len(all), got)
	}
}
