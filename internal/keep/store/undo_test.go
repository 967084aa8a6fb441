package store_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/memory"

	"github.com/google/go-cmp/cmp"
)

// number begins an import and returns its number.
func (m *testStore) number(t *testing.T, source string) int64 {
	t.Helper()
	n := memory.ImportNumber{Source: source}
	if err := m.NumberImport(t.Context(), &n); err != nil || n.Import == 0 {
		t.Fatal(n, err)
	}
	return n.Import
}

// undo undoes an import.
func (m *testStore) undo(t *testing.T, number int64) memory.ImportUndone {
	t.Helper()
	undone, err := m.UndoImport(t.Context(), number, false)
	if err != nil {
		t.Fatal(err)
	}
	return undone
}

// TestUndoImport: after the undo of an import of transcripts or of an export the memory is as it was: turns
// added to sessions that were there, learnings that were strengthened or superseded, records that were
// superseded, sessions, tombstones. The same import then works again. Undone in another order, only records
// are left that a later import has confirmed, and they are named.
func TestUndoImport(t *testing.T) {
	for seed := byte(1); seed <= 3; seed++ {
		m := randomMemory(t, "live", seed)
		other := randomMemory(t, "other", 50+seed)
		want := [][]string{m.all(t)}
		random := rand.New(rand.NewPCG(uint64(seed), 7))
		transcripts := func(name string) int64 {
			m.importing = m.number(t, "transcripts of "+name)
			m.live(t, name, random, 5, false)
			defer func() { m.importing = 0 }()
			return m.importing
		}
		export := func() int64 {
			n := m.number(t, "export")
			options := own
			options.Import = n
			if _, err := m.Import(t.Context(), exported(t, other, memory.ExportFilter{}), everything, options); err != nil {
				t.Fatal(err)
			}
			return n
		}
		var numbers []int64
		for i, run := range []func() int64{func() int64 { return transcripts("live") }, export, func() int64 { return transcripts("other") }} {
			numbers = append(numbers, run())
			want = append(want, m.all(t))
			m.audited(t)
			if list, err := m.Imports(t.Context(), 0); err != nil || len(list) != i+1 || list[i].Observations == 0 {
				t.Fatal(list, err)
			}
		}
		last := numbers[2]
		m.undo(t, last)
		m.audited(t)
		if diff := cmp.Diff(want[2], m.all(t)); diff != "" {
			t.Errorf("seed %d: after the undo of the last (-want +got):\n%s", seed, diff)
		}
		again := transcripts("other")
		if again <= last {
			t.Errorf("a number is used again: %d after %d", again, last)
		}
		order := []int64{numbers[0], numbers[1], again}
		random.Shuffle(3, func(i, k int) { order[i], order[k] = order[k], order[i] })
		if seed%2 == 0 {
			slices.Sort(order)
			slices.Reverse(order)
		}
		var kept []string
		for _, n := range order {
			undone := m.undo(t, n)
			if undone.Observations+len(undone.Kept) == 0 {
				t.Errorf("seed %d: the undo of %d takes back %+v", seed, n, undone)
			}
			kept = append(kept, undone.Kept...)
			m.audited(t)
		}
		if seed%2 == 0 && len(kept) > 0 {
			t.Errorf("seed %d: kept are %q", seed, kept)
		}
		got := slices.DeleteFunc(m.all(t), func(line string) bool {
			return !slices.Contains(want[0], line) && slices.ContainsFunc(kept, func(k string) bool {
				return strings.Contains(line, strings.SplitN(k, " ", 3)[2])
			})
		})
		if diff := cmp.Diff(want[0], got); diff != "" {
			t.Errorf("seed %d: after the undo of all as %v (-want +got):\n%s", seed, order, diff)
		}
		if n, err := m.Imports(t.Context(), 0); err != nil || len(n) != 0 {
			t.Errorf("left: %v %v", n, err)
		}
	}
}

