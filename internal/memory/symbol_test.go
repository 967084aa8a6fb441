package memory_test

import (
	"fmt"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

// TestFoldSymbols plays changes of one file, written "TYPE NAME(SIGNATURE) BEFORE>AFTER" where
// BEFORE and AFTER stand for the code, and names what remains of them.
func TestFoldSymbols(t *testing.T) {
	tests := []struct{ name, changes, want string }{
		{"one", "new A >1", "new A >1"},
		{"several", "new A >1, modified B 1>2, deleted C 1>", "new A >1, modified B 1>2, deleted C 1>"},
		{"added, then modified", "new A >1, modified A 1>2", "new A >2"},
		{"added, then deleted", "new A >1, deleted A 1>", ""},
		{"added, modified, deleted", "new A >1, modified A 1>2, deleted A 2>", ""},
		{"modified twice", "modified A 1>2, modified A 2>3", "modified A 1>3"},
		{"added, told twice", "new A >1, new A >1", "new A >1"},
		{"two overloads are added", "new A >1, new A >2", "new A >1, new A >2"},
		{"edited back", "modified A 1>2, modified A 2>1", ""},
		{"modified, then deleted", "modified A 1>2, deleted A 2>", "deleted A 1>"},
		{"deleted, then added as it was", "deleted A 1>, new A >1", ""},
		{"deleted, then added with other code", "deleted A 1>, new A >2", "modified A 1>2"},
		{"taken back", "modified A 1>2, new B >1, unchanged A 1>1", "new B >1"},
		{"nothing to take back", "unchanged A 1>1", ""},
		{"renamed", "new B<A >2, deleted A 1>", "new B<A >2, deleted A 1>"},
		{"renamed twice", "new B<A >2, deleted A 1>, new C<B >3, deleted B 2>", "deleted A 1>, new C<A >3"},
		{"renamed and back", "new B<A >2, deleted A 1>, new A<B >1, deleted B 2>", ""},
		{"a new one is renamed", "new A >1, new B<A >2, deleted A 1>", "new B >2"},
		{"another overload is modified, too", "modified A(x) 1>2, modified A(y) 5>6, deleted A(y) 6>", "modified A 1>2, deleted A 5>"},
		{"an overload is modified, another added", "modified A 1>2, new A >9, modified A 9>8", "modified A 1>2, new A >8"},
		{"an edit between was not seen", "modified A 1>2, modified A 3>4", "modified A 1>4"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var net []memory.SymbolChange
			for _, part := range strings.Split(tt.changes, ", ") {
				net = memory.FoldSymbols(net, parseChange(t, part))
			}
			var got []string
			for _, c := range net {
				name := c.QualifiedName
				if c.RenamedFrom != "" {
					name += "<" + c.RenamedFrom
				}
				got = append(got, fmt.Sprintf("%s %s %s>%s", c.ChangeType, name, c.BeforeHash, c.BodyHash))
			}
			if got := strings.Join(got, ", "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func parseChange(t *testing.T, text string) memory.SymbolChange {
	t.Helper()
	f := strings.Fields(text)
	if len(f) != 3 {
		t.Fatalf("bad change %q", text)
	}
	c := memory.SymbolChange{FilePath: "a.go", ChangeType: memory.ChangeType(f[0])}
	c.QualifiedName, c.RenamedFrom, _ = strings.Cut(f[1], "<")
	if name, parameters, ok := strings.Cut(c.QualifiedName, "("); ok {
		c.QualifiedName, c.Signature = name, parameters
	}
	c.BeforeHash, c.BodyHash, _ = strings.Cut(f[2], ">")
	return c
}

// TestFoldSymbolsByFile: symbols of one name in two files are two.
func TestFoldSymbolsByFile(t *testing.T) {
	a := memory.SymbolChange{ID: 7, FilePath: "a.go", QualifiedName: "A", ChangeType: memory.SymbolNew, BodyHash: "1"}
	gone := memory.SymbolChange{FilePath: "b.go", QualifiedName: "A", ChangeType: memory.SymbolDeleted, BeforeHash: "1"}
	got := memory.FoldSymbols([]memory.SymbolChange{a}, gone)
	if len(got) != 2 || got[0] != a || got[1] != gone {
		t.Errorf("got %+v", got)
	}
}

func TestSymbolForPeople(t *testing.T) {
	tests := []struct {
		change            memory.SymbolChange
		declaration, mark string
	}{
		{memory.SymbolChange{QualifiedName: "Limiter.refill", Kind: "method", Signature: "func (l *Limiter[K]) refill()", ChangeType: memory.SymbolModified}, "func (l *Limiter[K]) refill()", "MODIFIED"},
		{memory.SymbolChange{QualifiedName: "Bucket.take", Kind: "method", Signature: "def take(self, n)", ChangeType: memory.SymbolNew, RenamedFrom: "Bucket.get"}, "Bucket: def take(self, n)", "NEW, was Bucket.get"},
		{memory.SymbolChange{QualifiedName: "Shop.Cart.add", Kind: "method", Signature: "addToCarts(i: Item)", ChangeType: memory.SymbolNew}, "Shop.Cart: addToCarts(i: Item)", "NEW"},
		{memory.SymbolChange{QualifiedName: "parses 1.5", Kind: "test", Signature: `test("parses 1.5"`, ChangeType: memory.SymbolNew}, `test("parses 1.5"`, "NEW"},
		{memory.SymbolChange{QualifiedName: "Gone", Kind: "func", ChangeType: memory.SymbolDeleted}, "Gone", "DELETED"},
	}
	for _, tt := range tests {
		if got := tt.change.Declaration(); got != tt.declaration {
			t.Errorf("%s: declared as %q, want %q", tt.change.QualifiedName, got, tt.declaration)
		}
		if got := tt.change.Mark(); got != tt.mark {
			t.Errorf("%s: marked %q, want %q", tt.change.QualifiedName, got, tt.mark)
		}
	}
}

func TestWithoutOldNames(t *testing.T) {
	changes := []memory.SymbolChange{
		{Session: 1, FilePath: "a.go", QualifiedName: "New", ChangeType: memory.SymbolNew, RenamedFrom: "Old"},
		{Session: 1, FilePath: "a.go", QualifiedName: "Old", ChangeType: memory.SymbolDeleted},
		{Session: 1, FilePath: "b.go", QualifiedName: "Old", ChangeType: memory.SymbolDeleted},
		{Session: 2, FilePath: "a.go", QualifiedName: "Old", ChangeType: memory.SymbolDeleted},
		{Session: 1, FilePath: "a.go", QualifiedName: "Old", ChangeType: memory.SymbolNew},
	}
	if got := memory.WithoutOldNames(changes); len(got) != 4 || got[1].FilePath != "b.go" {
		t.Errorf("got %+v", got)
	}
	if changes[1].QualifiedName != "Old" {
		t.Error("the argument was changed")
	}
}
