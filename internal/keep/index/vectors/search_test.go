package vectors_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"claudemem/internal/keep/index/vectors"
)

// clustered makes n vectors of length 1, like those of texts: each around one of the
// centres, with noise, and all a little to one side.
func clustered(r *rand.Rand, n, dims, centres int, noise float64) [][]float32 {
	middle := make([][]float32, centres)
	for i := range middle {
		middle[i] = random(r, dims)
	}
	all := make([][]float32, n)
	for i := range all {
		v := random(r, dims)
		m := middle[r.IntN(centres)]
		for j := range v {
			v[j] = m[j] + float32(noise)*v[j] + .3
		}
		length := float32(math.Sqrt(product(v, v)))
		for j := range v {
			v[j] /= length
		}
		all[i] = v
	}
	return all
}

// fill puts three fragments a document into a new set.
func fill(t testing.TB, all [][]float32) *vectors.Set {
	t.Helper()
	s := open(t, newPath(t), "m", len(all[0]))
	for slot, v := range all {
		put(t, s, uint32(slot), uint32(slot/3+1), v)
	}
	flush(t, s)
	return s
}

func product(a, b []float32) float64 {
	sum := float32(0)
	for i, x := range a {
		sum += x * b[i]
	}
	return float64(sum)
}

// exact finds the best documents in the floats.
func exact(all [][]float32, query []float32, eligible vectors.Documents, n int) []uint32 {
	type scored struct {
		document uint32
		cosine   float64
	}
	var list []scored
	for slot := 0; slot < len(all); slot += 3 {
		document := uint32(slot/3 + 1)
		if eligible != nil && !eligible.Has(document) {
			continue
		}
		best := -2.0
		for _, v := range all[slot:min(slot+3, len(all))] {
			best = max(best, product(query, v))
		}
		list = append(list, scored{document, best})
	}
	slices.SortFunc(list, func(a, b scored) int { return cmp.Compare(b.cosine, a.cosine) })
	var documents []uint32
	for _, s := range list[:min(n, len(list))] {
		documents = append(documents, s.document)
	}
	return documents
}

func recall(got, want []uint32) float64 {
	found := 0
	for _, d := range want {
		if slices.Contains(got, d) {
			found++
		}
	}
	return float64(found) / float64(len(want))
}

func TestRecallAgainstFloats(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector, and about nothing concurrent")
	}
	for _, test := range []struct {
		n, dims, centres int
		every            int // one of so many documents is eligible; 0: all, without a filter
		least            float64
	}{
		{n: 3_000, dims: 128, centres: 100, least: .92},              // all read: what is off is the rounding
		{n: 24_000, dims: 128, centres: 2000, least: .91},            // by codes
		{n: 24_000, dims: 128, centres: 2000, every: 1, least: .91},  // by codes with a filter
		{n: 24_000, dims: 128, centres: 2000, every: 2, least: .92},  // all read
		{n: 24_000, dims: 128, centres: 2000, every: 40, least: .90}, // all read, each alone
		{n: 21_000, dims: 768, centres: 1000, least: .91},
		{n: 21_000, dims: 48, centres: 1000, least: .90},
	} {
		t.Run(fmt.Sprintf("%d of %d, one of %d", test.n, test.dims, test.every), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(3, 4))
			all := clustered(r, test.n, test.dims, test.centres, .7)
			s := fill(t, all)
			var eligible vectors.Documents
			if test.every > 0 {
				for d := uint32(1); d <= uint32(test.n/3); d += uint32(test.every) {
					eligible.Add(d)
				}
			}
			sum, queries := 0.0, 10
			for range queries {
				query := slices.Clone(all[r.IntN(len(all))])
				for i := range query {
					query[i] += .05 * float32(r.NormFloat64())
				}
				got := documentsOf(s.Search(vectors.Query{Vector: query}, eligible, 10))
				sum += recall(got, exact(all, query, eligible, 10))
			}
			if got := sum / float64(queries); got < test.least {
				t.Errorf("got recall@10 %.3f, want at least %.2f", got, test.least)
			} else {
				t.Logf("recall@10 %.3f", got)
			}
		})
	}
}

// TestEveryDocumentWhenAllAreAskedFor: asking for many gives many, each once.
func TestEveryDocumentWhenAllAreAskedFor(t *testing.T) {
	all := clustered(rand.New(rand.NewPCG(3, 4)), 30_000, 64, 100, .7)
	s := fill(t, all)
	got := documentsOf(s.Search(vectors.Query{Vector: all[0]}, nil, 10_000))
	slices.Sort(got)
	if n := len(got); n != 10_000 || len(slices.Compact(got)) != n {
		t.Errorf("got %d documents, want each of 10000 once", n)
	}
}

func BenchmarkSearch(b *testing.B) {
	for _, size := range []struct{ fragments, dims int }{{10_000, 128}, {100_000, 128}, {1_000_000, 128}, {10_000, 768}, {100_000, 768}} {
		b.Run(fmt.Sprintf("dims=%d/fragments=%d", size.dims, size.fragments), func(b *testing.B) {
			s, queries := large(b, size.fragments, size.dims)
			for i := 0; b.Loop(); i++ {
				if len(s.Search(vectors.Query{Vector: queries[i%len(queries)]}, nil, 300)) == 0 {
					b.Fatal("nothing found")
				}
			}
		})
	}
}

