package store_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

func TestEnqueueBooksEachKind(t *testing.T) {
	tests := []struct {
		name    string
		arrival memory.Arrival
		want    memory.Receipt
		opens   bool
	}{
		{"tool", event(memory.KindTool, "s", "a", 1), memory.Receipt{Session: 1, Status: memory.StatusPending}, true},
		{"stop", event(memory.KindStop, "s", "a", 1), memory.Receipt{Session: 1, Status: memory.StatusPending}, true},
		{"prompt", event(memory.KindPrompt, "s", "a", 1), memory.Receipt{Session: 1, PromptNumber: 1, Status: memory.StatusProcessed}, true},
		{"session end", event(memory.KindSessionEnd, "s", "a", 1), memory.Receipt{Session: 1, Status: memory.StatusProcessed}, true},
		{
			"skipped tool", event(memory.KindTool, "s", "a", 1, skipped(memory.SkipTool)),
			memory.Receipt{Session: 1, Status: memory.StatusSkipped, Reason: "tool"}, true,
		},
		{
			"excluded project", event(memory.KindPrompt, "s", "a", 1, skipped(memory.SkipExcluded)),
			memory.Receipt{Status: memory.StatusSkipped, Reason: "excluded"}, false,
		},
		{
			"own run", event(memory.KindTool, "s", "a", 1, skipped(memory.SkipInternal)),
			memory.Receipt{Status: memory.StatusSkipped, Reason: "internal"}, false,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := newMemory(t)
			if got := m.enqueue(t, test.arrival)[0]; got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
			_, err := m.SessionByHost(context.Background(), memory.HostClaudeCode, "s")
			if opened := err == nil; opened != test.opens {
				t.Errorf("session opened: %v (%v), want %v", opened, err, test.opens)
			}
			books := m.books(t)
			if books.Received != 1 {
				t.Errorf("got %+v, want 1 received", books)
			}
			m.audited(t)
		})
	}
}

func TestEnqueueRefuses(t *testing.T) {
	tests := []struct {
		name   string
		change func(*memory.Arrival)
	}{
		{"no key", func(a *memory.Arrival) { a.Key = "" }},
		{"no session", func(a *memory.Arrival) { a.Event.HostSessionID = "" }},
		{"unknown kind", func(a *memory.Arrival) { a.Event.Kind = "party" }},
		{"broken input", func(a *memory.Arrival) { a.Event.ToolInput = []byte(`{"a":`) }},
	}
	m := newMemory(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			good := event(memory.KindTool, "s", "good-"+test.name, 1)
			_, err := m.Enqueue(context.Background(), good, event(memory.KindTool, "s", "bad", 2, test.change))
			wantCode(t, err, memory.CodeInvalid)
		})
	}
	if got := m.books(t); got.Received != 0 {
		t.Errorf("got %+v: a call with a bad event must store none of its events", got)
	}
	// Not events of the books, but no fault either.
	for _, kind := range []memory.EventKind{memory.KindFlush, memory.KindSessionStart} {
		if got := m.enqueue(t, event(kind, "s", "x", 1))[0]; got.Status != memory.StatusSkipped {
			t.Errorf("%s: got %+v, want skipped", kind, got)
		}
	}
	if got := m.books(t); got.Received != 0 {
		t.Errorf("got %+v, want nothing received", got)
	}
}

