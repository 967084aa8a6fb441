package store_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"claudemem/internal/memory"
)

type learned struct {
	content    string
	confidence float64
	seen       int
	active     bool
	superseded bool
}

func (m *testStore) learnings(t *testing.T) []learned {
	t.Helper()
	rows, err := rawOpen(t, m.path).Query("SELECT content, round(confidence, 2), times_seen, is_active, superseded_by IS NOT NULL FROM learnings ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var all []learned
	for rows.Next() {
		var l learned
		if err := rows.Scan(&l.content, &l.confidence, &l.seen, &l.active, &l.superseded); err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestLearnings(t *testing.T) {
	type said struct {
		content    string
		confidence float64
	}
	tests := []struct {
		name string
		said []said
		want []learned
	}{
		{"the same", []said{{"Totals are in cents.", .5}, {"totals  are in CENTS.", .5}}, []learned{{"Totals are in cents.", .6, 2, true, false}}},
		{"the same in other words", []said{{"Use the `make test` target to run tests", .5}, {"To run tests, always use the `make test` target", .5}},
			[]learned{{"Use the `make test` target to run tests", .6, 2, true, false}}},
		{"something else", []said{{"Totals are in cents", .5}, {"Dates are in UTC", .5}},
			[]learned{{"Totals are in cents", .5, 1, true, false}, {"Dates are in UTC", .5, 1, true, false}}},
		{"the opposite", []said{{"Run the linter before each commit", .5}, {"Never run the linter before each commit", .5}},
			[]learned{{"Run the linter before each commit", .5, 1, false, true}, {"Never run the linter before each commit", .5, 1, true, false}}},
		{"there and back", []said{{"Feature flags are enabled in staging", .5}, {"Feature flags are disabled in staging", .5}, {"Feature flags are enabled in staging", .5}},
			[]learned{{"Feature flags are enabled in staging", .6, 2, true, false}, {"Feature flags are disabled in staging", .5, 1, false, true}}},
		{"another number", []said{{"The API listens on port 3000", .5}, {"The API listens on port 4000", .5}},
			[]learned{{"The API listens on port 3000", .5, 1, false, true}, {"The API listens on port 4000", .5, 1, true, false}}},
		{"another subject with a number", []said{{"The API listens on port 3000", .5}, {"The worker listens on port 4000", .5}},
			[]learned{{"The API listens on port 3000", .5, 1, true, false}, {"The worker listens on port 4000", .5, 1, true, false}}},
		{"a denial of something else", []said{{"Migrations are numbered files", .5}, {"Generated files are not committed", .5}},
			[]learned{{"Migrations are numbered files", .5, 1, true, false}, {"Generated files are not committed", .5, 1, true, false}}},
		{"what the user said stands against the agent", []said{{"Run the linter before each commit", .9}, {"Do not run the linter before each commit", -.3}},
			[]learned{{"Run the linter before each commit", .9, 1, true, false}, {"Do not run the linter before each commit", .3, 1, false, true}}},
		{"the agent repeats itself in a session", []said{{"Run the linter before each commit", -.3}, {"Run the linter before each commit", -.3}},
			[]learned{{"Run the linter before each commit", .3, 1, true, false}}},
		{"what a person said stands", []said{{"Run the linter before each commit", 1}, {"Do not run the linter before each commit", .9}},
			[]learned{{"Run the linter before each commit", 1, 1, true, false}, {"Do not run the linter before each commit", .9, 1, false, true}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMemory(t)
			for _, s := range tt.said {
				from := memory.FromUser
				if s.confidence < 0 { // the agent's
					from = memory.FromAgent
				}
				outcome := memory.Outcome{Learnings: []memory.Learning{{Category: "convention", Content: s.content, Confidence: math.Abs(s.confidence), Provenance: from}}}
				if err := m.Confirm(context.Background(), claimed(t, m, "s"), outcome); err != nil {
					t.Fatal(err)
				}
			}
			got := m.learnings(t)
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("got  %v\nwant %v", got, tt.want)
			}
		})
	}
}

func TestRetiredLearningStaysRetired(t *testing.T) {
	m := newMemory(t)
	say := func(content string) {
		t.Helper()
		outcome := memory.Outcome{Learnings: []memory.Learning{{Category: "gotcha", Content: content, Confidence: .5}}}
		if err := m.Confirm(context.Background(), claimed(t, m, "s"), outcome); err != nil {
			t.Fatal(err)
		}
	}
	say("The cache must be cleared after a deployment")
	rawExec(t, m.path, "UPDATE learnings SET is_active = 0")
	say("After a deployment the cache must be cleared")
	if got := m.learnings(t); len(got) != 1 || got[0].active || got[0].seen != 2 {
		t.Errorf("got %v, want it retired and seen twice", got)
	}
}

func TestLearningFromRepetition(t *testing.T) {
	day := memory.Millis(25 * 60 * 60 * 1000)
	const workaround = "`pytest` is not available here; `python -m pytest` works"
	found := func(m *testStore, session, title string, concepts, facts []string) {
		t.Helper()
		o := memory.Observation{Type: memory.TypeDiscovery, Title: title, Concepts: concepts, Facts: facts, Origin: memory.OriginOffline, Provenance: memory.FromAgent}
		if err := m.Confirm(context.Background(), claimed(t, m, session), memory.Outcome{Observations: []memory.Observation{o}}); err != nil {
			t.Fatal(err)
		}
		m.clock.at += day
	}
	t.Run("a gotcha of three sessions", func(t *testing.T) {
		m := newMemory(t)
		for i, want := range []int{0, 0, 1, 1} {
			found(m, fmt.Sprint("s", i), "The build needs GOFLAGS=-mod=mod", []string{"gotcha"}, nil)
			if got := m.learnings(t); len(got) != want {
				t.Errorf("after session %d: got %v, want %d", i+1, got, want)
			}
		}
		if got := m.learnings(t)[0]; got.seen != 4 || !got.active || got.confidence <= .6 {
			t.Errorf("got %+v, want it seen 4 times, and surer than at first", got)
		}
	})
	t.Run("what others may have written", func(t *testing.T) {
		m := newMemory(t)
		for i, from := range []memory.Provenance{memory.FromWeb, memory.FromMCP, memory.FromOutside, memory.FromWeb, memory.FromProject} {
			o := memory.Observation{Type: memory.TypeDiscovery, Title: "The build needs GOFLAGS=-mod=mod", Concepts: []string{"gotcha"},
				Facts: []string{workaround}, Origin: memory.OriginOffline, Provenance: from}
			if err := m.Confirm(context.Background(), claimed(t, m, fmt.Sprint("s", i)), memory.Outcome{Observations: []memory.Observation{o}}); err != nil {
				t.Fatal(err)
			}
			m.clock.at += day
		}
		if got := m.learnings(t); len(got) != 0 {
			t.Errorf("got %v, want none", got)
		}
	})
	t.Run("one session says nothing, however often", func(t *testing.T) {
		m := newMemory(t)
		for range 5 {
			found(m, "s", "The build needs GOFLAGS=-mod=mod", []string{"gotcha"}, nil)
		}
		if got := m.learnings(t); len(got) != 0 {
			t.Errorf("got %v, want none", got)
		}
	})
	t.Run("what changed is no learning", func(t *testing.T) {
		m := newMemory(t)
		for i := range 4 {
			found(m, fmt.Sprint("s", i), "Updated the dependencies", []string{"what-changed"}, nil)
		}
		if got := m.learnings(t); len(got) != 0 {
			t.Errorf("got %v, want none", got)
		}
	})
	t.Run("a workaround", func(t *testing.T) {
		m := newMemory(t)
		for i := range 3 {
			found(m, fmt.Sprint("s", i), fmt.Sprint("Something else ", i), nil, []string{"another fact", workaround})
		}
		if got := m.learnings(t); len(got) != 1 || got[0].content != workaround {
			t.Errorf("got %v, want the workaround", got)
		}
	})
}
