package vectors

import (
	"path/filepath"
	"testing"
)

func TestCompare(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "v.vec"), "m", 2)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for slot, v := range [][]float32{{1, 0}, {0, 1}, {1, 1}, {-1, 0}} {
		if err := s.Put(uint32(slot), uint32(1+slot/2), v); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	got := s.Compare([]float32{0, 3}, []uint32{0, 1, 2, 3, 4, 99})
	if len(got) != 2 || got[0].Slot != 1 || got[0].Document != 1 || got[0].Cosine < .99 || got[1].Slot != 2 || got[1].Document != 2 {
		t.Errorf("got %v", got)
	}
	if got := s.Compare([]float32{0, 3}, []uint32{3}); len(got) != 1 || got[0].Slot != 3 {
		t.Errorf("one slot: %v", got)
	}
	if got := s.Compare([]float32{1}, []uint32{0}); got != nil {
		t.Errorf("a query of another size: %v", got)
	}
}
