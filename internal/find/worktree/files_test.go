package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/internal/capture/symbols"
	"claudemem/internal/memory"
)

func hashOf(content string) string {
	h := sha256.Sum256([]byte(content))
	return hex.EncodeToString(h[:])
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// longAgo is when the tests' files were written, so that they count as settled.
var longAgo = time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)

func age(t testing.TB, path string) {
	t.Helper()
	if err := os.Chtimes(path, longAgo, longAgo); err != nil {
		t.Fatal(err)
	}
}

func TestCompare(t *testing.T) {
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret"), "secret")
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	large := strings.Repeat("x", maxHashed)
	write(t, at("same.go"), "same")
	write(t, at("deep/er/same.go"), "same")
	write(t, at("changed.go"), "new")
	write(t, at("emptied.go"), "")
	write(t, at("largest.bin"), large)
	write(t, at("grown.bin"), large+"x")
	write(t, at("dir/file"), "")
	makeFIFO(t, at("fifo"))
	link := func(target, name string) {
		if err := os.Symlink(target, at(name)); err != nil {
			t.Skip("no symlinks here:", err)
		}
	}
	link("same.go", "link")
	link(filepath.Join(outside, "secret"), "escape")
	link(outside, "escaping-dir")
	link("nowhere", "dangling")
	link("loop", "loop")

	const unknown, same, changed, gone = memory.FileUnknown, memory.FileSame, memory.FileChanged, memory.FileGone
	tests := []struct {
		path, hash string
		want       memory.FileState
	}{
		{"same.go", hashOf("same"), same},
		{"deep/er/same.go", hashOf("same"), same},
		{"changed.go", hashOf("old"), changed},
		{"changed.go", hashOf("new"), same}, // another record of the same file
		{"emptied.go", hashOf("old"), changed},
		{"gone.go", hashOf("old"), gone},
		{"no/such/dir/gone.go", hashOf("old"), gone},
		{"same.go", "", unknown},
		{"gone.go", "", unknown},
		{"largest.bin", hashOf(large), same},
		{"grown.bin", hashOf("small"), changed},
		{"dir", hashOf("a file then"), unknown},
		{"fifo", hashOf(""), unknown},
		{"link", hashOf("same"), same},
		{"dangling", hashOf("old"), gone},
		{"loop", hashOf("old"), unknown},
		{"escape", hashOf("secret"), unknown},
		{"escape", hashOf("other"), unknown},
		{"escaping-dir/secret", hashOf("secret"), unknown},
		{"../" + filepath.Base(outside) + "/secret", hashOf("secret"), unknown},
		{filepath.ToSlash(filepath.Join(outside, "secret")), hashOf("secret"), unknown},
		{"", hashOf(""), unknown},
		{".", hashOf(""), unknown},
		{"nul\x00", hashOf(""), unknown},
		{strings.Repeat("n", 5000), hashOf(""), unknown},
	}
	var files []memory.FileRef
	for _, tt := range tests {
		files = append(files, memory.FileRef{Path: tt.path, Hash: tt.hash})
	}
	got, err := New(Options{}).Compare(context.Background(), root, files)
	if err != nil || len(got) != len(files) {
		t.Fatalf("%d states, error %v", len(got), err)
	}
	for i, tt := range tests {
		if got[i] != tt.want {
			t.Errorf("%.60q: state %d, want %d", tt.path, got[i], tt.want)
		}
	}
}

// Without a root nothing is known; above all nothing is gone.
func TestCompareWithoutRoot(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	fifo := filepath.Join(t.TempDir(), "fifo")
	makeFIFO(t, fifo)
	for _, root := range []string{"", ".", "relative", filepath.Join(t.TempDir(), "gone"), file, fifo, "/\x00"} {
		got, err := New(Options{}).Compare(context.Background(), root, []memory.FileRef{{Path: "a.go", Hash: hashOf("")}})
		if err != nil || !slices.Equal(got, []memory.FileState{memory.FileUnknown}) {
			t.Errorf("root %q: got %v, %v", root, got, err)
		}
	}
}

func TestCompareRemembers(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "a.go")
	now := time.Now()
	tree := New(Options{Clock: func() time.Time { return now }})
	state := func() memory.FileState {
		t.Helper()
		got, err := tree.Compare(context.Background(), root, []memory.FileRef{{Path: "a.go", Hash: hashOf("one")}})
		if err != nil {
			t.Fatal(err)
		}
		return got[0]
	}
	write(t, path, "one")
	age(t, path)
	if got := state(); got != memory.FileSame {
		t.Fatalf("state %d, want same", got)
	}
	// Size and time stand for the content: that it is not read again can only be seen so.
	write(t, path, "two")
	age(t, path)
	if got := state(); got != memory.FileSame {
		t.Errorf("same size and time: state %d, want same", got)
	}
	write(t, path, "two")
	if got := state(); got != memory.FileChanged {
		t.Errorf("another time: state %d, want changed", got)
	}
	// Written just now it may be written again within the same tick of the file system's clock.
	now = time.Now()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, "one")
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if got := state(); got != memory.FileSame {
		t.Errorf("written within the same tick: state %d, want same", got)
	}
	for i := range maxSums - len(tree.sums) {
		tree.sums[fileKey{root, fmt.Sprint(i)}] = sum{}
	}
	write(t, filepath.Join(root, "b.go"), "one")
	age(t, filepath.Join(root, "b.go"))
	if _, err := tree.Compare(context.Background(), root, []memory.FileRef{{Path: "b.go", Hash: hashOf("one")}}); err != nil {
		t.Fatal(err)
	}
	if len(tree.sums) > maxSums {
		t.Errorf("%d sums are kept, want at most %d", len(tree.sums), maxSums)
	}
}

