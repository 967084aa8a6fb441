package store_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"claudemem/internal/keep/store"
	"claudemem/internal/memory"
)

// model is what the queue should hold, kept as simply as can be.
type model struct {
	events     map[string]*modelEvent // by delivery id
	duplicates int
	skipped    int
	processed  []string // in the order of confirmation
	claims     map[string][]string
}

type modelEvent struct {
	session   string
	at        memory.Millis
	status    memory.Status
	claimer   string
	claimedAt memory.Millis
	notBefore memory.Millis
	attempts  int
}

// waiting lists a session's pending and processing events in order.
func (m *model) waiting(session string) []string {
	var names []string
	for name, e := range m.events {
		if e.session == session && (e.status == memory.StatusPending || e.status == memory.StatusProcessing) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		if d := int(m.events[a].at - m.events[b].at); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return names
}

// claimable is what a claim should get.
func (m *model) claimable(session string, limit int, now memory.Millis) []string {
	var due []string
	stopped := false
	for _, name := range m.waiting(session) {
		e := m.events[name]
		if e.status == memory.StatusProcessing {
			return nil
		}
		if e.notBefore > now || (limit > 0 && len(due) == limit) {
			stopped = true
		}
		if !stopped {
			due = append(due, name)
		}
	}
	return due
}

func (m *model) count(status memory.Status) int {
	n := 0
	for _, e := range m.events {
		if e.status == status {
			n++
		}
	}
	return n
}

// TestQueueStates does at random what can be done to a queue, crashes included,
// and compares the store with the model after each step.
func TestQueueStates(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		clock := &clock{base}
		path := filepath.Join(tempDir(t), "memory.db")
		open := func() *store.Store {
			s, err := store.Open(ctx, path, store.Options{Clock: clock.now})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		s := open()
		defer func() { _ = s.Close() }()
		m := &model{events: map[string]*modelEvent{}, claims: map[string][]string{}}
		claims := map[string]memory.Claim{}
		sessions := []string{"one", "two", "three"}
		ids := map[string]memory.SessionID{}
		made, claimers := 0, 0

		aClaim := func(t *rapid.T) string {
			names := make([]string, 0, len(claims))
			for name := range claims {
				names = append(names, name)
			}
			if len(names) == 0 {
				t.Skip("no claim is out")
			}
			slices.Sort(names)
			return rapid.SampledFrom(names).Draw(t, "claim")
		}
		// held reports whether all of a claim's events are still the claimer's.
		held := func(name string) bool {
			for _, event := range m.claims[name] {
				if m.events[event].claimer != name || m.events[event].status != memory.StatusProcessing {
					return false
				}
			}
			return true
		}
		// give gives a claim back and checks that it works exactly if it is held.
		give := func(t *rapid.T, name string, err error, then func(*modelEvent, string)) {
			if ok := held(name); ok != (err == nil) {
				t.Fatalf("claim %s is held: %v, but got %v", name, ok, err)
			}
			if err == nil {
				for _, event := range m.claims[name] {
					m.events[event].claimer = ""
					then(m.events[event], event)
				}
			} else if memory.CodeOf(err) != memory.CodeConflict {
				t.Fatalf("got %v, want a conflict", err)
			}
			if rapid.Bool().Draw(t, "forget the claim") { // else it may be given back again
				delete(claims, name)
			}
		}

		t.Repeat(map[string]func(*rapid.T){
			"enqueue": func(t *rapid.T) {
				var arrivals []memory.Arrival
				var names []string
				for range rapid.IntRange(1, 4).Draw(t, "events") {
					made++
					name := fmt.Sprintf("e%04d", made)
					at := memory.Millis(rapid.IntRange(0, 20).Draw(t, "at"))
					session := rapid.SampledFrom(sessions).Draw(t, "session")
					a := event(memory.KindTool, session, name, at)
					names = append(names, name)
					if rapid.IntRange(0, 9).Draw(t, "skip") == 0 {
						a.SkipReason = memory.SkipTool
						m.skipped++
						m.events[name] = &modelEvent{session: session, status: memory.StatusSkipped}
					} else {
						m.events[name] = &modelEvent{session: session, at: base + at, status: memory.StatusPending}
					}
					arrivals = append(arrivals, a)
				}
				receipts, err := s.Enqueue(ctx, arrivals...)
				if err != nil {
					t.Fatal(err)
				}
				for i, r := range receipts {
					if want := m.events[names[i]].status; r.Status != want {
						t.Fatalf("%s: got %+v, want %s", names[i], r, want)
					}
					ids[m.events[names[i]].session] = r.Session
				}
			},
			"enqueue again": func(t *rapid.T) {
				if made == 0 {
					t.Skip("nothing to repeat")
				}
				name := fmt.Sprintf("e%04d", rapid.IntRange(1, made).Draw(t, "which"))
				e := m.events[name]
				a := event(memory.KindTool, e.session, name, 0)
				if rapid.Bool().Draw(t, "other delivery") {
					a.Event.DeliveryID = fmt.Sprint("again", rapid.Uint64().Draw(t, "delivery"))
				}
				r, err := s.Enqueue(ctx, a)
				if err != nil || r[0].Status != memory.StatusDuplicate {
					t.Fatalf("got %+v %v, want a duplicate", r, err)
				}
				m.duplicates++
			},
			"claim": func(t *rapid.T) {
				session := rapid.SampledFrom(sessions).Draw(t, "session")
				limit := rapid.IntRange(0, 5).Draw(t, "limit")
				claimers++
				name := fmt.Sprint("c", claimers)
				claim, err := s.Claim(ctx, name, ids[session], limit, clock.at)
				if err != nil {
					t.Fatal(err)
				}
				want := m.claimable(session, limit, clock.at)
				if got := keys(claim.Events); got != strings.Join(want, " ") {
					t.Fatalf("claimed %q, want %q", got, want)
				}
				if len(want) == 0 {
					return
				}
				for i, event := range want {
					e := m.events[event]
					e.status, e.claimer, e.claimedAt = memory.StatusProcessing, name, clock.at
					if claim.Events[i].Attempts != e.attempts {
						t.Fatalf("%s: got %d attempts, want %d", event, claim.Events[i].Attempts, e.attempts)
					}
				}
				claims[name], m.claims[name] = claim, want
			},
			"confirm": func(t *rapid.T) {
				name := aClaim(t)
				outcome := memory.Outcome{Observations: []memory.Observation{{Type: memory.TypeChange, Title: "by " + name}}}
				give(t, name, s.Confirm(ctx, claims[name], outcome), func(e *modelEvent, event string) {
					e.status = memory.StatusProcessed
					m.processed = append(m.processed, event)
				})
			},
			"release": func(t *rapid.T) {
				name := aClaim(t)
				counted := rapid.Bool().Draw(t, "counted")
				due := clock.at + memory.Millis(rapid.IntRange(0, 2000).Draw(t, "pause"))
				give(t, name, s.Release(ctx, claims[name], "x", counted, due), func(e *modelEvent, _ string) {
					e.status, e.notBefore = memory.StatusPending, due
					if counted {
						e.attempts++
					}
				})
			},
			"bury": func(t *rapid.T) {
				name := aClaim(t)
				give(t, name, s.Bury(ctx, claims[name], "x"), func(e *modelEvent, _ string) { e.status = memory.StatusFailed })
			},
			"skip": func(t *rapid.T) {
				name := aClaim(t)
				give(t, name, s.Skip(ctx, claims[name], memory.SkipExcluded), func(e *modelEvent, _ string) {
					e.status = memory.StatusSkipped
					m.skipped++
				})
			},
			"revive": func(t *rapid.T) {
				n, err := s.Revive(ctx)
				if err != nil || n != m.count(memory.StatusFailed) {
					t.Fatalf("revived %d %v, want %d", n, err, m.count(memory.StatusFailed))
				}
				for _, e := range m.events {
					if e.status == memory.StatusFailed {
						e.status, e.notBefore, e.attempts = memory.StatusPending, 0, 0
					}
				}
			},
			"heal": func(t *rapid.T) {
				var live []string
				for name := range claims {
					if rapid.Bool().Draw(t, "live") {
						live = append(live, name)
					}
				}
				before := clock.at - 1000
				want := 0
				for _, e := range m.events {
					if e.status == memory.StatusProcessing && e.claimedAt < before && !slices.Contains(live, e.claimer) {
						e.status, e.claimer = memory.StatusPending, ""
						want++
					}
				}
				if n, err := s.Heal(ctx, before, live); err != nil || n != want {
					t.Fatalf("healed %d %v, want %d", n, err, want)
				}
			},
			"wait": func(t *rapid.T) {
				clock.at += memory.Millis(rapid.IntRange(1, 3000).Draw(t, "for"))
			},
			"restart": func(t *rapid.T) {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				s = open()
				if _, err := s.Heal(ctx, 1<<62, nil); err != nil {
					t.Fatal(err)
				}
				for _, e := range m.events {
					if e.status == memory.StatusProcessing {
						e.status, e.claimer = memory.StatusPending, ""
					}
				}
			},
			"": func(t *rapid.T) {
				books, err := s.Books(ctx)
				if err != nil {
					t.Fatal(err)
				}
				want := memory.Books{
					Received: made, Duplicates: m.duplicates, Skipped: m.skipped, Processed: len(m.processed),
					Failed: m.count(memory.StatusFailed), Pending: m.count(memory.StatusPending), Processing: m.count(memory.StatusProcessing),
				}
				if books != want || !books.Balanced() {
					t.Fatalf("got books %+v, want %+v", books, want)
				}
				findings, err := s.Audit(ctx)
				if err != nil || len(findings) > 0 {
					t.Fatalf("audit: %v %v", findings, err)
				}
			},
		})
	})
}

// tempDir makes a directory that goes with the check and not with the test.
func tempDir(t *rapid.T) string {
	dir, err := mkdirTemp()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeAll(dir) })
	return dir
}
