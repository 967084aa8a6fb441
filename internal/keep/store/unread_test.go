package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/internal/keep/store/books"
	"claudemem/internal/memory"
)

// unreadTurn captures a turn of n tool events and a stop in a session and confirms it as
// remembered without a model, with the records in outcome.
func (m *testStore) unreadTurn(t *testing.T, session string, n int, reason memory.UnreadReason, outcome memory.Outcome, change ...func(*memory.Arrival)) memory.Claim {
	t.Helper()
	m.clock.at += 1000
	at := m.clock.at - base
	arrivals := []memory.Arrival{event(memory.KindPrompt, session, fmt.Sprintf("p%d", at), at)}
	for i := range n {
		arrivals = append(arrivals, event(memory.KindTool, session, fmt.Sprintf("t%d-%d", at, i), at+1, change...))
	}
	arrivals = append(arrivals, event(memory.KindStop, session, fmt.Sprintf("s%d", at), at+2))
	receipts := m.enqueue(t, arrivals...)
	claim := m.claim(t, receipts[0].Session, 0)
	outcome.Unread = map[string]memory.UnreadReason{}
	for i := range claim.Events {
		outcome.Unread[claim.Events[i].Key] = reason
	}
	for i := range outcome.Observations {
		outcome.Observations[i].Origin, outcome.Observations[i].PromptNumber = memory.OriginOffline, receipts[0].PromptNumber
	}
	for i := range outcome.Summaries {
		outcome.Summaries[i].Origin, outcome.Summaries[i].PromptNumber = memory.OriginOffline, receipts[0].PromptNumber
	}
	if err := m.Confirm(t.Context(), claim, outcome); err != nil {
		t.Fatal(err)
	}
	m.audited(t)
	return claim
}

// kept lists the kept turns as "S1.2": turn 2 of session 1.
func (m *testStore) kept(t *testing.T) string {
	t.Helper()
	turns, err := m.UnreadTurns(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, u := range turns {
		names = append(names, fmt.Sprintf("S%d.%d", u.Session, u.PromptNumber))
	}
	return strings.Join(names, " ")
}

// unreadBatch returns the kept events of a turn.
func (m *testStore) unreadBatch(t *testing.T, session memory.SessionID, turn int) memory.Batch {
	t.Helper()
	b, err := m.UnreadBatch(t.Context(), session, turn)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestUnreadPayloadsAreKept: the events of a turn that no model has read can be read again,
// as they were redacted, with the changes that were found in the meantime.
func TestUnreadPayloadsAreKept(t *testing.T) {
	m := newMemory(t)
	earlier := observation("of a model")
	claim := m.unreadTurn(t, "s", 2, "login", memory.Outcome{Observations: []memory.Observation{observation("offline")}})
	if got, want := m.kept(t), "S1.1"; got != want {
		t.Fatalf("kept %q, want %q", got, want)
	}
	m.unreadTurn(t, "s", 1, "quota", memory.Outcome{})
	if got, want := m.kept(t), "S1.2 S1.1"; got != want {
		t.Errorf("kept %q, want the newest first: %q", got, want)
	}
	// Another batch of the same turn, read by a model.
	r := m.enqueue(t, event(memory.KindTool, "s", "more", 99))
	if got := m.kept(t); got != "" {
		t.Errorf("%q while events of the session wait, want none", got)
	}
	more := m.claim(t, r[0].Session, 0)
	earlier.PromptNumber, earlier.Files = 1, nil
	if err := m.Confirm(t.Context(), more, memory.Outcome{Observations: []memory.Observation{earlier}}); err != nil {
		t.Fatal(err)
	}
	b := m.unreadBatch(t, 1, 1)
	if got, want := keys(b.Events), keys(claim.Events); got != want {
		t.Errorf("events %q, want %q", got, want)
	}
	if got, want := string(b.Events[0].Event.ToolResponse), `{"stdout":"<ok>"}`; got != want {
		t.Errorf("response %q, want %q", got, want)
	}
	if len(b.Prompts) != 1 || b.Prompts[0].Number != 1 || b.Session.ID != 1 {
		t.Errorf("got %+v of %+v", b.Prompts, b.Session)
	}
	if len(b.Earlier) != 1 || b.Earlier[0].Title != "of a model" {
		t.Errorf("earlier: %+v, want the model's alone", b.Earlier)
	}
}

// TestUnreadPayloadsAreBounded: they stay 7 days and 50 MB, the newest.
func TestUnreadPayloadsAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("78 MB of payloads")
	}
	ctx := t.Context()
	m := newMemory(t)
	large := func(a *memory.Arrival) {
		a.Event.ToolResponse = []byte(`{"stdout":"` + strings.Repeat("x", 26<<20) + `"}`)
	}
	for range 2 {
		m.unreadTurn(t, "s", 1, "login", memory.Outcome{}, large)
	}
	if got, want := m.kept(t), "S1.2"; got != want {
		t.Errorf("kept %q, want %q: 26 MB each", got, want)
	}
	m.unreadTurn(t, "s", 2, "login", memory.Outcome{}, large)
	if got := m.kept(t); got != "" {
		t.Errorf("kept %q, want none: one turn alone is too large", got)
	}
	m.unreadTurn(t, "s", 1, "login", memory.Outcome{})
	m.clock.at = m.clock.at.Add(7*24*time.Hour + time.Second)
	if got := m.kept(t); got != "" {
		t.Errorf("%q is offered after 7 days", got)
	}
	if err := m.ExpireUnread(ctx); err != nil {
		t.Fatal(err)
	}
	if rows := rawRows(t, m.path, "SELECT (SELECT count(*) FROM unread_turns) + (SELECT count(*) FROM unread_messages) + (SELECT count(*) FROM unread_records)"); rows[0][0] != int64(0) {
		t.Errorf("%v rows are left after 7 days", rows[0][0])
	}
	m.audited(t)
}

