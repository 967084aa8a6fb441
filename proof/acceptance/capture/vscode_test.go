//go:build unix

package capture

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"
)

// TestVSCode plays a session of VS Code through Claude Code's hooks, which it runs: its events are stored
// under its own name, with the closing message from its transcript, and given to the next session.
func TestVSCode(t *testing.T) {
	m := world.NewMemory(t)
	project := filepath.Join(m.Home, "shop")
	transcript := filepath.Join(m.Home, ".config", "Code", "User", "workspaceStorage", "4f2a", "transcripts", "v1.jsonl")
	for path, text := range map[string]string{
		filepath.Join(project, "till.go"): "package shop\n\nfunc Round(x float64) int { return int(x + 0.5) }\n",
		transcript: `{"type":"user.message","data":{"content":"Why does the till round down?"}}
{"type":"assistant.message","data":{"content":"Round cut the fraction off because int() truncates. It rounds half up now.","toolRequests":[]}}
`,
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	send := func(verb, event, session string, more string) string {
		payload := map[string]any{"timestamp": time.Now().Format(time.RFC3339), "cwd": project, "sessionId": session, "hookEventName": event, "transcript_path": transcript}
		if err := json.Unmarshal([]byte(more), &payload); err != nil {
			t.Fatal(err)
		}
		return string(m.Send(verb, payload).Stdout)
	}
	send("context", "SessionStart", "v1", `{"source":"new"}`)
	send("new", "UserPromptSubmit", "v1", `{"prompt":"Why does the till round down?"}`)
	send("save", "PreToolUse", "v1", `{"tool_name":"replace_string_in_file","tool_use_id":"t1","tool_input":{"filePath":"till.go"}}`)
	send("save", "PostToolUse", "v1", `{"tool_name":"replace_string_in_file","tool_use_id":"t1","tool_input":{"filePath":"`+filepath.Join(project, "till.go")+`","oldString":"int(x)","newString":"int(x + 0.5)"},"tool_response":"edited"}`)
	for range 2 { // two registrations
		send("save", "PostToolUse", "v1", `{"tool_name":"run_in_terminal","tool_use_id":"t2","tool_input":{"command":"go test ./..."},"tool_response":"ok  \tshop\t0.004s"}`)
		send("summary", "Stop", "v1", `{"stop_hook_active":false}`)
	}
	books := m.Settle(60 * time.Second)
	if books.Received != 4 {
		t.Errorf("%d events were stored, want 4", books.Received)
	}
	if n := m.QueryOne("SELECT count(*) FROM sessions WHERE host = 'vscode'"); n != 1 || m.QueryOne("SELECT count(*) FROM sessions") != 1 {
		t.Errorf("%d sessions of VS Code, want it alone", n)
	}
	if found := string(m.MustCommand("search", "--project", project, "half up")); !strings.Contains(found, "half up") {
		t.Errorf("the closing message is not found: %s", found)
	}
	if n := m.QueryOne("SELECT count(*) FROM observations"); n == 0 {
		t.Error("no observation was made of the edit")
	}
	if context := send("context", "SessionStart", "v2", `{"source":"new"}`); !strings.Contains(context, `"hookEventName":"SessionStart"`) || !strings.Contains(context, "till.go") && !strings.Contains(context, "Round") {
		t.Errorf("the next session is given %s", context)
	}
}