func TestSkippedEventKeepsNoPayload(t *testing.T) {
	m := newMemory(t)
	m.enqueue(t, event(memory.KindPrompt, "s", "p", 1, skipped(memory.SkipPrivate), func(a *memory.Arrival) {
		a.Event.Prompt = "a very private sentence"
	}), event(memory.KindTool, "s", "t", 2, skipped(memory.SkipTool)))
	for _, query := range []string{"SELECT 1 FROM pending_messages", "SELECT 1 FROM prompts"} {
		if rows := rawRows(t, m.path, query); len(rows) != 0 {
			t.Errorf("%s: got %d rows, want none", query, len(rows))
		}
	}
	if got, want := m.books(t), (memory.Books{Received: 2, Skipped: 2}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestDuplicates(t *testing.T) {
	first := event(memory.KindTool, "s", "d1", 10)
	tests := []struct {
		name   string
		second memory.Arrival
		want   memory.Status
	}{
		{"same delivery", event(memory.KindTool, "s", "d1", 10), memory.StatusDuplicate},
		{"same key, other delivery", event(memory.KindTool, "s", "d2", 11, func(a *memory.Arrival) { a.Key = first.Key }), memory.StatusDuplicate},
		{"same delivery, other key", event(memory.KindTool, "s", "d1", 10, func(a *memory.Arrival) { a.Key = "other" }), memory.StatusDuplicate},
		{"another", event(memory.KindTool, "s", "d2", 11), memory.StatusPending},
	}
	for _, together := range []bool{true, false} {
		for _, test := range tests {
			name := test.name
			if together {
				name += " in one call"
			}
			t.Run(name, func(t *testing.T) {
				m := newMemory(t)
				var got memory.Receipt
				if together {
					got = m.enqueue(t, first, test.second)[1]
				} else {
					m.enqueue(t, first)
					got = m.enqueue(t, test.second)[0]
				}
				if got.Status != test.want || got.Session != 1 {
					t.Errorf("got %+v, want status %s in session 1", got, test.want)
				}
				duplicates := 0
				if test.want == memory.StatusDuplicate {
					duplicates = 1
				}
				if books := m.books(t); books.Duplicates != duplicates || books.Received != 2-duplicates {
					t.Errorf("got %+v, want %d duplicates", books, duplicates)
				}
				m.audited(t)
			})
		}
	}
}

func TestPromptWithoutIDDeliveredTwice(t *testing.T) {
	m := newMemory(t)
	text := func(s string) func(*memory.Arrival) { return func(a *memory.Arrival) { a.Event.Prompt = s } }
	got := m.enqueue(
		t,
		event(memory.KindPrompt, "s", "a", 0, text("go on")),
		event(memory.KindPrompt, "s", "b", 10_000, text("go on")),                // the same
		event(memory.KindPrompt, "s", "c", 10_001, text("go on")),                // said again
		event(memory.KindPrompt, "s", "d", 10_002, text("go on then")),           // another text
		event(memory.KindPrompt, "z", "e", 10_003, text("go on")),                // another session
		event(memory.KindPrompt, "s", "f", 10_004, text("go on"), promptID("p")), // has an id
	)
	want := []memory.Receipt{
		{Session: 1, PromptNumber: 1, Status: memory.StatusProcessed},
		{Session: 1, PromptNumber: 1, Status: memory.StatusDuplicate},
		{Session: 1, PromptNumber: 2, Status: memory.StatusProcessed},
		{Session: 1, PromptNumber: 3, Status: memory.StatusProcessed},
		{Session: 2, PromptNumber: 1, Status: memory.StatusProcessed},
		{Session: 1, PromptNumber: 4, Status: memory.StatusProcessed},
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("prompt %d: got %+v, want %+v", i, got[i], want[i])
		}
	}
	m.audited(t)
}

func TestPromptNumbers(t *testing.T) {
	m := newMemory(t)
	numbers := func(arrivals ...memory.Arrival) (got []int) {
		t.Helper()
		for _, a := range arrivals {
			got = append(got, m.enqueue(t, a)[0].PromptNumber)
		}
		return got
	}
	got := numbers(
		event(memory.KindTool, "s", "t0", 1), // before any prompt
		event(memory.KindPrompt, "s", "p1", 2, promptID("one")),
		event(memory.KindTool, "s", "t1", 3, promptID("one")),
		event(memory.KindPrompt, "s", "p2", 4, promptID("two")),
		event(memory.KindTool, "s", "t2", 5, promptID("one")), // a late one of the first turn
		event(memory.KindTool, "s", "t3", 6),                  // names no prompt
		event(memory.KindTool, "s", "t4", 8, promptID("three")),
		event(memory.KindStop, "s", "x4", 9, promptID("three")),
	)
	for i, want := range []int{0, 1, 1, 2, 1, 2, 2, 2} {
		if got[i] != want {
			t.Errorf("event %d: got prompt number %d, want %d", i, got[i], want)
		}
	}
	// The third prompt comes late, out of the spool: what named it gets its number.
	if got := numbers(event(memory.KindPrompt, "s", "p3", 7, promptID("three"))); got[0] != 3 {
		t.Fatalf("got number %d for the late prompt, want 3", got[0])
	}
	claim := m.claim(t, 1, 0)
	var claimed []int
	for _, e := range claim.Events {
		claimed = append(claimed, e.PromptNumber)
	}
	if got, want := keys(claim.Events), "t0 t1 t2 t3 t4 x4"; got != want {
		t.Fatalf("claimed %q, want %q", got, want)
	}
	for i, want := range []int{0, 1, 1, 2, 3, 3} {
		if claimed[i] != want {
			t.Errorf("claimed event %d: got prompt number %d, want %d", i, claimed[i], want)
		}
	}
}

// A host without prompt ids: what was captured after a late prompt belongs to it.
func TestLatePromptWithoutIDs(t *testing.T) {
	m := newMemory(t)
	m.enqueue(t, event(memory.KindPrompt, "s", "p1", 1), event(memory.KindTool, "s", "t1", 2), event(memory.KindTool, "s", "t3", 4))
	m.enqueue(t, event(memory.KindPrompt, "s", "p2", 3))
	claim := m.claim(t, 1, 0)
	if got := []int{claim.Events[0].PromptNumber, claim.Events[1].PromptNumber}; got[0] != 1 || got[1] != 2 {
		t.Errorf("got prompt numbers %v, want [1 2]", got)
	}
}

func TestSessionStatus(t *testing.T) {
	type step struct {
		arrival memory.Arrival
		want    memory.SessionStatus
	}
	tests := []struct {
		name  string
		steps []step
	}{
		{"ended", []step{
			{event(memory.KindPrompt, "s", "a", 1), memory.SessionActive},
			{event(memory.KindSessionEnd, "s", "b", 2), memory.SessionCompleted},
		}},
		{"resumed", []step{
			{event(memory.KindPrompt, "s", "a", 1), memory.SessionActive},
			{event(memory.KindSessionEnd, "s", "b", 2), memory.SessionCompleted},
			{event(memory.KindPrompt, "s", "c", 3), memory.SessionActive},
			{event(memory.KindSessionEnd, "s", "d", 4), memory.SessionCompleted},
		}},
		{"straggler after the end", []step{
			{event(memory.KindPrompt, "s", "a", 1), memory.SessionActive},
			{event(memory.KindSessionEnd, "s", "b", 5), memory.SessionCompleted},
			{event(memory.KindTool, "s", "c", 4), memory.SessionCompleted},
		}},
		{"end comes late", []step{
			{event(memory.KindPrompt, "s", "a", 1), memory.SessionActive},
			{event(memory.KindPrompt, "s", "c", 9), memory.SessionActive},
			{event(memory.KindSessionEnd, "s", "b", 5), memory.SessionActive},
		}},
		{"stop and end in one millisecond", []step{
			{event(memory.KindStop, "s", "a", 5), memory.SessionActive},
			{event(memory.KindSessionEnd, "s", "b", 5), memory.SessionCompleted},
		}},
	}
	for _, reopened := range []bool{false, true} {
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				m := newMemory(t)
				for i, step := range test.steps {
					if reopened { // so that nothing is remembered of the session
						m.reopen(t)
					}
					m.enqueue(t, step.arrival)
					session, err := m.SessionByHost(context.Background(), memory.HostClaudeCode, "s")
					if err != nil || session.Status != step.want {
						t.Errorf("step %d: got %q %v, want %q", i, session.Status, err, step.want)
					}
					if completed := session.CompletedAt != 0; completed != (step.want == memory.SessionCompleted) {
						t.Errorf("step %d: completed at %d while %s", i, session.CompletedAt, session.Status)
					}
				}
			})
		}
	}
}