// TestUnreadIsDue: what a model refused or could not answer waits an hour, the rest is due
// at once; HastenUnread makes all due.
func TestUnreadIsDue(t *testing.T) {
	ctx := t.Context()
	m := newMemory(t)
	for _, reason := range []memory.UnreadReason{"login", "transient", "cap", memory.UnreadRefused, memory.UnreadUnusable} {
		m.unreadTurn(t, "s", 0, reason, memory.Outcome{})
	}
	due := func() (n int) {
		turns, err := m.UnreadTurns(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range turns {
			if u.DueAt <= m.clock.at {
				n++
			}
		}
		return n
	}
	if got := due(); got != 3 {
		t.Errorf("%d due at once, want 3", got)
	}
	if err := m.PostponeUnread(ctx, 1, 1, m.clock.at+1, true); err != nil {
		t.Fatal(err)
	}
	if got := due(); got != 2 {
		t.Errorf("%d due after one was postponed, want 2", got)
	}
	if n, err := m.HastenUnread(ctx); err != nil || n != 5 {
		t.Errorf("hastened %d, %v, want 5 events", n, err)
	}
	turns, err := m.UnreadTurns(ctx)
	if err != nil || due() != 5 || slices.ContainsFunc(turns, func(u books.UnreadTurn) bool { return u.Attempts != 0 }) {
		t.Errorf("%+v, %v, want all due, without attempts", turns, err)
	}
}

// TestGarbageInKeptPayload: a turn with a payload that cannot be read is dropped.
func TestGarbageInKeptPayload(t *testing.T) {
	for _, garbage := range []string{"payload = '{\"kind\":'", "payload = 'null'||char(0)||'x'", "files = '[{]'", "symbols = '7'"} {
		m := newMemory(t)
		m.unreadTurn(t, "s", 2, "login", memory.Outcome{})
		rawExec(t, m.path, "UPDATE unread_messages SET "+garbage+" WHERE event_id = 2")
		if b := m.unreadBatch(t, 1, 1); len(b.Events) != 0 {
			t.Errorf("%s: %d events", garbage, len(b.Events))
		}
		if got := m.kept(t); got != "" {
			t.Errorf("%s: %q is still kept", garbage, got)
		}
		m.audited(t)
	}
}

// TestDeletedRecordsAreNotReadAgain: while a record of a turn is hidden, no model is shown
// the turn; when it is purged, or its events are forgotten, the payloads are deleted.
func TestDeletedRecordsAreNotReadAgain(t *testing.T) {
	ctx := t.Context()
	m := newMemory(t)
	m.unreadTurn(t, "s", 1, "login", memory.Outcome{Observations: []memory.Observation{observation("one"), observation("two")}})
	batch := m.unreadBatch(t, 1, 1)
	if _, err := m.HideObservation(ctx, 1, true); err != nil {
		t.Fatal(err)
	}
	if got := m.kept(t); got != "" {
		t.Errorf("%q while a record is hidden, want none", got)
	}
	wantCode(t, m.Redo(ctx, batch, memory.Outcome{Observations: []memory.Observation{observation("again")}}), memory.CodeConflict)
	if _, err := m.RestoreObservation(ctx, 1); err != nil {
		t.Fatal(err)
	}
	if got := m.kept(t); got != "S1.1" {
		t.Errorf("%q after the record was restored, want the turn", got)
	}
	if _, err := m.HideObservation(ctx, 1, true); err != nil {
		t.Fatal(err)
	}
	if n, err := m.PurgeHidden(ctx, m.clock.at); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if b := m.unreadBatch(t, 1, 1); len(b.Events) != 0 {
		t.Errorf("%d events are kept after the purge", len(b.Events))
	}

	m.unreadTurn(t, "s", 1, "login", memory.Outcome{})
	rawExec(t, m.path, "PRAGMA foreign_keys = 1; UPDATE events SET outcome = 'forgotten' WHERE prompt_number = 2 AND kind = 'stop'")
	if b := m.unreadBatch(t, 1, 2); len(b.Events) != 0 {
		t.Errorf("%d events are kept of a forgotten turn", len(b.Events))
	}
}
