package rank

import "testing"

func TestLength(t *testing.T) {
	d := Document{Words: [NumFields][]uint32{Title: {1}, Text: {1, 0, 0, 2}, Files: {6}, Parts: {3}, Neighbours: {4, 0, 5}}}
	if got, want := d.Length(), 4; got != want {
		t.Errorf("length %d, want %d: the words of Text and Neighbours, no gaps", got, want)
	}
}

func TestScoreAllocatesNothing(t *testing.T) {
	d, q := benchmarkDocument(1), benchmarkQuery()
	if n := testing.AllocsPerRun(10, func() { q.Score(&d) }); n != 0 {
		t.Errorf("%v allocations for scoring, want none", n)
	}
}
