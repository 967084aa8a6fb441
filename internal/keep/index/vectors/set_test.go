package vectors_test

import (
	"errors"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"claudemem/internal/keep/index/vectors"
)

const dims = 128

// fewDimensions is how much a cosine may be off where there are so few dimensions that the
// numbers of a turned vector have no normal distribution, which the levels suppose.
const fewDimensions = .1

func open(t testing.TB, path, model string, dims int) *vectors.Set {
	t.Helper()
	s, err := vectors.Open(path, model, dims)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "vectors.bin") }

func put(t testing.TB, s *vectors.Set, slot, document uint32, v []float32) {
	t.Helper()
	if err := s.PutAt(slot, document, v); err != nil {
		t.Fatal(err)
	}
}

func flush(t testing.TB, s *vectors.Set) {
	t.Helper()
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
}

// random is a vector of normally distributed numbers.
func random(r *rand.Rand, dims int) []float32 {
	v := make([]float32, dims)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i, x := range a {
		y := b[i]
		ab += float64(x) * float64(y)
		aa += float64(x) * float64(x)
		bb += float64(y) * float64(y)
	}
	return ab / math.Sqrt(aa*bb)
}

func documentsOf(matches []vectors.Match) []uint32 {
	var documents []uint32
	for _, m := range matches {
		documents = append(documents, m.Document)
	}
	return documents
}

func TestSearchReturnsDocumentsByTheirBestFragment(t *testing.T) {
	s := open(t, newPath(t), "m", 3)
	put(t, s, 1, 10, []float32{1, 0, 0})
	put(t, s, 2, 10, []float32{0, 1, 0})
	put(t, s, 3, 20, []float32{3, 3, 0}) // the length does not count
	put(t, s, 4, 30, []float32{0, 0, -1})
	put(t, s, 5, 40, []float32{0, 0, 0}) // says nothing
	flush(t, s)
	got := s.Search(vectors.Query{Vector: []float32{0, 2, 0}}, nil, 10)
	want := []vectors.Match{{Fragment: 2, Document: 10, Cosine: 1}, {Fragment: 3, Document: 20, Cosine: float32(math.Sqrt(.5))}, {Fragment: 4, Document: 30}}
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i, w := range want {
		if g := got[i]; g.Fragment != w.Fragment || g.Document != w.Document || math.Abs(float64(g.Cosine-w.Cosine)) > fewDimensions {
			t.Errorf("match %d: got %v, want %v", i, g, w)
		}
	}
	if got := documentsOf(s.Search(vectors.Query{Vector: []float32{0, 2, 0}}, nil, 1)); !slices.Equal(got, []uint32{10}) {
		t.Errorf("the first: got %v, want [10]", got)
	}
	var eligible vectors.Documents
	eligible.Add(30)
	eligible.Add(20)
	if got := documentsOf(s.Search(vectors.Query{Vector: []float32{0, 2, 0}}, eligible, 10)); !slices.Equal(got, []uint32{20, 30}) {
		t.Errorf("eligible: got %v, want [20 30]", got)
	}
	if got := s.Search(vectors.Query{Vector: []float32{0, 2, 0}}, vectors.Documents{}, 10); len(got) != 0 {
		t.Errorf("none eligible: got %v, want none", got)
	}
	if got := s.Len(); got != 5 {
		t.Errorf("Len: got %d, want 5", got)
	}
}

func TestDocuments(t *testing.T) {
	var d vectors.Documents
	want := []uint32{0, 1, 63, 64, 700, 4000}
	for _, n := range want {
		d.Add(n)
		d.Add(n)
	}
	if got := slices.Collect(d.All()); !slices.Equal(got, want) || d.Len() != len(want) {
		t.Errorf("got %v, %d of them, want %v", got, d.Len(), want)
	}
	if !d.Has(63) || d.Has(62) || d.Has(math.MaxUint32) {
		t.Error("Has does not tell what was added")
	}
}

func TestSearchRefusesWhatIsNoQuery(t *testing.T) {
	s := open(t, newPath(t), "m", 3)
	put(t, s, 1, 1, []float32{1, 0, 0})
	flush(t, s)
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for name, query := range map[string][]float32{"nil": nil, "short": {1}, "long": {1, 2, 3, 4}, "zeros": {0, 0, 0}, "infinite": {1, inf, 0}, "no number": {nan, 1, 1}} {
		if got := s.Search(vectors.Query{Vector: query}, nil, 5); len(got) != 0 {
			t.Errorf("%s: got %v, want nothing", name, got)
		}
	}
	for _, n := range []int{0, -1} {
		if got := s.Search(vectors.Query{Vector: []float32{1, 0, 0}}, nil, n); len(got) != 0 {
			t.Errorf("n %d: got %v, want nothing", n, got)
		}
	}
}

