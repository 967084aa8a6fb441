package rank

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDocument(t *testing.T) {
	for name, d := range map[string]Document{
		"nothing":      {},
		"a title":      {Words: [NumFields][]uint32{Title: {1, 2, 0, 1 << 31}}},
		"every field":  {Words: [NumFields][]uint32{{1}, {2, 0, 3}, {4}, {5}, {6, 7}, {8}}},
		"only the end": {Words: [NumFields][]uint32{Neighbours: {9, 9}}},
	} {
		t.Run(name, func(t *testing.T) {
			stored := d.Encode([]byte("before"))[len("before"):]
			got := Document{Words: [NumFields][]uint32{{11, 12}, {13, 14, 15}}} // what was in it does not show
			if err := got.Decode(stored); err != nil {
				t.Fatal(err)
			}
			for f := range d.Words {
				if len(got.Words[f])+len(d.Words[f]) > 0 && !cmp.Equal(got.Words[f], d.Words[f]) {
					t.Errorf("field %d: got %v, want %v", f, got.Words[f], d.Words[f])
				}
			}
			for n := range stored {
				if got.Decode(stored[:n]) == nil {
					t.Errorf("the first %d of %d bytes are taken for a document", n, len(stored))
				}
			}
			if got.Decode(append(bytes.Clone(stored), 0, 0, 0, 0)) == nil {
				t.Error("a document with a word too many is taken")
			}
		})
	}
}

func TestLength(t *testing.T) {
	d := Document{Words: [NumFields][]uint32{Title: {1}, Text: {1, 0, 0, 2}, Files: {6}, Parts: {3}, Neighbours: {4, 0, 5}}}
	if got, want := d.Length(), 4; got != want {
		t.Errorf("length %d, want %d: the words of Text and Neighbours, no gaps", got, want)
	}
}

func TestDecodeAllocatesNothing(t *testing.T) {
	d := benchmarkDocument(1)
	stored := d.Encode(nil)
	var into Document
	if err := into.Decode(stored); err != nil {
		t.Fatal(err)
	}
	q := benchmarkQuery()
	if n := testing.AllocsPerRun(10, func() {
		if err := into.Decode(stored); err != nil {
			t.Fatal(err)
		}
		q.Score(&into)
	}); n != 0 {
		t.Errorf("%v allocations for decoding and scoring, want none", n)
	}
}

func FuzzDecode(f *testing.F) {
	d := benchmarkDocument(1)
	f.Add(d.Encode(nil))
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, stored []byte) {
		var d Document
		if d.Decode(stored) != nil {
			return
		}
		if again := d.Encode(nil); !bytes.Equal(again, stored) {
			t.Errorf("%x decoded and encoded again is %x", stored, again)
		}
		benchmarkQuery().Score(&d)
	})
}
