package index

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"claudemem/internal/memory"
)

// someBlock is a block of documents at random.
func someBlock(t *rapid.T) *block {
	k := new(block)
	for range rapid.IntRange(0, blockDocuments).Draw(t, "documents") {
		e := blockEntry{
			entry: entry{
				record: rapid.Int64().Draw(t, "record"), session: rapid.Int64().Draw(t, "session"), createdAt: rapid.Int64().Draw(t, "at"),
				project: rapid.Uint32Range(0, 1<<24).Draw(t, "project"), kind: kind(rapid.Uint8Range(1, 3).Draw(t, "kind")),
			},
			typ:    rapid.SampledFrom([]memory.ObservationType{"", "bugfix", "decision", "of the user \x00"}).Draw(t, "type"),
			length: rapid.IntRange(0, 1<<20).Draw(t, "length"),
			waits:  rapid.Bool().Draw(t, "waits"),
		}
		if !e.waits {
			e.names = rapid.SliceOfN(rapid.Uint16Range(0, maxFacts+3), 0, maxFacts+2).Draw(t, "names")
			if len(e.names) > 0 {
				e.first = rapid.Uint32Range(0, maxSlotNumber-maxFacts-4).Draw(t, "first")
			}
		}
		k[rapid.IntRange(0, blockDocuments-1).Draw(t, "place")] = e
	}
	return k
}

func TestBlockReturns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := someBlock(t)
		stored := want.encode()
		got := new(block)
		err := decodeBlock(stored, func(place uint32, e *blockEntry) {
			got[place] = *e
			got[place].names = slices.Clone(e.names)
		})
		if stored != nil && err != nil {
			t.Fatal(err)
		}
		for i := range want {
			w, g := want[i], got[i]
			if !slices.Equal(w.names, g.names) {
				t.Fatalf("document %d: names %v, want %v", i, g.names, w.names)
			}
			w.names, g.names = nil, nil
			if w.entry != g.entry || w.typ != g.typ || w.length != g.length || w.waits != g.waits || w.first != g.first {
				t.Fatalf("document %d: %+v, want %+v", i, g, w)
			}
		}
		if len(stored) > 1 && decodeBlock(stored[:len(stored)-1], func(uint32, *blockEntry) {}) == nil {
			t.Error("a block without its last byte is taken")
		}
	})
}

func FuzzDecodeBlock(f *testing.F) {
	k := new(block)
	k[3] = blockEntry{entry: entry{record: 7, session: 2, createdAt: 1_700_000_000_000, project: 1, kind: 1}, typ: "bugfix", length: 90, first: 12, names: []uint16{0, 1, 3}}
	k[4] = blockEntry{entry: entry{record: 8, kind: 3}, waits: true}
	f.Add(k.encode())
	f.Add([]byte{255, 255, 255, 255, 15})
	f.Fuzz(func(t *testing.T, stored []byte) {
		documents := 0
		_ = decodeBlock(stored, func(place uint32, e *blockEntry) {
			if documents++; place >= blockDocuments || documents > blockDocuments || len(e.names) > maxFacts+4 || e.kind < 1 || e.kind > 3 {
				t.Errorf("document %d of %d: %+v", place, documents, e)
			}
		})
	})
}
