package index

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

// shop is an index of a handful of records in two projects.
func shop(t testing.TB) *Index {
	t.Helper()
	feed := newMemoryFeed()
	put := func(id int64, typ memory.ObservationType, project, title, text string, files ...string) {
		d := observation(id, title, text)
		d.Type, d.ProjectPath, d.Files = typ, project, files
		d.Session = memory.SessionID(id % 3)
		feed.put(d)
	}
	put(1, "bugfix", "/shop", "Cart total rounds twice", "The total was rounded per line and again at the end.", "src/cart/total.ts")
	put(2, "feature", "/shop", "Retry queue for webhooks", "Failed webhooks are parsed again by the old parser.", "src/webhook.ts")
	put(3, "bugfix", "/shop", "getUserByEmail ignores case", "Addresses are lower-cased before getUserByEmail looks.", "src/user_service.go")
	put(4, "decision", "/blog", "Postgres instead of SQLite", "Two writers at once; the queue stays in Redis.", "docs/decisions.md")
	put(5, "discovery", "/blog", "Old parser is slow", "The parser walks the tree twice for each comment.", "src/parser.go")
	s := memory.Document{RecordRef: ref(memory.RecordSummary, 1), ProjectPath: "/blog", Session: 1, Title: "Speed up comments", Text: "The parser was the reason.", CreatedAt: 1_700_000_000_100, Symbols: []string{"Walker.descend"}}
	feed.put(s, prompt(1, 2, "why is the cart total wrong?"))
	path := filepath.Join(t.TempDir(), "index.db")
	ix, err := Open(t.Context(), path, feed, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ix.Close() })
	if err := ix.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	return ix
}

