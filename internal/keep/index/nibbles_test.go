package index

import (
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"claudemem/internal/keep/index/rank"
)

// limits are the least and the greatest number of each class of a code, up to most.
func (c *nibbleCode) limits(most uint32) []uint32 {
	list := []uint32{most}
	for i, class := range c {
		if i == 0 || class.bits != c[i-1].bits {
			list = append(list, class.base)
			if i > 0 {
				list = append(list, class.base-1)
			}
		}
	}
	return list
}

// TestNibbleCodes: a code has 16 first nibbles, has its greatest number, and nothing but
// padding is taken for it. The bytes are those of files that exist: other bytes are another
// schemaVersion.
func TestNibbleCodes(t *testing.T) {
	for _, test := range []struct {
		name string
		code *nibbleCode
		most uint32
		rows map[uint32]string
	}{
		{"words", wordCode, maxWords - 1, map[uint32]string{
			0: "0f", 1: "1f", 2: "20", 97: "7f",
			98: "800f", 98 + 0x123: "923f", 1121: "bfff",
			1122: "c000", 5217: "cfff",
			5218: "d0000f", 5218 + 0x1234: "d1234f", 70753: "dfffff",
			70754: "e00000", 1119329: "efffff",
			1119330: "f0000000", 1119330 + 0x123456: "f0123456", maxWords - 1: "f7eeeb9d",
		}},
		{"pieces", pieceCode, 1<<16 - 1, map[uint32]string{
			0: "0f", 4: "4f", 5: "50", 100: "af",
			101: "b00f", 868: "dfff",
			869: "e000", 4964: "efff",
			4965: "f0000f", 65535: "fec9af",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			numbers := uint64(0)
			for i, class := range test.code {
				if uint64(class.base) != numbers || class.bits < 4 || class.bits > 32 {
					t.Errorf("first nibble %d: %+v, want %d to be the first number", i, class, numbers)
				}
				numbers += 1 << (class.bits - 4)
			}
			if numbers <= uint64(test.most) || numbers > 1<<32 {
				t.Errorf("%d numbers, want more than %d", numbers, test.most)
			}
			if test.code[padding].bits == 4 {
				t.Error("padding is a number")
			}
			for _, n := range test.code.limits(test.most) {
				if _, ok := test.rows[n]; !ok {
					t.Errorf("no row of %d, at the limit of a class", n)
				}
			}
			for n, want := range test.rows {
				w := nibbleWriter{code: test.code}
				w.write(n)
				if got := hex.EncodeToString(w.row()); got != want {
					t.Errorf("%d: got %s, want %s", n, got, want)
				}
			}
		})
	}
}

// TestNibblesReturn: what is read is what was written, in however many parts, and a row of
// which anything is missing or that has anything more is found.
func TestNibblesReturn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		code, most := wordCode, uint32(maxWords-1)
		if rapid.Bool().Draw(t, "of pieces") {
			code, most = pieceCode, 1<<16-1
		}
		number := rapid.OneOf(rapid.SampledFrom(code.limits(most)), rapid.Uint32Range(0, 5), rapid.Uint32Range(0, 2000), rapid.Uint32Range(0, most))
		want := rapid.SliceOfN(number, 0, 200).Draw(t, "numbers")
		w := nibbleWriter{code: code}
		for _, n := range want {
			w.write(n)
		}
		row := w.row()
		r := nibbleReader{code: code, b: row}
		got := make([]uint32, len(want))
		for rest := got; len(rest) > 0; {
			part := rapid.IntRange(1, len(rest)).Draw(t, "part")
			if n := r.read(rest[:part]); n != part {
				t.Fatalf("%d numbers read, want %d", n, part)
			}
			rest = rest[part:]
		}
		if !slices.Equal(got, want) || !r.ended() {
			t.Fatalf("got %v, want %v; ended: %v, %d nibbles left", got, want, r.ended(), r.left())
		}
		if n := r.read(make([]uint32, 3)); n != 0 {
			t.Fatalf("%d numbers beyond the end", n)
		}
		padded := r.left() == 1
		check := func(row []byte, what string) {
			r := nibbleReader{code: code, b: row}
			if r.read(make([]uint32, len(want))) == len(want) && r.ended() {
				t.Fatalf("%x with %s is taken for %v", row, what, want)
			}
		}
		for n := range row {
			check(row[:n], "its end cut off")
		}
		check(append(slices.Clone(row), rapid.Byte().Draw(t, "byte")), "a byte too many")
		if padded {
			other := slices.Clone(row)
			other[len(row)-1] ^= rapid.ByteRange(1, 15).Draw(t, "bits of padding")
			check(other, "other padding")
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
		w := nibbleWriter{code: wordCode}
		for _, n := range lengths {
			w.write(uint32(n)) //nolint:gosec // as above
		}
		for range 260 {
			w.write(number())
		}
		rows[i] = w.row()
	}
	var d rank.Document
	for i := 0; b.Loop(); i++ {
		if err := v.decodeWords(rows[i%len(rows)], &d); err != nil {
			b.Fatal(err)
		}
	}
}
