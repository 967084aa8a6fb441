//go:build unix

package acceptance

import (
	"fmt"
	"strings"
	"testing"
)

// prose is an answer that holds nothing of what was asked for.
const prose = "That went well. Is there anything else that I can help you with?"

// unread makes a memory with a turn of n edits in each of the projects that the model of api
// could not read, and returns it with a running worker.
func unread(t *testing.T, api *standIn, n int, projects ...string) *memory {
	t.Helper()
	m := newMemory(t)
	m.configure(api.with("openai"))
	m.mustCommand("worker", "start")
	for i, project := range projects {
		(&host{m: m, id: fmt.Sprint("unread-", i), project: project}).turn(n)
	}
	m.settle(settleLimit)
	if got, want := m.one("SELECT count(*) FROM unread_messages"), len(projects)*(n+1); got != want {
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
			api := newStandIn(t, nil)
			m := newMemory(t)
			m.configure(api.with("openai"))
			m.mustCommand("worker", "start")
			open, secret := &host{m: m, id: "open", project: allowed}, &host{m: m, id: "secret", project: excluded}
			for _, h := range []*host{open, secret} {
				h.prompt("Make the change of " + h.id)
				h.edits(2)
			}
			open.edit("src/private.go", "the text of a file that is withheld later")
			if got, want := m.one("SELECT count(*) FROM pending_messages"), 5; got != want || api.count() != 0 {
				t.Fatalf("%d events wait, want %d; the model was asked %d times", got, want, api.count())
			}
			if next {
				m.mustCommand("worker", "stop")
			}
			m.configure(api.with("openai", "EXCLUDED_PROJECTS", excluded, "WITHHOLD_FILES", "private.go"))
			if next {
				m.mustCommand("worker", "start")
			}
			for _, h := range []*host{open, secret} {
				h.stop()
				h.end()
			}
			m.settle(settleLimit)
			for _, c := range api.calls() {
				if body := string(c.body); strings.Contains(body, excluded) || strings.Contains(body, "src/secret_") || strings.Contains(body, "withheld later") {
					t.Errorf("the model was shown what the user no longer wants captured:\n%s", c.prompt)
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
				if got := m.one(want.query, want.project); got != want.n {
					t.Errorf("%s of %s: %d, want %d", want.what, want.project, got, want.n)
				}
			}
			if m.one("SELECT count(*) FROM observations WHERE project = ? AND origin = 'observer'", allowed) == 0 {
				t.Error("the other project's turn left no record of the model")
			}
		})
	}
}

// TestExcludedSince: what a model has not read of a project that the user excluded since is
// deleted and no longer shown to one, with a running worker and with the next one.
func TestExcludedSince(t *testing.T) {
	t.Parallel()
	const allowed, excluded = "/nonexistent/open", "/nonexistent/secret"
	for name, next := range map[string]bool{"the same worker": false, "the next worker": true} {
		t.Run(name, func(t *testing.T) {
			readable := make(chan struct{})
			api := newStandIn(t, func(*asked) reply {
				select {
				case <-readable:
					return reply{}
				default:
					return reply{text: prose}
				}
			})
			m := unread(t, api, 2, allowed, excluded)
			asked := api.count()
			close(readable)
			if next {
				m.mustCommand("worker", "stop")
			}
			m.configure(api.with("openai", "EXCLUDED_PROJECTS", excluded))
			m.mustCommand("worker", "start")
			m.mustCommand("queue", "retry")
			until(t, settleLimit, "the model has read the other project's turn", func() bool {
				return m.one("SELECT count(*) FROM observations WHERE project = ? AND origin = 'observer'", allowed) > 0
			})
			until(t, settleLimit, "nothing is kept", func() bool { return m.one("SELECT count(*) FROM unread_messages") == 0 })
			for _, c := range api.calls()[asked:] {
				if strings.Contains(string(c.body), excluded) {
					t.Errorf("the model was shown the excluded project:\n%s", c.prompt)
				}
			}
			if n := m.one("SELECT count(*) FROM observations WHERE project = ? AND origin = 'observer'", excluded); n != 0 {
				t.Errorf("%d records of the excluded project were made by the model", n)
			}
		})
	}
}
