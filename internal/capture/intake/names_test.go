package intake

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

func TestEventKeys(t *testing.T) {
	at := memory.MillisOf(testClock)
	base := memory.Event{Host: "claude-code", HostSessionID: "s", DeliveryID: "d", OccurredAt: at}
	with := func(change func(*memory.Event)) memory.Event {
		e := base
		change(&e)
		return e
	}
	tests := []struct {
		name  string
		event memory.Event
		want  string
	}{
		{"tool", with(func(e *memory.Event) { e.Kind, e.ToolName, e.ToolUseID = "tool", "Bash", "u" }), "tool:claude-code:s:u"},
		{"tool without id", with(func(e *memory.Event) { e.Kind, e.ToolName = "tool", "Bash" }), "tool:claude-code:s:d"},
		{"subagent's end", with(func(e *memory.Event) { e.Kind, e.ToolName, e.ToolUseID = "tool", "Agent", "agent:a1" }), "tool:claude-code:s:agent:a1"},
		{"agent's call", with(func(e *memory.Event) {
			e.Kind, e.ToolName, e.ToolUseID = "tool", "Agent", "u"
			e.ToolResponse = json.RawMessage(`{"status":"completed","agentId":"a1"}`)
		}), "tool:claude-code:s:agent:a1"},
		{"agent's call in the background", with(func(e *memory.Event) {
			e.Kind, e.ToolName, e.ToolUseID = "tool", "Agent", "u"
			e.ToolResponse = json.RawMessage(`{"status":"async_launched","agentId":"a1"}`)
		}), "tool:claude-code:s:u"},
		{"prompt", with(func(e *memory.Event) { e.Kind, e.Prompt, e.PromptID = "prompt", "x", "p" }), "prompt:claude-code:s:p"},
		{"prompt without id", with(func(e *memory.Event) { e.Kind, e.Prompt = "prompt", "x" }), "prompt:claude-code:s:d"},
		{"stop", with(func(e *memory.Event) { e.Kind, e.PromptID, e.LastAssistantMessage = "stop", "p", "abc" }), "stop:claude-code:s:p:" + sha("abc")[:32]},
		{"stop without id", with(func(e *memory.Event) { e.Kind, e.LastAssistantMessage = "stop", "abc" }), "stop:claude-code:s:d:" + sha("abc")[:32]},
		{"end", with(func(e *memory.Event) { e.Kind, e.Reason = "session_end", "other" }), fmt.Sprintf("end:claude-code:s:other:%d", at)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in, q := newIntake(Options{})
			if got := take(t, in, q, tt.event); got.Key != tt.want || got.SkipReason != "" {
				t.Errorf("key %q, skip %q; want %q", got.Key, got.SkipReason, tt.want)
			}
		})
	}
}

func sha(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// TestEventKeysAreUnambiguous: a ":" in a host or a session does not make two
// events one.
func TestEventKeysAreUnambiguous(t *testing.T) {
	events := []memory.Event{
		{Kind: memory.KindTool, Host: "a", HostSessionID: "b", ToolName: "X", ToolUseID: "c:d"},
		{Kind: memory.KindTool, Host: "a", HostSessionID: "b:c", ToolName: "X", ToolUseID: "d"},
		{Kind: memory.KindTool, Host: "a:b", HostSessionID: "c", ToolName: "X", ToolUseID: "d"},
		{Kind: memory.KindTool, Host: "a", HostSessionID: "b", ToolName: "X", ToolUseID: "agent:d"},
		{Kind: memory.KindTool, Host: "a", HostSessionID: "b:agent", ToolName: "X", ToolUseID: "d"},
		{Kind: memory.KindStop, Host: "a", HostSessionID: "b", PromptID: "c:d"},
		{Kind: memory.KindStop, Host: "a", HostSessionID: "b:c", PromptID: "d"},
		{Kind: memory.KindSessionEnd, Host: "a", HostSessionID: "b", Reason: "c:d"},
		{Kind: memory.KindSessionEnd, Host: "a", HostSessionID: "b:c", Reason: "d"},
	}
	keys := map[string]int{}
	for i := range events {
		in, q := newIntake(Options{})
		key := take(t, in, q, events[i]).Key
		if other, taken := keys[key]; taken {
			t.Errorf("%+v and %+v have the key %q", events[other], events[i], key)
		}
		keys[key] = i
	}
}

// TestKeysOfEarlierVersions: what is in the books under a key of an earlier version
// is a duplicate today. formerKey is how they made it.
func TestKeysOfEarlierVersions(t *testing.T) {
	formerKey := func(e *memory.Event) string {
		session := ":" + string(e.Host) + ":" + e.HostSessionID + ":"
		last := e.PromptID
		if e.Kind == memory.KindTool {
			last = e.ToolUseID
		}
		if last == "" {
			last = e.DeliveryID
		}
		switch e.Kind {
		case memory.KindStop:
			return "stop" + session + last + ":" + sha(e.LastAssistantMessage[:min(len(e.LastAssistantMessage), 16<<10)])[:32]
		case memory.KindSessionEnd:
			return "end" + session + e.Reason + ":" + strconv.FormatInt(int64(e.OccurredAt), 10)
		}
		return string(e.Kind) + session + last
	}
	paths, err := filepath.Glob(filepath.Join("..", "hook", "testdata", "events", "*.json"))
	if err != nil || len(paths) < 30 {
		t.Fatalf("%d golden events, %v", len(paths), err)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var e memory.Event
		if err := json.Unmarshal(b, &e); err != nil {
			t.Fatal(err)
		}
		in, q := newIntake(Options{})
		got := take(t, in, q, e)
		if want := formerKey(&got.Event); got.Key != want {
			t.Errorf("%s: key %q, before %q", filepath.Base(path), got.Key, want)
		}
	}
}

// What came through the hook, masked and cut, has the key of what comes raw from
// a transcript.
func TestStopKeyAgreesWithImport(t *testing.T) {
	in, q := newIntake(Options{})
	raw := memory.Event{Kind: memory.KindStop, PromptID: "p", LastAssistantMessage: "set PASSWORD=hunter2x\n" + strings.Repeat("text ", 40_000)}
	masked := raw
	masked.LastAssistantMessage = take(t, in, q, raw).Event.LastAssistantMessage
	if got, want := take(t, in, q, masked).Key, q.arrivals[0].Key; got != want {
		t.Errorf("key %q, want %q", got, want)
	}
}
