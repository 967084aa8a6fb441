package offline

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claudemem/toolcall"
)

func TestDeclarations(t *testing.T) {
	tests := []struct{ lang, line, want string }{
		{"go", "func Add(a, b int) int {", "Add"},
		{"go", "func (w *Window[T]) Slide(n T) {", "Window.Slide"},
		{"go", "type Window struct {", "Window"},
		{"go", "type (", ""},
		{"go", "\tfunc() {", ""},
		{"go", "var x = 1", ""},
		{"js", "export default async function load() {", "load"},
		{"js", "export class Cart extends Base {", "Cart"},
		{"js", "const add = (a, b) => a + b;", "add"},
		{"js", "  const local = () => 1;", ""},
		{"js", "export const total = async (cart) => {", "total"},
		{"js", "  async remove(sku) {", "remove"},
		{"js", "  if (x) {", ""},
		{"js", "  return foo(x) {", ""},
		{"js", "interface Props {", "Props"},
		{"js", "type Id = string;", "Id"},
		{"js", "it('adds up', () => {", "adds up"},
		{"js", "export const LIMIT = 10;", ""},
		{"py", "def add(a, b):", "add"},
		{"py", "    async def load(self):", "load"},
		{"py", "class Cart(Base):", "Cart"},
		{"py", "defer = 1", ""},
		{"rs", "pub(crate) async fn load<T>(x: T) -> T {", "load"},
		{"rs", "impl<T: Clone> Display for Window<T> {", "Window"},
		{"rs", "pub struct Window {", "Window"},
		{"rs", "macro_rules! square {", "square"},
		{"java", "public final class Cart implements X {", "Cart"},
		{"java", "    public static List<Item> items(Cart c) {", "items"},
		{"java", "    return items(c);", ""},
		{"java", "    new Thread(() -> {", ""},
		{"java", "    fun total(): Int {", "total"},
		{"rb", "  def self.load(x)", "load"},
		{"php", "    public static function load($x) {", "load"},
		{"sh", "usage() {", "usage"},
		{"", "func Add() {", ""},
	}
	for _, tt := range tests {
		d, ok := declaration(tt.lang, tt.line)
		got := ""
		if ok {
			got = d.name
			if d.owner != "" && d.owner != "." {
				got = d.owner + "." + d.name
			}
		}
		if got != tt.want {
			t.Errorf("%s %q: got %q, want %q", tt.lang, tt.line, got, tt.want)
		}
	}
}

