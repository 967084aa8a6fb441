//go:build unix

package observer

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"
)

// unread makes a memory with a turn of n edits in each of the projects that the model of api
// could not read, and returns it with a running worker.
func unread(t *testing.T, api *world.StandIn, n int, projects ...string) *world.Memory {
	t.Helper()
	m := world.NewMemory(t)
	m.Configure(api.With("openai"))
	m.MustCommand("worker", "start")
	for i, project := range projects {
		(&world.Host{M: m, ID: fmt.Sprint("unread-", i), Project: project}).Turn(n)
	}
	m.Settle(world.SettleLimit)
	if got, want := m.QueryOne("SELECT count(*) FROM unread_messages"), len(projects)*(n+1); got != want {
		t.Fatalf("%d payloads are kept for the model, want %d", got, want)
	}
	return m
}

// TestExcludedWhileWaiting: events that wait for the model when their project is excluded
// are not shown to it and leave no record; a file that is withheld by then is masked.
func TestExcludedWhileWaiting(t *testing.T) {
	t.Parallel()
	const allowed, excluded = "/nonexistent/open", "/nonexistent/secret"
	for name, next := range map[string]bool{"the same worker": false, "the next worker": true} {
		t.Run(name, func(t *testing.T) {
			api := world.NewStandIn(t, nil)
			m := world.NewMemory(t)
			m.Configure(api.With("openai"))
			m.MustCommand("worker", "start")
			open, secret := &world.Host{M: m, ID: "open", Project: allowed}, &world.Host{M: m, ID: "secret", Project: excluded}
			for _, h := range []*world.Host{open, secret} {
				h.Prompt("Make the change of " + h.ID)
				h.Edits(2)
			}
			open.Edit("src/private.go", "the text of a file that is withheld later")
			if got, want := m.QueryOne("SELECT count(*) FROM pending_messages"), 5; got != want || api.Count() != 0 {
				t.Fatalf("%d events wait, want %d; the model was asked %d times", got, want, api.Count())
			}
			if next {
				m.MustCommand("worker", "stop")
			}
			m.Configure(api.With("openai", "EXCLUDED_PROJECTS", excluded, "WITHHOLD_FILES", "private.go"))
			if next {
				m.MustCommand("worker", "start")
			}
			for _, h := range []*world.Host{open, secret} {
				h.Stop()
				h.End()
			}
			m.Settle(world.SettleLimit)
			for _, c := range api.Calls() {
				if body := string(c.Body); strings.Contains(body, excluded) || strings.Contains(body, "src/secret_") || strings.Contains(body, "withheld later") {
					t.Errorf("the model was shown what the user no longer wants captured:\n%s", c.Prompt)
				}
			}
			for _, want := range []struct {
				what, query, project string
				n                    int
			}{
				{"events skipped", "SELECT count(*) FROM events e JOIN sessions s ON s.id = e.session_id WHERE s.project = ? AND e.outcome = 'skipped' AND e.reason = 'excluded' AND e.kind = 'tool'", excluded, 2},
				{"records", "SELECT count(*) FROM observations WHERE project = ?", excluded, 0},
				{"events processed", "SELECT count(*) FROM events e JOIN sessions s ON s.id = e.session_id WHERE s.project = ? AND e.outcome = 'processed' AND e.kind = 'tool'", allowed, 3},
				{"payloads", "SELECT count(*) FROM pending_messages WHERE ? <> ''", allowed, 0},
			} {
				if got := m.QueryOne(want.query, want.project); got != want.n {
					t.Errorf("%s of %s: %d, want %d", want.what, want.project, got, want.n)
				}
			}
			if m.QueryOne("SELECT count(*) FROM observations WHERE project = ? AND origin = 'observer'", allowed) == 0 {
				t.Error("the other project's turn left no record of the model")
			}
		})
	}
}

// TestExcludedSince checks that the turns that wait for a model are deleted and shown to none
// when the user excludes their project, by the running worker and by the next one.
func TestExcludedSince(t *testing.T) {
	t.Parallel()
	const allowed, excluded = "/nonexistent/open", "/nonexistent/secret"
	for name, next := range map[string]bool{"the same worker": false, "the next worker": true} {
		t.Run(name, func(t *testing.T) {
			readable := make(chan struct{})
			api := world.NewStandIn(t, func(*world.Asked) world.Reply {
				select {
				case <-readable:
					return world.Reply{}
				default:
					return world.Reply{Text: world.Prose}
				}
			})
			m := unread(t, api, 2, allowed, excluded)
			asked := api.Count()
			close(readable)
			if next {
				m.MustCommand("worker", "stop")
			}
			m.Configure(api.With("openai", "EXCLUDED_PROJECTS", excluded))
			m.MustCommand("worker", "start")
			m.MustCommand("queue", "retry")
			world.Until(t, world.SettleLimit, "the model has read the other project's turn", func() bool {
				return m.QueryOne("SELECT count(*) FROM observations WHERE project = ? AND origin = 'observer'", allowed) > 0
			})
			world.Until(t, world.SettleLimit, "nothing is kept", func() bool { return m.QueryOne("SELECT count(*) FROM unread_messages") == 0 })
			for _, c := range api.Calls()[asked:] {
				if strings.Contains(string(c.Body), excluded) {
					t.Errorf("the model was shown the excluded project:\n%s", c.Prompt)
				}
			}
			if n := m.QueryOne("SELECT count(*) FROM observations WHERE project = ? AND origin = 'observer'", excluded); n != 0 {
				t.Errorf("%d records of the excluded project were made by the model", n)
			}
		})
	}
}

