package store_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claudemem/internal/keep/store/books"
	"claudemem/internal/memory"
)

// claimed makes a session with a prompt and a tool event and claims it.
func claimed(t *testing.T, m *testStore, session string) memory.Claim {
	t.Helper()
	n := m.books(t).Received
	at := memory.Millis(n)
	r := m.enqueue(t, event(memory.KindPrompt, session, fmt.Sprint("p", n), at), event(memory.KindTool, session, fmt.Sprint("t", n), at))
	return m.claim(t, r[0].Session, 0)
}

func observation(title string, change ...func(*memory.Observation)) memory.Observation {
	o := memory.Observation{
		Type: memory.TypeBugfix, Title: title, Subtitle: "sub", Narrative: "how " + title, PromptNumber: 1,
		Facts: []string{"fact one", "fact two"}, Concepts: []string{"gotcha", "problem-solution"},
		Files: []memory.FileRef{
			{Path: "src/cart.go", Role: memory.FileModified, Hash: "h1"},
			{Path: "src/cart_test.go", Role: memory.FileRead},
		},
		DiscoveryTokens: 1200, Branch: "main", HeadCommit: "abc",
	}
	for _, c := range change {
		c(&o)
	}
	return o
}

// TestUnreadEvents checks that the reason why no model has read an event is kept, and
// counted from a time on.
func TestUnreadEvents(t *testing.T) {
	ctx := t.Context()
	m := newMemory(t)
	for _, reason := range []memory.UnreadReason{memory.UnreadUnusable, "", "login", "login"} {
		claim := claimed(t, m, "s")
		var unread map[string]memory.UnreadReason
		if reason != "" {
			unread = map[string]memory.UnreadReason{claim.Events[0].Key: reason, "another's key": "login"}
		}
		if err := m.Confirm(ctx, claim, memory.Outcome{Unread: unread}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := m.Unread(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	if want := []books.Unread{{Reason: "login", Events: 2, Kept: 2, At: got[0].At}, {Reason: memory.UnreadUnusable, Events: 1, Kept: 1, At: got[0].At}}; !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, err := m.Unread(ctx, got[0].At+1); err != nil || len(got) != 0 {
		t.Errorf("later: got %+v, %v, want none", got, err)
	}
	m.audited(t)
}

func TestConfirmStoresEverything(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	claim := claimed(t, m, "s")
	outcome := memory.Outcome{
		Observations: []memory.Observation{observation("Fixed the total"), observation("Something else", func(o *memory.Observation) {
			o.Type, o.Files, o.Facts, o.Concepts, o.Pinned = "house-type", nil, nil, nil, true
		})},
		Summaries: []memory.Summary{{PromptNumber: 1, Request: "fix it", Completed: "fixed", FilesEdited: []string{"src/cart.go"}, Origin: memory.OriginOffline}},
		Learnings: []memory.Learning{{Category: "gotcha", Content: "Totals are in cents", Confidence: 0.6}},
		Symbols:   []memory.SymbolChange{{FilePath: "src/cart.go", QualifiedName: "Cart.Total", Kind: "method", ChangeType: "modified"}},
	}
	m.clock.at = base + 99
	if err := m.Confirm(ctx, claim, outcome); err != nil {
		t.Fatal(err)
	}
	if got, want := m.books(t), (memory.Books{Received: 2, Processed: 2}); got != want {
		t.Errorf("got books %+v, want %+v", got, want)
	}
	m.audited(t)
	o := outcome.Observations[0]
	if o.ID != 1 || len(o.ULID) != 26 || o.Session != claim.Session.ID || o.ProjectPath != "/home/dev/shop" ||
		o.Origin != memory.OriginObserver || o.CreatedAt != base+99 || o.TimesSeen != 1 || len(o.ContentHash) != 32 {
		t.Errorf("the outcome was not filled in: %+v", o)
	}
	for i := range outcome.Observations {
		got, err := m.Observation(ctx, outcome.Observations[i].ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(outcome.Observations[i], got); diff != "" {
			t.Errorf("observation %d (-want +got):\n%s", i, diff)
		}
	}
	summaries, err := m.SessionSummaries(ctx, claim.Session.ID, 5)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(outcome.Summaries, summaries); diff != "" {
		t.Errorf("summaries (-want +got):\n%s", diff)
	}
	if l := outcome.Learnings[0]; l.ID != 1 || !l.Active || l.TimesSeen != 1 || l.ProjectPath != "/home/dev/shop" {
		t.Errorf("got learning %+v", l)
	}
	changes, err := m.Changes(ctx, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range changes {
		got = append(got, string(c.Kind)+" "+c.Operation)
	}
	want := []string{"session insert", "prompt insert", "session update", "observation insert", "observation insert", "summary insert", "learning insert", "symbol insert"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

func TestConfirmTwiceIsAConflict(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	claim := claimed(t, m, "s")
	if err := m.Confirm(ctx, claim, memory.Outcome{Observations: []memory.Observation{observation("One")}}); err != nil {
		t.Fatal(err)
	}
	second := memory.Outcome{Observations: []memory.Observation{observation("Two")}}
	wantCode(t, m.Confirm(ctx, claim, second), memory.CodeConflict)
	if second.Observations[0].ID != 0 || second.Observations[0].ULID != "" {
		t.Errorf("a failed confirm filled in %+v", second.Observations[0])
	}
	if n, err := m.CountRecords(ctx, memory.Query{}, []memory.RecordKind{memory.RecordObservation}); err != nil || n != 1 {
		t.Errorf("got %d observations %v, want 1", n, err)
	}
	wantCode(t, m.Confirm(ctx, memory.Claim{Claimer: claim.Claimer}, second), memory.CodeInvalid)
}

// What is said again holds for the files as they are then, on the same branch.
func TestConfirmRepeatedRenewsTheState(t *testing.T) {
	ctx := context.Background()
	cart := func(hash string) []memory.FileRef {
		return []memory.FileRef{{Path: "src/cart.go", Role: memory.FileModified, Hash: hash}, {Path: "src/tax.go", Role: memory.FileRead, Hash: "t" + hash}}
	}
	tests := []struct {
		name               string
		branch, head, hash string
		later              memory.Millis
		wantHead, wantHash string
	}{
		{"later on the same branch", "main", "def", "h2", 10, "def", "h2"},
		{"the files could not be hashed", "main", "def", "", 10, "def", ""},
		{"on another branch", "topic", "def", "h2", 10, "abc", "h1"},
		{"told late", "main", "def", "h2", -10, "abc", "h1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := newMemory(t)
			first := memory.Outcome{Observations: []memory.Observation{observation("Rounded the total once", func(o *memory.Observation) {
				o.Files, o.CreatedAt = cart("h1"), base
			})}}
			if err := m.Confirm(ctx, claimed(t, m, "s"), first); err != nil {
				t.Fatal(err)
			}
			again := memory.Outcome{Observations: []memory.Observation{observation("Rounded the total once", func(o *memory.Observation) {
				o.Files, o.CreatedAt, o.Branch, o.HeadCommit = cart(test.hash), base+test.later, test.branch, test.head
			})}}
			if err := m.Confirm(ctx, claimed(t, m, "other"), again); err != nil {
				t.Fatal(err)
			}
			got, err := m.Observation(ctx, again.Observations[0].ID)
			if err != nil {
				t.Fatal(err)
			}
			want := cart(test.wantHash)
			if got.ID != first.Observations[0].ID || got.TimesSeen != 2 || got.Branch != "main" || got.HeadCommit != test.wantHead {
				t.Errorf("got %+v, want the first one seen twice, of main at %s", got, test.wantHead)
			}
			if diff := cmp.Diff(want, got.Files); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			m.audited(t)
		})
	}
}

func TestConfirmIsAllOrNothing(t *testing.T) {
	ctx := context.Background()
	tests := []struct {
		name    string
		outcome memory.Outcome
	}{
		{"a file with a wrong role", memory.Outcome{Observations: []memory.Observation{
			observation("Good"), observation("Bad", func(o *memory.Observation) { o.Files = []memory.FileRef{{Path: "x", Role: "eaten"}} }),
		}}},
		{"a record of another session", memory.Outcome{
			Observations: []memory.Observation{observation("Good")}, Summaries: []memory.Summary{{Session: 77, Request: "x"}},
		}},
		{"a symbol that did nothing known", memory.Outcome{
			Observations: []memory.Observation{observation("Good")}, Symbols: []memory.SymbolChange{{ChangeType: "danced"}},
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := newMemory(t)
			claim := claimed(t, m, "s")
			before, _ := m.Changes(ctx, 0, 100)
			if err := m.Confirm(ctx, claim, test.outcome); err == nil {
				t.Fatal("it was stored")
			}
			if n, err := m.CountRecords(ctx, memory.Query{}, []memory.RecordKind{memory.RecordObservation}); err != nil || n != 0 {
				t.Errorf("got %d observations %v, want none", n, err)
			}
			if got := m.books(t); got.Processing != 1 {
				t.Errorf("got %+v, want the event still held", got)
			}
			if after, _ := m.Changes(ctx, 0, 100); len(after) != len(before) {
				t.Errorf("the feed tells of what did not happen: %v", after[len(before):])
			}
			m.audited(t)
			if err := m.Confirm(ctx, claim, memory.Outcome{}); err != nil {
				t.Errorf("the claim was lost: %v", err)
			}
		})
	}
}

func TestRepeatedObservations(t *testing.T) {
	const day = 24 * 3600 * 1000
	first := observation("Fixed the rounding of the cart's total")
	tests := []struct {
		name    string
		session string
		second  memory.Observation
		after   memory.Millis
		same    bool
	}{
		{"same content, same session, much later", "s", first, 10 * day, true},
		{"same content, other session, same day", "z", first, day, true},
		{"same content, other session, later", "z", first, day + 1, false},
		{"title nearly the same", "z", observation("fixed the rounding of the carts total"), 1, true},
		{"title nearly the same, other files", "z", observation("fixed the rounding of the carts total", func(o *memory.Observation) {
			o.Files = o.Files[:1]
		}), 1, false},
		{"files in another order and role", "z", observation("fixed the rounding of the carts total", func(o *memory.Observation) {
			o.Files = []memory.FileRef{{Path: "src/cart_test.go", Role: memory.FileModified}, {Path: "src/cart.go", Role: memory.FileRead}}
		}), 1, true},
		{"title nearly the same, other type", "z", observation("fixed the rounding of the carts total", func(o *memory.Observation) {
			o.Type = memory.TypeFeature
		}), 1, false},
		{"title nearly the same, other project", "z", observation("fixed the rounding of the carts total", func(o *memory.Observation) {
			o.ProjectPath = "/home/dev/other"
		}), 1, false},
		{"another title", "z", observation("Fixed the parsing of the cart's total"), 1, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ctx := context.Background()
			m := newMemory(t)
			one := memory.Outcome{Observations: []memory.Observation{first}}
			if err := m.Confirm(ctx, claimed(t, m, "s"), one); err != nil {
				t.Fatal(err)
			}
			m.clock.at += test.after
			two := memory.Outcome{Observations: []memory.Observation{test.second}}
			if err := m.Confirm(ctx, claimed(t, m, test.session), two); err != nil {
				t.Fatal(err)
			}
			if same := one.Observations[0].ID == two.Observations[0].ID; same != test.same {
				t.Fatalf("same row: %v, want %v", same, test.same)
			}
			got, err := m.Observation(ctx, one.Observations[0].ID)
			if err != nil {
				t.Fatal(err)
			}
			want := 1
			if test.same {
				want = 2
			}
			if got.TimesSeen != want || got.Title != first.Title {
				t.Errorf("got %q seen %d times, want %q seen %d times", got.Title, got.TimesSeen, first.Title, want)
			}
		})
	}
}

func TestLearningsMerge(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	learn := func(session, content string, confidence float64) memory.Learning {
		t.Helper()
		o := memory.Outcome{Learnings: []memory.Learning{{Category: "gotcha", Content: content, Confidence: confidence}}}
		if err := m.Confirm(ctx, claimed(t, m, session), o); err != nil {
			t.Fatal(err)
		}
		return o.Learnings[0]
	}
	first := learn("a", "Totals are in cents", 0.5)
	again := learn("b", "totals  are in Cents", 0.4)
	other := learn("c", "Totals are in euros", 7)
	if again.ID != first.ID || again.TimesSeen != 2 || again.Confidence < 0.59 || again.Confidence > 0.61 {
		t.Errorf("got %+v, want the first one seen twice with confidence 0.6", again)
	}
	if other.ID == first.ID || other.Confidence != 1 {
		t.Errorf("got %+v, want another one with confidence 1", other)
	}
}

func TestProcessedInOrder(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	for i := range 9 {
		m.enqueue(t, event(memory.KindTool, "s", string(rune('a'+8-i)), memory.Millis(8-i)))
	}
	for range 3 {
		if err := m.Confirm(ctx, m.claim(t, 1, 3), memory.Outcome{}); err != nil {
			t.Fatal(err)
		}
	}
	rows := rawRows(t, m.path, "SELECT delivery_id FROM events ORDER BY processed_seq")
	got := ""
	for _, r := range rows {
		got += r[0].(string)
	}
	if got != "abcdefghi" {
		t.Errorf("processed in the order %q", got)
	}
}