// TestUndoKeeps: what a person has edited, pinned, approved or said since, and what a session has said
// again, is kept and named; a session that goes on stays; a dry run changes nothing; another undo is none.
func TestUndoKeeps(t *testing.T) {
	m := newMemory(t)
	m.importing = m.number(t, "old")
	r := m.enqueue(t, event(memory.KindPrompt, "s", "p", 1, m.ofImport), event(memory.KindTool, "s", "t", 2, m.ofImport))
	outcome := memory.Outcome{Summaries: []memory.Summary{{Request: "old"}}, Learnings: []memory.Learning{
		{Category: "gotcha", Content: "Run the linter first.", Confidence: .7}, {Category: "gotcha", Content: "Use tabs.", Confidence: .7},
	}}
	for _, title := range []string{"pinned", "edited", "left"} {
		outcome.Observations = append(outcome.Observations, memory.Observation{Type: memory.TypeBugfix, Title: title + " in the import", Narrative: title})
	}
	if err := m.Confirm(t.Context(), m.claim(t, r[0].Session, 10), outcome); err != nil {
		t.Fatal(err)
	}
	number := m.importing
	m.importing = 0
	yes, title := true, "edited by hand"
	for i, e := range []memory.ObservationEdit{{Pinned: &yes}, {Title: &title}} {
		if _, err := m.EditObservation(t.Context(), outcome.Observations[i].ID, e); err != nil {
			t.Fatal(err)
		}
	}
	m.say(t, memory.Learning{ProjectPath: outcome.Learnings[1].ProjectPath, Category: "gotcha", Content: "Use tabs.", Confidence: 1})
	m.enqueue(t, event(memory.KindPrompt, "s", "live", 9))
	before := m.all(t)
	for _, none := range []int64{-1, 0, number + 1} {
		if undone, err := m.UndoImport(t.Context(), none, false); memory.CodeOf(err) != memory.CodeNotFound {
			t.Errorf("import %d: %+v, %v", none, undone, err)
		}
	}
	dry, err := m.UndoImport(t.Context(), number, true)
	if diff := cmp.Diff(before, m.all(t)); err != nil || diff != "" {
		t.Errorf("a dry run: %v %s", err, diff)
	}
	undone := m.undo(t, number)
	if diff := cmp.Diff(dry, undone); diff != "" {
		t.Error(diff)
	}
	if kept := strings.Join(undone.Kept, "\n"); kept != "#1 pinned in the import\n#2 edited by hand\nlearning 2 Use tabs." || undone.Observations != 1 || undone.Learnings != 1 {
		t.Errorf("%+v", undone)
	}
	left := strings.Join(m.all(t), "\n")
	for word, there := range map[string]bool{"pinned": true, "edited by hand": true, "Use tabs": true, "linter": false, "left": false, `"request":"old"`: false, `"number":2`: true, `"number":1`: false} {
		if strings.Contains(left, word) != there {
			t.Errorf("%q is there: %v\n%s", word, !there, left)
		}
	}
	m.audited(t)
	if _, err := m.UndoImport(t.Context(), number, false); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("undone twice: %v", err)
	}
	if _, err := m.Enqueue(t.Context(), event(memory.KindTool, "s", "late", 3, func(a *memory.Arrival) { past(a); a.Event.Import = number })); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("an event of an import that was undone: %v", err)
	}
}

// ofImport marks an event as one of the import that is under way.
func (m *testStore) ofImport(a *memory.Arrival) {
	past(a)
	a.Event.Import = m.importing
}

// TestImportNumbers: an import that was broken off goes on with its number, one that has ended or was
// undone does not, and one that has stored nothing has none.
func TestImportNumbers(t *testing.T) {
	m := newMemory(t)
	first := m.number(t, "a")
	if again, other := m.number(t, "a"), m.number(t, "b"); again != first || other == first {
		t.Errorf("%d, again %d, other %d", first, again, other)
	}
	m.importing = first
	m.enqueue(t, event(memory.KindPrompt, "s", "p", 1, m.ofImport))
	for n, want := range map[int64]int64{first: first, first + 1: 0} {
		ended := memory.ImportNumber{Import: n, End: true}
		if err := m.NumberImport(t.Context(), &ended); err != nil || ended.Import != want {
			t.Errorf("%d ends as %d, want %d: %v", n, ended.Import, want, err)
		}
	}
	if next := m.number(t, "a"); next == first {
		t.Error("an import that has ended goes on")
	}
	m.importing = m.number(t, "undone")
	m.enqueue(t, event(memory.KindPrompt, "u", "p", 1, m.ofImport))
	m.undo(t, m.importing)
	if err := m.NumberImport(t.Context(), &memory.ImportNumber{Import: m.importing, End: true}); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("an import that was undone ends: %v", err)
	}
	list, err := m.Imports(t.Context(), 0)
	if err != nil || len(list) != 2 || !list[0].Ended || list[0].Sessions != 1 || list[1].Ended {
		t.Errorf("%+v %v", list, err)
	}
	sources := []string{}
	for _, e := range list {
		sources = append(sources, e.Source)
	}
	if !slices.Equal(sources, []string{"a", "a"}) {
		t.Error(sources)
	}
}

