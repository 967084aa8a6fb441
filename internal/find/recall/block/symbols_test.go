package block

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"claudemem/internal/memory"
)

// symbolBlock returns the lines of the symbol layer.
func symbolBlock(t *testing.T, m *fakeMemory, opts Options, req memory.ContextRequest) string {
	t.Helper()
	opts.Clock = func() time.Time { return noon }
	if opts.Distiller == nil {
		opts.Distiller = distilled{}
	}
	req.Host, req.ProjectPath, req.Explain = memory.HostClaudeCode, testProject, true
	b, err := unhurried(t, New(m, opts), req)
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, b)
	var lines []string
	for _, l := range b.Lines {
		if l.Layer == layerSymbols && l.Why != "heading" {
			lines = append(lines, l.Text)
		}
	}
	return strings.Join(lines, "\n")
}

func TestSymbolLines(t *testing.T) {
	many := func(n int, file string, in memory.SessionID, d time.Duration) (all []memory.SymbolChange) {
		for i := range n {
			c := changed(file, in, d, fmt.Sprintf("new func F%02d | func F%02d()", i, i))
			c.LineStart = 1 + 3*i
			all = append(all, c)
		}
		return all
	}
	long := "func Long(" + strings.Repeat("argument int, ", 20) + ")"
	tests := []struct {
		name    string
		changes []memory.SymbolChange
		want    string
	}{
		{"nothing", nil, ""},
		{"in the order of the file, deleted ones last", []memory.SymbolChange{
			{FilePath: "a.go", Session: 1, QualifiedName: "Gone", Kind: "func", Signature: "func Gone()", ChangeType: "deleted", LineStart: 1},
			{FilePath: "a.go", Session: 1, QualifiedName: "B", Kind: "func", Signature: "func B()", ChangeType: "modified", LineStart: 20},
			{FilePath: "a.go", Session: 1, QualifiedName: "A", Kind: "func", Signature: "func A()", ChangeType: "new", LineStart: 10},
		}, "a.go\n  func A()  [NEW]\n  func B()  [MODIFIED]\n  func Gone()  [DELETED]"},
		{"few of many tests", append(many(20, "a_test.go", 1, time.Minute), changed("old.go", 2, time.Hour, "new func Old | func Old()")),
			"old.go\n  func Old()  [NEW]\na_test.go (20 changes)\n  func F00()  [NEW]\n  func F01()  [NEW]\n  func F02()  [NEW]\n  func F03()  [NEW]\n  func F04()  [NEW]\n  func F05()  [NEW]"},
		{"files by their latest change, tests at the end", []memory.SymbolChange{
			changed("a_test.go", 1, time.Minute, "new func TestA | func TestA(t *testing.T)"),
			changed("src/lib.rs", 1, 2*time.Minute, "new func tests.adds | fn adds()"),
			changed("old.go", 2, time.Hour, "new func Old | func Old()"),
			changed("src/lib.rs", 1, 3*time.Minute, "modified func add | pub fn add(a: i32, b: i32) -> i32"),
		}, "src/lib.rs\n  pub fn add(a: i32, b: i32) -> i32  [MODIFIED]\n  tests: fn adds()  [NEW]\nold.go\n  func Old()  [NEW]\na_test.go\n  func TestA(t *testing.T)  [NEW]"},
		{"the latest of a symbol, its signature changed meanwhile", []memory.SymbolChange{
			changed("a.go", 2, time.Hour, "modified func Parse | func Parse(s string, strict bool) error"),
			changed("a.go", 1, 2*time.Hour, "new func Parse | func Parse(s string) error"),
		}, "a.go\n  func Parse(s string, strict bool) error  [MODIFIED]"},
		{"overloads of one session", []memory.SymbolChange{
			changed("A.java", 2, time.Hour, "new method A.get | int get(int i)"),
			changed("A.java", 2, time.Hour, "new method A.get | int get(String key)"),
		}, "A.java\n  A: int get(int i)  [NEW]\n  A: int get(String key)  [NEW]"},
		{"a renamed symbol without its old half", []memory.SymbolChange{
			changed("a.py", 1, time.Hour, "new method Bucket.take was Bucket.get | def take(self, n)"),
			changed("a.py", 1, time.Hour, "deleted method Bucket.get | def get(self, n)"),
			changed("b.py", 1, time.Hour, "deleted func get | def get(n)"),
		}, "a.py\n  Bucket: def take(self, n)  [NEW, was Bucket.get]\nb.py\n  def get(n)  [DELETED]"},
		{"a new type stands for its members", []memory.SymbolChange{
			changed("a.ts", 1, time.Hour, "new type Cart | export class Cart"),
			changed("a.ts", 1, time.Minute, "new method Cart.add | add(i: Item): void"),
			changed("a.ts", 1, time.Hour, "new type Cart.Line | class Line"),
			changed("a.ts", 1, time.Hour, "new method Cart.Line.total | total(): number"),
			changed("a.ts", 1, time.Hour, "modified method Shop.open | open(): void"),
			changed("b.ts", 1, time.Hour, "deleted type Old | class Old"),
			changed("b.ts", 1, time.Hour, "deleted method Old.run | run(): void"),
			changed("c.ts", 1, time.Hour, "new method Cart.add | add(i: Item): void"),
		}, "a.ts\n  export class Cart  [NEW] with 2 methods\n  Shop: open(): void  [MODIFIED]\nb.ts\n  class Old  [DELETED] with 1 method\nc.ts\n  Cart: add(i: Item): void  [NEW]"},
		{"a long signature", []memory.SymbolChange{changed("a.go", 1, time.Hour, "new func Long | "+long)},
			"a.go\n  " + long[:92] + "…  [NEW]"},
		{"no signature", []memory.SymbolChange{changed("a.go", 1, time.Hour, "deleted func X")}, "a.go\n  X  [DELETED]"},
		{"one large new file leaves room for others", append(append(many(40, "new.go", 3, time.Minute),
			many(3, "b.go", 2, time.Hour)...), append(many(2, "c.go", 2, 2*time.Hour), append(many(1, "d.go", 1, 3*time.Hour), many(9, "e.go", 1, 4*time.Hour)...)...)...),
			"new.go (40 changes)\n" + numbered(8) + "\nb.go\n" + numbered(3) + "\nc.go\n" + numbered(2) + "\nd.go\n" + numbered(1) + "\ne.go (9 changes)\n" + numbered(8)},
		{"at most 30", many(40, "new.go", 3, time.Minute), "new.go (40 changes)\n" + numbered(30)},
		{"the last five sessions", []memory.SymbolChange{
			changed("6.go", 6, time.Hour, "new func A | func A()"), changed("5.go", 5, 2*time.Hour, "new func A | func A()"),
			changed("4.go", 4, 3*time.Hour, "new func A | func A()"), changed("3.go", 3, 4*time.Hour, "new func A | func A()"),
			changed("2.go", 2, 5*time.Hour, "new func A | func A()"), changed("1.go", 1, 6*time.Hour, "new func A | func A()"),
		}, "6.go\n  func A()  [NEW]\n5.go\n  func A()  [NEW]\n4.go\n  func A()  [NEW]\n3.go\n  func A()  [NEW]\n2.go\n  func A()  [NEW]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := symbolBlock(t, &fakeMemory{symbols: tt.changes}, Options{Budget: 8000}, memory.ContextRequest{Source: "startup"}); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// numbered returns the lines of the functions F00 to one below n.
func numbered(n int) string {
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf("  func F%02d()  [NEW]", i))
	}
	return strings.Join(lines, "\n")
}

func TestSymbolsBySource(t *testing.T) {
	m := func() *fakeMemory {
		return &fakeMemory{digests: []memory.SessionDigest{session(1, time.Minute, nil), session(2, time.Hour, nil)}, injectedAt: ago(30 * time.Minute),
			symbols: []memory.SymbolChange{
				changed("own.go", 1, time.Minute, "new func Own | func Own()"),
				changed("new.go", 2, 20*time.Minute, "new func News | func News()"),
				changed("old.go", 2, time.Hour, "new func Old | func Old()"),
			}}
	}
	own, news, old := "own.go\n  func Own()  [NEW]\n", "new.go\n  func News()  [NEW]\n", "old.go\n  func Old()  [NEW]\n"
	for source, want := range map[string]string{"startup": news + old, "clear": news + old, "compact": own + news + old, "resume": news} {
		got := symbolBlock(t, m(), Options{}, memory.ContextRequest{Source: source, HostSessionID: hostID(1)})
		if got+"\n" != want {
			t.Errorf("%s: got\n%s\nwant\n%s", source, got, want)
		}
	}
	unknown := m()
	unknown.trouble = func(_ context.Context, method string) error {
		if method == "SessionByHost" {
			return context.DeadlineExceeded
		}
		return nil
	}
	if got := symbolBlock(t, unknown, Options{}, memory.ContextRequest{Source: "startup", HostSessionID: hostID(1)}); got+"\n" != news+old {
		t.Errorf("a session that cannot be looked up is given its own changes:\n%s", got)
	}
}

// TestSymbolsThatWait: the changes of events that are not distilled yet count, folded into
// what is stored of their session.
func TestSymbolsThatWait(t *testing.T) {
	other, own := session(1, time.Minute, nil), session(2, time.Minute, nil)
	other.Undistilled, own.Undistilled = 1, 1
	waits := func(s memory.SessionDigest, changes ...memory.SymbolChange) memory.Batch {
		b := events(s.Session, 1, time.Minute)
		b.Events[0].Symbols = changes
		return b
	}
	stored := changed("a.go", 1, time.Hour, "new func Parse | func Parse()")
	stored.ID, stored.BodyHash = 7, "1"
	later := changed("a.go", 0, time.Minute, "modified func Parse | func Parse(s string)")
	later.BeforeHash, later.BodyHash = "1", "2"
	m := &fakeMemory{digests: []memory.SessionDigest{own, other}, symbols: []memory.SymbolChange{stored},
		waiting: map[memory.SessionID]memory.Batch{
			1: waits(other, later, changed("a.go", 0, time.Minute, "new func Lex | func Lex()")),
			2: waits(own, changed("own.go", 0, time.Minute, "new func Own | func Own()")),
		}}
	if got, want := symbolBlock(t, m, Options{}, memory.ContextRequest{Source: "startup", HostSessionID: hostID(2)}),
		"a.go\n  func Lex()  [NEW]\n  func Parse(s string)  [NEW]"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := symbolBlock(t, m, Options{}, memory.ContextRequest{Source: "compact", HostSessionID: hostID(2)}); !strings.Contains(got, "own.go\n  func Own()  [NEW]") {
		t.Errorf("after a compaction the session's own changes are missing:\n%s", got)
	}
	// Distilled while the block was built: they are stored and were seen waiting.
	lex := changed("a.go", 1, time.Minute, "new func Lex | func Lex()")
	m.symbols = append(m.symbols, lex)
	if got := symbolBlock(t, m, Options{}, memory.ContextRequest{Source: "startup", HostSessionID: hostID(2)}); strings.Count(got, "Lex") != 1 {
		t.Errorf("a change that was stored meanwhile is there twice:\n%s", got)
	}
}

// TestSymbolsInTheBudget: the layer keeps to its share, names no file without a line, and
// as the only layer gives at least one line of it.
func TestSymbolsInTheBudget(t *testing.T) {
	var changes []memory.SymbolChange
	for i := range 20 {
		changes = append(changes, changed(fmt.Sprintf("internal/package%02d/file.go", i), 1, time.Hour, "modified func Handle | func Handle(ctx context.Context, r *Request) (*Response, error)"))
	}
	for budget := MinBudget; budget < 1500; budget += 7 {
		got := symbolBlock(t, &fakeMemory{symbols: changes}, Options{}, memory.ContextRequest{Source: "startup", Budget: budget})
		if got == "" {
			t.Fatalf("budget %d: nothing", budget)
		}
		if lines := strings.Split(got, "\n"); len(lines) > 1 && !strings.HasPrefix(lines[len(lines)-1], "  ") {
			t.Fatalf("budget %d: a file without a line:\n%s", budget, got)
		}
	}
	for budget, want := range map[int]int{2000: 500, 4000: 1000} {
		got := symbolBlock(t, &fakeMemory{symbols: changes, digests: []memory.SessionDigest{session(3, time.Hour, &memory.Summary{Completed: strings.Repeat("much was done ", 60)})}},
			Options{Caps: Caps{Sessions: 1, Symbols: 500, Learnings: 300, Observations: 600, Reserve: 200}}, memory.ContextRequest{Source: "startup", Budget: budget})
		if tokens := memory.EstimateTokens(got); tokens > want || tokens < want-60 && strings.Count(got, "MODIFIED") < 20 {
			t.Errorf("budget %d: %d tokens of symbols, want nearly %d", budget, tokens, want)
		}
	}
}

func TestWithoutSymbols(t *testing.T) {
	m := &fakeMemory{symbols: []memory.SymbolChange{changed("a.go", 1, time.Hour, "new func A | func A()")}}
	for name, opts := range map[string]Options{"no lines": {MaxSymbols: -1}, "no tokens": {Caps: Caps{Sessions: 400, Learnings: 300, Reserve: 200}}} {
		if got := symbolBlock(t, m, opts, memory.ContextRequest{Source: "startup"}); got != "" {
			t.Errorf("%s: got %q", name, got)
		}
	}
	weeks, d := weeks()
	weeks.trouble = func(_ context.Context, method string) error {
		if method == "RecentSymbols" {
			panic("no function map")
		}
		return nil
	}
	b := build(t, weeks, d, memory.ContextRequest{Source: "startup"})
	if strings.Contains(b.Text, "Recently Changed Code") || !strings.Contains(b.Text, "Recent Sessions") || !strings.Contains(b.Text, "#93)") {
		t.Errorf("a layer that fails takes others along:\n%s", b.Text)
	}
	if len(b.Skipped) != 1 || b.Skipped[0].Name != layerSymbols {
		t.Errorf("skipped %v", b.Skipped)
	}
}
