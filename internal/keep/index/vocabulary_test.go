package index

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"claudemem/internal/keep/index/rank"
	"claudemem/internal/keep/sqlite"
)

// checkVocabulary compares the table of words with memory, and both with the words that
// documents have.
func checkVocabulary(t errorer, b *base, want map[uint32]bool) {
	t.Helper()
	var stored vocabulary
	err := each(context.Background(), b.reader, "SELECT row, hashes FROM vocabulary ORDER BY row", func(scan sqlite.Scan) error {
		var row uint32
		var hashes []byte
		if err := scan(&row, &hashes); err != nil {
			return err
		}
		hashes, err := unsealed(row, hashes)
		if err != nil {
			return err
		}
		return stored.load(row, hashes)
	})
	if err != nil || !slices.Equal(stored.hashes, b.cat.vocabulary.hashes) {
		t.Errorf("the vocabulary in memory is not that of the table; %v", err)
	}
	got := map[uint32]bool{}
	for n, hash := range stored.hashes {
		if hash == 0 {
			continue
		}
		if got[hash] || n == 0 || !want[hash] {
			t.Errorf("number %d is word %d: twice, a gap, or of no document", n, hash)
		}
		got[hash] = true
	}
	if len(got) != len(want) {
		t.Errorf("%d words, want %d", len(got), len(want))
	}
	v := &b.cat.vocabulary
	if v.numbers == nil {
		return
	}
	for hash, n := range v.numbers {
		if n >= v.end || v.hashes[n] != hash {
			t.Errorf("word %d has number %d of %d, which is that of %d", hash, n, v.end, v.hashes[n])
		}
	}
	if len(v.numbers) != len(got) {
		t.Errorf("%d numbers, %d words", len(v.numbers), len(got))
	}
}

// TestWordsReturn: what a row says is what was put in, whatever words came and went before.
func TestWordsReturn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var v vocabulary
		var held []uint32
		for range rapid.IntRange(1, 20).Draw(t, "batches") {
			w := v.change()
			for range rapid.IntRange(0, 5).Draw(t, "dropped") {
				if len(held) > 0 {
					w.drop(held[0])
					held = held[1:]
				}
			}
			var d rank.Document
			for f := range d.Words {
				d.Words[f] = rapid.SliceOfN(rapid.OneOf(rapid.Just(uint32(0)), rapid.Uint32Range(1, 2000), rapid.Uint32()), 0, 300).Draw(t, "words")
			}
			// A word of this batch is of a document: it is not dropped.
			for _, field := range d.Words {
				for _, hash := range field {
					delete(w.gone, hash)
				}
			}
			row := w.encodeWords(&d)
			w.commit()
			for hash := range w.added {
				held = append(held, hash)
			}
			slices.Sort(held)
			var got rank.Document
			if err := v.decodeWords(row, &got); err != nil || !equalWords(&got, &d) {
				t.Fatalf("got %v, want %v; %v", got, d, err)
			}
			for n := range row {
				if v.decodeWords(row[:n], &got) == nil {
					t.Fatalf("the first %d of %d bytes are taken for a document", n, len(row))
				}
			}
			if v.decodeWords(append(slices.Clone(row), 0), &got) == nil {
				t.Fatal("a row with a byte too many is taken for a document")
			}
		}
	})
}

