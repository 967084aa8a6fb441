package vectors_test

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"claudemem/internal/keep/index/vectors"
)

func TestReopenFindsWhatWasSynced(t *testing.T) {
	path := newPath(t)
	s := open(t, path, "m", 2)
	put(t, s, 3, 7, []float32{1, 0})
	put(t, s, 100_000, 8, []float32{0, 1}) // leaves a hole
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, "m", 2)
	if got := documentsOf(s.Search(vectors.Query{Vector: []float32{1, .1}}, nil, 9)); !slices.Equal(got, []uint32{7, 8}) {
		t.Errorf("got %v, want [7 8]", got)
	}
	if document, ok := s.Document(100_000); document != 8 || !ok {
		t.Errorf("slot 100000: got %d %v, want 8 true", document, ok)
	}
	for _, slot := range []uint32{0, 4, 100_001, math.MaxUint32} {
		if document, ok := s.Document(slot); ok {
			t.Errorf("slot %d: got %d, want none", slot, document)
		}
	}
}

func TestOpenStartsAfresh(t *testing.T) {
	for name, change := range map[string]struct {
		model string
		dims  int
		edit  func(file []byte) []byte
		want  int
	}{
		"the same":         {model: "m", dims: 2, want: 1},
		"another model":    {model: "n", dims: 2},
		"another size":     {model: "m", dims: 3},
		"another version":  {model: "m", dims: 2, edit: func(b []byte) []byte { b[7]++; return b }},
		"a damaged header": {model: "m", dims: 2, edit: func(b []byte) []byte { b[62] ^= 1; return b }},
		"half a header":    {model: "m", dims: 2, edit: func(b []byte) []byte { return b[:30] }},
		"an empty file":    {model: "m", dims: 2, edit: func([]byte) []byte { return nil }},
		"something else":   {model: "m", dims: 2, edit: func([]byte) []byte { return bytes.Repeat([]byte("SQLite format 3\x00"), 99) }},
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			s := open(t, path, "m", 2)
			put(t, s, 1, 1, []float32{1, 0})
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if change.edit != nil {
				editFile(t, path, change.edit)
			}
			_, err := vectors.OpenReadOnly(path, change.model, change.dims)
			if got, want := errors.Is(err, vectors.ErrMismatch), change.want == 0; got != want {
				t.Errorf("read-only: got error %v, want mismatch %v", err, want)
			}
			s = open(t, path, change.model, change.dims)
			if got := s.Len(); got != change.want {
				t.Errorf("Len: got %d, want %d", got, change.want)
			}
			put(t, s, 5, 9, make([]float32, change.dims))
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if got := open(t, path, change.model, change.dims).Len(); got != change.want+1 {
				t.Errorf("opened again, Len: got %d, want %d", got, change.want+1)
			}
		})
	}
}

func editFile(t *testing.T, path string, edit func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, edit(b), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestTornFile cuts the file at every length and flips every byte: what is left
// whole is found, with the right cosine, and nothing else.
func TestTornFile(t *testing.T) {
	path := newPath(t)
	s := open(t, path, "m", 2)
	put(t, s, 0, 1, []float32{1, 0})
	put(t, s, 1, 2, []float32{0, 1})
	put(t, s, 2, 3, []float32{1, 1})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	header, record := 64, (len(whole)-64)/3
	check := func(t *testing.T, b []byte, want []uint32) {
		t.Helper()
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, path, "m", 2)
		got := documentsOf(s.Search(vectors.Query{Vector: []float32{1, 0}}, nil, 9))
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		// The place can be used again.
		put(t, s, 2, 4, []float32{1, 0})
		put(t, s, 3, 5, []float32{1, 0})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, path, "m", 2)
		if document, _ := s.Document(2); document != 4 {
			t.Errorf("slot 2: got %d, want 4", document)
		}
		_ = s.Close()
	}
	for n := header; n <= len(whole); n++ {
		var want []uint32
		for i := range (n - header) / record {
			want = append(want, uint32(i+1))
		}
		check(t, slices.Clone(whole[:n]), want)
	}
	for n := header; n < len(whole); n++ {
		b := slices.Clone(whole)
		b[n] ^= 0x10
		want := []uint32{1, 2, 3}
		damaged := (n - header) / record
		check(t, b, slices.Delete(want, damaged, damaged+1))
	}
}