// TestStartMovesBack: an event that comes late moves the start of its session back, also in the row, and
// the hash of the session follows.
func TestStartMovesBack(t *testing.T) {
	m := newMemory(t)
	m.enqueue(t, event(memory.KindPrompt, "s", "a", 5000))
	m.enqueue(t, event(memory.KindTool, "s", "b", 6000))
	m.enqueue(t, event(memory.KindTool, "s", "c", 2000))
	m.enqueue(t, event(memory.KindTool, "s", "d", 7000))
	s, err := m.SessionByHost(t.Context(), memory.HostClaudeCode, "s")
	if err != nil || s.StartedAt != base+2000 {
		t.Errorf("the session starts at %d (%v), want %d", s.StartedAt-base, err, 2000)
	}
	m.audited(t)
}

func TestInterruptAndReopen(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	m.enqueue(t, event(memory.KindPrompt, "idle", "a", 0), event(memory.KindPrompt, "busy", "b", 5000),
		event(memory.KindPrompt, "ended", "c", 0), event(memory.KindSessionEnd, "ended", "d", 1))
	n, err := m.Interrupt(ctx, base+1000)
	if err != nil || n != 1 {
		t.Fatalf("interrupted %d %v, want 1", n, err)
	}
	status := func(name string) memory.SessionStatus {
		t.Helper()
		s, err := m.SessionByHost(ctx, memory.HostClaudeCode, name)
		if err != nil {
			t.Fatal(err)
		}
		return s.Status
	}
	if got := []memory.SessionStatus{status("idle"), status("busy"), status("ended")}; got[0] != memory.SessionInterrupted ||
		got[1] != memory.SessionActive || got[2] != memory.SessionCompleted {
		t.Errorf("got %v, want interrupted, active, completed", got)
	}
	m.enqueue(t, event(memory.KindTool, "idle", "e", 6000))
	if got := status("idle"); got != memory.SessionActive {
		t.Errorf("after a later event got %q, want active", got)
	}
}

