package offline

import (
	"slices"
	"strings"
	"testing"

	"claudemem/internal/capture/outline"
	"claudemem/internal/memory"
)

// TestChanges tells what a file's edits changed: from the whole file, and only from it.
func TestChanges(t *testing.T) {
	const (
		peek   = "\n// Peek is the oldest item.\nfunc (w *Window) Peek() int {\n\treturn w.items[0]\n}\n"
		python = "def get(uid):\n    user = db[uid]\n    if user is None:\n        raise KeyError(uid)\n    return user\n"
	)
	withPeek := goWindow + peek
	tests := []struct {
		name, file string
		story      *story
		want       string
	}{
		{"a function that was not read", "a.go", tell().
			read("a.go", "package window\n\nfunc Other() int {\n").
			replace("a.go", strings.Replace(withPeek, "package window\n", "package window\n\nfunc Other() int {\n\treturn 1\n}\n", 1), ">=", ">"),
			"a.go: changed Window.Slide"},
		{"several functions", "a.go", tell().replace("a.go", withPeek, ">=", ">").replace("a.go", withPeek, "items[0]", "items[1]"),
			"a.go: changed Window.Slide, Window.Peek"},
		{"only a piece is known", "a.go", tell().read("a.go", goWindow).edit("a.go", 9, " func (w *Window) Slide(n int) {", "-\ta()", "+\tb()", " }"), ""},
		{"the file does not parse", "a.go", tell().replace("a.go", goWindow+"func {", ">=", ">"), ""},
		{"no function", "a.go", tell().replace("a.go", goWindow, "package window\n", "package window\n\nconst most = 3\n"), ""},
		{"the type that the file is named after", "Json.java", tell().replace("Json.java", "public class Json {\n    static int depth = 1;\n}\n", "1", "2"), ""},
		{"a member of that type", "Json.java", tell().replace("Json.java", "public class Json {\n    int read() {\n        return 1;\n    }\n}\n", "1", "2"), "Json.java: changed Json.read"},
		{"another type of its file", "Json.java", tell().replace("Json.java", "public class Json {\n}\n\nclass Depth {\n    static int most = 1;\n}\n", "1", "2"), "Json.java: changed Depth"},
		{"added", "a.go", tell().replace("a.go", goWindow, "package window\n", "package window\n"+peek), "a.go: added Window.Peek"},
		{"added, then changed", "a.go", tell().replace("a.go", goWindow, "package window\n", "package window\n"+peek).
			replace("a.go", strings.Replace(goWindow, "package window\n", "package window\n"+peek, 1), "items[0]", "items[1]"), "a.go: added Window.Peek"},
		{"added, then removed", "a.go", tell().replace("a.go", goWindow, "package window\n", "package window\n"+peek).
			replace("a.go", strings.Replace(goWindow, "package window\n", "package window\n"+peek, 1), peek, ""), ""},
		{"changed and changed back", "a.go", tell().replace("a.go", goWindow, ">=", ">").
			replace("a.go", strings.Replace(goWindow, ">=", ">", 1), ">", ">="), ""},
		{"removed", "a.go", tell().replace("a.go", withPeek, peek, ""), "a.go: removed Window.Peek"},
		{"renamed", "a.py", tell().replace("a.py", python, "get", "find_user"), "a.py: renamed get to find_user"},
		{"renamed twice", "a.py", tell().replace("a.py", python, "get", "find").replace("a.py", strings.Replace(python, "get", "find", 1), "find", "find_user"),
			"a.py: renamed get to find_user"},
		{"renamed and renamed back", "a.py", tell().replace("a.py", python, "get", "find").replace("a.py", strings.Replace(python, "get", "find", 1), "find", "get"), ""},
		{"a new file", "a.go", tell().write("a.go", goWindow), "New file a.go: added Window, Window.Slide"},
		{"a file that went", "a.go", tell().replace("a.go", goWindow, "package window\n", "package window\n"+peek).run("rm a.go", ""), "a.go deleted"},
		{"thrown away", "a.go", tell().replace("a.go", goWindow, ">=", ">").run("git checkout -- a.go", ""), ""},
		{"new tests", "a_test.go", tell().replace("a_test.go", "package window\n", "window\n", "window\n\nfunc TestPeek() {\n}\n\nfunc help() {\n}\n"),
			"a_test.go: added help; new tests TestPeek"},
		{"a changed test", "a_test.go", tell().replace("a_test.go", "package window\n\nfunc TestPeek() {\n}\n", "{", "{ help()"), "a_test.go: changed TestPeek"},
		{"a method of Rust", "a.rs", tell().replace("a.rs", "impl Cart {\n    fn total(&self) -> u32 {\n        1\n    }\n}\n", "1", "2"), "a.rs: changed Cart::total"},
		{"markup in a name", "a.test.js", tell().replace("a.test.js", "run()\n", "run()\n", "test('</b>', () => {})\n"), "a.test.js: new tests ‹/b›"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			episodes := episodesOf(turnsOf(&tt.story.batch))
			if len(episodes) != 1 {
				t.Fatalf("%d episodes", len(episodes))
			}
			if got := episodes[0].changes(tt.file); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// took sets what package symbols found that the last command took back.
func (s *story) took(changes ...memory.SymbolChange) *story {
	s.batch.Events[len(s.batch.Events)-1].Symbols = changes
	return s
}

// TestTakenBack: what a command took back is not told, what it moved is told of the new
// file, and what it did to the changes of earlier turns is not of this one.
func TestTakenBack(t *testing.T) {
	const method = "Window.Slide"
	edit := func() *story { return tell().replace("a.go", goWindow, ">=", ">") }
	change := edit().batch.Events[0].Symbols[0]
	back := func(name string) memory.SymbolChange {
		c := change
		c.QualifiedName, c.ChangeType, c.BeforeHash = name, memory.SymbolUnchanged, c.BodyHash
		return c
	}
	moved := func(name string) memory.SymbolChange {
		c := change
		c.QualifiedName, c.FilePath = name, "b.go"
		return c
	}
	tests := []struct {
		name  string
		story *story
		want  []string
	}{
		{"taken back", edit().run("git stash", "").took(back(method)), nil},
		{"taken back after the commit", edit().run("git commit -m x", "").run("git revert HEAD", "").took(back(method)), nil},
		{"another symbol", edit().run("git revert abc1234", "").took(back("Window.Peek"), moved("Window.Peek")), []string{"a.go: changed Window.Slide"}},
		{"moved", edit().run("mv a.go b.go", "").took(back(method), moved(method)), []string{"b.go: moved from a.go; changed Window.Slide"}},
		{"moved, of an earlier turn", tell().run("mv a.go b.go", "").took(back(method), moved(method)), []string{"b.go: moved from a.go"}},
	}
	for _, tt := range tests {
		e := episodesOf(turnsOf(&tt.story.batch))[0]
		var got []string
		for _, f := range e.files() {
			if s := e.changes(f); s != "" {
				got = append(got, s)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestMovedCode: what came here and went there is not new.
func TestMovedCode(t *testing.T) {
	body := "func Sum(ns []int) int {\n\ttotal := 0\n\tfor _, n := range ns {\n\t\ttotal += n\n\t}\n\treturn total\n}\n"
	e := episodesOf(turnsOf(&tell().replace("a.go", "package a\n\n"+body, body, "").replace("b.go", "package a\n", "a\n", "a\n\n"+body).batch))[0]
	if got := e.newCode(); len(got) != 0 {
		t.Errorf("new: %q", got)
	}
	if !e.movesOnly() || e.typeOf() != memory.TypeRefactor {
		t.Errorf("moves only: %v, type %s", e.movesOnly(), e.typeOf())
	}
}

// TestQuietEdits: comments and imports alone are no change of the program.
func TestQuietEdits(t *testing.T) {
	tests := []struct {
		name, file, before, old, text string
		comments, imports             bool
	}{
		{"a comment", "a.go", goWindow, "// Slide adds", "// Slide appends", true, false},
		{"an import", "a.go", goWindow, "package window\n", "package window\n\nimport \"fmt\"\n", false, true},
		{"a constant", "a.go", goWindow, "package window\n", "package window\n\nconst most = 3\n", false, false},
		{"code", "a.go", goWindow, ">=", ">", false, false},
		{"code that looks like a comment", "a.c", "int f(int a) {\n\treturn a\n\t;\n}\n", "a\n", "a\n\t* 2\n", false, false},
		{"code that looks like an import", "a.cs", "class A {\n    void B() {\n        C();\n    }\n}\n", "{\n        C", "{\n        using (d)\n        C", false, false},
		{"no source code", "a.txt", "a\n", "a\n", "a\n# b\n", false, false},
	}
	for _, tt := range tests {
		e := turnsOf(&tell().replace(tt.file, tt.before, tt.old, tt.text).batch)[0].steps[0].edits[0]
		if e.commentOnly != tt.comments || e.importOnly != tt.imports {
			t.Errorf("%s: only comments %v, only imports %v", tt.name, e.commentOnly, e.importOnly)
		}
	}
}

// TestTests names the tests of each language among what a file declares.
func TestTests(t *testing.T) {
	tests := []struct {
		file, source string
		want         []string
	}{
		{"a_test.go", "package a\n\nfunc TestA() {}\nfunc BenchmarkA() {}\nfunc FuzzA() {}\nfunc (s *Suite) TestB() {}\nfunc help() {}\ntype TestCase struct{}\n", []string{"TestA", "BenchmarkA", "FuzzA", "Suite.TestB"}},
		{"a.go", "package a\n\nfunc TestConnection() {}\n", nil},
		{"tests/test_a.py", "def test_a():\n    pass\n\ndef login():\n    pass\n\nclass TestB:\n    def test_c(self):\n        pass\n", []string{"test_a", "TestB.test_c"}},
		{"a.py", "def test_a():\n    pass\n", nil},
		{"a.test.ts", "test('adds up', () => {})\nfunction help() {}\n", []string{"adds up"}},
		{"src/lib.rs", "fn area() -> u32 { 1 }\n\nmod tests {\n    fn area_is_one() { area(); }\n}\n", []string{"tests::area_is_one"}},
		{"src/shape.rs", "mod shape {\n    mod tests {\n        fn area_is_one() { area(); }\n    }\n}\n", []string{"shape::tests::area_is_one"}},
		{"tests/area.rs", "fn area_is_one() {}\n", []string{"area_is_one"}},
		{"src/test/CartTest.java", "class CartTest {\n    void total() { one(); }\n}\n", []string{"CartTest.total"}},
		{"CartTest.kt", "class CartTest {\n    fun total() { one() }\n}\n", []string{"CartTest.total"}},
		{"CartTests.cs", "class CartTests {\n    void Total() { One(); }\n}\n", []string{"CartTests.Total"}},
		{"tests/CartTest.php", "<?php\nclass CartTest {\n    function testTotal() { one(); }\n    function setUp() { one(); }\n}\n", []string{"CartTest.testTotal"}},
		{"test/cart_test.rb", "class CartTest\n  def test_total\n    one\n  end\n\n  def setup\n  end\nend\n", []string{"CartTest.test_total"}},
		{"CartTests.swift", "class CartTests {\n    func testTotal() { one() }\n    func setUp() { one() }\n}\n", []string{"CartTests.testTotal"}},
		{"tests/a.c", "void test_total(void) { one(); }\nvoid setup(void) { one(); }\n", []string{"test_total"}},
	}
	for _, tt := range tests {
		if outline.Language(tt.file) == "" {
			t.Fatal(tt.file)
		}
		if got := episodesOf(turnsOf(&tell().write(tt.file, tt.source).batch))[0].newTests(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.file, got, tt.want)
		}
	}
}
