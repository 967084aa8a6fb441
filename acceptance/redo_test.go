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
