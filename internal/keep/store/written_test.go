package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claudemem/internal/memory"
)

// note is something written by hand.
func note(title string, change ...func(*memory.NewObservation)) memory.NewObservation {
	n := memory.NewObservation{ProjectPath: "/home/dev/shop", Type: memory.TypeDecision, Title: title}
	for _, c := range change {
		c(&n)
	}
	return n
}

func (m *testStore) add(t *testing.T, n memory.NewObservation) memory.Observation {
	t.Helper()
	o, err := m.AddObservation(context.Background(), n)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestAddObservation(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	given := note(" we use SQLite\n", func(n *memory.NewObservation) {
		n.Subtitle, n.Narrative, n.Facts, n.Concepts = "sub", "because", []string{"one", "two"}, []string{"trade-off", "trade-off"}
		n.Files = []memory.FileRef{{Path: "src/a.go"}, {Path: "b.go", Role: memory.FileRead}}
		n.CreatedAt = base - 1000
	})
	got := m.add(t, given)
	want := memory.Observation{
		ID: 1, Session: 1, ProjectPath: "/home/dev/shop", Type: memory.TypeDecision, Title: "we use SQLite", Subtitle: "sub", Narrative: "because",
		Facts: []string{"one", "two"}, Concepts: []string{"trade-off", "trade-off"}, Origin: memory.OriginUser, Provenance: memory.FromUser, TimesSeen: 1, CreatedAt: base - 1000,
		Files: []memory.FileRef{{Path: "src/a.go", Role: memory.FileModified}, {Path: "b.go", Role: memory.FileRead}},
		ULID:  got.ULID, ContentHash: got.ContentHash,
	}
	if diff := cmp.Diff(want, got); diff != "" || got.ULID == "" || got.ContentHash == "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if given.Files[0].Role != "" {
		t.Error("the caller's files were changed")
	}
	stored, err := m.Observation(ctx, 1)
	if diff := cmp.Diff(want, stored); err != nil || diff != "" {
		t.Errorf("stored (%v) -want +got:\n%s", err, diff)
	}
	session, err := m.Session(ctx, 1)
	if err != nil || session.Host != memory.HostRaw || session.Label != "shop" || session.Status != memory.SessionCompleted ||
		session.StartedAt != base-1000 || session.UpdatedAt != base-1000 {
		t.Errorf("got session %+v %v", session, err)
	}
	// It is found by everything that it has.
	for _, q := range []memory.Query{{Project: "shop"}, {Concepts: []string{"trade-off"}}, {Files: []string{"src/a"}}, {Types: []memory.ObservationType{"decision"}}} {
		if refs, err := m.FilterRecords(ctx, q, nil, ""); err != nil || !slices.Contains(refs, ref("observation", 1)) {
			t.Errorf("%+v: got %v %v", q, refs, err)
		}
	}
	m.clock.at += 5000
	if o := m.add(t, note("later")); o.Session != 1 || o.CreatedAt != base+5000 {
		t.Errorf("got %+v, want the same session", o)
	}
	if o := m.add(t, note("ahead of the clock", func(n *memory.NewObservation) { n.CreatedAt = base * 2 })); o.CreatedAt != base*2 {
		t.Errorf("got %+v", o)
	}
	if session, err = m.Session(ctx, 1); err != nil || session.UpdatedAt != base+5000 || session.StartedAt != base-1000 {
		t.Errorf("got session %+v %v, want it updated now", session, err)
	}
	m.audited(t)
}

// What an agent writes down is the user's words if the prompt that it works on has half of them.
func TestAgentWritesWhatTheUserSaid(t *testing.T) {
	m := newMemory(t)
	prompt := event(memory.KindPrompt, "s", "p1", 1)
	prompt.Event.Prompt = "Amounts are always whole cents here, never floats. Now mend the cart."
	m.enqueue(t, prompt)
	for title, want := range map[string]memory.Provenance{
		"Amounts are whole cents, never floats":                        memory.FromUser,
		"The gateway rounds amounts down and needs a retry after 30 s": memory.FromAgent,
		"Amounts": memory.FromAgent,
	} {
		o := m.add(t, memory.NewObservation{ProjectPath: "/home/dev/shop", Title: title, Origin: memory.OriginAgent})
		if o.Provenance != want || o.Origin != memory.OriginAgent {
			t.Errorf("%q is of %q, by %q; want %q by the agent", title, o.Provenance, o.Origin, want)
		}
	}
	m.audited(t)
}

