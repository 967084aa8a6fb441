package recall

import (
	"strings"
	"testing"
	"time"

	"claudemem"
)

// TestSupersededIsNotCurrent checks that what a later record reverses is not in the block,
// pinned or related or newest, and that its session's line says so.
func TestSupersededIsNotCurrent(t *testing.T) {
	by := func(id claudemem.ObservationID, o claudemem.Observation) claudemem.Observation {
		o.SupersededBy = id
		return o
	}
	old := by(4, observation(1, 1, 3*time.Hour, "Sessions live in Redis with a day's expiry", ""))
	waits := observation(3, 1, 3*time.Hour, "Uploads retry five times before giving up", "")
	m := &memory{
		digests: []claudemem.SessionDigest{
			session(2, time.Hour, &claudemem.Summary{Completed: "Moved sessions to Postgres"}),
			session(1, 3*time.Hour, &claudemem.Summary{Completed: "Sessions live in Redis with a day's expiry now"}),
		},
		observed: []claudemem.Observation{
			pinned(by(4, observation(2, 1, 3*time.Hour, "Cache warms at the start", ""))),
			observation(4, 2, time.Hour, "Sessions moved to Postgres", "Redis lost them at each restart"),
			old, waits,
		},
		totals: claudemem.Totals{Sessions: 2, Observations: 4},
	}
	fresh := m.digests[0]
	fresh.Undistilled = 1
	m.digests[0] = fresh
	m.waiting = map[claudemem.SessionID]claudemem.Batch{2: events(fresh.Session, 1, time.Minute)}
	reversal := observation(0, 2, time.Minute, "Uploads are not retried any more", "")
	reversal.Supersedes = []claudemem.ObservationID{3}
	b := New(m, Options{Clock: func() time.Time { return noon },
		Finder:    &relatives{found: []claudemem.Related{fitting(old, 0.9, 0.8, "redis", "sessions", "expiry")}},
		Distiller: distilled{2: claudemem.Outcome{Observations: []claudemem.Observation{reversal}}}})
	got, err := b.Context(t.Context(), claudemem.ContextRequest{Host: claudemem.HostClaudeCode, ProjectPath: testProject, Source: "startup"})
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{"(#1)", "(#2)", "(#3)", "Cache warms", "retry five"} {
		if strings.Contains(got.Text, gone) {
			t.Errorf("the block has %q:\n%s", gone, got.Text)
		}
	}
	for _, want := range []string{"Moved sessions to Postgres; Redis lost them", "(S2, #4)", "Uploads are not retried any more", "expiry now (S1) (superseded by #4)"} {
		if !strings.Contains(got.Text, want) {
			t.Errorf("the block lacks %q:\n%s", want, got.Text)
		}
	}
}
