package embed

import (
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
)

//go:embed table-128.bin
var builtin string

// Model names the built-in table. Vectors of another table, even of the same
// size, must not be compared with its own: a new table gets a new name.
const Model = "builtin-static-v2-128"

const (
	magic = "STATEMB1"
	// maxEntries bounds the entries by the size of a piece's number; the highest number
	// means none.
	maxEntries = math.MaxUint16
	maxDims    = 4096
)

// Table is a table of vectors.
type Table struct {
	model   string
	dims    int
	data    string   // the file; what follows are offsets into it
	tokens  []uint32 // where each entry's length and token stand
	scales  int      // float32 each
	vectors int      // int8 each
	// slots is a hash table of entry numbers plus one, with open addressing; a map
	// of strings would be ten times as large.
	slots []uint16
	mask  uint32
	// norms are 1/length of the vectors before scaling, as float32 bits; 0 until
	// somebody asks.
	norms []atomic.Uint32
	// own is nil for the built-in table.
	own *trained
}

var openBuiltin = sync.OnceValues(func() (*Table, error) { return open(Model, builtin) })

// Builtin returns the table in the binary; it is opened once.
func Builtin() (*Table, error) { return openBuiltin() }

// open reads a table: STATEMB1, the numbers of entries and dimensions, the
// tokens with their lengths, a float32 scale each, the int8 values.
func open(model, data string) (*Table, error) {
	t := &Table{model: model, data: data}
	if err := t.read(); err != nil {
		return nil, fmt.Errorf("open embedding table %s: %w", model, err)
	}
	return t, nil
}

var errShort = errors.New("the table is cut off")

// read checks t.data, builds the hash table of its tokens and notes where scales and
// vectors begin. An error says that the data is damaged.
func (t *Table) read() error {
	const head = len(magic) + 8
	if len(t.data) < head || t.data[:len(magic)] != magic {
		return errors.New("no table of vectors")
	}
	entries, dims := t.uint32(len(magic)), t.uint32(len(magic)+4)
	if entries == 0 || entries > maxEntries || dims == 0 || dims > maxDims {
		return fmt.Errorf("%d entries of %d dimensions", entries, dims)
	}
	size := uint32(2)
	for size < 2*entries {
		size *= 2
	}
	t.dims = int(dims)
	t.tokens = make([]uint32, entries)
	t.slots, t.mask = make([]uint16, size), size-1
	t.norms = make([]atomic.Uint32, entries)
	at := head
	for i := range t.tokens {
		if at >= len(t.data) || at+1+int(t.data[at]) > len(t.data) {
			return errShort
		}
		t.tokens[i] = uint32(at)
		at += 1 + int(t.data[at])
		t.insert(uint16(i))
	}
	t.scales = at
	t.vectors = at + 4*int(entries)
	if len(t.data) != t.vectors+int(entries*dims) {
		return errShort
	}
	return nil
}

func (t *Table) uint32(at int) uint32 {
	return binary.LittleEndian.Uint32([]byte(t.data[at : at+4]))
}

func (t *Table) token(entry uint16) string {
	at := int(t.tokens[entry])
	return t.data[at+1 : at+1+int(t.data[at])]
}

// The hash is FNV-1a, which grows with a word letter by letter, so that all
// beginnings of a word are hashed in one pass.
const (
	hashStart = 2166136261
	hashPrime = 16777619
)

// hashOf continues the hash h with the bytes of s (FNV-1a).
func hashOf(h uint32, s string) uint32 {
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * hashPrime
	}
	return h
}

// slot spreads a hash: FNV's low bits alone depend on the letters' low bits.
func (t *Table) slot(h uint32) uint32 { return (h ^ h>>15) & t.mask }

// insert adds an entry's token to the hash table, which has room for it.
func (t *Table) insert(entry uint16) {
	s := t.slot(hashOf(hashStart, t.token(entry)))
	for t.slots[s] != 0 {
		s = (s + 1) & t.mask
	}
	t.slots[s] = entry + 1
}

// find returns the entry whose token is prefix followed by word, which have the hash h;
// false if there is none.
func (t *Table) find(h uint32, prefix, word string) (uint16, bool) {
	for s := t.slot(h); t.slots[s] != 0; s = (s + 1) & t.mask {
		entry := t.slots[s] - 1
		if token := t.token(entry); len(token) == len(prefix)+len(word) && token[:len(prefix)] == prefix && token[len(prefix):] == word {
			return entry, true
		}
	}
	return 0, false
}

// Model names the table.
func (t *Table) Model() string { return t.model }

// Dimensions is the number of a vector's dimensions.
func (t *Table) Dimensions() int { return t.dims }

// Embed returns the texts' vectors. The error is the context's.
func (t *Table) Embed(ctx context.Context, texts ...string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i] = t.Vector(t.Pieces(text))
	}
	return out, nil
}

// Vector returns the vector of a text of these pieces, the sum of theirs scaled to length 1, so
// that a text whose pieces are known need not be read again.
func (t *Table) Vector(pieces []uint16) []float32 {
	out := make([]float32, t.dims)
	if length := t.add(out, pieces); length != 0 {
		f := float32(1 / length)
		for i := range out {
			out[i] *= f
		}
	}
	return out
}

// add adds the pieces' vectors to out and returns its length.
func (t *Table) add(out []float32, pieces []uint16) float64 {
	for _, p := range pieces {
		if int(p) >= len(t.tokens) {
			continue
		}
		scale := t.scale(p)
		v := t.values(p)[:len(out)]
		for i := range out {
			out[i] += scale * float32(int8(v[i]))
		}
	}
	squares := 0.0
	for _, x := range out {
		squares += float64(x) * float64(x)
	}
	return math.Sqrt(squares)
}

// Telling returns the weight of a word for the subject of a text: the length of its
// vector before it is scaled, .2 for an article, .6 for "fix", about 1.7 for the name
// of something. It is 0 for a word without pieces.
func (t *Table) Telling(word string) float64 {
	return t.add(make([]float32, t.dims), t.Pieces(word))
}

// values are the int8 values of an entry.
func (t *Table) values(entry uint16) string {
	if t.own != nil && t.own.rows[entry] != 0 {
		at := t.own.vectors + int(t.own.rows[entry]-1)*t.dims
		return t.own.data[at : at+t.dims]
	}
	at := t.vectors + int(entry)*t.dims
	return t.data[at : at+t.dims]
}

// scale is what the values of an entry are multiplied by.
func (t *Table) scale(entry uint16) float32 {
	data, at := t.data, t.scales+4*int(entry)
	if t.own != nil && t.own.rows[entry] != 0 {
		data, at = t.own.data, t.own.scales+4*int(t.own.rows[entry]-1)
	}
	return math.Float32frombits(binary.LittleEndian.Uint32([]byte(data[at : at+4])))
}

// Word returns the entry of a word in lower case that the table has as a whole; ok is false
// for one that it cuts into pieces.
func (t *Table) Word(word string) (entry uint16, ok bool) {
	if word == "" || len(word) > maxLetters || word[0] == continued[0] {
		return 0, false
	}
	return t.find(hashOf(hashStart, word), "", word)
}
