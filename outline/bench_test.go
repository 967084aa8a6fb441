package outline_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"claudemem/outline"

	"github.com/rogpeppe/go-internal/txtar"
)

// BenchmarkOf reads 1 MB of each language's sample.
func BenchmarkOf(b *testing.B) {
	for _, path := range samples(b) {
		a, err := txtar.ParseFile(path)
		if err != nil {
			b.Fatal(err)
		}
		src := a.Files[0].Data
		if filepath.Ext(path) != ".go" {
			src = bytes.Repeat(src, 1<<20/len(src))
		}
		b.Run(a.Files[0].Name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for range b.N {
				outline.Of(a.Files[0].Name, src)
			}
		})
	}
}

// BenchmarkHostile reads 1 MB of what could cost more time than its size.
func BenchmarkHostile(b *testing.B) {
	for _, tt := range []struct{ name, part string }{
		{"a.tsx", "{<a>"}, {"a.js", "describe('a',()=>{"}, {"a.cc", "struct a "}, {"a.rb", "%w["}, {"a.kt", "a<"}, {"a.rs", "a<"}, {"a.cs", "("}, {"a.py", " \n"}, {"a.go", "("},
	} {
		src := bytes.Repeat([]byte(tt.part), 1<<20/len(tt.part))
		b.Run(tt.name+" "+tt.part, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for range b.N {
				outline.Of(tt.name, src)
			}
		})
	}
}