// TestDocumentsOfManyFragments: the nearest 2,000 fragments are one document's.
func TestDocumentsOfManyFragments(t *testing.T) {
	s := open(t, newPath(t), "m", 3)
	for slot := range uint32(2000) {
		put(t, s, slot, 1, []float32{1, 0, 0})
	}
	put(t, s, 2000, 2, []float32{1, 1, 0})
	put(t, s, 2001, 3, []float32{-1, 0, 0})
	flush(t, s)
	if got := documentsOf(s.Search(vectors.Query{Vector: []float32{1, 0, 0}}, nil, 3)); !slices.Equal(got, []uint32{1, 2, 3}) {
		t.Errorf("got %v, want [1 2 3]", got)
	}
}

// BenchmarkSearchEligible has a tenth of a million fragments eligible, in every
// tenth document, and 1,500 of them.
func BenchmarkSearchEligible(b *testing.B) {
	s, queries := large(b, 1_000_000, 128)
	for _, every := range []uint32{10, 667} {
		b.Run(fmt.Sprintf("every=%d", every), func(b *testing.B) {
			var eligible vectors.Documents
			for d := uint32(1); d < 333_333; d += every {
				eligible.Add(d)
			}
			for i := 0; b.Loop(); i++ {
				if len(s.Search(vectors.Query{Vector: queries[i%len(queries)]}, eligible, 300)) == 0 {
					b.Fatal("nothing found")
				}
			}
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	s, _ := large(b, 1_000_000, 128)
	b.SetBytes(1_000_000 * 92)
	for b.Loop() {
		r, err := vectors.OpenReadOnly(s.Path(), "m", 128)
		if err != nil {
			b.Fatal(err)
		}
		_ = r.Close()
	}
}

func BenchmarkPut(b *testing.B) {
	all := clustered(rand.New(rand.NewPCG(3, 4)), 1000, 128, 100, .7)
	s := open(b, newPath(b), "m", 128)
	for slot := uint32(0); b.Loop(); slot++ {
		put(b, s, slot, slot/3+1, all[slot%1000])
	}
}

// large makes a set too large to keep its floats: vectors come again with a few
// numbers changed.
func large(b *testing.B, fragments, dims int) (s *vectors.Set, queries [][]float32) {
	r := rand.New(rand.NewPCG(3, 4))
	all := clustered(r, min(fragments, 50_000), dims, 2000, .7)
	s = open(b, newPath(b), "m", dims)
	v := make([]float32, dims)
	for slot := range fragments {
		copy(v, all[slot%len(all)])
		for i := range 16 {
			v[r.IntN(dims)] += .3 * float32(i%3)
		}
		put(b, s, uint32(slot), uint32(slot/3+1), v)
	}
	flush(b, s)
	return s, all[:100]
}

// TestSearchWithTwoTables searches vectors of two tables: the documents of one are compared
// with one vector of the query, the others with the other, whether all are compared, or
// their codes first.
func TestSearchWithTwoTables(t *testing.T) {
	const dims, n = 128, 24_000
	r := rand.New(rand.NewPCG(11, 1))
	all := clustered(r, n, dims, 200, .5)
	s := fill(t, all)
	others, few := vectors.Documents{}, vectors.Documents{}
	for document := uint32(1); document <= n/3; document++ {
		if document%2 == 0 {
			others.Add(document)
		}
		if document <= 400 {
			few.Add(document)
		}
	}
	for _, slot := range []int{300, 600, 900} {
		// Of a document of each table: both are found, each by the vector of its table.
		query := vectors.Query{Vector: all[slot], Other: all[slot+3], Others: others}
		for name, eligible := range map[string]vectors.Documents{"all": nil, "few": few} {
			got := s.Search(query, eligible, 200)
			if len(got) != 200 {
				t.Fatalf("%s: %d matches", name, len(got))
			}
			for _, m := range got {
				with := query.Vector
				if others.Has(m.Document) {
					with = query.Other
				}
				slot := 3 * (m.Document - 1)
				slot += uint32(m.Fragment - uint8(slot)) //nolint:gosec // see PutAt
				if want := cosine(with, all[slot]); math.Abs(float64(m.Cosine)-want) > .05 {
					t.Errorf("%s: document %d has the cosine %.3f, want %.3f", name, m.Document, m.Cosine, want)
				}
			}
			if got[0].Cosine < .99 || got[1].Cosine < .99 || others.Has(got[0].Document) == others.Has(got[1].Document) {
				t.Errorf("%s: the two documents of the query are not first: %v", name, got[:2])
			}
			if compared := s.Compare(query, got[0].Document, got[1].Document); !slices.Equal(compared, got[:2]) {
				t.Errorf("%s: compared %v, searched %v", name, compared, got[:2])
			}
		}
	}
	if got := s.Search(vectors.Query{Vector: all[0], Other: make([]float32, 3), Others: others}, nil, 5); got != nil {
		t.Errorf("a query of two sizes finds %v", got)
	}
}

// TestEquallyNear: documents that are exactly as near as the last come too, as many again at most.
func TestEquallyNear(t *testing.T) {
	s := open(t, newPath(t), "m", 2)
	put(t, s, 0, 1, []float32{1, 0})
	for d := uint32(2); d < 12; d++ {
		put(t, s, d, d, []float32{1, 1})
	}
	put(t, s, 20, 20, []float32{0, 1})
	flush(t, s)
	for n, want := range map[int]int{1: 1, 2: 4, 3: 6, 8: 11, 11: 11, 12: 12} {
		if got := s.Search(vectors.Query{Vector: []float32{1, .1}}, nil, n); len(got) != want || got[0].Document != 1 {
			t.Errorf("%d: got %v, want %d documents", n, got, want)
		}
	}
}
