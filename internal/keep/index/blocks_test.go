package index

import (
	"testing"

	"pgregory.net/rapid"

	"claudemem/internal/memory"
)

// someBlock is a block of documents at random.
func someBlock(t *rapid.T) *block {
	k := new(block)
	for range rapid.IntRange(0, blockDocuments).Draw(t, "documents") {
		k[rapid.IntRange(0, blockDocuments-1).Draw(t, "place")] = blockEntry{
			entry: entry{
				record: rapid.Int64().Draw(t, "record"), session: rapid.Int64().Draw(t, "session"), createdAt: rapid.Int64().Draw(t, "at"),
				project: rapid.Uint32Range(0, 1<<24).Draw(t, "project"), kind: kind(rapid.Uint8Range(1, 3).Draw(t, "kind")),
				vectors: rapid.Uint8().Draw(t, "vectors"),
			},
			typ:    rapid.SampledFrom([]memory.ObservationType{"", "bugfix", "decision", "of the user \x00"}).Draw(t, "type"),
			length: rapid.IntRange(0, 1<<20).Draw(t, "length"),
		}
	}
	return k
}

func TestBlockReturns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := someBlock(t)
		stored := want.encode()
		var got block
		if err := got.decode(stored); err != nil || got != *want {
			t.Fatalf("got %+v, want %+v; %v", got, want, err)
		}
		if got.decode(stored[:len(stored)-1]) == nil || got.decode(append(stored, 0)) == nil {
			t.Error("a block with a byte too few or too many is taken")
		}
	})
}

func FuzzDecodeBlock(f *testing.F) {
	k := new(block)
	k[3] = blockEntry{entry: entry{record: 7, session: 2, createdAt: 1_700_000_000_000, project: 1, kind: 1, vectors: 3}, typ: "bugfix", length: 90}
	k[4] = blockEntry{entry: entry{record: 8, kind: 3, vectors: waits}}
	f.Add(k.encode())
	f.Add([]byte{255, 255, 255, 255, 15})
	f.Fuzz(func(t *testing.T, stored []byte) {
		var k block
		if k.decode(stored) != nil {
			return
		}
		for place, e := range k {
			if e.kind > 3 || len(e.typ) > len(stored) || e.project > 1<<24 {
				t.Errorf("document %d: %+v", place, e)
			}
		}
	})
}
