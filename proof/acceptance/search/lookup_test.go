//go:build unix

package search

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"
)

// TestLookup: what an agent reads in full is noted for its session, by the command
// and by the API; what a person reads is not, and without a worker nothing is.
func TestLookup(t *testing.T) {
	t.Parallel()
	m := world.NewMemory(t)
	m.MustCommand("worker", "start")
	client := m.API()
	for _, title := range []string{"Amounts are whole cents", "Mail templates in Dutch"} {
		if _, err := client.Add(world.Note{Project: m.Home, Title: title}); err != nil {
			t.Fatal(err)
		}
	}
	m.Send("", map[string]any{"hook_event_name": "UserPromptSubmit", "session_id": "s1", "cwd": m.Home, "prompt": "What about cents?"})
	looked := func() (rows []string) {
		m.Query(func(r *sql.Rows) error {
			var session sql.NullString
			var data string
			if err := r.Scan(&session, &data); err != nil {
				return err
			}
			rows = append(rows, session.String+" "+data)
			return nil
		}, "SELECT s.host_session_id, l.data FROM event_log l LEFT JOIN sessions s ON s.id = l.session_id WHERE l.event_type = 'lookup' ORDER BY l.id")
		return rows
	}
	person := m.Env
	agent := append(append([]string(nil), person...), "CLAUDE_CODE_SESSION_ID=s1")
	shows := func(env []string, ids ...string) {
		t.Helper()
		m.Env = env
		defer func() { m.Env = person }()
		if out := m.MustCommand(append([]string{"show"}, ids...)...); !strings.Contains(string(out), "Amounts are whole cents") {
			t.Errorf("shown: %s", out)
		}
	}
	// A worker notes lookups after its answer: the order of two is known only if the first is awaited.
	await := func(want ...string) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); fmt.Sprint(looked()) != fmt.Sprint(want); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("noted %q, want %q", looked(), want)
			}
		}
	}
	const byAgent, byAPI = `s1 {"observations":[1,2]}`, ` {"observations":[2]}`
	shows(person, "1")
	shows(agent, "1", "#2")
	await(byAgent)
	if status, _, err := client.Send("GET", "/api/observations/2", nil); err != nil || status != 200 {
		t.Fatal(status, err)
	}
	await(byAgent, byAPI)
	m.MustCommand("worker", "stop")
	shows(agent, "1")
	if got := looked(); len(got) != 2 {
		t.Errorf("noted without a worker: %q", got)
	}
}