func TestTouchSession(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	m.enqueue(t, event(memory.KindPrompt, "s", "a", 0))
	m.clock.at = base + 7000
	if known, err := m.TouchSession(ctx, memory.HostClaudeCode, "s"); err != nil || !known {
		t.Errorf("got %v %v, want a known session", known, err)
	}
	if known, err := m.TouchSession(ctx, memory.HostClaudeCode, "unknown"); err != nil || known {
		t.Errorf("got %v %v, want an unknown session", known, err)
	}
	if _, err := m.SessionByHost(ctx, memory.HostClaudeCode, "unknown"); err == nil {
		t.Error("touching opened a session")
	}
	s, err := m.SessionByHost(ctx, memory.HostClaudeCode, "s")
	if err != nil || s.UpdatedAt != base+7000 {
		t.Errorf("got updated at %d %v, want %d", s.UpdatedAt, err, base+7000)
	}
	// Booking goes on from what the touch wrote.
	m.enqueue(t, event(memory.KindTool, "s", "b", 10))
	if s, err = m.SessionByHost(ctx, memory.HostClaudeCode, "s"); err != nil || s.UpdatedAt != base+7000 {
		t.Errorf("got updated at %d %v, want %d", s.UpdatedAt, err, base+7000)
	}
}

// A host whose clock is ahead doesn't keep its session on top for ever.
func TestEventFromTheFuture(t *testing.T) {
	m := newMemory(t)
	m.enqueue(t, event(memory.KindPrompt, "s", "a", 0, func(a *memory.Arrival) { a.Event.OccurredAt = base * 2 }))
	m.enqueue(t, event(memory.KindPrompt, "s", "b", 0, func(a *memory.Arrival) { a.Event.OccurredAt = 1 << 62 }))
	s, err := m.SessionByHost(context.Background(), memory.HostClaudeCode, "s")
	if err != nil || s.UpdatedAt != base {
		t.Errorf("got updated at %d %v, want %d", s.UpdatedAt, err, base)
	}
}

