package care_test

import (
	"path/filepath"
	"testing"
	"time"

	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/care"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/memory"
)

// TestPulledIsNotEdited: what has come from others is told from what is edited here, also in a session that has come before.
func TestPulledIsNotEdited(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	m, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"), store.Options{})
	must(err)
	t.Cleanup(func() { _ = m.Close() })
	alice := care.Team{Member: "alice", Sharing: care.Sharing{Device: "0001", Captured: func(string) bool { return true }, Redact: func(*memory.Portable) bool { return true }}}
	now := memory.MillisOf(time.Now())
	row := func(seq int64, kind, key, text, rest string) care.TeamIn {
		by := memory.Revision{Count: 1, Device: "bob:0001"}
		state, err := db.Encode(memory.Shared{Kind: kind, Key: key, ULID: memory.ULID("01K0000000000000000000000" + key), Project: "github.com/acme/shop",
			Fields: map[string]memory.Field{memory.FieldText: {Revision: by, Value: memory.FieldValue(text)}, "rest": {Revision: by, Value: memory.FieldValue(rest)}}})
		must(err)
		return care.TeamIn{Member: "bob", Kind: kind, Key: key, Project: "github.com/acme/shop", Status: care.ActShared, Seq: seq, State: []byte(state)}
	}
	observation := func(seq int64, key string, at memory.Millis) care.TeamIn {
		rest, err := db.Encode(map[string]any{"files": []map[string]string{{"role": "modified", "path": "a.go"}, {"role": "read", "path": "b.go"}}, "created_at": at, "origin": "user", "provenance": "user"})
		must(err)
		return row(seq, "observation", key, `{"type":"decision","title":"we chose `+key+`","narrative":"<b>","facts":["f"],"concepts":["c"]}`, rest)
	}
	first := []care.TeamIn{observation(1, "A", now-5000), observation(2, "B", now-9000), observation(3, "C", now)} // before and after the session
	merged, err := m.TeamMerge(t.Context(), alice, first, nil)
	if err != nil || merged.Added != 3 || len(merged.Refused) > 0 {
		t.Fatalf("%+v, %v", merged, err)
	}
	all, err := m.Observations(t.Context(), memory.Query{Limit: 10})
	must(err)
	sessions, err := m.Sessions(t.Context(), memory.Query{Limit: 10})
	must(err)
	if len(sessions) != 1 || sessions[0].Session.StartedAt != now-9000 || sessions[0].Session.UpdatedAt != now {
		t.Errorf("bob's session is %+v, want it from %d to %d", sessions, now-9000, now)
	}
	pinned, title := true, "we chose otherwise"
	for _, step := range []struct {
		edit memory.ObservationEdit
		want int
	}{{memory.ObservationEdit{Pinned: &pinned}, 0}, {memory.ObservationEdit{Title: &title}, 1}} { // a pin is one's own
		_, err = m.EditObservation(t.Context(), all[0].ID, step.edit)
		must(err)
		must(m.TeamEdits(t.Context(), alice))
		if unsent, err := m.TeamUnsent(t.Context(), alice, 10); err != nil || len(unsent) != step.want {
			t.Errorf("%d records are to be sent (%v), want %d", len(unsent), err, step.want)
		}
	}
}
