package store_test

import (
	"reflect"
	"testing"
	"time"

	"claudemem/internal/keep/store/care"
	"claudemem/internal/memory"
)

// TestForgetDropsNearby: what was erased is not kept in memory for the next batches.
func TestForgetDropsNearby(t *testing.T) {
	hide := func(t *testing.T, m *testStore) {
		if _, err := m.HideObservation(t.Context(), 1, true); err != nil {
			t.Fatal(err)
		}
	}
	for name, erase := range map[string]func(*testing.T, *testStore) error{
		"forget": func(t *testing.T, m *testStore) error {
			_, err := m.Forget(t.Context(), memory.Forgetting{Observations: []memory.ObservationID{1}}, func(*care.Erasure) error { return nil })
			return err
		},
		"purge": func(t *testing.T, m *testStore) error {
			hide(t, m)
			_, err := m.PurgeHidden(t.Context(), memory.LatestTime-1)
			return err
		},
		"retain": func(t *testing.T, m *testStore) error {
			for range 2 { // hidden first, erased a week later
				if _, err := m.Retain(t.Context(), time.Hour); err != nil {
					return err
				}
				m.clock.at += 8 * 24 * 3600_000
			}
			_, err := m.Retain(t.Context(), time.Hour)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory(t)
			m.add(t, note("the launch code", func(n *memory.NewObservation) { n.CreatedAt = base - 7200_000 }))
			if b, err := m.Batch(t.Context(), memory.Session{ProjectPath: "/home/dev/shop"}, []memory.PendingEvent{{Files: []memory.FileRef{{Path: "a.go"}}}}); err != nil || len(b.Nearby) != 1 {
				t.Fatalf("%d near the batch, %v", len(b.Nearby), err)
			}
			kept := func() int { return reflect.ValueOf(m.Records).Elem().FieldByName("nearby").FieldByName("read").Len() }
			if kept() != 1 {
				t.Fatalf("%d are kept", kept())
			}
			if err := erase(t, m); err != nil {
				t.Fatal(err)
			}
			if _, err := m.Observation(t.Context(), 1); memory.CodeOf(err) != memory.CodeNotFound {
				t.Errorf("it was not erased: %v", err)
			}
			if kept() != 0 {
				t.Errorf("%d are kept of a memory without observations", kept())
			}
		})
	}
}