func TestTombstoneRefuses(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	a := event(memory.KindTool, "s", "a", 1)
	m.enqueue(t, event(memory.KindTool, "s", "before", 0))
	rawExec(t, m.path, "INSERT INTO tombstones (kind, key, created_at) VALUES ('event', ?, 1)", a.Key)
	got := m.enqueue(t, a)[0]
	if want := (memory.Receipt{Status: memory.StatusSkipped, Reason: "forgotten"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if books := m.books(t); books.Received != 1 || books.Duplicates != 0 {
		t.Errorf("got %+v, want one received", books)
	}
	counters, err := m.Counters(ctx)
	if err != nil || counters["refused"] != 1 {
		t.Errorf("got %v %v, want 1 refused", counters, err)
	}
	m.audited(t)
}

func TestRedactionsAreCounted(t *testing.T) {
	m := newMemory(t)
	redacted := func(a *memory.Arrival) { a.Redacted = map[string]int{"aws": 2, "jwt": 1} }
	m.enqueue(t, event(memory.KindTool, "s", "a", 1, redacted))
	m.enqueue(t, event(memory.KindTool, "s", "a", 1, redacted)) // a duplicate counts nothing
	m.enqueue(t, event(memory.KindTool, "s", "b", 2, redacted))
	counters, err := m.Counters(context.Background())
	if err != nil || counters["redacted:aws"] != 4 || counters["redacted:jwt"] != 2 {
		t.Errorf("got %v %v, want aws 4, jwt 2", counters, err)
	}
}

// Another process has written: what the writer remembers of a session is stale.
func TestBookingSeesOtherWriters(t *testing.T) {
	m := newMemory(t)
	m.enqueue(t, event(memory.KindPrompt, "s", "a", 0))
	rawExec(t, m.path, `INSERT INTO prompts (ulid, session_id, number, text, created_at) VALUES ('x', 1, 2, 'by another', 5)`)
	rawExec(t, m.path, "UPDATE sessions SET prompt_count = 2")
	if got := m.enqueue(t, event(memory.KindPrompt, "s", "b", 1))[0].PromptNumber; got != 3 {
		t.Errorf("got number %d, want 3", got)
	}
}

func TestPayloadSurvivesUnchanged(t *testing.T) {
	m := newMemory(t)
	files := []memory.FileRef{{Path: "a/b.go", Role: memory.FileModified, Hash: "abc"}, {Path: "c", Role: memory.FileRead}}
	in := event(memory.KindTool, "s", "a", 1, func(a *memory.Arrival) {
		a.Event.ToolResponse = []byte(`{"stdout":"<b>&amp; \u0000 ü 日本"}`)
		a.Event.Branch, a.Event.AgentID, a.Files = "main", "agent", files
	})
	m.enqueue(t, in)
	m.reopen(t)
	got := m.claim(t, 1, 0).Events[0]
	if string(got.Event.ToolResponse) != string(in.Event.ToolResponse) || got.Event.Branch != "main" || got.Event.AgentID != "agent" {
		t.Errorf("got %+v, want %+v", got.Event, in.Event)
	}
	if !reflect.DeepEqual(got.Files, files) {
		t.Errorf("got files %+v, want %+v", got.Files, files)
	}
	if got.Key != in.Key {
		t.Errorf("got key %q, want %q", got.Key, in.Key)
	}
	payload := rawRows(t, m.path, "SELECT payload FROM pending_messages")[0][0].(string)
	if strings.Contains(payload, `\u003c`) {
		t.Errorf("payload is escaped for HTML: %s", payload)
	}
}

func TestOpenSession(t *testing.T) {
	m := newMemory(t)
	m.enqueue(t, event(memory.KindPrompt, "open", "a", 1))
	m.enqueue(t, event(memory.KindPrompt, "ended", "b", 1))
	m.enqueue(t, event(memory.KindSessionEnd, "ended", "c", 2))
	for id, want := range map[string]memory.Host{"open": memory.HostClaudeCode, "ended": "", "unknown": ""} {
		if got, err := m.OpenSession(t.Context(), id); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", id, got, err, want)
		}
	}
}
