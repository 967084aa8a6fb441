package store_test

import (
	"context"
	"fmt"
	"testing"

	"claudemem/internal/memory"
)

// stateOf returns how often each of the observations was seen, whether it is pinned and what supersedes it.
func (m *testStore) stateOf(t *testing.T, ids ...memory.ObservationID) (state string) {
	t.Helper()
	for _, id := range ids {
		o, err := m.Observation(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		state += fmt.Sprintf("#%d %d", id, o.TimesSeen)
		if o.Pinned {
			state += " pinned"
		}
		if o.SupersededBy != 0 {
			state += fmt.Sprintf(" by %d", o.SupersededBy)
		}
		state += "; "
	}
	return state
}

// TestMergeObservations merges records of the same, by choice and by what is believed most, and takes it back.
func TestMergeObservations(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	from := func(origin memory.Origin) func(*memory.NewObservation) {
		return func(n *memory.NewObservation) { n.Origin = origin }
	}
	for _, n := range []memory.NewObservation{note("cents", from(memory.OriginAgent)), note("whole cents", from(memory.OriginUser)),
		note("amounts are cents", from(memory.OriginAgent)), note("elsewhere", func(n *memory.NewObservation) { n.ProjectPath = "/p/other" })} {
		m.add(t, n)
	}
	m.add(t, note("cents", from(memory.OriginAgent))) // #1 is seen twice
	pinned := true
	if _, err := m.EditObservation(ctx, 3, memory.ObservationEdit{Pinned: &pinned}); err != nil {
		t.Fatal(err)
	}
	before := m.stateOf(t, 1, 2, 3)
	for name, c := range map[string]struct {
		merge memory.ObservationMerge
		want  string
	}{
		"the pinned one is believed most": {memory.ObservationMerge{IDs: []memory.ObservationID{1, 2, 3, 1}}, "#1 2 by 3; #2 1 by 3; #3 4 pinned; "},
		"one that is named":               {memory.ObservationMerge{IDs: []memory.ObservationID{3, 1}, Into: 1}, "#1 3 pinned; #2 1; #3 1 by 1; "},
		"a person's before one seen more": {memory.ObservationMerge{IDs: []memory.ObservationID{1, 2}}, "#1 2 by 2; #2 3; #3 1 pinned; "},
	} {
		done, err := m.MergeObservations(ctx, c.merge)
		if got := m.stateOf(t, 1, 2, 3); err != nil || got != c.want {
			t.Errorf("%s: got %q %v, want %q", name, got, err, c.want)
		}
		_, err = m.MergeObservations(ctx, c.merge)
		wantCode(t, err, memory.CodeConflict) // they are merged
		done.Undo = true
		if _, err := m.MergeObservations(ctx, done); err != nil {
			t.Errorf("%s: undo: %v", name, err)
		}
		if got := m.stateOf(t, 1, 2, 3); got != before {
			t.Errorf("%s: undone %q, was %q", name, got, before)
		}
		_, err = m.MergeObservations(ctx, done)
		wantCode(t, err, memory.CodeConflict) // once
	}
	for name, c := range map[string]struct {
		merge memory.ObservationMerge
		want  memory.Code
	}{
		"one":              {memory.ObservationMerge{IDs: []memory.ObservationID{1, 1}}, memory.CodeInvalid},
		"none":             {memory.ObservationMerge{}, memory.CodeInvalid},
		"a missing one":    {memory.ObservationMerge{IDs: []memory.ObservationID{1, 99}}, memory.CodeNotFound},
		"another project":  {memory.ObservationMerge{IDs: []memory.ObservationID{1, 4}}, memory.CodeInvalid},
		"undo of no merge": {memory.ObservationMerge{IDs: []memory.ObservationID{1}, Into: 2, Undo: true}, memory.CodeConflict},
	} {
		if _, err := m.MergeObservations(ctx, c.merge); memory.CodeOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := m.stateOf(t, 1, 2, 3); got != before {
		t.Errorf("a refused merge changed %q to %q", before, got)
	}
	// An undo leaves out what holds again, or was hidden, since.
	done, err := m.MergeObservations(ctx, memory.ObservationMerge{IDs: []memory.ObservationID{1, 2}, Into: 3})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.EditObservation(ctx, 1, memory.ObservationEdit{Pinned: &pinned}); err != nil {
		t.Fatal(err)
	}
	done.Undo = true
	if done, err = m.MergeObservations(ctx, done); err != nil || fmt.Sprint(done.IDs) != "[2]" {
		t.Errorf("taken back: %v %v", done.IDs, err)
	}
	if got := m.stateOf(t, 1, 2, 3); got != "#1 2 pinned; #2 1; #3 3 pinned; " {
		t.Errorf("after an undo of what was left: %q", got)
	}
}
