package block

import (
	"strings"
	"testing"
	"time"

	"claudemem/internal/memory"
)

// TestSupersededIsNotCurrent checks that what a later record reverses is not in the block,
// pinned or related or newest, and that its session's line, which tells more, says so.
func TestSupersededIsNotCurrent(t *testing.T) {
	by := func(id memory.ObservationID, o memory.Observation) memory.Observation {
		o.SupersededBy = id
		return o
	}
	old := by(4, observation(1, 1, 3*time.Hour, "Sessions live in Redis with a day's expiry", ""))
	waits := observation(3, 1, 3*time.Hour, "Uploads retry five times before giving up", "")
	m := &fakeMemory{
		digests: []memory.SessionDigest{
			session(2, time.Hour, &memory.Summary{Completed: "Moved sessions to Postgres"}),
			session(1, 3*time.Hour, &memory.Summary{Completed: "Sessions live in Redis with a day's expiry now. The mailer has a queue of its own"}),
		},
		observed: []memory.Observation{
			pinned(by(4, observation(2, 1, 3*time.Hour, "Cache warms at the start", ""))),
			observation(4, 2, time.Hour, "Sessions moved to Postgres", "Redis lost them at each restart"),
			old, waits,
		},
		totals: memory.Totals{Sessions: 2, Observations: 4},
	}
	fresh := m.digests[0]
	fresh.Undistilled = 1
	m.digests[0] = fresh
	m.waiting = map[memory.SessionID]memory.Batch{2: events(fresh.Session, 1, time.Minute)}
	reversal := observation(0, 2, time.Minute, "Uploads are not retried any more", "")
	reversal.Supersedes = []memory.ObservationID{3}
	b := New(m, Options{Clock: func() time.Time { return noon },
		Finder:    &relatives{found: []memory.Related{fitting(old, 0.9, 0.8, "redis", "sessions", "expiry")}},
		Distiller: distilled{2: memory.Outcome{Observations: []memory.Observation{reversal}}}})
	got, err := unhurried(t, b, memory.ContextRequest{Host: memory.HostClaudeCode, ProjectPath: testProject, Source: "startup"})
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{"(#1)", "(#2)", "(#3)", "Cache warms", "retry five"} {
		if strings.Contains(got.Text, gone) {
			t.Errorf("the block has %q:\n%s", gone, got.Text)
		}
	}
	for _, want := range []string{"Moved sessions to Postgres; Redis lost them", "(S2, #4)", "Uploads are not retried any more", "expiry now. The mailer has a queue of its own (S1) (superseded by #4)"} {
		if !strings.Contains(got.Text, want) {
			t.Errorf("the block lacks %q:\n%s", want, got.Text)
		}
	}
}

// TestSessionOfReversedWorkIsLeftOut: a session whose line tells of superseded work alone has
// none; what else it tells, does next or was asked for keeps the line.
func TestSessionOfReversedWorkIsLeftOut(t *testing.T) {
	redis := observation(1, 1, 3*time.Hour, "The outbox is kept in Redis now, because it survives a restart", "")
	redis.SupersededBy = 3
	cache := observation(2, 1, 3*time.Hour, "The cache of templates is in Redis too", "")
	also := cache
	also.SupersededBy = 3
	for name, tt := range map[string]struct {
		turn   memory.Summary
		second memory.Observation
		stays  string
	}{
		"alone":              {turn: memory.Summary{Request: "use Redis", Completed: redis.Title + ". `go test ./...` passes; edited outbox.go"}},
		"several":            {turn: memory.Summary{Completed: redis.Title + "; " + cache.Title}, second: also},
		"one of two":         {turn: memory.Summary{Completed: redis.Title + "; " + cache.Title}, second: cache, stays: "(superseded by #3)"},
		"with a next step":   {turn: memory.Summary{Completed: redis.Title, NextSteps: "Measure the mailer."}, stays: "(superseded by #3)"},
		"only a request":     {turn: memory.Summary{Request: redis.Title}, stays: askedStart},
		"of another session": {turn: memory.Summary{Completed: "Mails are sent in batches of fifty"}, stays: "fifty (S1)"},
	} {
		m := &fakeMemory{
			digests: []memory.SessionDigest{
				session(2, time.Hour, &memory.Summary{Completed: "The outbox is a table in Postgres now"}),
				session(1, 3*time.Hour, &tt.turn),
			},
			observed: []memory.Observation{observation(3, 2, time.Hour, "The outbox is a table in Postgres now", ""), redis},
		}
		if tt.second.ID != 0 {
			m.observed = append(m.observed, tt.second)
		}
		lines := sessionLinesOf(t, m, 0)
		switch {
		case tt.stays == "" && (len(lines) != 1 || !strings.Contains(lines[0], "Postgres")):
			t.Errorf("%s: got %q, want the later session alone", name, lines)
		case tt.stays != "" && (len(lines) != 2 || !strings.Contains(lines[1], tt.stays)):
			t.Errorf("%s: got %q, want the earlier session with %q", name, lines, tt.stays)
		}
	}
}