func TestPutRefusesWhatCannotBeKept(t *testing.T) {
	s := open(t, newPath(t), "m", 2)
	for name, err := range map[string]error{
		"short":        s.PutAt(1, 1, []float32{1}),
		"infinite":     s.PutAt(1, 1, []float32{1, float32(math.Inf(-1))}),
		"no number":    s.PutAt(1, 1, []float32{1, float32(math.NaN())}),
		"no document":  s.PutAt(1, 0, []float32{1, 1}),
		"far document": s.PutAt(1, math.MaxUint32, []float32{1, 1}),
		"far slot":     s.PutAt(math.MaxUint32, 1, []float32{1, 1}),
	} {
		if err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
	if got := s.Len(); got != 0 {
		t.Errorf("Len: got %d, want 0", got)
	}
	for _, dims := range []int{-1, 0, 5000} {
		if _, err := vectors.Open(newPath(t), "m", dims); err == nil {
			t.Errorf("%d dimensions: got no error", dims)
		}
	}
}

// TestPutTakesEmptySlots: the fragments of a document come to lie where others were deleted, then
// behind all.
func TestPutTakesEmptySlots(t *testing.T) {
	path := newPath(t)
	s := open(t, path, "m", 2)
	fragments := func(names ...uint8) (list []vectors.Fragment) {
		for _, name := range names {
			list = append(list, vectors.Fragment{Name: name, Vector: []float32{1, float32(name)}})
		}
		return list
	}
	add := func(document uint32, want []uint32, names ...uint8) {
		t.Helper()
		slots, err := s.Put(document, fragments(names...)...)
		got := s.Slots(document)
		slices.Sort(got)
		if err != nil || !slices.Equal(slots, want) || !slices.Equal(got, want) {
			t.Errorf("document %d: got slots %v, has %v, want %v; %v", document, slots, got, want, err)
		}
	}
	add(1, []uint32{0, 1}, 0, 3)
	add(2, []uint32{2, 3, 4}, 0, 1, 2)
	add(3, nil)
	if err := s.Delete(1, 3); err != nil {
		t.Fatal(err)
	}
	add(4, []uint32{1, 3, 5}, 0, 1, 7)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, "m", 2)
	if got := s.Compare(vectors.Query{Vector: []float32{1, 7}}, 4); len(got) != 1 || got[0].Fragment != 7 {
		t.Errorf("got %v, want fragment 7", got)
	}
	if err := s.Delete(s.Slots(2)...); err != nil {
		t.Fatal(err)
	}
	add(5, []uint32{2, 4, 6, 7}, 0, 1, 2, 3)
	if got := s.Len(); got != 8 {
		t.Errorf("Len: got %d, want 8", got)
	}
}

func TestCosineIsCloseToTheFloats(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, dims := range []int{1, 7, 64, 100, 128, 200, 256, 768, 1536, 4096} {
		s := open(t, newPath(t), "m", dims)
		var all [][]float32
		for slot := range uint32(20) {
			v := random(r, dims)
			all = append(all, v)
			put(t, s, slot, slot+1, v)
		}
		flush(t, s)
		query := random(r, dims)
		got := s.Search(vectors.Query{Vector: query}, nil, 20)
		if len(got) != 20 {
			t.Fatalf("%d dimensions: got %d matches, want 20", dims, len(got))
		}
		for _, m := range got {
			if want := cosine(query, all[m.Fragment]); math.Abs(float64(m.Cosine)-want) > .5/math.Sqrt(max(64, float64(dims))) { // five standard deviations
				t.Errorf("%d dimensions: got cosine %f, want %f", dims, m.Cosine, want)
			}
		}
	}
}

func TestDeleteLeavesZerosInTheFile(t *testing.T) {
	path := newPath(t)
	s := open(t, path, "m", 4)
	for slot := range uint32(10) {
		put(t, s, slot, slot+1, []float32{1, 2, 3, 4})
	}
	flush(t, s)
	put(t, s, 10, 11, []float32{1, 2, 3, 4})
	if err := s.Delete(4, 2, 3, 2, 9, 10, 77, math.MaxUint32); err != nil {
		t.Fatal(err)
	}
	got := documentsOf(s.Search(vectors.Query{Vector: []float32{1, 2, 3, 4}}, nil, 20))
	if want := []uint32{1, 2, 6, 7, 8, 9}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	b, err := os.ReadFile(path) // before Sync
	if err != nil {
		t.Fatal(err)
	}
	const header, record = 64, 13 + 32 + 24
	for slot := range 10 {
		empty := !slices.ContainsFunc(b[header+slot*record:header+(slot+1)*record], func(c byte) bool { return c != 0 })
		if want := slices.Contains([]int{2, 3, 4, 9}, slot); empty != want {
			t.Errorf("slot %d: got zeros %v, want %v", slot, empty, want)
		}
	}
	flush(t, s)
	if got := s.Len(); got != 6 {
		t.Errorf("Len: got %d, want 6", got)
	}
}

