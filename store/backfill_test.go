package store_test

import (
	"context"
	"testing"

	"claudemem"
)

// past marks an event as read from a transcript.
func past(a *claudemem.Arrival) { a.Event.Backfill = claudemem.BackfillOffline }

// TestBackfilledSessions: a session that only transcripts tell of is completed; one that hooks
// have reported stays as it is; a later event of a hook opens it again.
func TestBackfilledSessions(t *testing.T) {
	status := func(m *memory, want claudemem.SessionStatus) {
		t.Helper()
		s, err := m.SessionByHost(context.Background(), claudemem.HostClaudeCode, "s")
		if err != nil || s.Status != want {
			t.Errorf("got %s, %v, want %s", s.Status, err, want)
		}
	}
	m := newMemory(t)
	m.enqueue(t, event(claudemem.KindPrompt, "s", "p1", 1, past))
	m.enqueue(t, event(claudemem.KindTool, "s", "t1", 2, past))
	status(m, claudemem.SessionCompleted)
	m.enqueue(t, event(claudemem.KindTool, "s", "t2", 3))
	status(m, claudemem.SessionActive)
	m.enqueue(t, event(claudemem.KindTool, "s", "t3", 4, past))
	status(m, claudemem.SessionActive)
	m.enqueue(t, event(claudemem.KindSessionEnd, "s", "end", 5))
	m.enqueue(t, event(claudemem.KindTool, "s", "t4", 6, past))
	status(m, claudemem.SessionCompleted)
	m.audited(t)
}

// TestBackfilledRepeats: a prompt or stop that a hook has reported without the prompt's id is
// the one in the transcript that has the same text at that time.
func TestBackfilledRepeats(t *testing.T) {
	id := func(id string) func(*claudemem.Arrival) {
		return func(a *claudemem.Arrival) { a.Event.PromptID = id }
	}
	said := func(text string) func(*claudemem.Arrival) {
		return func(a *claudemem.Arrival) {
			a.Event.Prompt, a.Event.LastAssistantMessage = text, text
			a.Key += ":" + text
		}
	}
	m := newMemory(t)
	for _, tt := range []struct {
		name    string
		arrival claudemem.Arrival
		want    claudemem.Status
	}{
		{"prompt of a hook", event(claudemem.KindPrompt, "s", "a", 1000, said("go")), claudemem.StatusProcessed},
		{"stop of a hook", event(claudemem.KindStop, "s", "b", 2000, said("done")), claudemem.StatusPending},
		{"the prompt", event(claudemem.KindPrompt, "s", "c", 1500, said("go"), past, id("p1")), claudemem.StatusDuplicate},
		{"the prompt without an id", event(claudemem.KindPrompt, "s", "d", 1500, said("go"), past), claudemem.StatusDuplicate},
		{"the stop", event(claudemem.KindStop, "s", "e", 1900, said("done"), past, id("p1")), claudemem.StatusDuplicate},
		{"the stop without an id", event(claudemem.KindStop, "s", "f", 1900, said("done"), past), claudemem.StatusDuplicate},
		{"another stop", event(claudemem.KindStop, "s", "g", 1900, said("not done"), past), claudemem.StatusPending},
		{"a later stop", event(claudemem.KindStop, "s", "h", 60_000, said("done"), past), claudemem.StatusPending},
		{"a later prompt", event(claudemem.KindPrompt, "s", "i", 60_000, said("go"), past, id("p2")), claudemem.StatusProcessed},
		{"the same words at once, with ids", event(claudemem.KindPrompt, "s", "j", 60_001, said("go"), past, id("p3")), claudemem.StatusProcessed},
	} {
		if got := m.enqueue(t, tt.arrival)[0].Status; got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
	m.audited(t)
}
