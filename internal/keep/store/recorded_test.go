package store_test

import (
	"testing"
	"time"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/memory"

	"github.com/google/go-cmp/cmp"
)

// TestRecorded: observations are counted on the day of the reader's zone, those that are hidden
// or older are not, and a project has its own.
func TestRecorded(t *testing.T) {
	m := newMemory(t)
	zone := time.FixedZone("", -5*3600)
	night := time.Date(2026, 3, 4, 23, 0, 0, 0, zone)
	add := func(project string, kind memory.ObservationType, at time.Time) memory.ObservationID {
		o, err := m.AddObservation(t.Context(), memory.NewObservation{ProjectPath: project, Title: at.String() + string(kind) + project, Narrative: at.String(), Type: kind, CreatedAt: memory.MillisOf(at)})
		if err != nil {
			t.Fatal(err)
		}
		return o.ID
	}
	add("/p/tally", "bugfix", night.AddDate(0, 0, -371))
	add("/p/tally", "bugfix", night.AddDate(0, 0, -370))
	add("/p/tally", "bugfix", night.AddDate(0, 0, -9))
	add("/p/tally", "bugfix", night.AddDate(0, 0, -1))
	add("/p/tally", "bugfix", night)
	add("/p/other", "decision", night)
	if _, err := m.HideObservation(t.Context(), add("/p/tally", "change", night), true); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		project string
		want    accounts.Recorded
	}{
		{"", accounts.Recorded{
			Days: []accounts.RecordedOn{
				{Name: "2026-03-03", Observations: 1, Types: map[memory.ObservationType]int{"bugfix": 1}},
				{Name: "2026-03-04", Observations: 2, Types: map[memory.ObservationType]int{"bugfix": 1, "decision": 1}}},
			Types: []accounts.RecordedAs{{Name: "bugfix", Observations: 2}, {Name: "decision", Observations: 1}},
			Year:  map[string]int{"2025-02-27": 1, "2026-02-23": 1, "2026-03-03": 1, "2026-03-04": 2}}},
		{"other", accounts.Recorded{
			Days:  []accounts.RecordedOn{{Name: "2026-03-04", Observations: 1, Types: map[memory.ObservationType]int{"decision": 1}}},
			Types: []accounts.RecordedAs{{Name: "decision", Observations: 1}},
			Year:  map[string]int{"2026-03-04": 1}}},
		{"nowhere", accounts.EmptyRecorded()},
	} {
		got, err := m.Recorded(t.Context(), tt.project, night, 3)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("project %q (-want +got):\n%s", tt.project, diff)
		}
	}
}