// FuzzOpen: whatever stands behind a header, the file opens, and searches return.
func FuzzOpen(f *testing.F) {
	path := filepath.Join(f.TempDir(), "v")
	s := open(f, path, "m", 4)
	put(f, s, 0, 1, []float32{1, 2, 3, 4})
	put(f, s, 2, 9, []float32{-1, 2, 3, 4})
	if err := s.Close(); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole[64:])
	f.Add(whole[64:100])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, records []byte) {
		path := newPath(t)
		if err := os.WriteFile(path, slices.Concat(whole[:64], records), 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, path, "m", 4)
		if got, most := len(s.Search(vectors.Query{Vector: []float32{1, 0, 0, 0}}, nil, 9)), s.Len(); got > most {
			t.Errorf("got %d matches of %d", got, most)
		}
		if err := s.Keep(func(document uint32) bool { return document%2 == 0 }); err != nil {
			t.Error(err)
		}
	})
}

// TestProperty compares a set with a map under random changes and reopenings.
func TestProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "vectors")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		path := filepath.Join(dir, "v")
		s, err := vectors.Open(path, "m", 5)
		if err != nil {
			t.Fatal(err)
		}
		type fragment struct {
			document uint32
			vector   []float32
		}
		model := map[uint32]fragment{}
		slot := rapid.Uint32Range(0, 40)
		sync := func(t *rapid.T) {
			if err := s.Sync(); err != nil {
				t.Fatal(err)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				f := fragment{rapid.Uint32Range(1, 9).Draw(t, "document"), rapid.SliceOfN(rapid.Float32Range(-9, 9), 5, 5).Draw(t, "vector")}
				at := slot.Draw(t, "slot")
				if err := s.PutAt(at, f.document, f.vector); err != nil {
					t.Fatal(err)
				}
				model[at] = f
			},
			"delete": func(t *rapid.T) {
				slots := rapid.SliceOf(slot).Draw(t, "slots")
				if err := s.Delete(slots...); err != nil {
					t.Fatal(err)
				}
				for _, at := range slots {
					delete(model, at)
				}
			},
			"keep": func(t *rapid.T) {
				sync(t)
				odd := rapid.Uint32Range(0, 9).Draw(t, "document")
				if err := s.Keep(func(document uint32) bool { return document != odd }); err != nil {
					t.Fatal(err)
				}
				for at, f := range model {
					if f.document == odd {
						delete(model, at)
					}
				}
			},
			"reopen": func(t *rapid.T) {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				if s, err = vectors.Open(path, "m", 5); err != nil {
					t.Fatal(err)
				}
			},
			"": func(t *rapid.T) {
				sync(t)
				if got, want := s.Len(), len(model); got != want {
					t.Fatalf("Len: got %d, want %d", got, want)
				}
				for at := range uint32(41) {
					if got, _ := s.Document(at); got != model[at].document {
						t.Fatalf("slot %d: got %d, want %d", at, got, model[at].document)
					}
				}
				query := []float32{1, -2, 3, .5, 1}
				best := map[uint32]float64{}
				for _, f := range model {
					if slices.ContainsFunc(f.vector, func(x float32) bool { return x != 0 }) {
						best[f.document] = max(cosine(query, f.vector), orLow(best, f.document))
					}
				}
				got := s.Search(vectors.Query{Vector: query}, nil, 100)
				if len(got) != len(best) {
					t.Fatalf("got %v, want %v", got, best)
				}
				for _, m := range got {
					if math.Abs(best[m.Document]-float64(m.Cosine)) > fewDimensions {
						t.Fatalf("document %d: got %f, want %f", m.Document, m.Cosine, best[m.Document])
					}
				}
				if compared := s.Compare(vectors.Query{Vector: query}, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 77, math.MaxUint32); !slices.Equal(compared, got) {
					t.Fatalf("compared: got %v, want %v", compared, got)
				}
				eligible := vectors.Documents{1 << 7}
				if one, want := s.Search(vectors.Query{Vector: query}, eligible, 3), s.Compare(vectors.Query{Vector: query}, 7); !slices.Equal(one, want) {
					t.Fatalf("document 7: got %v, want %v", one, want)
				}
			},
		})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func orLow(best map[uint32]float64, document uint32) float64 {
	if x, ok := best[document]; ok {
		return x
	}
	return -2
}
