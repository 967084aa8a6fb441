package transcript

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTokens: each message counts once, with its last numbers, those of subagents too, and what a cache gave as a tenth.
func TestTokens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "-p", "s.jsonl")
	said := func(id, usage string) string {
		return fmt.Sprintf(`{"type":"assistant","sessionId":"s","uuid":"u","cwd":"/p","timestamp":"2026-03-01T10:00:00Z","message":{"role":"assistant","id":%q,"content":[],"usage":%s}}`+"\n", id, usage)
	}
	write(t, path, prompt+said("m1", `{"input_tokens":100,"output_tokens":1}`)+said("m1", `{"input_tokens":100,"output_tokens":20,"cache_creation_input_tokens":30}`)+
		said("m2", `{"input_tokens":5,"cache_read_input_tokens":1000}`)+said("m3", `{"input_tokens":-7,"output_tokens":"many"}`)+said("m4", `null`)+"torn {", day)
	write(t, filepath.Join(filepath.Dir(path), "s", "subagents", "agent-a.jsonl"),
		strings.Replace(said("m9", `{"output_tokens":7}`), `"sessionId"`, `"isSidechain":true,"agentId":"a","sessionId"`, 1), day.Add(time.Hour))
	if got, err := Tokens(path); err != nil || got != 150+105+7 {
		t.Errorf("%d tokens, %v, want 262", got, err)
	}
	if _, err := Tokens(path + ".jsonl"); err == nil {
		t.Error("tokens of no file")
	}
}
