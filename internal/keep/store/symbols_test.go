package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

// changed makes a change of a symbol in a file, written "TYPE NAME BEFORE>AFTER".
func changed(file, text string, at memory.Millis) memory.SymbolChange {
	f := strings.Fields(text)
	c := memory.SymbolChange{FilePath: file, SnapshotAt: base + at, QualifiedName: f[1], Kind: "func", Signature: "func " + f[1] + "()", LineStart: 1, LineEnd: 3, ChangeType: memory.ChangeType(f[0])}
	c.BeforeHash, c.BodyHash, _ = strings.Cut(f[2], ">")
	return c
}

// confirmSymbols confirms an event of the session that made the changes.
func confirmSymbols(t *testing.T, m *testStore, session string, changes ...memory.SymbolChange) memory.SessionID {
	t.Helper()
	claim := claimed(t, m, session)
	if err := m.Confirm(t.Context(), claim, memory.Outcome{Symbols: changes}); err != nil {
		t.Fatal(err)
	}
	return claim.Session.ID
}

// toldSymbols writes changes as "TYPE NAME, …".
func toldSymbols(changes []memory.SymbolChange) string {
	parts := make([]string, len(changes))
	for i, c := range changes {
		parts[i] = fmt.Sprintf("%s %s", c.ChangeType, c.QualifiedName)
	}
	return strings.Join(parts, ", ")
}

// TestSymbolsAreNetChanges: what several batches of a session did to a symbol is one row;
// another session's is another.
func TestSymbolsAreNetChanges(t *testing.T) {
	m := newMemory(t)
	one := confirmSymbols(t, m, "one", changed("a.go", "new New >1", 1), changed("a.go", "modified Old 1>2", 2), changed("a.go", "new Trial >5", 3))
	before, _, err := m.Symbols(t.Context(), memory.Query{Session: one}, "")
	if err != nil || len(before) != 3 {
		t.Fatalf("got %+v %v", before, err)
	}
	confirmSymbols(t, m, "one", changed("a.go", "modified New 1>2", 11), changed("a.go", "deleted Old 2>", 12), changed("a.go", "deleted Trial 5>", 13))
	two := confirmSymbols(t, m, "two", changed("a.go", "modified New 2>3", 21), changed("b.go", "new T.Get >1", 22))

	got, _, err := m.Symbols(t.Context(), memory.Query{Session: one}, "")
	if err != nil || toldSymbols(got) != "deleted Old, new New" {
		t.Errorf("got %q %v", toldSymbols(got), err)
	}
	if i := slices.IndexFunc(before, func(c memory.SymbolChange) bool { return c.QualifiedName == "New" }); len(got) == 2 && got[1].ID != before[i].ID {
		t.Errorf("the row of New was replaced: %+v then %+v", before[i], got[1])
	}
	m.audited(t)
	for _, tt := range []struct {
		query memory.Query
		name  string
		want  string
	}{
		{memory.Query{}, "", "new T.Get, modified New, deleted Old, new New"},
		{memory.Query{Limit: 1, Offset: 1}, "", "modified New"},
		{memory.Query{Project: "/home/dev/shop"}, "get", "new T.Get"},
		{memory.Query{}, "t.GET", "new T.Get"},
		{memory.Query{}, "et", ""},
		{memory.Query{}, "%", ""},
		{memory.Query{Project: "elsewhere"}, "", ""},
		{memory.Query{Files: []string{`B.GO`}}, "", "new T.Get"},
		{memory.Query{Files: []string{"b", "none"}}, "", "new T.Get"},
		{memory.Query{Files: []string{"/home/dev/shop/b.go"}}, "", "new T.Get"},
		{memory.Query{Files: []string{"/home/dev/shop"}, Limit: 1}, "", "new T.Get"},
		{memory.Query{Files: []string{"/home/dev/shop/b.go"}, Project: "elsewhere"}, "", ""},
		{memory.Query{Since: base + 20, Until: base + 21}, "", "modified New"},
	} {
		got, _, err := m.Symbols(t.Context(), tt.query, tt.name)
		if err != nil || toldSymbols(got) != tt.want {
			t.Errorf("%+v %q: got %q %v, want %q", tt.query, tt.name, toldSymbols(got), err, tt.want)
		}
		limited := tt.query
		limited.Limit = 1
		if _, n, err := m.Symbols(t.Context(), limited, tt.name); tt.query.Limit == 0 && (err != nil || n != len(got)) {
			t.Errorf("%+v %q: counted %d %v, listed %d", tt.query, tt.name, n, err, len(got))
		}
	}
	recent, err := m.RecentSymbols(t.Context(), "/home/dev/shop", 0, 5)
	if err != nil || toldSymbols(recent) != "new T.Get, modified New, deleted Old" {
		t.Errorf("recent %q %v: want each symbol once", toldSymbols(recent), err)
	}
	if recent, err = m.RecentSymbols(t.Context(), "shop", two, 5); err != nil || toldSymbols(recent) != "deleted Old, new New" {
		t.Errorf("without a session %q %v", toldSymbols(recent), err)
	}
}