func TestDecodeWordsAllocatesNothing(t *testing.T) {
	var v vocabulary
	w := v.change()
	o := observation(1, "Cart total", "The cart is rounded twice, per line and at the end.")
	d := newAnalyser().analyse(&o, nil).words
	row := w.encodeWords(&d)
	w.commit()
	var into rank.Document
	if n := testing.AllocsPerRun(10, func() { _ = v.decodeWords(row, &into) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func FuzzDecodeWords(f *testing.F) {
	var v vocabulary
	w := v.change()
	f.Add(w.encodeWords(&rank.Document{Words: [rank.NumFields][]uint32{{1, 2, 0, 1 << 31}, {5}}}))
	w.commit()
	f.Add([]byte{255, 255, 255, 255, 15, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, row []byte) {
		var d rank.Document
		err := v.decodeWords(row, &d)
		words, room := 0, 0
		for _, field := range d.Words {
			words += len(field)
			room += cap(field)
		}
		// A word has a byte at least. append and Grow round up.
		if err == nil && words+len(d.Words) > len(row) || room > 2*len(row)+100 {
			t.Errorf("%x is a document of %d words, with room for %d; %v", row, words, room, err)
		}
	})
}

func TestPieces(t *testing.T) {
	list := []uint16{70, 3, 65535, 0, 129}
	want := []uint16{0, 3, 70, 129, 65535}
	row := packPieces(list)
	if got := unpackPieces(nil, row); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := unpackPieces(nil, append(row, 0x80)); !slices.Equal(got, want) {
		t.Errorf("a damaged end: got %v, want %v", got, want)
	}
	if got := unpackPieces(nil, append(row, 9)); !slices.Equal(got, want) {
		t.Errorf("beyond the last piece: got %v, want %v", got, want)
	}
}

// TestPiecesReturn: any set of pieces comes back in rising order, and any bytes are some.
func TestPiecesReturn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(rapid.Uint16(), rapid.Uint16Range(0, 200), rapid.Uint16Range(65500, 65535))
		list := rapid.SliceOfNDistinct(piece, 0, 300, rapid.ID).Draw(t, "pieces")
		want := slices.Sorted(slices.Values(list))
		row := packPieces(list)
		if got := unpackPieces([]uint16{7}, row); !slices.Equal(got[1:], want) || got[0] != 7 {
			t.Fatalf("got %v, want 7 and %v", got, want)
		}
		for n := range row {
			if got := unpackPieces(nil, row[:n]); len(got) >= len(want) || !slices.Equal(got, want[:len(got)]) {
				t.Fatalf("the first %d of %d bytes: got %v, want the first of %v", n, len(row), got, want)
			}
		}
		damaged := rapid.SliceOf(rapid.Byte()).Draw(t, "damaged row")
		got := unpackPieces(nil, damaged)
		if len(got) > len(damaged) {
			t.Fatalf("%x: %d pieces, want one a byte at most", damaged, len(got))
		}
		for i := 1; i < len(got); i++ {
			if got[i] <= got[i-1] {
				t.Fatalf("%x: got %v, want a rising list", damaged, got)
			}
		}
	})
}

// BenchmarkDecodeWords reads documents of 260 words of a vocabulary of 173,000: as many,
// with about the shares of low numbers, as observations of proof/bench/search. They are 2,000, so
// that the processor does not learn them.
func BenchmarkDecodeWords(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // not for secrets
	v := vocabulary{hashes: make([]uint32, 173_000)}
	for n := range v.hashes {
		v.hashes[n] = random.Uint32()
	}
	number := func() uint32 {
		share, from := random.Float64(), 0
		for _, numbers := range []struct {
			end   int
			share float64 // of words that have a number below end
		}{{1, .084}, {2, .137}, {4, .168}, {8, .222}, {16, .299}, {114, .549}, {1138, .886}, {9330, .943}, {70_000, .989}, {135_000, .994}} {
			if share < numbers.share {
				return uint32(from + random.IntN(numbers.end-from)) //nolint:gosec // below maxWords
			}
			from = numbers.end
		}
		return uint32(from + random.IntN(len(v.hashes)-from)) //nolint:gosec // below maxWords
	}
	lengths := [rank.NumFields]int{rank.Title: 10, rank.Text: 150, rank.Files: 40, rank.Concepts: 20, rank.Parts: 40}
	rows := make([][]byte, 2000)
	for i := range rows {
		for _, n := range lengths {
			rows[i] = binary.AppendUvarint(rows[i], uint64(n)) //nolint:gosec // as above
		}
		for range 260 {
			rows[i] = binary.AppendUvarint(rows[i], uint64(number()))
		}
	}
	var d rank.Document
	for i := 0; b.Loop(); i++ {
		if err := v.decodeWords(rows[i%len(rows)], &d); err != nil {
			b.Fatal(err)
		}
	}
}