func TestAddObservationToASession(t *testing.T) {
	m := newMemory(t)
	r := m.enqueue(t, event(memory.KindPrompt, "s", "p1", 1), event(memory.KindPrompt, "s", "p2", 2))
	o := m.add(t, memory.NewObservation{Session: r[0].Session, ProjectPath: "/else/where", Title: "in it", Origin: memory.OriginAgent})
	if o.Session != 1 || o.ProjectPath != "/home/dev/shop" || o.PromptNumber != 2 || o.Type != memory.TypeDiscovery || o.Origin != memory.OriginAgent {
		t.Errorf("got %+v, want it in the session's turn and project", o)
	}
	_, err := m.AddObservation(context.Background(), memory.NewObservation{Session: 99, Title: "x"})
	wantCode(t, err, memory.CodeNotFound)
	// The session's events go on as before.
	m.enqueue(t, event(memory.KindTool, "s", "t", 3))
	m.audited(t)
}

func TestSameMemory(t *testing.T) {
	files := func(paths ...string) func(*memory.NewObservation) {
		return func(n *memory.NewObservation) {
			for _, p := range paths {
				n.Files = append(n.Files, memory.FileRef{Path: p})
			}
		}
	}
	first := note("title", files("a.go", "b.go"), func(n *memory.NewObservation) { n.Narrative, n.Facts = "text", []string{"fact"} })
	tests := []struct {
		name   string
		change func(*memory.NewObservation)
		same   bool
	}{
		{"again", func(*memory.NewObservation) {}, true},
		{"by an agent, later, with concepts", func(n *memory.NewObservation) {
			n.Origin, n.CreatedAt, n.Concepts = memory.OriginAgent, base+5, []string{"gotcha"}
		}, true},
		{"space around it", func(n *memory.NewObservation) { n.Narrative = " text\n" }, true},
		{"files in another order", func(n *memory.NewObservation) { slices.Reverse(n.Files) }, true},
		{"in another session of the project", func(n *memory.NewObservation) { n.Session = 1 }, true},
		{"another title", func(n *memory.NewObservation) { n.Title = "titles" }, false},
		{"another text", func(n *memory.NewObservation) { n.Narrative = "texts" }, false},
		{"another fact", func(n *memory.NewObservation) { n.Facts = []string{"facts"} }, false},
		{"another type", func(n *memory.NewObservation) { n.Type = memory.TypeBugfix }, false},
		{"other files", func(n *memory.NewObservation) { n.Files = n.Files[:1] }, false},
		{"no files", func(n *memory.NewObservation) { n.Files = nil }, false},
		{"another project", func(n *memory.NewObservation) { n.ProjectPath = "/home/dev/blog" }, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := newMemory(t)
			m.enqueue(t, event(memory.KindPrompt, "s", "p", 1))
			kept := m.add(t, first)
			other := first
			other.Files = slices.Clone(first.Files)
			test.change(&other)
			got := m.add(t, other)
			if same := got.ID == kept.ID; same != test.same {
				t.Fatalf("got #%d and #%d, want the same: %v", kept.ID, got.ID, test.same)
			}
			if want := 1 + map[bool]int{true: 1}[test.same]; got.TimesSeen != want {
				t.Errorf("seen %d times, want %d", got.TimesSeen, want)
			}
		})
	}
}

func TestAddObservationRefuses(t *testing.T) {
	ctx := context.Background()
	m := filled(t)
	tests := []struct {
		name string
		note memory.NewObservation
		want memory.Code
	}{
		{"nothing said", note(" \n"), memory.CodeInvalid},
		{"no project", note("x", func(n *memory.NewObservation) { n.ProjectPath = "" }), memory.CodeInvalid},
		{"label of two", note("x", func(n *memory.NewObservation) { n.ProjectPath = "shop" }), memory.CodeInvalid},
		{"an observer's", note("x", func(n *memory.NewObservation) { n.Origin = memory.OriginObserver }), memory.CodeInvalid},
		{"no path", note("x", func(n *memory.NewObservation) { n.Files = []memory.FileRef{{}} }), memory.CodeInvalid},
		{"no such role", note("x", func(n *memory.NewObservation) { n.Files = []memory.FileRef{{Path: "a", Role: "eaten"}} }), memory.CodeInvalid},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := m.AddObservation(ctx, test.note)
			wantCode(t, err, test.want)
		})
	}
	if n, err := m.CountRecords(ctx, memory.Query{}, []memory.RecordKind{memory.RecordObservation}); err != nil || n != 6 {
		t.Errorf("there are %d %v, want 6 as before", n, err)
	}
	_, err := openReadOnly(t, m.path).AddObservation(ctx, note("x"))
	wantCode(t, err, memory.CodeUnavailable)
}