func names(matches []Match) string {
	var list []string
	for _, m := range matches {
		list = append(list, fmt.Sprintf("%s%d", string(m.Kind)[:1], m.ID))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

func TestFilters(t *testing.T) {
	ix := shop(t)
	for _, tt := range []struct {
		name, text string
		filter     Filter
		want       string // those with a word of the text
	}{
		{"none", "parser", Filter{}, "o2 o5 s1"},
		{"project", "parser", Filter{Projects: []string{"/blog"}}, "o5 s1"},
		{"two projects", "parser", Filter{Projects: []string{"/blog", "/shop"}}, "o2 o5 s1"},
		{"unknown project", "parser", Filter{Projects: []string{"/none"}}, ""},
		{"kind", "parser", Filter{Kinds: []memory.RecordKind{memory.RecordSummary}}, "s1"},
		{"unknown kind", "parser", Filter{Kinds: []memory.RecordKind{"learning"}}, ""},
		{"type", "parser", Filter{Types: []memory.ObservationType{"feature"}}, "o2"},
		{"type of another", "parser", Filter{Types: []memory.ObservationType{"refactor"}}, ""},
		{"session", "cart total", Filter{Session: 2}, "p1"},
		{"since", "parser", Filter{Since: 1_700_000_000_005}, "o5 s1"},
		{"until", "parser", Filter{Until: 1_700_000_000_005}, "o2 o5"},
		{"range", "parser", Filter{Since: 1_700_000_000_003, Until: 1_700_000_000_005}, "o5"},
		{"only", "parser", Filter{Only: []memory.RecordRef{ref("observation", 5), ref("observation", 1), ref("observation", 99), ref("bogus", 1)}}, "o5"},
		{"only none", "parser", Filter{Only: []memory.RecordRef{}}, ""},
		{"path", "user_service.go", Filter{}, "o3 o5"}, // both are .go
		{"path of one", "lib/user_service", Filter{}, "o3"},
		{"folder", "cart", Filter{}, "o1 p1"},
		{"joined", "web hook", Filter{}, "o2"},
		{"symbol", "Walker.descend", Filter{}, "s1"},
		{"last part of a symbol", "descend", Filter{}, "s1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, err := ix.Rank(t.Context(), Request{Text: tt.text, Filter: tt.filter, Limit: 10})
			if err != nil {
				t.Fatal(err)
			}
			got := names(slices.DeleteFunc(a.Matches, func(m Match) bool { return !m.Lexical }))
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestRankTellsWhy(t *testing.T) {
	ix := shop(t)
	a, err := ix.Rank(t.Context(), Request{Text: "why does the cart total round twice", Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	if !a.Semantic || a.Behind != 0 || len(a.Corrected) != 0 {
		t.Errorf("answer: %+v", a)
	}
	m := a.Matches[0]
	if m.ID != 1 || m.Kind != memory.RecordObservation || m.Keyword != 1 || m.Proximity <= 0 || m.Likeness <= 0 || m.MaxSim <= 0 || m.MaxSim > 1 {
		t.Errorf("best: %+v", m)
	}
	if m.Fragment != "title" || !slices.Equal(m.Words, []string{"cart", "total", "round", "twice"}) {
		t.Errorf("fragment %q, words %q", m.Fragment, m.Words)
	}
	if m.ProjectPath != "/shop" || m.Session != 1 || m.CreatedAt != 1_700_000_000_001 {
		t.Errorf("record: %+v", m)
	}
	for _, m := range a.Matches[1:] {
		if m.Keyword > 1 {
			t.Errorf("share of the largest: %+v", m)
		}
	}
}

func TestCorrections(t *testing.T) {
	ix := shop(t)
	for _, tt := range []struct{ text, corrected, want string }{
		{"webhoks retry", "map[webhoks:webhooks]", "o2"},
		{"postgers", "map[postgers:postgres]", "o4"},
		{"carttotal", "map[carttotal:cart total]", "o1"},
		{"xyzzyq", "map[]", ""},
		{"cat", "map[]", ""},   // too short to be mistyped
		{"twine", "map[]", ""}, // a word, and a letter away from twice
	} {
		a, err := ix.Rank(t.Context(), Request{Text: tt.text, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(a.Corrected); got != tt.corrected {
			t.Errorf("%q: corrected %s, want %s", tt.text, got, tt.corrected)
		}
		lexical := slices.DeleteFunc(a.Matches, func(m Match) bool { return !m.Lexical })
		if tt.want == "" && len(lexical) > 0 || tt.want != "" && (len(lexical) == 0 || names(lexical[:1]) != tt.want) {
			t.Errorf("%q: found %s, want %s first", tt.text, names(lexical), tt.want)
		}
	}
}

// TestMadeUpWord: a word that nobody has is near no record, a word that means something is, and so are
// several that only records' meaning has.
func TestMadeUpWord(t *testing.T) {
	ix := shop(t)
	for text, want := range map[string]bool{
		"xyzzyqwv": false, "what is xyzzyqwv?": false, "QWV_XYZZ17": false,
		"basket": true, "shopping basket xyzzyqwv": true, "webhoks": true, "getUserByEmail": true,
	} {
		a, err := ix.Rank(t.Context(), Request{Text: text, Limit: 10})
		if err != nil || len(a.Matches) > 0 != want {
			t.Errorf("%q finds %s, %v; want any: %v", text, names(a.Matches), err, want)
		}
	}
	a, err := ix.Rank(t.Context(), Request{Text: "xyzzyqwv", Limit: 10, Also: []memory.RecordRef{ref(memory.RecordObservation, 1)}})
	if err != nil || len(a.Matches) == 0 {
		t.Errorf("a record that was asked for by name is left out: %v", err)
	}
}

// TestForms: a word finds a record that has another form of it and not the word, behind one
// that has the word.
func TestForms(t *testing.T) {
	ix := shop(t)
	for _, tt := range []struct{ text, want, word string }{
		{"who parses comments", "o2", "parses"}, // parsed: of one stem
		{"parse trees slowly", "o5", "parser"},
		{"writer at once", "o4", "writer"},
		{"fails again", "o2", "fails"}, // failed: of one stem
		{"webhook failure", "o2", "fail"},
	} {
		a, err := ix.Rank(t.Context(), Request{Text: tt.text, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(a.Matches, func(m Match) bool {
			return fmt.Sprintf("o%d", m.ID) == tt.want && m.Kind == memory.RecordObservation
		})
		if at < 0 || !slices.Contains(a.Matches[at].Words, tt.word) {
			t.Errorf("%q: %s has not the word %s of it: %+v", tt.text, tt.want, tt.word, a.Matches)
		}
	}
	prose, err := ix.Rank(t.Context(), Request{Text: "webhook failure", Limit: 10, Prose: true})
	if err != nil || slices.Contains(prose.Matches[0].Words, "fail") {
		t.Errorf("prose was given other forms: %+v, %v", prose.Matches, err)
	}
}

func TestSyntax(t *testing.T) {
	ix := shop(t)
	for _, tt := range []struct{ expression, want string }{
		{`getUser*`, "o3"},
		{`getUser* AND NOT "old parser"`, "o3"},
		{`parser AND NOT comment`, "o2"},
		{`parser NOT comment`, "o2"},
		{`"old parser"`, "o2 o5"},
		{`"parser old" OR redis`, "o4"},
		{`(cart OR queue) AND (twice OR webhooks)`, "o1 o2"},
		{`cart OR queue twice`, "o1 p1"}, // AND binds closer
		{`NEAR(writers queue, 5)`, "o4"},
		{`NEAR(postgres queue, 1)`, ""},
		{`writers NEAR/9 queue`, "o4"},
		{`parser NEAR slow`, "o5"},
		{`title:parser`, "o5"},
		{`title:(parser OR cart) NOT slow`, "o1"},
		{`file:webhook`, "o2"},
		{`the AND parser`, "o2 o5 s1"}, // a stop word asks for nothing
		{`rounded*`, "o1"},
		{`RUNNING OR rounding`, "o1"},
		{`"user_service.go"`, "o3"},
		{`cart AND 漢字`, ""},
	} {
		a, err := ix.Syntax(t.Context(), tt.expression, Filter{}, 10)
		if err != nil {
			t.Errorf("%s: %v", tt.expression, err)
			continue
		}
		if got := names(a.Matches); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.expression, got, tt.want)
		}
	}
	a, err := ix.Syntax(t.Context(), `parser OR cart`, Filter{Projects: []string{"/blog"}, Kinds: []memory.RecordKind{"observation"}}, 10)
	if err != nil || names(a.Matches) != "o5" {
		t.Errorf("with a filter: %v, %v", names(a.Matches), err)
	}
	if m := a.Matches[0]; m.Keyword != 1 || !m.Lexical || !slices.Equal(m.Words, []string{"parser"}) {
		t.Errorf("match %+v", m)
	}
}

// noExpressions are texts that are no expressions; none may reach SQL.
var noExpressions = []string{
	``, ` `, `cart total`, `"`, `"open`, `(cart`, `cart)`, `cart OR`, `AND cart`, `NOT cart`, `cart OR NOT total`, `*`, `cart *`, `a*`, `cart AND`,
	`NEAR(`, `NEAR()`, `NEAR(cart total, x)`, `NEAR(cart, total)`, `unknown:cart AND total`, `:cart`, `title:`, `(NEAR cart) OR b`, `""`, `NEAR NEAR NEAR`,
	`^cart`, `cart + total`, `{title} : cart`, "\x00", `😀 AND 😀`, `NOT NOT cart`, `cart AND AND total`, `OR`, `title:title:`,
	strings.Repeat("(", 5000), strings.Repeat("(", 31) + "cart AND total" + strings.Repeat(")", 31), strings.Repeat("title:", 300) + "cart",
	strings.Repeat("cart OR ", 100) + "cart", strings.Repeat("x", 1<<20) + " AND y",
}

// TestManyNear: the terms on both sides of a NEAR count once, and half of the most make no error.
func TestManyNear(t *testing.T) {
	pairs := make([]string, maxTerms/2)
	for i := range pairs {
		pairs[i] = fmt.Sprintf("aa%d NEAR bb%d", i, i)
	}
	e, err := parseExpression(strings.Join(pairs, " OR "))
	if err != nil || len(e.words) != maxTerms {
		t.Errorf("%v, %+v", err, e)
	}
}

func TestNoSyntax(t *testing.T) {
	ix := shop(t)
	for _, text := range noExpressions {
		if a, err := ix.Syntax(t.Context(), text, Filter{}, 10); memory.CodeOf(err) != memory.CodeInvalid || err == nil {
			t.Errorf("%.60q: %v, %v, want %s", text, a.Matches, err, memory.CodeInvalid)
		}
	}
}

func TestHostileTexts(t *testing.T) {
	ix := shop(t)
	texts := append([]string{
		`'; DROP TABLE texts; --`, `"" OR ""`, "cart\x00total", "\xff\xfe", strings.Repeat("cart ", 200_000), strings.Repeat("漢", 400_000),
		strings.Repeat("aé", 500_000), `_p1 _kobservation`, "texts MATCH rank", strings.Repeat("x", 1<<20), strings.Repeat("webhoks postgers ", 400),
	}, noExpressions...)
	for _, text := range texts {
		if _, err := ix.Rank(t.Context(), Request{Text: text, Limit: 10, Filter: Filter{Types: []memory.ObservationType{memory.ObservationType(text)}}}); err != nil {
			t.Errorf("%.40q as type: %v", text, err)
		}
		if _, err := ix.Rank(t.Context(), Request{Text: text, Limit: 10}); err != nil {
			t.Errorf("%.40q: %v", text, err)
		}
	}
	if a, err := ix.Rank(t.Context(), Request{Text: "_p1 _kobservation", Limit: 10}); err != nil || len(slices.DeleteFunc(a.Matches, func(m Match) bool { return !m.Lexical })) > 0 {
		t.Errorf("scope tokens are found as words: %v, %v", names(a.Matches), err)
	}
}

func FuzzQuery(f *testing.F) {
	for _, text := range noExpressions {
		if len(text) < 1000 {
			f.Add(text)
		}
	}
	f.Add(`getUser* AND NOT "old parser"`)
	f.Add(`writers NEAR/9 queue OR title:(a OR NEAR(b "c d", 3)) NOT e*`)
	ix := shop(f)
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := ix.Rank(t.Context(), Request{Text: text, Limit: 10}); err != nil {
			t.Errorf("rank: %v", err)
		}
		e, err := parseExpression(text)
		if err != nil {
			return
		}
		b, done, err := ix.current()
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		if _, err := b.matchExpression(t.Context(), e, Filter{}, 10); err != nil {
			t.Errorf("%q became %s: %v", text, e.match(allFields), err)
		}
	})
}