func TestSymbolsOfPatches(t *testing.T) {
	type symbols struct{ Added, Changed, Removed, Tests []string }
	tests := []struct {
		name, path, before string
		start              int
		lines              string
		want               symbols
	}{
		{"a body, its function in the context", "a.go", "", 3, " func (w *W) A() int {\n-\treturn 1\n+\treturn 2\n }", symbols{Changed: []string{"W.A"}}},
		{"a body, its function known from reading the file", "a.go", goWindow, 12, "-\tif len(w.items) >= w.size {\n+\tif len(w.items) > w.size {", symbols{Changed: []string{"Window.Slide"}}},
		{"between two functions nothing", "a.go", goWindow, 3, "-// Window is a ring of numbers.\n+// Window is a ring.", symbols{}},
		{"a new function after another one", "a.go", "", 3, " func A() int {\n \treturn 1\n }\n+\n+func B() int {\n+\treturn 2\n+}", symbols{Added: []string{"B"}}},
		{"a signature", "a.go", "", 3, "-func A() int {\n+func A(n int) int {\n \treturn 1\n }", symbols{Changed: []string{"A"}}},
		{"a function that goes", "a.go", "", 3, "-func A() int {\n-\treturn 1\n-}\n func B() {}", symbols{Removed: []string{"A"}}},
		{"a test", "a_test.go", "", 3, "+func TestA(t *testing.T) {\n+\tt.Log()\n+}", symbols{Added: []string{"TestA"}, Tests: []string{"TestA"}}},
		{"a method in a Python class", "a.py", "class Cart:\n    def add(self):\n        pass\n\n    def total(self):\n        return 1\n", 6, "-        return 1\n+        return 2", symbols{Changed: []string{"Cart.total"}}},
		{"a method in a JavaScript class", "a.ts", "", 1, " class Cart {\n   total() {\n-    return 1;\n+    return 2;\n   }\n }", symbols{Changed: []string{"Cart.total"}}},
		{"a Rust impl", "a.rs", "", 1, " impl Cart {\n+    pub fn total(&self) -> u32 {\n+        1\n+    }\n }", symbols{Added: []string{"Cart::total"}}},
		{"a Java method", "A.java", "", 1, " public class Cart {\n     public int total() {\n-        return 1;\n+        return 2;\n     }", symbols{Changed: []string{"Cart.total"}}},
		{"imports", "a.go", "", 1, " package a\n-import \"fmt\"\n+import \"os\"", symbols{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := &edit{path: tt.path, kind: toolcall.KindOfFile(tt.path)}
			lines := strings.Split(tt.lines, "\n")
			e.parseHunks([]toolcall.Hunk{{OldStart: tt.start, Lines: lines}}, outline(languageOf(tt.path), tt.before, 1))
			if diff := cmp.Diff(tt.want, symbols{e.added, e.changed, e.removed, e.tests}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRequests(t *testing.T) {
	tests := []struct {
		prompt string
		wants  intent
		clause string
	}{
		{"Please fix the off-by-one in Window.Slide.", wantFix, "Fix the off-by-one in Window.Slide"},
		{"Can you add a --json flag to the list command, and run the tests?", wantFeature, "Add a --json flag to the list command"},
		{"the tests fail, please fix", wantFix, ""},
		{"fix it", wantFix, ""},
		{"We need discount codes for the shop.", wantFeature, "Add discount codes for the shop"},
		{"Why is it slow? Don't change anything.", wantFindOut, ""},
		{"Refactor parse into two functions.", wantRefactor, "Refactor parse into two functions"},
		{"Then fix it in Allow.", wantFix, ""},
		{"Move Link and Broken into links.go", wantRefactor, "Move Link and Broken into links.go"},
		{"Should we use a queue or a channel? Decide.", wantDecision, ""},
		{"continue", 0, ""},
		{"", 0, ""},
	}
	all := wantFix | wantFeature | wantRefactor | wantDecision
	for _, tt := range tests {
		r := parseRequest(tt.prompt)
		if got, want := r.wants&all, tt.wants&all; got != want {
			t.Errorf("%q: wants %b, want %b", tt.prompt, got, want)
		}
		if r.clause != tt.clause {
			t.Errorf("%q: clause %q, want %q", tt.prompt, r.clause, tt.clause)
		}
	}
}

func TestSentences(t *testing.T) {
	got := []string{}
	for _, s := range sentences("## Result\n\nIt works, e.g. with `a. B`. Version 1.2. go.mod is new!\n- one **thing**\n- [two](http://x)\n\n| a | b |\n\n```go\nfmt.Println()\n```\nThe end 🎉") {
		got = append(got, s.section+"/"+s.text)
	}
	want := []string{"result/It works, e.g. with `a. B`.", "result/Version 1.2.", "result/go.mod is new!", "result/one thing", "result/two", "result/The end"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCutTexts(t *testing.T) {
	tests := []struct {
		text string
		n    int
		want string
	}{
		{"short", 10, "short"},
		{"one two three four five", 15, "one two three…"},
		{"the first clause, and then much more of it", 30, "the first clause"},
		{"it stays because it is needed here", 20, "it stays"},
		{"it stays as it was because it is needed", 30, "it stays as it was"},
		{"the tick `is never closed in this text", 20, "the tick `is never`…"},
		{"ääääääääää ääääääääää", 15, "ääääääääää…"},
		{"nowordboundaryatallinthistext", 10, "nowordbou…"},
	}
	for _, tt := range tests {
		if got := cut(tt.text, tt.n); got != tt.want {
			t.Errorf("%q to %d: got %q, want %q", tt.text, tt.n, got, tt.want)
		}
	}
}