// A label names the one project that has it, or one without a root yet.
func TestAddObservationByLabel(t *testing.T) {
	ctx := context.Background()
	m := filled(t)
	if o := m.add(t, note("x", func(n *memory.NewObservation) { n.ProjectPath = "blog" })); o.ProjectPath != "/home/dev/blog" {
		t.Errorf("got %q", o.ProjectPath)
	}
	for range 2 {
		if o := m.add(t, note("y", func(n *memory.NewObservation) { n.ProjectPath = "other" })); o.ProjectPath != "label:other" {
			t.Errorf("got %q", o.ProjectPath)
		}
	}
	for _, name := range []string{"other", "label:other"} {
		if n, err := m.CountRecords(ctx, memory.Query{Project: name}, []memory.RecordKind{memory.RecordObservation}); err != nil || n != 1 {
			t.Errorf("%s has %d %v, want 1", name, n, err)
		}
	}
}

// A full disk keeps what was told to be kept, and nothing by half.
func TestAddObservationToAFullDisk(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	m.add(t, note("first"))
	pages := rawRows(t, m.path, "PRAGMA page_count")[0][0].(int64)
	if err := m.Pragma(fmt.Sprintf("max_page_count = %d", pages+40)); err != nil {
		t.Fatal(err)
	}
	addAll := func() (kept []memory.Observation, err error) {
		for i := range 300 {
			o, err := m.AddObservation(ctx, note(fmt.Sprint("note ", i), func(n *memory.NewObservation) {
				n.Narrative, n.Concepts, n.Files = strings.Repeat("x", 500), []string{"gotcha"}, []memory.FileRef{{Path: fmt.Sprint("src/", i)}}
			}))
			if err != nil {
				return kept, err
			}
			kept = append(kept, o)
		}
		return kept, nil
	}
	kept, err := addAll()
	wantCode(t, err, memory.CodeStorage)
	_, err = m.AddObservation(ctx, note("big", func(n *memory.NewObservation) { n.Narrative = noise(1 << 20) }))
	wantCode(t, err, memory.CodeStorage)
	for _, q := range []memory.Query{{}, {Concepts: []string{"gotcha"}}, {Files: []string{"src"}}} {
		want := len(kept)
		if len(q.Files)+len(q.Concepts) == 0 {
			want++
		}
		if n, err := m.CountRecords(ctx, q, []memory.RecordKind{memory.RecordObservation}); err != nil || n != want || len(kept) == 0 {
			t.Errorf("%+v: there are %d %v, want %d", q, n, err, want)
		}
	}
	if err := m.Pragma("max_page_count = 1000000"); err != nil {
		t.Fatal(err)
	}
	if again, err := addAll(); err != nil || len(again) != 300 || again[0].ID != kept[0].ID {
		t.Errorf("with room again: %d %v", len(again), err)
	}
}

