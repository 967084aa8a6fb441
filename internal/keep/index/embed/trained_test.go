package embed

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
)

// trainedTable returns the built-in table with two entries of its own, and its file.
func trainedTable(t *testing.T) (base, own *Table, entries []uint16, file []byte) {
	t.Helper()
	base = builtinTable(t)
	entries = slices.Sorted(slices.Values(base.Pieces("error banana")))
	vectors := make([]float32, len(entries)*base.dims)
	for i := range vectors {
		vectors[i] = float32(i%7) - 3
	}
	own, file, err := base.WithVectors(Training{Records: 5, Of: 9, Input: [32]byte{1}}, entries, vectors)
	if err != nil {
		t.Fatal(err)
	}
	return base, own, entries, file
}

func TestTrainedTable(t *testing.T) {
	base, own, entries, file := trainedTable(t)
	again, err := base.OpenTrained(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []*Table{own, again} {
		if !strings.HasPrefix(table.Model(), Model+"+") || table.Model() != own.Model() || table.Dimensions() != 128 {
			t.Errorf("model %s of %d dimensions", table.Model(), table.Dimensions())
		}
		if got, ok := table.Training(); !ok || got != (Training{Records: 5, Of: 9, Input: [32]byte{1}}) {
			t.Errorf("training %+v, %v", got, ok)
		}
		for i, e := range entries {
			for k, x := range table.Entry(e) {
				if want := float32((i*128+k)%7) - 3; math.Abs(float64(x-want)) > 3./127 {
					t.Fatalf("number %d of entry %d is %f, want %f", k, e, x, want)
				}
			}
		}
		// All other words have the vectors of the base.
		pieces := base.Pieces("token refresh")
		if !slices.Equal(table.Vector(pieces), base.Vector(pieces)) || !slices.Equal(table.Pieces("token refresh"), pieces) {
			t.Error("a word that was not trained has another vector")
		}
		if c := table.Cosine(entries[0], entries[0]); math.Abs(float64(c)-1) > 1e-5 {
			t.Errorf("cosine with itself %f", c)
		}
	}
	if _, ok := base.Training(); ok {
		t.Error("the built-in table says that it was trained")
	}
	if slices.Equal(own.Vector(entries), base.Vector(entries)) {
		t.Error("the trained words have their old vectors")
	}
	vectors := make([]float32, len(entries)*128)
	other, _, err := base.WithVectors(Training{Records: 5, Of: 9, Input: [32]byte{1}}, entries, vectors)
	if err != nil || other.Model() == own.Model() {
		t.Errorf("other vectors have the name %s too; %v", other.Model(), err)
	}
	if _, _, err := base.WithVectors(Training{}, entries, vectors[:5]); err == nil {
		t.Error("too few numbers: no error")
	}
}

func TestDamagedTrainedTable(t *testing.T) {
	base, _, _, file := trainedTable(t)
	for i := range file {
		damaged := bytes.Clone(file)
		damaged[i] ^= 1
		if _, err := base.OpenTrained(damaged); err == nil {
			t.Fatalf("byte %d damaged: no error", i)
		}
		if _, err := base.OpenTrained(file[:i]); err == nil {
			t.Fatalf("cut at %d: no error", i)
		}
	}
	if _, err := base.OpenTrained(nil); err == nil {
		t.Error("no file: no error")
	}
}
