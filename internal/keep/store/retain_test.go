package store_test

import (
	"testing"
	"time"

	"claudemem/internal/keep/store/upkeep"
	"claudemem/internal/memory"
)

// retain calls Retain once a day, n times, and adds its counts.
func (m *testStore) retain(t *testing.T, age time.Duration, n int) (sum upkeep.Retained) {
	t.Helper()
	for range n {
		m.clock.at = m.clock.at.Add(day)
		r, err := m.Retain(t.Context(), age)
		if err != nil {
			t.Fatal(err)
		}
		sum.Hidden, sum.Restored, sum.Erased = sum.Hidden+r.Hidden, sum.Restored+r.Restored, sum.Erased+r.Erased
	}
	m.audited(t)
	return sum
}

// shows returns how many records are shown: observations, prompts and summaries.
func (m *testStore) shows(t *testing.T) (n [3]int) {
	t.Helper()
	totals, err := m.Totals(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	return [3]int{totals.Observations, totals.Prompts, totals.Summaries}
}

func TestRetain(t *testing.T) {
	const month = 30 * day
	m := newMemory(t)
	m.remember(t) // six turns
	pinned := true
	if _, err := m.EditObservation(t.Context(), 1, memory.ObservationEdit{Pinned: &pinned}); err != nil {
		t.Fatal(err)
	}
	all, none := [3]int{6, 6, 6}, [3]int{1, 0, 0}
	check := func(when string, got, want upkeep.Retained, shown [3]int) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %+v, want %+v", when, got, want)
		}
		if n := m.shows(t); n != shown {
			t.Errorf("%s: %v records are shown, want %v", when, n, shown)
		}
	}
	check("young", m.retain(t, month, 30), upkeep.Retained{}, all)
	check("old", m.retain(t, month, 1), upkeep.Retained{Hidden: 17}, none)
	check("still there", m.retain(t, month, 6), upkeep.Retained{}, none)
	check("brought back", m.retain(t, 0, 1), upkeep.Retained{Restored: 17}, all)
	check("hidden again", m.retain(t, month, 1), upkeep.Retained{Hidden: 17}, none)
	if _, err := m.RestoreObservation(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	two := [3]int{2, 0, 0}
	check("erased but those that are pinned or were brought back by hand", m.retain(t, month, 8), upkeep.Retained{Erased: 17}, two)
	check("for good", m.retain(t, 0, 2), upkeep.Retained{Restored: 1}, two) // the mark of the one that was brought back
	if learnings := rawRows(t, m.path, "SELECT count(*) FROM learnings"); learnings[0][0] != int64(6) {
		t.Errorf("%v learnings are left", learnings)
	}
	if hidden := rawRows(t, m.path, "SELECT * FROM hidden_records"); len(hidden) != 0 {
		t.Errorf("%v is left", hidden)
	}
	for _, r := range m.enqueue(t, event(memory.KindPrompt, "anna", "anna-one-p", 1)) {
		if r.Status != memory.StatusSkipped {
			t.Errorf("the event of an erased prompt is %s", r.Status)
		}
	}
}

// TestRetainWithWrongClock: a clock that is a year ahead hides what is a week from its age at
// most, and erases nothing.
func TestRetainWithWrongClock(t *testing.T) {
	m := newMemory(t)
	m.remember(t)
	m.clock.at = m.clock.at.Add(364 * day)
	if got := m.retain(t, 30*day, 1); got != (upkeep.Retained{}) {
		t.Errorf("%+v on the first day", got)
	}
	m.clock.at = base + 1000*100
	if got := m.retain(t, 30*day, 1); got != (upkeep.Retained{}) {
		t.Errorf("%+v after the clock was set back", got)
	}
}

// TestForgetFindsHidden: what is hidden for its age is forgotten too.
func TestForgetFindsHidden(t *testing.T) {
	m := newMemory(t)
	m.remember(t)
	m.retain(t, 10*day, 11)
	if n := m.shows(t); n != [3]int{} {
		t.Fatalf("%v is shown", n)
	}
	if _, err := m.Forget(t.Context(), memory.Forgetting{Text: "anna-two"}, unnoted); err != nil {
		t.Fatal(err)
	}
	if err := m.Scrub(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"prompt anna-two", "Request anna-two", "Narrative of anna-two"} {
		if m.holds(t, text) {
			t.Errorf("%q is still in the files", text)
		}
	}
}

// TestRetainLeavesDamaged: a summary whose text was changed on the disk is not hidden before it
// is repaired or set aside, since a hidden one has no hash.
func TestRetainLeavesDamaged(t *testing.T) {
	m := newMemory(t)
	m.remember(t)
	rawExec(t, m.path, `CREATE TEMP TABLE kept AS SELECT * FROM record_hashes; UPDATE session_summaries SET learned = x'0102' WHERE id = 1;
		UPDATE record_hashes SET text = (SELECT text FROM kept k WHERE k.kind = record_hashes.kind AND k.id = record_hashes.id)`)
	m.retain(t, 30*day, 31)
	if n := rawRows(t, m.path, "SELECT count(*), max(id) FROM session_summaries")[0]; n[0] != int64(1) || n[1] != int64(1) {
		t.Errorf("%v summaries are left, want the damaged one", n)
	}
	wrong, _, err := m.VerifyRecords(t.Context(), func() error { return nil })
	if err != nil || len(wrong) != 1 {
		t.Fatalf("%v are damaged, %v", wrong, err)
	}
	if _, err := m.Repair(t.Context(), wrong, nil); err != nil {
		t.Fatal(err)
	}
	m.retain(t, 30*day, 1)
	if n := rawRows(t, m.path, "SELECT count(*) FROM session_summaries")[0][0]; n != int64(0) {
		t.Errorf("%v summaries are left of what was set aside", n)
	}
}