// Many at once share commits, and each gets its own.
func TestAddObservationAtOnce(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	const writers, each = 32, 20
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				title := fmt.Sprintf("w%02d %03d", w, i)
				n := note(title, func(n *memory.NewObservation) { n.ProjectPath = fmt.Sprint("/p", w%3) })
				if i%7 == 0 {
					n.Session = 99 // fails alone, whatever it shares a commit with
				}
				o, err := m.AddObservation(ctx, n)
				if i%7 == 0 {
					if memory.CodeOf(err) != memory.CodeNotFound {
						t.Errorf("got %v, want not found", err)
					}
				} else if err != nil || o.Title != title {
					t.Errorf("got %q %v, want %q", o.Title, err, title)
				}
				if _, err := m.Enqueue(ctx, event(memory.KindTool, "s", title, memory.Millis(i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	want := writers * (each - 3)
	if n, err := m.CountRecords(ctx, memory.Query{}, []memory.RecordKind{memory.RecordObservation}); err != nil || n != want {
		t.Errorf("there are %d %v, want %d", n, err, want)
	}
	if books := m.books(t); books.Received != writers*each {
		t.Errorf("got %+v", books)
	}
	m.audited(t)
}

func TestEditObservation(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	kept := m.add(t, note("old", func(n *memory.NewObservation) { n.Narrative, n.Concepts = "text", []string{"gotcha"} }))
	m.add(t, note("other"))
	str := func(s string) *string { return &s }
	_, before, err := m.ChangeRange(ctx)
	if err != nil {
		t.Fatal(err)
	}
	pinned, bugfix := true, memory.TypeBugfix
	got, err := m.EditObservation(ctx, kept.ID, memory.ObservationEdit{Title: str(" new "), Narrative: str("texts"), Facts: &[]string{"one", "two"}, Type: &bugfix, Pinned: &pinned})
	want := kept
	want.Facts = []string{"one", "two"}
	want.Title, want.Narrative, want.Type, want.Pinned, want.ContentHash = "new", "texts", bugfix, true, got.ContentHash
	if diff := cmp.Diff(want, got); err != nil || diff != "" || got.ContentHash == kept.ContentHash {
		t.Errorf("edited (%v) -want +got:\n%s", err, diff)
	}
	stored, err := m.Observation(ctx, kept.ID)
	if diff := cmp.Diff(got, stored); err != nil || diff != "" {
		t.Errorf("stored (%v) -told +got:\n%s", err, diff)
	}
	if refs, err := m.FilterRecords(ctx, memory.Query{Types: []memory.ObservationType{bugfix}, Concepts: []string{"gotcha"}}, nil, ""); err != nil || len(refs) != 1 {
		t.Errorf("got %v %v, want it found by its new type", refs, err)
	}
	if changes := m.changesAfter(t, before); changes != "observation 1 update" {
		t.Errorf("the feed has %q", changes)
	}
	// The same again changes nothing, and is not told.
	if _, err := m.EditObservation(ctx, kept.ID, memory.ObservationEdit{Pinned: &pinned, Title: str("new")}); err != nil {
		t.Error(err)
	}
	if changes := m.changesAfter(t, before); changes != "observation 1 update" {
		t.Errorf("the feed has %q", changes)
	}
	decision := memory.TypeDecision
	_, err = m.EditObservation(ctx, kept.ID, memory.ObservationEdit{Title: str("other"), Narrative: str(""), Facts: &[]string{}, Type: &decision})
	wantCode(t, err, memory.CodeConflict)
	_, err = m.EditObservation(ctx, kept.ID, memory.ObservationEdit{Title: str("\t")})
	wantCode(t, err, memory.CodeInvalid)
	_, err = m.EditObservation(ctx, 99, memory.ObservationEdit{Title: str("x")})
	wantCode(t, err, memory.CodeNotFound)
	if _, err := m.HideObservation(ctx, kept.ID, true); err != nil {
		t.Fatal(err)
	}
	_, err = m.EditObservation(ctx, kept.ID, memory.ObservationEdit{Title: str("x")})
	wantCode(t, err, memory.CodeNotFound)
}

// changesAfter lists the feed's entries after a number.
func (m *testStore) changesAfter(t *testing.T, seq int64) string {
	t.Helper()
	changes, err := m.Changes(context.Background(), seq, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, c := range changes {
		lines = append(lines, fmt.Sprint(c.Kind, " ", c.ID, " ", c.Operation))
	}
	return strings.Join(lines, ", ")
}

// TestHideWithoutPurge: what is hidden so is never erased, and can always be brought back.
func TestHideWithoutPurge(t *testing.T) {
	m := newMemory(t)
	ctx := context.Background()
	kept := m.add(t, note("kept"))
	if _, err := m.HideObservation(ctx, kept.ID, false); err != nil {
		t.Fatal(err)
	}
	_, err := m.HideObservation(ctx, kept.ID, false)
	wantCode(t, err, memory.CodeNotFound)
	if _, err := m.Observation(ctx, kept.ID); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("it is shown: %v", err)
	}
	if n, err := m.PurgeHidden(ctx, memory.LatestTime-1); err != nil || n != 0 {
		t.Errorf("purged %d, %v", n, err)
	}
	if o, err := m.RestoreObservation(ctx, kept.ID); err != nil || o.Title != "kept" {
		t.Errorf("restored %+v, %v", o, err)
	}
}

func TestHideRestorePurge(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	with := func(paths ...string) func(*memory.NewObservation) {
		return func(n *memory.NewObservation) {
			n.Concepts = []string{"gotcha"}
			for _, p := range paths {
				n.Files = append(n.Files, memory.FileRef{Path: p})
			}
		}
	}
	for i, n := range []memory.NewObservation{note("one", with("a.go", "only/one.go")), note("two", with("a.go", "only/one.go")), note("three", with("a.go"))} {
		if o := m.add(t, n); o.ID != memory.ObservationID(i+1) {
			t.Fatalf("got %+v", o)
		}
	}
	visible := func(want string) {
		t.Helper()
		for _, q := range []memory.Query{{}, {Concepts: []string{"gotcha"}}, {Files: []string{"a"}}, {Session: 1}} {
			found, err := m.Observations(ctx, q)
			if got := titles(found); err != nil || got != want {
				t.Errorf("%+v: got %q %v, want %q", q, got, err, want)
			}
			if n, err := m.CountRecords(ctx, q, []memory.RecordKind{memory.RecordObservation}); err != nil || n != len(found) {
				t.Errorf("%+v: counted %d %v, want %d", q, n, err, len(found))
			}
		}
	}
	visible("three two one")
	_, before, err := m.ChangeRange(ctx)
	if err != nil {
		t.Fatal(err)
	}
	m.clock.at += 1000
	for id := range memory.ObservationID(2) {
		if at, err := m.HideObservation(ctx, id+1, true); err != nil || at != base+1000 {
			t.Errorf("hidden at %d %v", at, err)
		}
	}
	visible("three")
	_, err = m.HideObservation(ctx, 1, true)
	wantCode(t, err, memory.CodeNotFound)
	_, err = m.HideObservation(ctx, 99, true)
	wantCode(t, err, memory.CodeNotFound)
	for range 2 { // twice does no harm
		if o, err := m.RestoreObservation(ctx, 2); err != nil || o.Title != "two" {
			t.Errorf("restored %+v %v", o, err)
		}
	}
	visible("three two")
	if got, want := m.changesAfter(t, before), "observation 1 update, observation 2 update, observation 2 update"; got != want {
		t.Errorf("the feed has %q, want %q", got, want)
	}
	// Written down again, it is there again.
	if _, err := m.HideObservation(ctx, 2, true); err != nil {
		t.Fatal(err)
	}
	if o := m.add(t, note("two", with("a.go", "only/one.go"))); o.ID != 2 || o.TimesSeen != 2 {
		t.Errorf("got %+v, want the hidden one", o)
	}
	visible("three two")

	if n, err := m.PurgeHidden(ctx, base+999); err != nil || n != 0 {
		t.Errorf("purged %d %v too early", n, err)
	}
	if n, err := m.PurgeHidden(ctx, base+1000); err != nil || n != 1 {
		t.Errorf("purged %d %v, want 1", n, err)
	}
	_, err = m.RestoreObservation(ctx, 1)
	wantCode(t, err, memory.CodeNotFound)
	if len(rawRows(t, m.path, "SELECT 1 FROM paths WHERE path = 'only/one.go'")) == 0 {
		t.Error("a path that is still in use is gone")
	}
	if _, err := m.HideObservation(ctx, 2, true); err != nil {
		t.Fatal(err)
	}
	_, before, err = m.ChangeRange(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := m.PurgeHidden(ctx, base*2); err != nil || n != 1 {
		t.Errorf("purged %d %v, want 1", n, err)
	}
	if got, want := m.changesAfter(t, before), "observation 2 delete"; got != want {
		t.Errorf("the feed has %q, want %q", got, want)
	}
	visible("three")
	for table, want := range map[string]int64{"observations": 1, "observation_files": 1, "file_refs": 1, "observation_concepts": 1, "paths": 1} {
		if n := rawRows(t, m.path, "SELECT count(*) FROM "+table)[0][0]; n != want {
			t.Errorf("%s has %v rows, want %d", table, n, want)
		}
	}
	if n := len(rawRows(t, m.path, "SELECT 1 FROM pragma_foreign_key_check")); n != 0 {
		t.Errorf("%d rows refer to nothing", n)
	}
}

func TestPurgeMany(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	var all []memory.NewObservation
	for i := range 180 {
		all = append(all, note(fmt.Sprint("note ", i)))
	}
	if err := m.AddObservations(ctx, all); err != nil {
		t.Fatal(err)
	}
	rawExec(t, m.path, "UPDATE observations SET deleted_at = id WHERE id > 20")
	if n, err := m.PurgeHidden(ctx, 170); err != nil || n != 150 {
		t.Errorf("purged %d %v, want 150", n, err)
	}
	if n := rawRows(t, m.path, "SELECT count(*) FROM observations")[0][0]; n != int64(30) {
		t.Errorf("%v are left, want 30", n)
	}
}