// redone are the records of a project's only turn.
type redone struct {
	// kept counts the payloads that are kept for the model.
	kept int
	// rows are the observations and the summaries by what a redo must not change, said what
	// they say; title is the titles of the observations.
	rows, said, title string
	// observer counts the records that the model made.
	observer int
}

func recordsOfTurn(m *world.Memory, project string) (r redone) {
	m.T.Helper()
	m.Query(func(rows *sql.Rows) error { return rows.Scan(&r.kept, &r.rows, &r.said, &r.title, &r.observer) }, `
		WITH o AS (SELECT * FROM observations WHERE project = ?1 ORDER BY id),
			s AS (SELECT * FROM session_summaries WHERE session_id IN (SELECT id FROM sessions WHERE project = ?1) ORDER BY id)
		SELECT (SELECT count(*) FROM unread_messages WHERE session_id IN (SELECT id FROM sessions WHERE project = ?1)),
			(SELECT group_concat(concat_ws(' ', id, ulid, pinned, times_seen, discovery_tokens, created_at, superseded_by), ', ') FROM o) || '; ' || (SELECT count(*) FROM s),
			(SELECT group_concat(concat_ws('|', origin, type, title, unpacked(narrative), unpacked(facts)), ', ') FROM o) || '; ' || (SELECT group_concat(concat_ws('|', origin, request, unpacked(completed)), ', ') FROM s),
			(SELECT group_concat(title) FROM o),
			(SELECT count(*) FROM o WHERE origin = 'observer') + (SELECT count(*) FROM s WHERE origin = 'observer')`, project)
	return r
}

// TestKilledRedo kills the worker with SIGKILL while the model reads a turn, and while its
// answer is stored. Each time the turn has the records from before or those from after; the
// rows, a pin and the user's title stay, and no record is made twice.
func TestKilledRedo(t *testing.T) {
	t.Parallel()
	const plain, pinned, edited, title = "/nonexistent/plain", "/nonexistent/pinned", "/nonexistent/edited", "The user's title"
	projects := []string{plain, pinned, edited}
	var readable atomic.Bool
	reads, answer := make(chan struct{}, 1), make(chan struct{})
	api := world.NewStandIn(t, func(q *world.Asked) world.Reply {
		if !readable.Load() {
			return world.Reply{Text: world.Prose}
		}
		reads <- struct{}{}
		<-answer
		return world.Reply{}
	})
	m := unread(t, api, 2, projects...)
	client := m.API()
	for project, edit := range map[string]any{pinned: map[string]bool{"pinned": true}, edited: map[string]string{"title": title}} {
		id := m.QueryOne("SELECT min(id) FROM observations WHERE project = ?", project)
		if status, body, err := client.Send(http.MethodPatch, fmt.Sprint("/api/observations/", id), edit); err != nil || status != http.StatusOK {
			t.Fatalf("edit: %d, %v: %s", status, err, body)
		}
	}
	books, before := m.Books(), map[string]redone{}
	for _, project := range projects {
		before[project] = recordsOfTurn(m, project)
	}
	m.MustCommand("worker", "stop")
	readable.Store(true)

	kills, stored := 0, 0
	for left := len(projects); left > 0; kills++ {
		if kills == 30 {
			t.Fatalf("%d turns are not read after %d kills", left, kills)
		}
		m.MustCommand("worker", "start")
		m.MustCommand("queue", "retry")
		select {
		case <-reads:
		case <-time.After(world.SettleLimit):
			t.Fatal("the model is not asked")
		}
		reading := kills%3 == 0 // killed while the model reads
		if !reading {
			answer <- struct{}{}
			time.Sleep(time.Duration(rand.IntN(25*(1+kills))) * time.Millisecond)
		}
		if err := syscall.Kill(m.WorkerPID(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		world.Until(t, world.SettleLimit, "the worker is gone", func() bool { return m.WorkerPID() == 0 })
		if reading {
			answer <- struct{}{}
		}
		was := left
		left = 0
		for _, project := range projects {
			old, now := before[project], recordsOfTurn(m, project)
			if now.kept != 0 {
				left++
				if now != old {
					t.Errorf("kill %d: %s has half of a redo:\nbefore %+v\nnow    %+v", kills, project, old, now)
				}
				continue
			}
			want := 2 // the observation and the summary
			if project == edited {
				want = 1
				if now.title != title {
					t.Errorf("kill %d: the user's title became %q", kills, now.title)
				}
			}
			if now.rows != old.rows || now.said == old.said || now.observer != want {
				t.Errorf("kill %d: %s is not redone as a whole:\nbefore %+v\nnow    %+v", kills, project, old, now)
			}
		}
		stored += was - left
	}
	if now := m.Settle(world.SettleLimit); now != books {
		t.Errorf("books %+v, want them as before the redo: %+v", now, books)
	}
	// A call that was reserved is in the ledger whether or not it was sent.
	if calls, booked := api.Count(), m.QueryOne("SELECT count(*) FROM llm_calls"); booked < calls || booked > calls+kills {
		t.Errorf("%d calls are booked, %d were made, %d kills", booked, calls, kills)
	}
	t.Logf("%d kills, %d turns redone", kills, stored)
}
