package embed

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

func builtinTable(t testing.TB) *Table {
	t.Helper()
	table, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// The golden texts come with the table, from the program that trained it.
func TestGolden(t *testing.T) {
	table := builtinTable(t)
	b, err := os.ReadFile("testdata/golden-128.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for scan := bufio.NewScanner(bytes.NewReader(b)); scan.Scan(); lines++ {
		var want struct {
			Text  string
			IDs   []uint16
			First []float64
		}
		if err := json.Unmarshal(scan.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		if got := table.Pieces(want.Text); !slices.Equal(got, want.IDs) {
			t.Errorf("pieces of %.60q\n got %v\nwant %v", want.Text, got, want.IDs)
			continue
		}
		got, err := table.Embed(t.Context(), want.Text)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range want.First {
			if math.Abs(float64(got[0][i])-x) > 1e-4 {
				t.Errorf("vector of %.60q[%d] = %f, want %f", want.Text, i, got[0][i], x)
			}
		}
		if v := table.Vector(want.IDs); !slices.Equal(v, got[0]) {
			t.Errorf("the vector of the pieces of %.60q is another than that of the text", want.Text)
		}
	}
	if lines < 50 {
		t.Errorf("only %d golden texts", lines)
	}
}

// The table belongs to its name: another one needs another name, and stored
// vectors are computed anew.
func TestModelIsTheTable(t *testing.T) {
	const want = "e161c3f41faa2e2ca69f4d54ab64c5118765b1f3b5c12cd54bb8c484489fa20e"
	sum := sha256.Sum256([]byte(builtin))
	if got := hex.EncodeToString(sum[:]); got != want {
		t.Errorf("the table has the hash %s, want %s: rename Model", got, want)
	}
	table := builtinTable(t)
	if table.Model() != "builtin-static-v2-128" || table.Dimensions() != 128 {
		t.Errorf("%s with %d dimensions", table.Model(), table.Dimensions())
	}
}

func TestEmbed(t *testing.T) {
	table := builtinTable(t)
	tests := []struct{ name, text string }{
		{"words", "fix the login"}, {"nothing", ""}, {"other scripts", "認証 ошибка"}, {"nul", "a\x00b\xff"},
		{"a megabyte", strings.Repeat("token refresh ", 1<<16)}, {"one long word", strings.Repeat("x", 1<<20)},
		{"capitals", strings.Repeat("aB", 1<<19)}, {"emoji", "🚀🚀"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := table.Embed(t.Context(), tt.text)
			if err != nil || len(got) != 1 || len(got[0]) != 128 {
				t.Fatalf("%d vectors, %v", len(got), err)
			}
			pieces := table.Pieces(tt.text)
			if len(pieces) > maxPieces {
				t.Errorf("%d pieces", len(pieces))
			}
			want := 1.0
			if len(pieces) == 0 {
				want = 0
			}
			if l := length(got[0]); math.Abs(l-want) > 1e-5 {
				t.Errorf("length %f, want %f", l, want)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := table.Embed(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
}

func length(v []float32) float64 {
	s := 0.0
	for _, x := range v {
		s += float64(x) * float64(x)
	}
	return math.Sqrt(s)
}

// What belongs together is nearer than what does not.
func TestLikeness(t *testing.T) {
	table := builtinTable(t)
	tests := []struct{ query, related, unrelated string }{
		{"login fails with expired token", "session authentication error after refresh", "change the colour of the sidebar"},
		{"speed up the slow database query", "add an index to the users table", "translate the readme"},
		{"memory leak", "goroutine never exits, heap grows", "rename the button label"},
	}
	for _, tt := range tests {
		v, err := table.Embed(t.Context(), tt.query, tt.related, tt.unrelated)
		if err != nil {
			t.Fatal(err)
		}
		if near, far := product(v[0], v[1]), product(v[0], v[2]); near <= far {
			t.Errorf("%q: related %.3f, unrelated %.3f", tt.query, near, far)
		}
	}
}

func product(a, b []float32) float64 {
	s := 0.0
	for i := range a {
		s += float64(a[i]) * float64(b[i])
	}
	return s
}

func TestCosine(t *testing.T) {
	table := builtinTable(t)
	words := table.Pieces("error failure banana")
	if len(words) != 3 {
		t.Fatalf("pieces %v", words)
	}
	for _, w := range words {
		if c := table.Cosine(w, w); math.Abs(float64(c)-1) > 1e-5 {
			t.Errorf("cosine with itself %f", c)
		}
	}
	if near, far := table.Cosine(words[0], words[1]), table.Cosine(words[0], words[2]); near <= far {
		t.Errorf("error and failure %f, error and banana %f", near, far)
	}
	if c := table.Cosine(words[0], math.MaxUint16); c != 0 {
		t.Errorf("cosine with no entry %f", c)
	}
	// The cosine of two pieces is that of the texts that consist of them.
	v := [2][]float32{table.Vector(words[:1]), table.Vector(words[1:2])}
	if got, want := float64(table.Cosine(words[0], words[1])), product(v[0], v[1]); math.Abs(got-want) > 1e-5 {
		t.Errorf("cosine %f, of the vectors %f", got, want)
	}
}

func TestComparison(t *testing.T) {
	table := builtinTable(t)
	document := table.Pieces("the session failed because its token was too old")
	for _, text := range []string{"token expired", "expired token of yesterday", "session"} { // the later ones with the memory of the first
		query := table.Pieces(text)
		documents := [][]uint16{document, document[1:], {math.MaxUint16}, nil}
		c := table.Compare(query, documents)
		best := make([]float32, len(query))
		for round := range 3 { // the second time from memory
			if round == 2 {
				c.Close()
				c = table.Compare(query, documents)
			}
			c.Best(best, document)
			for i, q := range query {
				want := float32(0)
				for _, d := range document {
					want = max(want, table.Cosine(q, d))
				}
				if best[i] != want {
					t.Errorf("%s: best[%d] = %f, want %f", text, i, best[i], want)
				}
			}
		}
		c.Close()
	}
	query := table.Pieces("token expired")
	c := table.Compare(query, [][]uint16{document, {math.MaxUint16}})
	defer c.Close()
	best := make([]float32, len(query))
	c.Best(best, document)
	if math.Abs(float64(best[0])-1) > 1e-5 {
		t.Errorf("a word that both have: %f", best[0])
	}
	c.Best(best, nil)
	if best[0] != 0 || best[1] != 0 {
		t.Errorf("with nothing: %v", best)
	}
	c.Best(best, []uint16{math.MaxUint16})
	table.Compare(nil, [][]uint16{document}).Best(nil, document)
}

func TestDot(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for n := range 300 {
		a, b := make([]byte, n), make([]byte, n+r.IntN(2))
		for i := range a {
			a[i], b[i] = byte(r.Uint32()), byte(r.Uint32())
			if r.IntN(3) == 0 {
				a[i], b[i] = 0x80, 0x80 // -128, the largest product
			}
		}
		want := int32(0)
		for i, x := range a {
			want += int32(int8(x)) * int32(int8(b[i]))
		}
		if got := dot(string(a), string(b)); got != want {
			t.Errorf("%d numbers: %d, want %d", n, got, want)
		}
		if got := dotInGo(string(a), string(b)); got != want {
			t.Errorf("%d numbers without the processor's own instructions: %d, want %d", n, got, want)
		}
	}
}

func TestConcurrent(t *testing.T) {
	table := builtinTable(t)
	want := table.Vector(table.Pieces("token refresh"))
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for i := range 200 {
				if got := table.Vector(table.Pieces("token refresh")); !slices.Equal(got, want) {
					t.Error("another vector")
					return
				}
				table.Cosine(uint16(i), uint16(2*i))
			}
		})
	}
	group.Wait()
}

func TestDamagedTable(t *testing.T) {
	head := magic + "\x01\x00\x00\x00\x02\x00\x00\x00"
	whole := head + "\x01a" + "\x00\x00\x80\x3f" + "\x03\xfc"
	if table, err := open("test", whole); err != nil || !slices.Equal(table.Vector(table.Pieces("a b")), []float32{.6, -.8}) {
		t.Fatalf("a small table: %v", err)
	}
	tests := map[string]string{
		"empty": "", "another file": strings.Repeat("x", 100), "no entries": magic + "\x00\x00\x00\x00\x02\x00\x00\x00",
		"too many entries": magic + "\xff\xff\xff\xff\x02\x00\x00\x00", "too many dimensions": magic + "\x01\x00\x00\x00\xff\xff\xff\xff",
		"longer": whole + "x", "long token": head + "\xffabc",
	}
	for i := range len(whole) {
		tests["cut at "+string(rune('a'+i))] = whole[:i]
	}
	for name, data := range tests {
		if _, err := open("test", data); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzPieces(f *testing.F) {
	table := builtinTable(f)
	f.Add("getUserByEmail 123 HTTPServer")
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range table.Pieces(text) {
			if int(p) >= len(table.tokens) {
				t.Fatalf("piece %d", p)
			}
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := open(Model, builtin); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEmbed(b *testing.B) {
	table := builtinTable(b)
	text := strings.Repeat("Moved the lock into SessionStore.withLock so that two tabs no longer rotate one refresh token. ", 6)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := table.Embed(b.Context(), text); err != nil {
			b.Fatal(err)
		}
	}
}

// 60 documents of 80 words against a query of 8: MaxSim of one search.
func BenchmarkComparison(b *testing.B) {
	table := builtinTable(b)
	query := table.Pieces("why did the token refresh fail with expired session")
	documents := make([][]uint16, 60)
	for i := range documents {
		for j := range 80 {
			documents[i] = append(documents[i], uint16((i*j*7919+j*j*31)%3000))
		}
	}
	best := make([]float32, len(query))
	for b.Loop() {
		c := table.Compare(query, documents)
		for _, d := range documents {
			c.Best(best, d)
		}
		c.Close()
	}
}

func TestTelling(t *testing.T) {
	table, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	// What is said everywhere tells less than what something is called.
	for _, pair := range [][2]string{{"the", "fix"}, {"fix", "cache"}, {"run", "mutex"}, {"list", "webhook"}, {"please", "postgres"}} {
		if a, b := table.Telling(pair[0]), table.Telling(pair[1]); !(a > 0 && a < b) {
			t.Errorf("%s tells %.2f, %s %.2f", pair[0], a, pair[1], b)
		}
	}
	for _, none := range []string{"", "設定", "--", "\xff"} {
		if got := table.Telling(none); got != 0 {
			t.Errorf("%q tells %v", none, got)
		}
	}
}