// TestUndoForgotten: what is forgotten of an import stays away after its undo, from the same import too, and
// nothing that is noted of what an import has changed holds a text.
func TestUndoForgotten(t *testing.T) {
	const secret = "quartzite-lantern"
	m := newMemory(t)
	m.imported(t, []memory.Portable{{Session: &memory.PortableSession{
		ULID: "01J000000000000000000000S1", Host: memory.HostClaudeCode, HostSessionID: "s", ProjectPath: "/home/dev/shop", Status: memory.SessionCompleted,
		Title: "The " + secret, StartedAt: base, UpdatedAt: base, CompletedAt: base,
	}}})
	before := m.all(t)
	m.importing = m.number(t, "old")
	said := func(a *memory.Arrival) { m.ofImport(a); a.Event.Prompt = "Light the " + secret }
	arrivals := func() []memory.Arrival {
		return []memory.Arrival{event(memory.KindPrompt, "s", "p", 1, said), event(memory.KindPrompt, "new", "n", 2, said), event(memory.KindPrompt, "s", "q", 3, m.ofImport)}
	}
	m.enqueue(t, arrivals()...)
	m.undo(t, m.importing)
	if diff := cmp.Diff(before, m.all(t)); diff != "" {
		t.Errorf("after the undo (-want +got):\n%s", diff)
	}
	m.importing = m.number(t, "old")
	m.enqueue(t, arrivals()...)
	if _, err := m.Forget(t.Context(), memory.Forgetting{Text: secret}, unnoted); err != nil {
		t.Fatal(err)
	}
	if err := m.Scrub(t.Context()); err != nil || m.holds(t, secret) {
		t.Errorf("the file has what was forgotten: %v", err)
	}
	m.undo(t, m.importing)
	if left := m.all(t); len(left) != 3 || strings.Contains(left[0], `"events"`) { // the session, and two tombstones
		t.Errorf("after the undo: %q", left)
	}
	m.importing = m.number(t, "old")
	var got []memory.Status
	for _, r := range m.enqueue(t, arrivals()...) {
		got = append(got, r.Status)
	}
	if !slices.Equal(got, []memory.Status{memory.StatusSkipped, memory.StatusSkipped, memory.StatusProcessed}) {
		t.Errorf("imported again: %v", got)
	}
	m.audited(t)
}

// TestUndoAfterMerge: what an import has changed is given back in the project that it was moved to since; what
// a person has hidden since stays hidden.
func TestUndoAfterMerge(t *testing.T) {
	const into = "/home/dev/store"
	m := newMemory(t)
	turn := func(name string, change ...func(*memory.Arrival)) memory.Observation {
		r := m.enqueue(t, event(memory.KindPrompt, "s", name+"p", 1, change...), event(memory.KindTool, "s", name+"t", 2, change...))
		o := memory.Outcome{Observations: []memory.Observation{{Type: memory.TypeBugfix, Title: "Found the lock", CreatedAt: base + 2}, {Type: memory.TypeBugfix, Title: "Named the file", CreatedAt: base + 2}},
			Learnings: []memory.Learning{{Category: "gotcha", Content: "Use tabs.", Confidence: .7, Provenance: memory.FromProject}}}
		if err := m.Confirm(t.Context(), m.claim(t, r[0].Session, 10), o); err != nil {
			t.Fatal(err)
		}
		return o.Observations[1]
	}
	hidden := turn("live").ID
	before := strings.ReplaceAll(strings.Join(m.all(t), "\n"), "/home/dev/shop", into)
	m.importing = m.number(t, "old")
	turn("old", m.ofImport)
	if _, err := m.MergeProjects(t.Context(), memory.ProjectMerge{From: "/home/dev/shop", Into: into}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.HideObservation(t.Context(), hidden, true); err != nil {
		t.Fatal(err)
	}
	m.undo(t, m.importing)
	if n := rawRows(t, m.path, "SELECT count(*) FROM observations WHERE deleted_at IS NOT NULL"); n[0][0] != int64(1) {
		t.Errorf("%v observations are hidden", n)
	}
	if _, err := m.RestoreObservation(t.Context(), hidden); err != nil {
		t.Fatal(err)
	}
	after := strings.ReplaceAll(strings.Join(m.all(t), "\n"), `"label":"store"`, `"label":"shop"`)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
