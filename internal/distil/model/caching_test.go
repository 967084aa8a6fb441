package model

import (
	"strings"
	"testing"

	"claudemem/internal/memory"
)

func TestMinimumOf(t *testing.T) {
	for name, want := range map[string]int{
		"claude-haiku-4-5-20251001": 4096, "claude-opus-5-5": 512, "claude-opus-4-1-20250805": 1024, "claude-opus-4-6": 4096, "claude-sonnet-4-5": 1024, "claude-sonnet-4-6": 2048,
		"somebody's-model": unknownMinimum, "": unknownMinimum,
	} {
		if got := minimumOf(name); got != want {
			t.Errorf("%s: got %d, want %d", name, got, want)
		}
	}
}

// TestCacheMarks: what the next requests begin with is marked where the vendor would cache
// it, and nothing else is.
func TestCacheMarks(t *testing.T) {
	text := func(tokens int) string { return strings.Repeat("cache ", tokens*35/60+1) }
	history := func(tokens int) []memory.ModelMessage {
		return []memory.ModelMessage{{Role: "user", Text: text(tokens / 2)}, {Role: "assistant", Text: text(tokens / 2)}}
	}
	for _, tt := range []struct {
		name, model string
		system      int
		history     []memory.ModelMessage
		want        string // s: the system prompt, h: the history
	}{
		{"long enough", "claude-sonnet-4-5", 1400, nil, "s"},
		{"too short for the model", "claude-haiku-4-5", 1400, nil, ""},
		{"too short for any", "claude-opus-5", 100, nil, ""},
		{"with a history", "claude-sonnet-4-5", 1400, history(200), "sh"},
		{"only with its history", "claude-haiku-4-5", 1400, history(3400), "h"},
		{"not even with its history", "claude-haiku-4-5", 1400, history(1000), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &api{}
			r := p.messagesRequest(memory.ModelRequest{Model: tt.model, System: text(tt.system), History: tt.history, Prompt: text(9000)})
			got := ""
			if r.System[0].CacheControl != nil {
				got += "s"
			}
			for i, m := range r.Messages {
				if m.Content[0].CacheControl == nil {
					continue
				}
				if got += "h"; i != len(r.Messages)-2 {
					t.Errorf("message %d of %d is marked", i+1, len(r.Messages))
				}
			}
			if got != tt.want {
				t.Errorf("marked %q, want %q", got, tt.want)
			}
		})
	}
}
