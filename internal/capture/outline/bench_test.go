package outline_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"claudemem/internal/capture/outline"

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

// BenchmarkHostile reads 1 MB of what could cost more time than its size: begin once, then
// part again and again, then end once.
func BenchmarkHostile(b *testing.B) {
	for _, tt := range []struct{ name, begin, part, end string }{
		{"a.tsx", "", "{<a>", ""}, {"a.tsx", "", "=<a ", "("}, {"a.tsx", "", "=<a><b ", "("}, {"a.tsx", "", "=<a {", "("},
		{"a.js", "", "describe('a',()=>{", ""}, {"a.js", "", "=/[", ""}, {"a.js", "", "=`${", ""},
		{"a.cc", "", "struct a ", ""}, {"a.cc", "", "#if\n{\n#else\n", ""}, {"a.c", "", "#define /*\n", ""},
		{"a.rb", "", "%w[", ""}, {"a.rb", "", "\"#{<<A}\"\n", ""}, {"a.rb", "", "f(<<A, ", ""}, {"a.rb", "", "def a=?{\n", ""},
		{"a.kt", "", "a<", ""}, {"a.kt", "", "\"${", ""}, {"a.rs", "", "a<", ""}, {"a.rs", "", "r#", ""},
		{"a.swift", "", "#", ""}, {"a.swift", "", "var a:", ""}, {"a.cs", "", "(", ""}, {"a.cs", "", "$", ""}, {"a.cs", "", "@\"\"\"", ""},
		{"a.java", strings.Repeat("(", 1<<19), "]", ""}, {"a.java", "class " + strings.Repeat("a", 1<<18) + "{", "void f(){}", ""},
		{"a.php", "", "<?= ?>", ""}, {"a.php", "", "<?php <<<A ", ""}, {"a.py", "", " \n", ""}, {"a.py", "", "@a\n", ""}, {"a.go", "package a\nvar a = ", "(", ""},
	} {
		src := slices.Concat([]byte(tt.begin), bytes.Repeat([]byte(tt.part), (1<<20-len(tt.begin))/len(tt.part)), []byte(tt.end))
		b.Run(strconv.Quote(tt.name+": "+tt.begin[:min(len(tt.begin), 8)]+tt.part+tt.end), func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for range b.N {
				outline.Of(tt.name, src)
			}
		})
	}
}
