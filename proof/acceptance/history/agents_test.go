//go:build unix

package history

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"

	"claudemem/internal/capture/hook"
	"claudemem/internal/capture/wire"
	"claudemem/internal/keep/sqlite"
	"claudemem/internal/memory"

	"github.com/google/go-cmp/cmp"
)

// playHooks gives a memory what an agent's hooks were told of a recorded session, at the times of then, and
// returns the session's id.
func playHooks(m *world.Memory, host memory.Host) (session string) {
	m.T.Helper()
	content, err := os.ReadFile(world.Root("testdata", "histories", string(host)+"-hooks.jsonl"))
	if err != nil {
		m.T.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	for n, l := range lines {
		var told struct {
			At      memory.Millis
			Payload json.RawMessage
		}
		if err := json.Unmarshal([]byte(l), &told); err != nil {
			m.T.Fatal(err)
		}
		e, ok := hook.Event(host, told.Payload, told.At)
		if !ok {
			m.T.Fatalf("no event of %s", told.Payload)
		}
		if e.Kind == memory.KindSessionEnd && n < len(lines)-1 {
			continue // the session goes on at once, sooner than by a person
		}
		e.DeliveryID = memory.NewDeliveryID(told.At.Time(), [8]byte{byte(n)})
		e.ProjectPath, e.WorktreeRoot = e.Cwd, e.Cwd
		if err := wire.SpoolOf(m.Dir).WriteEvent(e.DeliveryID, wire.EncodeEvent(&e)); err != nil {
			m.T.Fatal(err)
		}
		session = e.HostSessionID
	}
	m.MustCommand("worker", "start")
	m.Settle(time.Minute)
	return session
}

// openCode makes the database of the recorded session of OpenCode and returns its directory.
func openCode(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	tables, err := os.ReadFile(world.Root("testdata", "histories", "opencode", "opencode.sql"))
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open(sqlite.Driver, sqlite.Source(filepath.Join(dir, "opencode.db"), nil))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(string(tables)); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestAgentHistories imports what other agents have stored of a recorded session: what is remembered is what
// their hooks have captured, a second import and one over the captured session add nothing.
func TestAgentHistories(t *testing.T) {
	t.Parallel()
	for _, host := range []memory.Host{memory.HostCodex, memory.HostGemini, memory.HostOpenCode} {
		t.Run(string(host), func(t *testing.T) {
			live, past := world.NewMemory(t), world.NewMemory(t)
			session, dir := playHooks(live, host), world.Root("testdata", "histories", string(host))
			if host == memory.HostOpenCode {
				dir = openCode(t)
			}
			want := remembersOf(live, session)

			foreseen, first, second := importTranscripts(past, dir, "--dry-run"), importTranscripts(past, dir), importTranscripts(past, dir)
			if foreseen.Added != first.Added || first.added() == 0 || second.added() != 0 {
				t.Errorf("a dry run counts %+v, the import adds %+v, a second one %+v", foreseen.Added, first.Added, second.Added)
			}
			if diff := cmp.Diff(want, remembersOf(past, session)); diff != "" {
				t.Errorf("-live +import:\n%s", diff)
			}
			over := importTranscripts(live, dir)
			if diff := cmp.Diff(want, remembersOf(live, session)); diff != "" || over.added() != 0 {
				t.Errorf("over the captured session %+v are added: -before +after:\n%s", over.Added, diff)
			}
			world.Figure(t, 7, "%s: %d events give the same %d observations and %d summaries as live capture; again: %d added; over the captured session: %d added",
				host, first.added(), len(want.Observations), len(want.Summaries), second.added(), over.added())
		})
	}
}
