package store_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"claudemem/internal/memory"
)

// titled returns an observation with a title and a file, of a type.
func titled(title, file string, change ...func(*memory.Observation)) memory.Observation {
	o := observation(title, change...)
	o.Files = []memory.FileRef{{Path: file, Role: memory.FileModified, Hash: "h"}}
	return o
}

// titles lists the observations that are not hidden by number, as "#1 title".
func (m *testStore) titles(t *testing.T) string {
	t.Helper()
	var list []string
	for _, row := range rawRows(t, m.path, "SELECT id, title FROM observations WHERE deleted_at IS NULL ORDER BY id") {
		list = append(list, fmt.Sprintf("#%d %s", row...))
	}
	return strings.Join(list, ", ")
}

// redo stores a model's observations for a kept turn.
func (m *testStore) redo(t *testing.T, turn int, outcome memory.Outcome) {
	t.Helper()
	if err := m.Redo(t.Context(), m.unreadBatch(t, 1, turn), outcome); err != nil {
		t.Fatal(err)
	}
	m.audited(t)
	if b := m.unreadBatch(t, 1, turn); len(b.Events) != 0 {
		t.Errorf("%d payloads are kept after the redo", len(b.Events))
	}
}

// TestRedoKeepsRows: the model's records take the rows of the first pass, by what they are
// about, and whatever the user did with these rows stands.
func TestRedoKeepsRows(t *testing.T) {
	cart, login, docs := titled("Fix cart", "src/cart.go"), titled("Change login", "src/login.go"), titled("Write docs", "README.md")
	modelLogin, modelCart := titled("Sessions expired: the clock was read twice", "src/login.go"), titled("Cart total was off by one: rounding", "src/cart.go")
	modelOther := titled("Decision: keep the queue in memory", "src/queue.go")
	for name, test := range map[string]struct {
		first  []memory.Observation
		before func(t *testing.T, m *testStore)
		model  []memory.Observation
		want   string
	}{
		"by file, whatever the order": {
			first: []memory.Observation{cart, login}, model: []memory.Observation{modelLogin, modelCart},
			want: "#1 " + modelCart.Title + ", #2 " + modelLogin.Title,
		},
		"more": {
			first: []memory.Observation{cart}, model: []memory.Observation{modelOther, modelCart},
			want: "#1 " + modelCart.Title + ", #2 " + modelOther.Title,
		},
		"fewer": {
			first: []memory.Observation{cart, login, docs}, model: []memory.Observation{modelLogin},
			want: "#2 " + modelLogin.Title,
		},
		"nothing in common": {
			first: []memory.Observation{docs}, model: []memory.Observation{modelOther},
			want: "#1 " + modelOther.Title,
		},
		"nothing to record": {first: []memory.Observation{docs}, want: ""},
		"edited": {
			first: []memory.Observation{cart, login},
			before: func(t *testing.T, m *testStore) {
				title := "The user's title of the cart"
				if _, err := m.EditObservation(t.Context(), 1, memory.ObservationEdit{Title: &title}); err != nil {
					t.Fatal(err)
				}
			},
			model: []memory.Observation{modelCart, modelOther},
			want:  "#1 The user's title of the cart, #2 " + modelOther.Title,
		},
		"edited, and the model has nothing of it": {
			first: []memory.Observation{cart},
			before: func(t *testing.T, m *testStore) {
				title := "Mine"
				if _, err := m.EditObservation(t.Context(), 1, memory.ObservationEdit{Title: &title}); err != nil {
					t.Fatal(err)
				}
			},
			model: []memory.Observation{modelOther},
			want:  "#1 Mine, #2 " + modelOther.Title,
		},
		"pinned": {
			first: []memory.Observation{cart, login},
			before: func(t *testing.T, m *testStore) {
				pinned := true
				for _, id := range []memory.ObservationID{1, 2} {
					if _, err := m.EditObservation(t.Context(), id, memory.ObservationEdit{Pinned: &pinned}); err != nil {
						t.Fatal(err)
					}
				}
			},
			model: []memory.Observation{modelCart},
			want:  "#1 " + modelCart.Title + ", #2 Change login",
		},
		"given to a session": {
			first: []memory.Observation{cart, login},
			before: func(t *testing.T, m *testStore) {
				if err := m.RecordInjection(t.Context(), memory.Injection{
					Host: memory.HostClaudeCode, HostSessionID: "later", Where: "SessionStart", Observations: []memory.ObservationID{2},
				}); err != nil {
					t.Fatal(err)
				}
			},
			model: []memory.Observation{modelCart},
			want:  "#1 " + modelCart.Title + ", #2 Change login",
		},
		"as another record of the session says it": {
			first: []memory.Observation{docs},
			before: func(t *testing.T, m *testStore) {
				claim := claimed(t, m, "s")
				if err := m.Confirm(t.Context(), claim, memory.Outcome{Observations: []memory.Observation{modelOther}}); err != nil {
					t.Fatal(err)
				}
			},
			model: []memory.Observation{modelOther},
			want:  "#2 " + modelOther.Title,
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory(t)
			m.unreadTurn(t, "s", 2, "login", memory.Outcome{Observations: test.first})
			if test.before != nil {
				test.before(t, m)
			}
			created := rawRows(t, m.path, "SELECT ulid, created_at, pinned FROM observations WHERE id = 1")
			m.redo(t, 1, memory.Outcome{Observations: test.model})
			if got := m.titles(t); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if now := rawRows(t, m.path, "SELECT ulid, created_at, pinned FROM observations WHERE id = 1"); len(now) == 1 && fmt.Sprint(now) != fmt.Sprint(created) {
				t.Errorf("row #1 has %v, want name, time and pin as before: %v", now, created)
			}
			superseded := rawRows(t, m.path, "SELECT count(*) FROM observations WHERE superseded_by IS NOT NULL")[0][0]
			if want := int64(strings.Count(name, "given")); superseded != want {
				t.Errorf("%v superseded, want %d", superseded, want)
			}
			if paths := rawRows(t, m.path, "SELECT path FROM paths WHERE path NOT IN (SELECT path FROM observation_files)"); len(paths) != 0 {
				t.Errorf("paths of no observation: %v", paths)
			}
		})
	}
}