func TestKeepDropsWhatTheDatabaseDoesNotKnow(t *testing.T) {
	path := newPath(t)
	s := open(t, path, "m", 2)
	for slot := range uint32(100) {
		put(t, s, slot, slot/4+1, []float32{1, 1})
	}
	flush(t, s)
	if err := s.Keep(func(document uint32) bool { return document%2 == 0 }); err != nil || s.Len() != 48 {
		t.Errorf("got %v and %d left, want 48", err, s.Len())
	}
	_ = s.Close()
	s = open(t, path, "m", 2)
	if got := s.Len(); got != 48 {
		t.Errorf("opened again, Len: got %d, want 48", got)
	}
	if err := s.Keep(func(uint32) bool { return true }); err != nil || s.Len() != 48 {
		t.Errorf("all: got %v and %d left, want 48", err, s.Len())
	}
}

func TestReadOnlyAndClosedSets(t *testing.T) {
	path := newPath(t)
	if _, err := vectors.OpenReadOnly(path, "m", 2); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: got %v, want ErrNotExist", err)
	}
	s := open(t, path, "m", 2)
	put(t, s, 1, 1, []float32{1, 1})
	flush(t, s)
	r, err := vectors.OpenReadOnly(path, "m", 2)
	if err != nil {
		t.Fatal(err)
	}
	if got := documentsOf(r.Search(vectors.Query{Vector: []float32{1, 0}}, nil, 2)); !slices.Equal(got, []uint32{1}) {
		t.Errorf("got %v, want [1]", got)
	}
	if r.PutAt(1, 1, []float32{1, 1}) == nil || r.Delete(1) == nil {
		t.Error("a set for reading was changed")
	}
	if err := r.Keep(func(uint32) bool { return false }); err == nil {
		t.Error("a set for reading was changed by Keep")
	}
	// The file is emptied under the reader's feet, as for another model.
	if err := os.Truncate(path, 64); err != nil {
		t.Fatal(err)
	}
	if got := r.Search(vectors.Query{Vector: []float32{1, 0}}, nil, 2); len(got) != 0 {
		t.Errorf("file emptied: got %v, want nothing", got)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := s.PutAt(1, 1, []float32{1, 1}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Put: got %v, want closed", err)
	}
	if err := s.Sync(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Sync: got %v, want closed", err)
	}
	if err := s.Delete(1); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Delete: got %v, want closed", err)
	}
	if got := s.Search(vectors.Query{Vector: []float32{1, 1}}, nil, 2); len(got) != 0 {
		t.Errorf("got %v, want nothing", got)
	}
}

// TestOneWriterManySearchers looks, under -race too, that a search never returns
// a document with another's cosine: each document's vectors point its own way.
func TestOneWriterManySearchers(t *testing.T) {
	s := open(t, newPath(t), "m", dims)
	const documents = 16
	r := rand.New(rand.NewPCG(5, 6))
	ways := make([][]float32, documents+1)
	for d := range ways {
		ways[d] = random(r, dims)
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var eligible vectors.Documents
			for d := range uint32(documents) {
				eligible.Add(d + 1)
			}
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				query := ways[1+n%documents]
				for _, m := range s.Search(vectors.Query{Vector: query}, eligible, documents) {
					if want := cosine(query, ways[m.Document]); math.Abs(float64(m.Cosine)-want) > .05 {
						t.Errorf("document %d: got %f, want %f", m.Document, m.Cosine, want)
						return
					}
				}
				s.Len()
				s.Document(uint32(n % 3000))
				s.Compare(vectors.Query{Vector: query}, 1, 2, 3)
			}
		})
	}
	for n := range 1500 {
		slot := uint32(r.IntN(2000))
		if n%5 == 4 {
			if err := s.Delete(slot, slot+1, slot+2); err != nil {
				t.Error(err)
			}
			continue
		}
		d := uint32(1 + r.IntN(documents))
		put(t, s, slot, d, ways[d])
		if n%100 == 99 {
			flush(t, s)
		}
	}
	close(done)
	wg.Wait()
}
