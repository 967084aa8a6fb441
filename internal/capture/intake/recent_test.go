package intake

import (
	"testing"

	"claudemem/internal/memory"
)

// TestTwoRegistrations: an event that two registrations of the hooks report is one, with an id of its
// host or without; what happens again later, in another session or with other content is another.
func TestTwoRegistrations(t *testing.T) {
	stop := memory.Event{Kind: memory.KindStop, LastAssistantMessage: "Done."}
	prompt := memory.Event{Kind: memory.KindPrompt, Prompt: "go on"}
	end := memory.Event{Kind: memory.KindSessionEnd, Reason: "exit"}
	named := tool("Bash", `{"command":"ls"}`, `"a"`)
	unnamed := named
	unnamed.ToolUseID = ""
	for name, event := range map[string]memory.Event{"tool": unnamed, "named tool": named, "prompt": prompt, "stop": stop, "end": end} {
		t.Run(name, func(t *testing.T) {
			in, q := newIntake(Options{})
			send := func(delivery string, at memory.Millis, change func(*memory.Event)) string {
				e := event
				e.Host, e.HostSessionID, e.DeliveryID, e.OccurredAt = "vscode", "s", delivery, at
				change(&e)
				return take(t, in, q, e).Key
			}
			same := func(*memory.Event) {}
			first := send("d1", 10_000, same)
			if again := send("d2", 10_900, same); again != first {
				t.Errorf("the second registration has key %q, want %q", again, first)
			}
			if again := send("d1", 10_000, same); again != first {
				t.Errorf("the delivery again has key %q, want %q", again, first)
			}
			if later := send("d3", 13_000, same); (later == first) != (name == "named tool") {
				t.Errorf("later it has key %q, first %q", later, first)
			}
			if other := send("d4", 10_100, func(e *memory.Event) { e.HostSessionID = "other" }); other == first {
				t.Errorf("another session has key %q", other)
			}
			if other := send("d5", 10_100, func(e *memory.Event) {
				e.Prompt, e.LastAssistantMessage, e.Reason = e.Prompt+" x", e.LastAssistantMessage+" x", e.Reason+" x"
				if e.Kind == memory.KindTool {
					e.ToolUseID, e.ToolInput = "", []byte(`{"command":"pwd"}`)
				}
			}); other == first {
				t.Errorf("other content has key %q", other)
			}
		})
	}
}