// TestRedoBooksNothingTwice: events, function map, learnings, repetitions and tokens are
// counted as if the model had read the turn at once.
func TestRedoBooksNothingTwice(t *testing.T) {
	ctx := t.Context()
	m := newMemory(t)
	rule := memory.Learning{Category: "convention", Content: "Always run make lint before a commit", Confidence: 0.9}
	ports := memory.Learning{Category: "gotcha", Content: "The staging database listens on port 6543", Confidence: 0.7}
	summary := memory.Summary{Request: "fix the cart", Completed: "done"}
	known := titled("Seen before in this project", "src/known.go")
	// The learning and the observation are there already: the first pass confirms them.
	before := claimed(t, m, "earlier")
	if err := m.Confirm(ctx, before, memory.Outcome{Learnings: []memory.Learning{ports}, Observations: []memory.Observation{known}}); err != nil {
		t.Fatal(err)
	}
	symbol := memory.SymbolChange{FilePath: "src/cart.go", QualifiedName: "Total", Kind: "func", ChangeType: memory.SymbolModified, BeforeHash: "a", BodyHash: "b"}
	m.clock.at += 10
	page := event(memory.KindTool, "s", "t", 21)
	page.Provenance = memory.FromWeb
	r := m.enqueue(t, event(memory.KindPrompt, "s", "p", 20), page, event(memory.KindStop, "s", "x", 22))
	claim := m.claim(t, r[0].Session, 0)
	claim.Events[0].Symbols = []memory.SymbolChange{symbol}
	offline := func(o memory.Observation) memory.Observation {
		o.Origin = memory.OriginOffline
		return o
	}
	firstSummary := summary
	firstSummary.Origin, firstSummary.PromptNumber = memory.OriginOffline, 1
	if err := m.Confirm(ctx, claim, memory.Outcome{
		Observations: []memory.Observation{offline(titled("Fix cart", "src/cart.go")), offline(known)},
		Summaries:    []memory.Summary{firstSummary}, Learnings: []memory.Learning{rule, ports}, Symbols: []memory.SymbolChange{symbol},
		Unread: map[string]memory.UnreadReason{claim.Events[0].Key: "login", claim.Events[1].Key: "login"},
	}); err != nil {
		t.Fatal(err)
	}
	books := m.books(t)
	counts := func() string {
		return fmt.Sprint(rawRows(t, m.path, `SELECT (SELECT count(*) FROM function_map), (SELECT sum(times_seen) FROM observations),
			(SELECT group_concat(times_seen || ' ' || category, ', ') FROM learnings), (SELECT count(*) FROM session_summaries),
			(SELECT sum(discovery_tokens) FROM observations WHERE session_id = 2)`))
	}
	want := counts()
	batch := m.unreadBatch(t, 2, 1)
	if got := batch.Events[0].Symbols; len(got) != 1 || got[0].QualifiedName != "Total" {
		t.Errorf("kept symbols %+v, want those of the first pass", got)
	}
	if got := batch.Events[0].Provenance; got != memory.FromWeb {
		t.Errorf("kept an event from %q, want %q", got, memory.FromWeb)
	}
	reworded := memory.Learning{Category: "convention", Content: "Run make lint before each commit", Confidence: 0.9}
	modelSummary := summary
	modelSummary.PromptNumber, modelSummary.Completed = 1, "the rounding is right now"
	if err := m.Redo(ctx, batch, memory.Outcome{
		Observations: []memory.Observation{titled("Cart total was off by one", "src/cart.go"), known},
		Summaries:    []memory.Summary{modelSummary}, Learnings: []memory.Learning{ports, reworded}, Symbols: []memory.SymbolChange{symbol},
	}); err != nil {
		t.Fatal(err)
	}
	m.audited(t)
	if got := counts(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := m.books(t); got != books {
		t.Errorf("books %+v, want %+v", got, books)
	}
	if left, err := m.Unread(ctx, 0); err != nil || len(left) != 0 {
		t.Errorf("unread: %+v, %v, want none", left, err)
	}
	for query, want := range map[string]string{
		"SELECT completed || ' ' || origin FROM session_summaries WHERE session_id = 2": "the rounding is right now observer",
		"SELECT content FROM learnings WHERE category = 'convention'":                   reworded.Content,
		"SELECT title || ' ' || origin FROM observations WHERE session_id = 2":          "Cart total was off by one observer",
	} {
		if got := rawRows(t, m.path, query); len(got) != 1 || got[0][0] != want {
			t.Errorf("%s: got %v, want %q", query, got, want)
		}
	}
	wantCode(t, m.Redo(ctx, batch, memory.Outcome{}), memory.CodeConflict)
}

// TestRedoIsToldToTheFeed: the index follows a redo like any other change.
func TestRedoIsToldToTheFeed(t *testing.T) {
	m := newMemory(t)
	m.unreadTurn(t, "s", 1, "login", memory.Outcome{
		Observations: []memory.Observation{titled("One", "a.go"), titled("Two", "b.go")}, Summaries: []memory.Summary{{Request: "r"}},
	})
	_, newest, err := m.ChangeRange(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m.redo(t, 1, memory.Outcome{Observations: []memory.Observation{titled("Better", "a.go")}, Summaries: []memory.Summary{{Request: "better"}}})
	told := map[string]bool{}
	for _, row := range rawRows(t, m.path, "SELECT kind, id, operation FROM changes WHERE seq > ?", newest) {
		told[fmt.Sprint(row...)] = true
	}
	for _, want := range []string{"observation 1 update", "observation 2 delete", "summary 1 update"} {
		if !told[strings.ReplaceAll(want, " ", "")] && !told[want] {
			t.Errorf("the feed has %v, want %q", told, want)
		}
	}
}

// TestTwoRedosOfATurn: of two workers with an answer for the same turn one stores it, the
// other stores nothing; and so it is when events were added meanwhile.
func TestTwoRedosOfATurn(t *testing.T) {
	ctx := t.Context()
	m := newMemory(t)
	m.unreadTurn(t, "s", 1, "login", memory.Outcome{Observations: []memory.Observation{titled("One", "a.go")}})
	batch := m.unreadBatch(t, 1, 1)
	errs := make([]error, 8)
	var both sync.WaitGroup
	for i := range errs {
		both.Go(func() {
			errs[i] = m.Redo(ctx, batch, memory.Outcome{Observations: []memory.Observation{titled(fmt.Sprint("Answer ", i), "a.go"), titled(fmt.Sprint("Other ", i), "b.go")}})
		})
	}
	both.Wait()
	stored := 0
	for _, err := range errs {
		if err == nil {
			stored++
		} else {
			wantCode(t, err, memory.CodeConflict)
		}
	}
	if n := rawRows(t, m.path, "SELECT count(*) FROM observations")[0][0]; stored != 1 || n != int64(2) {
		t.Errorf("%d stored, %v observations, want 1 and 2", stored, n)
	}
	m.audited(t)
}

// TestRedoWithAFullDisk: a redo that cannot be stored changes nothing and can be repeated.
func TestRedoWithAFullDisk(t *testing.T) {
	m := newMemory(t)
	m.unreadTurn(t, "s", 1, "login", memory.Outcome{Observations: []memory.Observation{titled("One", "a.go"), titled("Two", "b.go")}})
	batch := m.unreadBatch(t, 1, 1)
	pages := rawRows(t, m.path, "PRAGMA page_count")[0][0].(int64)
	if err := m.Pragma(fmt.Sprintf("max_page_count = %d", pages)); err != nil {
		t.Fatal(err)
	}
	answer := memory.Outcome{Observations: []memory.Observation{titled("Better", "a.go", func(o *memory.Observation) { o.Narrative = noise(1 << 20) })}}
	wantCode(t, m.Redo(t.Context(), batch, answer), memory.CodeStorage)
	if got, want := m.titles(t), "#1 One, #2 Two"; got != want || m.kept(t) != "S1.1" {
		t.Errorf("after a full disk %q, kept %q, want %q and the turn", got, m.kept(t), want)
	}
	m.audited(t)
	if err := m.Pragma("max_page_count = 1000000"); err != nil {
		t.Fatal(err)
	}
	m.redo(t, 1, answer)
	if got, want := m.titles(t), "#1 Better"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
