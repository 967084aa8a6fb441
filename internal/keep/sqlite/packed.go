package sqlite

import (
	"bytes"
	"compress/flate"
	"database/sql/driver"
	_ "embed"
	"io"
	"slices"
	"strings"
	"sync"

	sqlite "modernc.org/sqlite"
)

// A packed text is a blob: a byte that names the dictionary, then the text by DEFLATE (RFC 1951)
// with that dictionary. A text that would not become shorter stays a text, so that a column
// has both.
//
// SQL has it too:
//
//	packed(text)      the text, packed if that makes it shorter
//	unpacked(column)  the text of a column; '' for one that is damaged

// dictionary1 is 32 KB, as far as DEFLATE looks back: pieces of 32 bytes of this project's
// documentation and comments, chosen to have its most frequent sequences of five bytes (the
// method is COVER's: Liao, Petri, Moffat, Wirth 2016, "Effective construction of relative
// Lempel-Ziv dictionaries"). With it, texts of 300 to 1,200 bytes from commits and issues of
// other projects shrink to .40 to .47 of their size, without it to .47 to .55. Memories
// depend on it: it is never edited. Another one gets another name and number, and a schema that
// programs without it refuse.
//
//go:embed dictionary-1.txt
var dictionary1 []byte

const (
	byDictionary1 = 1
	// shortestPacked is the length in bytes from which packing is tried: to begin with the dictionary takes
	// 60 µs, whatever the length.
	shortestPacked = 192
	// oncePacked was shortestPacked in earlier programs, whose texts are still there.
	oncePacked = 48
	// mostUnpacked bounds the memory that a damaged column can ask for: a longer text stays one.
	mostUnpacked = 2 << 20
)

// packer makes packed texts; it needs about 1 MB.
type packer struct {
	out bytes.Buffer
	w   *flate.Writer
}

var packers = sync.Pool{New: func() any {
	p := new(packer)
	p.w, _ = flate.NewWriterDict(&p.out, flate.BestCompression, dictionary1) // the level is right
	return p
}}

// Pack returns a text as it is stored: a blob, or the text itself if that is not longer.
func Pack(text string) driver.Value {
	if len(text) < shortestPacked || len(text) > mostUnpacked {
		return text
	}
	p := packers.Get().(*packer) //nolint:forcetypeassert // New makes nothing else
	defer packers.Put(p)
	p.out.Reset()
	p.out.WriteByte(byDictionary1)
	p.w.Reset(&p.out)
	// Writing to memory does not fail.
	_, _ = io.WriteString(p.w, text)
	_ = p.w.Close()
	if p.out.Len() >= len(text) {
		return text
	}
	return bytes.Clone(p.out.Bytes())
}

// unpacker reads packed texts; it needs about 80 KB.
type unpacker struct {
	in  bytes.Reader
	r   io.ReadCloser
	out []byte
}

var unpackers = sync.Pool{New: func() any { return &unpacker{r: flate.NewReaderDict(bytes.NewReader(nil), dictionary1)} }}

// Unpack returns the text of a column that Pack has filled: "" for one that is no text and no
// packed text, or is damaged so that it cannot be read.
func Unpack(column driver.Value) string {
	packed, ok := column.([]byte)
	if !ok {
		text, _ := column.(string)
		return text
	}
	u := unpackers.Get().(*unpacker) //nolint:forcetypeassert // New makes nothing else
	defer u.release()
	if text, rest := u.unpack(packed); rest == 0 {
		return string(text)
	}
	return ""
}

// release gives u back, without the memory of an unusually long text.
func (u *unpacker) release() {
	if cap(u.out) > 64<<10 {
		u.out = nil
	}
	unpackers.Put(u)
}

// unpack returns the packed text at the start of b, valid until the next one, and how many
// bytes follow it; -1 where none is, with what could be read of a broken one.
func (u *unpacker) unpack(b []byte) (text []byte, rest int) {
	if len(b) == 0 || b[0] != byDictionary1 {
		return nil, -1
	}
	u.in.Reset(b[1:])
	if u.r.(flate.Resetter).Reset(&u.in, dictionary1) != nil { //nolint:forcetypeassert // documented
		return nil, -1
	}
	u.out = u.out[:0]
	for {
		u.out = slices.Grow(u.out, 1024)
		n, err := u.r.Read(u.out[len(u.out):cap(u.out)])
		u.out = u.out[:len(u.out)+n]
		switch {
		case len(u.out) > mostUnpacked:
			return nil, -1
		case err == io.EOF:
			return u.out, u.in.Len()
		case err != nil:
			return u.out, -1
		}
	}
}

// PackedTexts returns the packed texts that begin anywhere in b, the bytes of a database file:
// those of deleted rows too, the readable beginning of a broken one, and much that only looks
// like one. Of a blob that does not fit in a page it returns what the first page has. Forget and tests look
// among them for what must not be on disk.
func PackedTexts(b []byte) (texts []string) {
	u := unpackers.Get().(*unpacker) //nolint:forcetypeassert // New makes nothing else
	defer u.release()
	for i := range b {
		if text, _ := u.unpack(b[i:]); len(text) >= oncePacked {
			texts = append(texts, string(text))
		}
	}
	return texts
}

func init() {
	// Without VolatileArgs the driver ends a text at its first NUL. With it, arguments are SQLite's
	// memory, so the functions return copies.
	sqlite.MustRegisterFunction("packed", &sqlite.FunctionImpl{
		NArgs: 1, Deterministic: true, VolatileArgs: true,
		Scalar: func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
			switch v := args[0].(type) {
			case string:
				return Pack(strings.Clone(v)), nil
			case []byte:
				return bytes.Clone(v), nil
			}
			return args[0], nil
		},
	})
	sqlite.MustRegisterFunction("unpacked", &sqlite.FunctionImpl{
		NArgs: 1, Deterministic: true, VolatileArgs: true,
		Scalar: func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
			return strings.Clone(Unpack(args[0])), nil
		},
	})
}
