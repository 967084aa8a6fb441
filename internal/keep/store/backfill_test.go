package store_test

import (
	"context"
	"testing"

	"claudemem/internal/memory"
)

// past marks an event as read from a transcript.
func past(a *memory.Arrival) { a.Event.Backfill = memory.BackfillOffline }

// TestBackfilledSessions: a session that only transcripts tell of is completed; one that hooks
// have reported stays as it is; a later event of a hook opens it again.
func TestBackfilledSessions(t *testing.T) {
	status := func(m *testStore, want memory.SessionStatus) {
		t.Helper()
		s, err := m.SessionByHost(context.Background(), memory.HostClaudeCode, "s")
		if err != nil || s.Status != want {
			t.Errorf("got %s, %v, want %s", s.Status, err, want)
		}
	}
	m := newMemory(t)
	m.enqueue(t, event(memory.KindPrompt, "s", "p1", 1, past))
	m.enqueue(t, event(memory.KindTool, "s", "t1", 2, past))
	status(m, memory.SessionCompleted)
	m.enqueue(t, event(memory.KindTool, "s", "t2", 3))
	status(m, memory.SessionActive)
	m.enqueue(t, event(memory.KindTool, "s", "t3", 4, past))
	status(m, memory.SessionActive)
	m.enqueue(t, event(memory.KindSessionEnd, "s", "end", 5))
	m.enqueue(t, event(memory.KindTool, "s", "t4", 6, past))
	status(m, memory.SessionCompleted)
	m.audited(t)
}

// TestBackfilledRepeats: a prompt or stop that a hook has reported without the prompt's id is
// the one in the transcript that has the same text at that time.
func TestBackfilledRepeats(t *testing.T) {
	id := func(id string) func(*memory.Arrival) {
		return func(a *memory.Arrival) { a.Event.PromptID = id }
	}
	said := func(text string) func(*memory.Arrival) {
		return func(a *memory.Arrival) {
			a.Event.Prompt, a.Event.LastAssistantMessage = text, text
			a.Key = string(a.Event.Kind) + ":claude-code:s:" + a.Key + ":" + text // as package intake makes it
		}
	}
	m := newMemory(t)
	for _, tt := range []struct {
		name    string
		arrival memory.Arrival
		want    memory.Status
	}{
		{"prompt of a hook", event(memory.KindPrompt, "s", "a", 1000, said("go")), memory.StatusProcessed},
		{"stop of a hook", event(memory.KindStop, "s", "b", 2000, said("done")), memory.StatusPending},
		{"the prompt", event(memory.KindPrompt, "s", "c", 1500, said("go"), past, id("p1")), memory.StatusDuplicate},
		{"the prompt without an id", event(memory.KindPrompt, "s", "d", 1500, said("go"), past), memory.StatusDuplicate},
		{"the stop", event(memory.KindStop, "s", "e", 1900, said("done"), past, id("p1")), memory.StatusDuplicate},
		{"the stop without an id", event(memory.KindStop, "s", "f", 1900, said("done"), past), memory.StatusDuplicate},
		{"another stop", event(memory.KindStop, "s", "g", 1900, said("not done"), past), memory.StatusPending},
		{"a later stop", event(memory.KindStop, "s", "h", 60_000, said("done"), past), memory.StatusPending},
		{"a later prompt", event(memory.KindPrompt, "s", "i", 60_000, said("go"), past, id("p2")), memory.StatusProcessed},
		{"the same words at once, with ids", event(memory.KindPrompt, "s", "j", 60_001, said("go"), past, id("p3")), memory.StatusProcessed},
	} {
		if got := m.enqueue(t, tt.arrival)[0].Status; got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
	m.audited(t)
}