func TestCompareBounds(t *testing.T) {
	root := t.TempDir()
	var many, heavy []memory.FileRef
	content := strings.Repeat("x", maxHashed)
	for i := range maxFiles + 5 {
		name := fmt.Sprintf("f%d", i)
		write(t, filepath.Join(root, name), "x")
		many = append(many, memory.FileRef{Path: name, Hash: hashOf("x")})
	}
	for i := range maxRead/maxHashed + 3 {
		name := fmt.Sprintf("h%d", i)
		write(t, filepath.Join(root, name), content)
		heavy = append(heavy, memory.FileRef{Path: name, Hash: hashOf(content)})
	}
	for _, tt := range []struct {
		name  string
		files []memory.FileRef
		known int
	}{{"many", many, maxFiles}, {"heavy", heavy, maxRead / maxHashed}} {
		got, err := New(Options{}).Compare(context.Background(), root, tt.files)
		if err != nil {
			t.Fatal(err)
		}
		for i, state := range got {
			want := memory.FileSame
			if i >= tt.known {
				want = memory.FileUnknown
			}
			if state != want {
				t.Errorf("%s: state of file %d is %d, want %d", tt.name, i, state, want)
			}
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := New(Options{}).Compare(ended, root, many); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits: error %v, want %v", err, context.Canceled)
	}
}

// TestCompareSymbols changes a file around and inside a function that a record is about.
func TestCompareSymbols(t *testing.T) {
	const source = "package limit\n\ntype Limiter struct{ tokens int }\n\nfunc (l *Limiter) refill(n int) { l.tokens += n }\n\nfunc (l *Limiter) take() { l.tokens-- }\n"
	hashes, whole := symbols.HashesOf("a.go", []byte(source))
	if !whole || len(hashes) != 3 {
		t.Fatalf("got %v %t", hashes, whole)
	}
	var about []memory.SymbolHash
	for s := range hashes {
		if s.Name == "Limiter.refill" {
			about = append(about, s)
		}
	}
	for name, tt := range map[string]struct {
		now  string
		want memory.FileState
	}{
		"nothing":                {source, memory.FileSame},
		"a formatter":            {strings.ReplaceAll(source, "{ l.tokens += n }", "{\n\tl.tokens += n\n}"), memory.FileSame},
		"line ends":              {strings.ReplaceAll(source, "\n", "\r\n"), memory.FileSame},
		"an import":              {strings.Replace(source, "package limit\n", "package limit\n\nimport _ \"embed\"\n", 1), memory.FileSame},
		"a comment inside":       {strings.Replace(source, "{ l.tokens += n }", "{\n\t// fills it\n\tl.tokens += n\n}", 1), memory.FileSame},
		"another function":       {strings.Replace(source, "l.tokens--", "l.tokens -= 2", 1), memory.FileSame},
		"a function above":       {strings.Replace(source, "type Limiter", "func New() *Limiter { return nil }\n\ntype Limiter", 1), memory.FileSame},
		"the function":           {strings.Replace(source, "+= n", "+= 2*n", 1), memory.FileChanged},
		"its signature":          {strings.Replace(source, "refill(n int)", "refill(n int64)", 1), memory.FileChanged},
		"its name":               {strings.Replace(source, "refill", "fill", 1), memory.FileChanged},
		"the file is gone":       {"", memory.FileGone},
		"broken behind it":       {source + "func broken( {", memory.FileSame},
		"broken, and it changed": {strings.Replace(source, "+= n", "+= 2*n", 1) + "func broken( {", memory.FileUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			path := filepath.Join(root, "a.go")
			if tt.now != "" {
				write(t, path, tt.now)
			}
			files := []memory.FileRef{
				{Path: "a.go", Role: memory.FileModified, Hash: hashOf(source), Symbols: about},
				{Path: "a.go", Role: memory.FileModified, Hash: hashOf(source)}, // of an older version
			}
			tree := New(Options{})
			for range 2 { // the second time from memory
				states, err := tree.Compare(t.Context(), root, files)
				if err != nil || states[0] != tt.want {
					t.Errorf("got %v %v, want %v", states, err, tt.want)
				}
				if byFile := tt.now != source && tt.now != ""; (states[1] == memory.FileChanged) != byFile {
					t.Errorf("got %v for the file as a whole", states[1])
				}
			}
		})
	}
}

// TestCompareSymbolsIsBounded: one call reads the symbols of a bounded amount of source;
// the next goes on.
func TestCompareSymbolsIsBounded(t *testing.T) {
	root := t.TempDir()
	filler := strings.Repeat("// a line that makes the file large\n", 4000)
	about := []memory.SymbolHash{{Name: "f", Hash: "other"}}
	var files []memory.FileRef
	for _, name := range []string{"a.go", "b.go", "c.go", "d.go"} {
		write(t, filepath.Join(root, name), "package a\n\nfunc f() {}\n// "+name+"\n"+filler)
		age(t, filepath.Join(root, name))
		files = append(files, memory.FileRef{Path: name, Role: memory.FileModified, Hash: hashOf("before"), Symbols: about})
	}
	tree := New(Options{})
	first, err := tree.Compare(t.Context(), root, files)
	if err != nil || first[0] != memory.FileChanged || first[3] != memory.FileUnknown {
		t.Errorf("got %v %v", first, err)
	}
	second, err := tree.Compare(t.Context(), root, files)
	if err != nil || second[3] != memory.FileChanged {
		t.Errorf("then %v %v", second, err)
	}
}
