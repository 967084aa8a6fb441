package store_test

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/memory"
)

// reversal stores an observation that supersedes others, a millisecond after the last one.
func (m *testStore) reversal(t *testing.T, title string, supersedes ...memory.ObservationID) memory.ObservationID {
	t.Helper()
	m.clock.at++
	outcome := memory.Outcome{Observations: []memory.Observation{observation(title, func(o *memory.Observation) { o.Supersedes = supersedes })}}
	if err := m.Confirm(context.Background(), claimed(t, m, title), outcome); err != nil {
		t.Fatal(err)
	}
	return outcome.Observations[0].ID
}

// supersededBy returns by which record each of the observations is superseded, as it is read.
func (m *testStore) supersededBy(t *testing.T, ids ...memory.ObservationID) string {
	t.Helper()
	found, err := records.ObservationsByIDs(context.Background(), m.Reader, ids)
	if err != nil {
		t.Fatal(err)
	}
	by, err := m.Superseding(context.Background(), ids...)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, o := range found {
		if by[o.ID] != o.SupersededBy {
			t.Errorf("%d is superseded by %d, as a list by %d", o.ID, o.SupersededBy, by[o.ID])
		}
		said = append(said, fmt.Sprintf("%d→%d", o.ID, o.SupersededBy))
	}
	return strings.Join(said, " ")
}