// TestSymbolsMoveWithTheirSession: a session that gets another project takes its changes along,
// and only those.
func TestSymbolsMoveWithTheirSession(t *testing.T) {
	m := newMemory(t)
	one := confirmSymbols(t, m, "one", changed("a.go", "new Moved >1", 1))
	confirmSymbols(t, m, "two", changed("a.go", "new Kept >1", 2))
	rawExec(t, m.path, "UPDATE sessions SET project = '/home/dev/other' WHERE id = ?", int64(one))
	for project, want := range map[string]string{"/home/dev/other": "new Moved", "/home/dev/shop": "new Kept"} {
		q := memory.Query{Project: project}
		got, _, err := m.Symbols(t.Context(), q, "")
		q.Limit = 1
		if _, n, err := m.Symbols(t.Context(), q, ""); err != nil || n != 1 {
			t.Errorf("%s: %d changes %v", project, n, err)
		}
		if err != nil || toldSymbols(got) != want {
			t.Errorf("%s: got %q %v, want %q", project, toldSymbols(got), err, want)
		}
	}
}

// TestSymbolsOfAnEvent: what intake found out about an edit comes back with the claim, and
// no comparison is another thing than a comparison without a change.
func TestSymbolsOfAnEvent(t *testing.T) {
	m := newMemory(t)
	change := changed("a.go", "new New >1", 1)
	m.enqueue(t, event(memory.KindTool, "s", "t1", 1, func(a *memory.Arrival) { a.Symbols = []memory.SymbolChange{change} }),
		event(memory.KindTool, "s", "t2", 2, func(a *memory.Arrival) { a.Symbols = []memory.SymbolChange{} }),
		event(memory.KindTool, "s", "t3", 3))
	claim := m.claim(t, 1, 0)
	if len(claim.Events) != 3 {
		t.Fatalf("got %d events", len(claim.Events))
	}
	first, second, third := claim.Events[0].Symbols, claim.Events[1].Symbols, claim.Events[2].Symbols
	if len(first) != 1 || first[0] != change || second == nil || len(second) != 0 || third != nil {
		t.Errorf("got %+v, %v, %v", first, second, third)
	}
}

// TestDocumentsHaveSymbols: an observation is found by the symbols that it is about, a
// summary by those that its turn changed, and not by those of the turn before.
func TestDocumentsHaveSymbols(t *testing.T) {
	m := newMemory(t)
	for turn, name := range []string{"Limiter.refill", "Limiter.take"} {
		claim := claimed(t, m, "s")
		at := memory.Millis(100 * (turn + 1))
		err := m.Confirm(t.Context(), claim, memory.Outcome{
			Observations: []memory.Observation{observation(name, func(o *memory.Observation) {
				o.Files[0].Symbols = []memory.SymbolHash{{Name: name, Hash: "1"}}
			})},
			Summaries: []memory.Summary{{PromptNumber: turn + 1, Completed: name, CreatedAt: base + at}},
			Symbols:   []memory.SymbolChange{changed("src/cart.go", "modified "+name+" 1>2", at-1)},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	documents, err := m.Documents(t.Context(), memory.RecordRef{Kind: memory.RecordObservation, ID: 1}, memory.RecordRef{Kind: memory.RecordSummary, ID: 1},
		memory.RecordRef{Kind: memory.RecordObservation, ID: 2}, memory.RecordRef{Kind: memory.RecordSummary, ID: 2})
	if err != nil || len(documents) != 4 {
		t.Fatalf("got %d documents %v", len(documents), err)
	}
	for i, want := range []string{"Limiter.refill", "Limiter.refill", "Limiter.take", "Limiter.take"} {
		if got := documents[i].Symbols; len(got) != 1 || got[0] != want {
			t.Errorf("document %d has %q, want %q", i, got, want)
		}
	}
}
