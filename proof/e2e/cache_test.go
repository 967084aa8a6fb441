//go:build e2e && linux

package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestPromptCache checks what the host can keep of the prompt that a provider has cached: a resumed session sends all that
// it had sent, the block with the same bytes, and what is new behind it. A compacted one begins with the host's
// summary; its block stands behind that, so that none of its words could keep the cache, and stays as it is from then on.
func TestPromptCache(t *testing.T) {
	plugin := buildPlugin(t)
	const again = resume + " Once more."
	t.Run("resumed", func(t *testing.T) {
		const other, asking = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
		remembered := `cd "$out/project" && "$plugin/../bin/claude-mem" remember 'The limiter is per instance until Redis is there.' --type decision`
		out := play(t, plugin, "--session-id", other, "--prompt", fix, "--between", settled, "--new-session", "--session-id", asking, "--prompt", resume,
			"--between", settled, "--between", remembered, "--prompt", again, "--prompt", again, "--after", settled)
		sent := conversation(t, out, asking)
		if len(sent) != 3 {
			t.Fatalf("%d requests of three prompts", len(sent))
		}
		for i, now := range sent[1:] {
			continues(t, sent[i], now)
		}
		first, later := sent[0], strings.Join(sent[1][len(sent[0]):], "\n")
		if n := strings.Count(strings.Join(first, "\n"), "<claude-mem-context>"); n != 1 {
			t.Errorf("%d blocks at the start, want 1", n)
		}
		if !strings.Contains(later, "per instance until Redis") || strings.Contains(later, "capped at its burst on refill") {
			t.Errorf("resumed, the session is given what it had, or not what is new: %.2000s", later)
		}
		t.Logf("point 6: a resumed session sends its %d messages as they were, and what is new behind them", len(first))
	})
	t.Run("compacted", func(t *testing.T) {
		const asking = "33333333-3333-4333-8333-333333333333"
		out := play(t, plugin, "--one-process", "--prompt", fix, "--between", settled, "--new-session", "--session-id", asking,
			"--prompt", resume, "--prompt", again, "--prompt", "/compact", "--prompt", resume, "--prompt", again, "--after", settled)
		sent := conversation(t, out, asking)
		if len(sent) < 5 {
			t.Fatalf("%d requests of four prompts and a compaction", len(sent))
		}
		before, after, last := sent[1], sent[len(sent)-2], sent[len(sent)-1]
		if before[0] == after[0] || !strings.Contains(after[0], "continued from a previous conversation") || strings.Contains(after[0], "claude-mem-context") {
			t.Errorf("compacted, the conversation does not begin with the host's summary: %.600s", after[0])
		}
		if !strings.Contains(strings.Join(after[1:], "\n"), "claude-mem-context") {
			t.Error("compacted, the session has no block")
		}
		continues(t, after, last)
		t.Log("point 6: a compacted session begins with the host's summary, ahead of its block, which stays from then on")
	})
}

// continues checks that a request begins with all messages of an earlier one.
func continues(t *testing.T, was, is []string) {
	t.Helper()
	for i := range was {
		if i >= len(is) || is[i] != was[i] {
			t.Errorf("message %d of %d was changed:\n%.1500s\n%.1500s", i, len(was), was[i], is[min(i, len(is)-1)])
			return
		}
	}
}

// conversation returns the messages of a session's requests, each as it was sent but for the marks by which the host
// asks for the cache, which move, and the two forms that a text alone may have.
func conversation(t *testing.T, out, session string) (sent [][]string) {
	t.Helper()
	for _, r := range readLines[request](t, filepath.Join(out, "requests.jsonl")) {
		var body struct{ Messages []map[string]any }
		if r.Session != session || len(r.Body) == 0 {
			continue
		}
		if err := json.Unmarshal(r.Body, &body); err != nil {
			t.Fatal(err)
		}
		var messages []string
		for _, m := range body.Messages {
			if text, ok := m["content"].(string); ok {
				m["content"] = []any{map[string]any{"type": "text", "text": text}}
			}
			for _, part := range m["content"].([]any) {
				delete(part.(map[string]any), "cache_control")
			}
			messages = append(messages, fmt.Sprint(m))
		}
		sent = append(sent, messages)
	}
	return sent
}