func TestSupersede(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	a := m.reversal(t, "Port 8080 for the server")
	_, newest, err := m.ChangeRange(ctx)
	if err != nil {
		t.Fatal(err)
	}
	b := m.reversal(t, "Server moved behind the proxy", a)
	if got := m.changesAfter(t, newest); !strings.Contains(got, "observation 2 insert") || !strings.Contains(got, "observation 1 update") {
		t.Errorf("the feed has %s", got)
	}
	c := m.reversal(t, "Proxy removed again", b, 0, 99)
	if got := m.supersededBy(t, a, b, c); got != "1→2 2→3 3→0" {
		t.Errorf("got %s", got)
	}
	history, err := m.ObservationsOfFile(ctx, "/home/dev/shop", "src/cart.go", 9)
	if err != nil || len(history) != 1 || history[0].ID != c {
		t.Errorf("of the file: got %+v, %v; want the last one alone", history, err)
	}

	_, newest, err = m.ChangeRange(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.HideObservation(ctx, b, true); err != nil {
		t.Fatal(err)
	}
	if got := m.supersededBy(t, a, c); got != "1→3 3→0" {
		t.Errorf("with the middle hidden: %s", got)
	}
	if got := m.changesAfter(t, newest); !strings.Contains(got, "observation 1 update") {
		t.Errorf("hiding: the feed has %s", got)
	}
	if _, err := m.RestoreObservation(ctx, b); err != nil {
		t.Fatal(err)
	}
	if got := m.supersededBy(t, a, b); got != "1→2 2→3" {
		t.Errorf("with the middle back: %s", got)
	}
	if _, err := m.HideObservation(ctx, b, true); err != nil {
		t.Fatal(err)
	}
	if _, err := m.PurgeHidden(ctx, m.clock.at); err != nil {
		t.Fatal(err)
	}
	if got := m.supersededBy(t, a, c); got != "1→3 3→0" {
		t.Errorf("with the middle erased: %s", got)
	}
	if _, err := m.HideObservation(ctx, c, true); err != nil {
		t.Fatal(err)
	}
	if got := m.supersededBy(t, a); got != "1→0" {
		t.Errorf("with the last one hidden: %s", got)
	}
}

// TestSupersededInNoSet: an observation whose number is too large for a set in memory is
// looked up in the database, and so is each of a store that only reads.
func TestSupersededInNoSet(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	a := m.reversal(t, "Port 8080 for the server")
	b := m.reversal(t, "Server moved behind the proxy", a)
	reader, err := store.OpenReadOnly(ctx, m.path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	const large = 1 << 40
	check := func(want map[memory.ObservationID]memory.ObservationID) {
		t.Helper()
		for name, s := range map[string]*store.Store{"writer": m.Store, "reader": reader} {
			if got, err := s.Superseding(ctx, a, b, large, -3); err != nil || !maps.Equal(got, want) {
				t.Errorf("%s: got %v, %v, want %v", name, got, err, want)
			}
		}
	}
	check(map[memory.ObservationID]memory.ObservationID{a: b})
	rawExec(t, m.path, `INSERT INTO observations (id, ulid, session_id, project, type, title, content_hash, superseded_by, created_at)
		SELECT ?, 'large', session_id, project, type, title, 'large', ?, created_at FROM observations WHERE id = ?`, large, int64(b), int64(a))
	check(map[memory.ObservationID]memory.ObservationID{a: b, large: b})
}

// TestSupersedeRefuses checks which records stay as they are.
func TestSupersedeRefuses(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	plain := m.reversal(t, "An earlier record")
	pinned := m.reversal(t, "A pinned record")
	yes := true
	if _, err := m.EditObservation(ctx, pinned, memory.ObservationEdit{Pinned: &yes}); err != nil {
		t.Fatal(err)
	}
	person := m.add(t, note("A person's record", func(n *memory.NewObservation) { n.ProjectPath = "/home/dev/shop" })).ID
	elsewhere := m.add(t, note("Of another project", func(n *memory.NewObservation) {
		n.ProjectPath, n.Origin = "/home/dev/other", memory.OriginAgent
	})).ID
	late := m.add(t, note("Later than the reversal", func(n *memory.NewObservation) {
		n.ProjectPath, n.Origin, n.CreatedAt = "/home/dev/shop", memory.OriginAgent, base+1000
	})).ID
	all := []memory.ObservationID{plain, pinned, person, elsewhere, late}
	by := m.reversal(t, "The reversal", append(all, late+1)...)
	if got, want := m.supersededBy(t, append(all, by)...), fmt.Sprintf("%d→%d %d→0 %d→0 %d→0 %d→0 %d→0", plain, by, pinned, person, elsewhere, late, by); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// What is superseded stays with the record that did it, and a person may end that.
	if again := m.reversal(t, "Another reversal", plain); again == by {
		t.Fatal("the reversals are one record")
	}
	if got, want := m.supersededBy(t, plain), fmt.Sprintf("%d→%d", plain, by); got != want {
		t.Errorf("superseded twice: got %s, want %s", got, want)
	}
	if o, err := m.EditObservation(ctx, plain, memory.ObservationEdit{Pinned: &yes}); err != nil || o.SupersededBy != 0 {
		t.Errorf("pinned: got %+v, %v", o, err)
	}
	if got, want := m.supersededBy(t, plain), fmt.Sprintf("%d→0", plain); got != want {
		t.Errorf("pinned: got %s, want %s", got, want)
	}
}

// TestRedo checks that work which is done again after it was reversed holds again.
func TestRedo(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	r := m.enqueue(t, event(memory.KindTool, "s", "t1", 1))
	var ids []memory.ObservationID
	store := func(title string, supersedes ...memory.ObservationID) {
		t.Helper()
		m.clock.at++
		o := []memory.Observation{observation(title, func(o *memory.Observation) { o.Supersedes = supersedes })}
		if err := m.Confirm(ctx, m.claim(t, r[0].Session, 0), memory.Outcome{Observations: o}); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, o[0].ID)
		m.enqueue(t, event(memory.KindTool, "s", fmt.Sprint("t", len(ids)+1), memory.Millis(len(ids)+1)))
	}
	store("Retry switched on for uploads")
	store("Retry switched off for uploads", 1)
	store("Retry switched on for uploads", 2)
	if got, want := ids, []memory.ObservationID{1, 2, 1}; !slices.Equal(got, want) {
		t.Errorf("got records %v, want %v", got, want)
	}
	if got := m.supersededBy(t, 1, 2); got != "1→0 2→1" {
		t.Errorf("got %s", got)
	}
	// A title that differs in one word of the same length is near, and its reversal.
	store("Retry switched on for uploadz", 1)
	if got := m.supersededBy(t, 1, 2, 3); got != "1→3 2→1 3→0" {
		t.Errorf("a near title: %s", got)
	}
}

// TestSupersededStates does at random what can be done to records that supersede each
// other, and compares each step with a simple model.
func TestSupersededStates(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		clock := &clock{base}
		s, err := store.Open(ctx, filepath.Join(tempDir(t), "memory.db"), store.Options{Clock: clock.now})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		links := map[memory.ObservationID]memory.ObservationID{}
		hidden, pinned := map[memory.ObservationID]bool{}, map[memory.ObservationID]bool{}
		var all []memory.ObservationID
		check := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		one := func() memory.ObservationID { return rapid.SampledFrom(all).Draw(t, "record") }
		for step := range rapid.IntRange(1, 12).Draw(t, "steps") {
			clock.at++
			act := "add"
			if len(all) > 0 {
				act = rapid.SampledFrom([]string{"add", "add", "add", "hide", "restore", "pin", "purge"}).Draw(t, "act")
			}
			switch act {
			case "add":
				var supersedes []memory.ObservationID
				if len(all) > 0 {
					supersedes = rapid.SliceOfN(rapid.SampledFrom(all), 0, 3).Draw(t, "supersedes")
				}
				receipts, err := s.Enqueue(ctx, event(memory.KindTool, "s", fmt.Sprint(step), memory.Millis(step)))
				check(err)
				claim, err := s.Claim(ctx, fmt.Sprint(step), receipts[0].Session, 0, clock.at)
				check(err)
				o := []memory.Observation{{Type: memory.TypeChange, Title: fmt.Sprint("record ", step), Supersedes: supersedes}}
				check(s.Confirm(ctx, claim, memory.Outcome{Observations: o}))
				for _, id := range supersedes {
					if links[id] == 0 && !pinned[id] {
						links[id] = o[0].ID
					}
				}
				all = append(all, o[0].ID)
			case "hide":
				if id := one(); !hidden[id] {
					_, err := s.HideObservation(ctx, id, true)
					check(err)
					hidden[id] = true
				}
			case "restore":
				id := one()
				_, err := s.RestoreObservation(ctx, id)
				check(err)
				delete(hidden, id)
			case "pin":
				if id := one(); !hidden[id] {
					yes := true
					_, err := s.EditObservation(ctx, id, memory.ObservationEdit{Pinned: &yes})
					check(err)
					pinned[id] = true
					delete(links, id)
				}
			case "purge":
				_, err := s.PurgeHidden(ctx, clock.at)
				check(err)
				for id, by := range links {
					for hidden[by] {
						by = links[by]
					}
					links[id] = by
				}
				all = slices.DeleteFunc(all, func(id memory.ObservationID) bool { return hidden[id] })
				for id := range hidden {
					delete(links, id)
				}
				clear(hidden)
			}
			found, err := records.ObservationsByIDs(ctx, s.Reader, all)
			check(err)
			for _, o := range found {
				want := links[o.ID]
				for hidden[want] {
					want = links[want]
				}
				if o.SupersededBy != want {
					t.Fatalf("%s: #%d is superseded by %d, want %d (links %v, hidden %v)", act, o.ID, o.SupersededBy, want, links, hidden)
				}
			}
		}
		findings, err := s.Audit(ctx)
		if err != nil || len(findings) > 0 {
			t.Fatalf("audit: %v %v", findings, err)
		}
	})
}
