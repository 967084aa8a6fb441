package daemon

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"claudemem/internal/memory"
)

// TestTokensAtTheEnd: while a trial runs, the worker notes the tokens of a session that ends from its own transcript, and from no other file.
func TestTokensAtTheEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := open(t, config(dir))
	if _, err := w.store.BeginTrial(t.Context(), memory.Trial{Share: 50}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(file, []byte(`{"type":"assistant","sessionId":"s","uuid":"u","cwd":"/p","timestamp":"2026-03-01T10:00:00Z","message":{"role":"assistant","id":"m","content":[],"usage":{"input_tokens":40,"output_tokens":2}}}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, session := range []string{"other", "s"} {
		if err := w.store.RecordInjection(t.Context(), memory.Injection{Host: memory.HostClaudeCode, HostSessionID: session, Where: "SessionStart", Arm: memory.ArmMemory, At: memory.MillisOf(time.Now())}); err != nil {
			t.Fatal(err)
		}
		end := event(session, memory.KindSessionEnd)
		end.Transcript = file
		for _, e := range []memory.Event{event(session, memory.KindPrompt), event(session, memory.KindTool), end} {
			if err := post(t.Context(), peerOf(t, dir), e); err != nil {
				t.Fatal(err)
			}
		}
	}
	tokens := func() (got []int) {
		now := memory.MillisOf(time.Now().Add(time.Hour))
		sessions, err := w.store.TrialSessions(t.Context(), 0, now, now)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sessions {
			got = append(got, s.Tokens)
		}
		return got
	}
	if !eventually(func() bool { got := tokens(); return len(got) == 2 && got[0] == -1 && got[1] == 42 }) {
		t.Errorf("the sessions have %v tokens, want those of the one whose transcript it is, 42", tokens())
	}
}
