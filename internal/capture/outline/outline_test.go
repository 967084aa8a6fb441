package outline_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/internal/capture/outline"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the symbols of testdata/languages anew")

// TestLanguages reads a sample of each language: each symbol is a line with its lines,
// kind, name and signature.
func TestLanguages(t *testing.T) {
	for _, path := range samples(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			o := outline.Of(a.Files[0].Name, a.Files[0].Data)
			got := lines(o)
			if *update {
				a.Files[1].Data = []byte(got)
				if err := os.WriteFile(path, txtar.Format(a), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if want := string(a.Files[1].Data); got != want {
				t.Errorf("symbols:\n%s\nwant:\n%s", got, want)
			}
			if o.Broken {
				t.Error("the sample is called broken")
			}
		})
	}
}

func samples(t testing.TB) []string {
	files, err := filepath.Glob("testdata/languages/*.txtar")
	if err != nil || len(files) < 14 {
		t.Fatalf("%d samples, %v", len(files), err)
	}
	return files
}

func lines(o outline.Outline) string {
	var b strings.Builder
	for _, s := range o.Symbols {
		fmt.Fprintf(&b, "%d-%d %s %s: %s\n", s.Start, s.End, s.Kind, s.Name, s.Signature)
	}
	return b.String()
}

// TestBlankBehindPercent: what stands between a percent and a blank is no literal, whatever the blank.
func TestBlankBehindPercent(t *testing.T) {
	for _, src := range []string{"def f(a)\n  a %\tb\nend\ndef g\nend\n", "def f(a)\r\n  x = a %\r\n    b\r\nend\r\ndef g\r\nend\r\n"} {
		if o := outline.Of("a.rb", []byte(src)); o.Broken || len(o.Symbols) != 2 {
			t.Errorf("%q: broken %v, %d symbols, want 2", src, o.Broken, len(o.Symbols))
		}
	}
}

// TestNamesLikeKeywords: what only has the name of a keyword neither begins nor ends anything.
func TestNamesLikeKeywords(t *testing.T) {
	for _, tt := range []struct{ file, src, want string }{
		{"a.rb", "class R\n  def end\n    @b\n  end\n  def size; 1; end\nend\n", "R R.end R.size"},
		{"a.rb", "class R\n  def begin\n    @b\n  end\n  def size; 1; end\nend\n", "R R.begin R.size"},
		{"a.rb", "def f\n  x.nil?.end\n  x&.end\nend\ndef g\nend\n", "f g"},
		{"a.rb", "puts x.class\nputs y\ndef foo\n  1\nend\n", "foo"},
		{"a.rb", "describe x.class do\n  it { 1 }\nend\ndef foo\nend\n", "foo"},
		{"a.py", "if ready\ndef f():\n    pass\n", "f"},
		{"a.h", "class A { void f() {} };\n", "A A.f"},
	} {
		o := outline.Of(tt.file, []byte(tt.src))
		var names []string
		for _, s := range o.Symbols {
			names = append(names, s.Name)
		}
		if got := strings.Join(names, " "); o.Broken || got != tt.want {
			t.Errorf("%q: broken %v, got %s, want %s", tt.src, o.Broken, got, tt.want)
		}
	}
}

// TestFaultOfTheReader: a reader that panics makes a file broken, and ends nothing else.
func TestFaultOfTheReader(t *testing.T) {
	defer outline.AddFaultyLanguage()()
	o := outline.Of("x.faulty", []byte("func f() {}"))
	if !o.Broken || o.Language != "faulty" || len(o.Symbols) > 0 {
		t.Errorf("Of = %+v, want a broken file without symbols", o)
	}
}
