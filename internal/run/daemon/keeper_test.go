package daemon

import (
	"sync/atomic"
	"testing"
	"time"

	"claudemem/internal/memory"
)

// What was hidden for good can be restored for undoTime, and is deleted then. What was hidden
// without a purge stays, and so does what was restored.
func TestPurgeHidden(t *testing.T) {
	noLeaks(t)
	cfg := config(t.TempDir())
	cfg.Housekeeping = time.Hour
	var now atomic.Int64 // the worker's goroutines read it too
	now.Store(time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC).UnixMilli())
	cfg.Clock = func() time.Time { return time.UnixMilli(now.Load()) }
	pass := func(d time.Duration) { now.Add(d.Milliseconds()) }
	w := open(t, cfg)
	kept := keeper{Store: w.store, intake: w.intake}
	hide := func(title string, purge bool) memory.ObservationID {
		t.Helper()
		o, err := kept.AddObservation(t.Context(), memory.NewObservation{ProjectPath: "/p", Title: title, Type: memory.TypeChange, Origin: memory.OriginUser})
		if err != nil {
			t.Fatal(err)
		}
		due, err := kept.HideObservation(t.Context(), o.ID, purge)
		if err != nil || purge && due != memory.MillisOf(cfg.Clock().Add(undoTime)) {
			t.Fatalf("hidden until %d, %v", due, err)
		}
		return o.ID
	}
	restored := func(id memory.ObservationID) bool {
		_, err := kept.RestoreObservation(t.Context(), id)
		return err == nil
	}
	first, back, stays := hide("first", true), hide("brought back", true), hide("out of sight", false)
	pass(4 * time.Minute)
	second := hide("second", true)
	w.purgeHidden(t.Context())
	if !restored(back) {
		t.Error("deleted after 4 minutes")
	}
	pass(undoTime - 4*time.Minute)
	w.purgeHidden(t.Context())
	if restored(first) {
		t.Error("not deleted after 10 minutes")
	}
	pass(-24 * time.Hour) // the clock is set back
	w.purgeHidden(t.Context())
	pass(24 * time.Hour)
	if !restored(second) {
		t.Error("deleted after 6 minutes")
	}
	pass(time.Hour)
	w.purgeHidden(t.Context())
	for _, id := range []memory.ObservationID{back, second, stays} {
		if o, err := w.store.Observation(t.Context(), id); id != stays && (err != nil || o.ID != id) {
			t.Errorf("%d is gone: %v", id, err)
		}
	}
	if !restored(stays) {
		t.Error("deleted, and was only hidden")
	}
}
