package outline_test

import (
	"fmt"
	"strings"
	"testing"

	"claudemem/internal/capture/outline"
	"claudemem/internal/memory"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestCompare changes a file and names the symbols that differ.
func TestCompare(t *testing.T) {
	const goFile = "package a\n\ntype T struct{ n int }\n\nfunc (t *T) Add(n int) { t.n += n }\n\nfunc Sum(ns []int) int {\n\ttotal := 0\n\tfor _, n := range ns {\n\t\ttotal += n\n\t}\n\treturn total\n}\n"
	const script = "export function total(items) {\n  // adds up\n  return items.map((i) => i.price).reduce((a, b) => a + b, 0)\n}\n\nclass Cart {\n  add(item) {\n    this.items.push(item)\n  }\n}\n"
	const python = "class Cart:\n    def add(self, item):\n        if item:\n            self.items.append(item)\n        return self\n\ndef total(items):\n    return sum(items)\n"
	tests := []struct {
		name, file, before, after string
		want                      string
	}{
		{"nothing", "a.go", goFile, goFile, ""},
		{"a function is added", "a.go", goFile, goFile + "\nfunc Max() int { return 1 }\n", "new Max"},
		{"a body changes", "a.go", goFile, strings.Replace(goFile, "total += n", "total -= n", 1), "modified Sum"},
		{"a signature changes", "a.go", goFile, strings.Replace(goFile, "Add(n int)", "Add(n int64)", 1), "modified T.Add"},
		{"a field changes", "a.go", goFile, strings.Replace(goFile, "n int }", "n int64 }", 1), "modified T"},
		{"a function goes", "a.go", goFile, goFile[:strings.Index(goFile, "func Sum")], "deleted Sum"},
		{"a function gets another name", "a.go", goFile, strings.Replace(goFile, "Sum(", "AddUp(", 1), "new AddUp (was Sum), deleted Sum"},
		{"comments, an import, blank lines", "a.go", goFile, strings.Replace(strings.Replace(goFile, "package a\n", "package a\n\nimport \"fmt\"\n\nvar _ = fmt.Sprint\n", 1), "total := 0", "total := 0 // so far\n", 1), ""},
		{"the order changes", "a.go", goFile, "package a\n" + goFile[strings.Index(goFile, "\nfunc Sum"):] + goFile[strings.Index(goFile, "\ntype"):strings.Index(goFile, "\nfunc Sum")], ""},
		{"a line before the function", "a.go", goFile, "// Copyright\n\n" + goFile, ""},
		{"broken after", "a.go", goFile, strings.Replace(goFile, "return total\n}", "return total\n", 1), ""},
		{"line ends of Windows", "a.js", script, strings.ReplaceAll(script, "\n", "\r\n"), ""},
		{"tabs", "a.js", script, strings.ReplaceAll(script, "  ", "\t"), ""},
		{"a formatter", "a.js", script, "export function total(items) {\n  return items\n    .map((i) => i.price)\n    .reduce(\n      (a, b) => a + b,\n      0,\n    );\n}\n\nclass Cart {\n  add(item) {\n    this.items.push(item);\n  }\n}\n", ""},
		{"a method changes, its class does not", "a.js", script, strings.Replace(script, "push", "unshift", 1), "modified Cart.add"},
		{"a method is added", "a.js", script, strings.Replace(script, "  add(", "  size() { return 1 }\n  add(", 1), "new Cart.size"},
		{"other quotes", "a.py", "x = 'a'\ndef f():\n    return 'it'\n", "x = 'a'\ndef f():\n    return \"it\"\n", ""},
		{"deeper by another width", "a.py", python, strings.ReplaceAll(python, "    ", "  "), ""},
		{"a line comes out of its block", "a.py", python, strings.Replace(python, "            self", "        self", 1), "modified Cart.add"},
		{"a function becomes a method", "a.py", python, strings.Replace(python, "def total(items):\n    return", "    def total(items):\n        return", 1), "new Cart.total, deleted total"},
		{"overloads", "A.java", "class A { void a(int x) { one(); } void a(long x) { two(); } }", "class A { void a(long x) { two(); } void a(int x) { three(); } }", "modified A.a"},
		{"a new file", "a.py", "", python, "new Cart, new Cart.add, new total"},
		{"a new file of Go", "a.go", "", goFile, "new T, new T.Add, new Sum"},
		{"a file of Go is emptied", "a.go", goFile, "\n", "deleted T, deleted T.Add, deleted Sum"},
		{"no language", "a.txt", "a", "b", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, c := range outline.Compare(outline.Of(tt.file, []byte(tt.before)), outline.Of(tt.file, []byte(tt.after))) {
				s := fmt.Sprintf("%s %s", c.Type, c.Name)
				if c.RenamedFrom != "" {
					s += " (was " + c.RenamedFrom + ")"
				}
				got = append(got, s)
			}
			if got := strings.Join(got, ", "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// FuzzOf asserts of any source that its symbols are in the file and that it equals itself.
func FuzzOf(f *testing.F) {
	for _, ext := range []string{"go", "py", "ts", "tsx", "js", "rs", "java", "kt", "swift", "cs", "c", "cc", "rb", "php", "vue"} {
		f.Add("a."+ext, []byte("class A { fun f(x) { return `${x}` } }\ndef b(x)\n  x\nend\n"))
		f.Add("a."+ext, []byte("<script>function a() { return <b>{'</b>'}</b> }</script> <?php function b() { <<<A\nA; }"))
	}
	for _, path := range samples(f) {
		a, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(a.Files[0].Name, a.Files[0].Data)
		f.Add(a.Files[0].Name, a.Files[0].Data[:2*len(a.Files[0].Data)/3])
	}
	f.Fuzz(func(t *testing.T, name string, src []byte) {
		o := outline.Of(name, src)
		lines := strings.Count(string(src), "\n") + 1
		for _, s := range o.Symbols {
			if s.Name == "" || s.Start < 1 || s.End < s.Start || s.End > lines {
				t.Errorf("%+v in a file of %d lines", s, lines)
			}
		}
		if got := outline.Compare(o, outline.Of(name, src)); len(got) > 0 {
			t.Errorf("a file differs from itself: %v", got)
		}
	})
}

// BenchmarkCompareAlike compares files of 20,000 functions of one name, and of 20,000 that
// all got another name: no pair of them may be looked at for each other pair.
func BenchmarkCompareAlike(b *testing.B) {
	for name, line := range map[string]string{"one name": "func a() { b(%[1]d); c(%[1]d); d(%[1]d) }\n", "renamed": "func a%[2]d() { b(1); c(1); d(1) }\n"} {
		b.Run(name, func(b *testing.B) {
			var before, after strings.Builder
			for i := range 20000 {
				fmt.Fprintf(&before, line, i, i)
				fmt.Fprintf(&after, line, i+20000, i+20000)
			}
			from, to := outline.Of("a.swift", []byte(before.String())), outline.Of("a.swift", []byte(after.String()))
			b.ResetTimer()
			for b.Loop() {
				if len(outline.Compare(from, to)) == 0 {
					b.Fatal("no change")
				}
			}
		})
	}
}

// FuzzCompare asserts of any two states of a file that the first with its deleted symbols
// removed and the new ones added has the names of the second, and that a renamed symbol had
// the name of a deleted one.
func FuzzCompare(f *testing.F) {
	f.Add("a.go", []byte("package a\nfunc b() { c(1, 2, 3, 4, 5) }\nfunc b() {}"), []byte("package a\nfunc d() { c(1, 2, 3, 4, 5) }\nfunc b() {}"))
	f.Add("a.py", []byte("def a(): pass\nclass B:\n  def a(self): pass\n"), []byte("class B:\n  def a(self):\n    return 1\n"))
	f.Add("a.ts", []byte("class A { a() {} a(x) {} }"), []byte("class A { a(x) { f() } static a() {} }"))
	f.Fuzz(func(t *testing.T, name string, before, after []byte) {
		from, to := outline.Of(name, before), outline.Of(name, after)
		changes := outline.Compare(from, to)
		if from.Broken || to.Broken {
			if len(changes) > 0 {
				t.Errorf("changes of a broken state: %v", changes)
			}
			return
		}
		names := map[string]int{}
		for _, s := range from.Symbols {
			names[s.Name]++
		}
		deleted := map[string]bool{}
		for _, c := range changes {
			switch c.Type {
			case memory.SymbolNew:
				names[c.Name]++
			case memory.SymbolDeleted:
				names[c.Name]--
				deleted[c.Name] = true
			}
		}
		for _, c := range changes {
			if c.RenamedFrom != "" && (c.Type != memory.SymbolNew || !deleted[c.RenamedFrom]) {
				t.Errorf("%s %s was %s, which is not deleted", c.Type, c.Name, c.RenamedFrom)
			}
		}
		for _, s := range to.Symbols {
			names[s.Name]--
		}
		for name, n := range names {
			if n != 0 {
				t.Errorf("%s: %+d", name, n)
			}
		}
	})
}
