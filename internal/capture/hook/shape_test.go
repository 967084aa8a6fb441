package hook

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claudemem/internal/memory"
)

// TestHostOfPayload: what reaches Claude Code's hooks is stored under the host whose shape it has.
func TestHostOfPayload(t *testing.T) {
	const claude = `"transcript_path":"/home/dev/.claude/projects/-home-dev-shop/s.jsonl","cwd":"/home/dev/shop","hook_event_name":"UserPromptSubmit","prompt":"hello"`
	for payload, want := range map[string]memory.Host{
		`{"session_id":"s","transcript_path":"/home/dev/.work/projects/-w/s.jsonl","timestamp":"t","hook_event_name":"UserPromptSubmit","prompt":"hello"}`: memory.HostClaudeCode, // CLAUDE_CONFIG_DIR
		`{"session_id":"s",` + claude + `}`:                                        memory.HostClaudeCode,
		`{"session_id":"s","timestamp":"2027-01-01T00:00:00Z",` + claude + `}`:     memory.HostClaudeCode, // some later version
		`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"hello"}`: memory.HostClaudeCode,
		`{"session_id":"s","transcript_path":"C:\\Users\\dev\\.claude\\projects\\C--shop\\s.jsonl","hook_event_name":"UserPromptSubmit","prompt":"hello"}`: memory.HostClaudeCode,
		`{"session_id":"s","transcript_path":"/home/dev/.factory/projects/shop/s.jsonl","hook_event_name":"UserPromptSubmit","prompt":"hello"}`:            memory.HostDroid,
		`{"session_id":"s","transcript_path":"/home/dev/.gemini/tmp/chats/s.json","timestamp":"t","hook_event_name":"BeforeAgent","prompt":"hello"}`:       memory.HostGemini,
		`{"session_id":"s","transcript_path":"/home/dev/.next/sessions/s.jsonl","hook_event_name":"UserPromptSubmit","prompt":"hello"}`:                    "next",
		`{"session_id":"s","timestamp":"t","hook_event_name":"UserPromptSubmit","prompt":"hello"}`:                                                         memory.HostUnknown,
		`{"sessionId":"s","hookEventName":"UserPromptSubmit","timestamp":"t","prompt":"hello"}`:                                                            memory.HostVSCode,
		`{"sessionId":"s","hookEventName":"UserPromptSubmit","transcriptPath":"/x","prompt":"hello"}`:                                                      memory.HostUnknown,
		`{"conversation_id":"s","hook_event_name":"beforeSubmitPrompt","cursor_version":"2.4","workspace_roots":["/w"],"prompt":"hello"}`:                  memory.HostCursor,
		`{"clineVersion":"3","hookName":"UserPromptSubmit","taskId":"s","workspaceRoots":["/w"],"userPromptSubmit":{"prompt":"hello"}}`:                    "cline",
		`{"client":"My Agent","session":{"id":"s"},"event":"user_prompt","data":{"prompt":"hello"}}`:                                                       "my-agent",
		`{"client":"Agent?! of mine","session":{"id":"s"},"event":"user_prompt","data":{"prompt":"hello"}}`:                                                memory.HostUnknown,
		`{"host":"claude-code","session":{"id":"s"},"event":"user_prompt","data":{"prompt":"hello"}}`:                                                      memory.HostUnknown,
		`{"session_id":"s","event":"UserPromptSubmit","matcher_context":"hello","message":"hello"}`:                                                        memory.HostUnknown,
	} {
		s := newStage(t)
		s.verb = VerbNew
		s.run(payload)
		events := s.spooled()
		if len(events) != 1 || events[0].Host != want || events[0].Prompt != "hello" || events[0].HostSessionID != "s" || s.logged() != nil {
			t.Errorf("%s: got %+v, log %q; want host %s", payload, events, s.logged(), want)
		}
	}
}

// TestCopilotAndVSCode: Copilot CLI is known by its environment where its payloads do not tell, and VS Code
// by its payloads, whichever of the two the hook was installed for.
func TestCopilotAndVSCode(t *testing.T) {
	const copilot, vscode = `{"session_id":"s","timestamp":"t","hook_event_name":"UserPromptSubmit","prompt":"hello"}`, `{"sessionId":"s","hookEventName":"UserPromptSubmit","timestamp":"t","prompt":"hello"}`
	for _, c := range []struct {
		payload     string
		host, want  memory.Host
		variable    string
		mayTellBack bool
	}{
		{copilot, "", memory.HostCopilot, "1", true},
		{copilot, memory.HostCopilot, memory.HostCopilot, "", true},
		{`{"sessionId":"s","timestamp":1,"cwd":"/w","prompt":"hello"}`, memory.HostCopilot, memory.HostCopilot, "1", true},
		{vscode, "", memory.HostVSCode, "1", false},
		{vscode, memory.HostCopilot, memory.HostVSCode, "", false},
		{`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"hello"}`, "", memory.HostClaudeCode, "1", true},
	} {
		s := newStage(t)
		s.host, s.verb, s.env["COPILOT_CLI"] = c.host, VerbNew, c.variable
		w := s.worker()
		w.answerAll("REMEMBERED")
		out := s.run(c.payload)
		_, events := w.seen()
		if len(events) != 1 || events[0].Host != c.want || strings.Contains(out, "REMEMBERED") != c.mayTellBack {
			t.Errorf("--host %s, %s: %+v, reply %q; want host %s", c.host, c.payload, events, out, c.want)
		}
	}
}

// TestLateClosing: Copilot CLI makes its transcript, and writes the closing message into it, after it has
// run the hook.
func TestLateClosing(t *testing.T) {
	s := newStage(t)
	home := t.TempDir()
	s.host, s.verb, s.env["COPILOT_CLI"], s.env["HOME"], s.env["USERPROFILE"] = memory.HostCopilot, VerbSummary, "1", home, home
	w := s.worker()
	w.answerAll("")
	path := filepath.Join(home, "events.jsonl")
	time.AfterFunc(150*time.Millisecond, func() {
		if err := os.WriteFile(path, []byte(`{"type":"assistant.message","data":{"content":"The limiter refills."}}`+"\n"), 0o600); err != nil {
			t.Error(err)
		}
	})
	payload, _ := json.Marshal(map[string]string{"session_id": "s", "timestamp": "t", "hook_event_name": "Stop", "transcript_path": path}) // strings
	s.run(string(payload))
	if _, events := w.seen(); len(events) != 1 || events[0].LastAssistantMessage != "The limiter refills." {
		t.Errorf("%+v", events)
	}
}

// TestNotUnderstood: a payload of which nothing can be made is counted with the names of its members;
// what a host tells and nobody stores is not.
func TestNotUnderstood(t *testing.T) {
	for payload, want := range map[string]string{
		`{"sessionId":"s","weather":{"rain":"SECRETWORD"},"A SECRETWORD of a key that is long":1}`: "members: sessionId, weather",
		`{"sessionId":"s","event":"tool_call","name":"x"}`:                                         "",
		`{"hookEventName":"PreToolUse","sessionId":"s","timestamp":"t","tool_name":"x"}`:           "",
		`{"hook_event_name":"stop"}`: "no session id",
		`{"sessionId":"s","event":"tool_failed","tool_name":"x","output":"SECRETWORD"}`: "",
	} {
		s := newStage(t)
		s.run(payload)
		log := strings.Join(s.logged(), "")
		if (log != "") != (want != "") || !strings.Contains(log, want) || strings.Contains(log, "SECRETWORD") || want != "" && !strings.Contains(log, NotUnderstood+`"`) {
			t.Errorf("%s: log %q, want %q", payload, log, want)
		}
	}
}

// TestFailureByName: a failure that only the event's name tells keeps its output.
func TestFailureByName(t *testing.T) {
	s := newStage(t)
	s.run(`{"sessionId":"s","event":"tool_failed","tool_name":"sh","args":{"cmd":"ls"},"output":"no such file"}`)
	if events := s.spooled(); len(events) != 1 || events[0].ToolError != "no such file" {
		t.Errorf("%+v", events)
	}
}

// TestBrokenOfRawHost: what is no JSON is counted without a look at its members.
func TestBrokenOfRawHost(t *testing.T) {
	for _, input := range []string{`{`, `{"a`, `{"a":`, `{"a":{`, `[1,`, "x", `{"a":"\`} {
		s := newStage(t)
		s.host = memory.HostRaw
		if out := s.run(input); out != "" || len(s.spooled()) != 0 || len(s.logged()) != 1 {
			t.Errorf("%s: stdout %q, log %q", input, out, s.logged())
		}
	}
}

// TestPrivateOfUnknownHost: a private turn of an unknown host is not captured.
func TestPrivateOfUnknownHost(t *testing.T) {
	s := newStage(t)
	for _, payload := range []string{
		`{"hookEventName":"UserPromptSubmit","sessionId":"s","timestamp":"t","prompt":"<private>hello</private>"}`,
		`{"hookEventName":"PostToolUse","sessionId":"s","timestamp":"t","tool_name":"run_in_terminal","tool_input":{"command":"ls"},"tool_response":"x"}`,
	} {
		s.run(payload)
	}
	if events := s.spooled(); len(events) != 0 {
		t.Errorf("captured %+v", events)
	}
}

// TestClosingMessage: a host that does not report the closing message of a turn has it in its transcript.
func TestClosingMessage(t *testing.T) {
	line := func(members ...any) string { b, _ := json.Marshal(members[0]); return string(b) + "\n" }
	type m = map[string]any
	asked := line(m{"type": "user.message", "data": m{"content": "Fix it"}})
	answered := line(m{"type": "assistant.message", "data": m{"content": "The till rounds half up now.", "toolRequests": []any{}}})
	turnEnd := line(m{"type": "assistant.turn_end", "data": m{"turnId": "0"}})
	for name, c := range map[string]struct{ transcript, want string }{
		"VS Code":              {asked + answered + turnEnd, "The till rounds half up now."},
		"an earlier answer":    {asked + answered + asked, ""},
		"Claude Code's form":   {line(m{"type": "user", "message": m{"role": "user", "content": "x"}}) + line(m{"type": "assistant", "message": m{"role": "assistant", "content": []any{m{"type": "thinking", "thinking": "hm"}, m{"type": "text", "text": "Done."}}}}), "Done."},
		"role and content":     {line(m{"role": "user", "content": "x"}) + line(m{"role": "assistant", "content": "Done."}), "Done."},
		"beyond 256 KB":        {strings.Repeat(asked, 10_000) + answered, "The till rounds half up now."},
		"torn":                 {asked + answered + `{"type":"assistant.mess`, "The till rounds half up now."},
		"another format":       {"# Chat\n\nAssistant: hello\n", ""},
		"empty":                {"", ""},
		"one line of 1 MB":     {line(m{"role": "assistant", "content": strings.Repeat("x", 1<<20)}), ""},
		"calls a tool at last": {asked + answered + line(m{"type": "assistant.message", "data": m{"content": "", "toolRequests": []any{m{"name": "x"}}}}), "The till rounds half up now."},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			path := filepath.Join(s.dir, "transcripts", "t.jsonl")
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(c.transcript), 0o600); err != nil {
				t.Fatal(err)
			}
			stop := func(transcript string) string {
				payload, _ := json.Marshal(m{"hookEventName": "Stop", "sessionId": "s", "timestamp": "t", "transcript_path": transcript})
				before := len(s.spooled())
				s.run(string(payload))
				events := s.spooled()
				if len(events) != before+1 {
					t.Fatalf("%d events", len(events))
				}
				return events[before].LastAssistantMessage
			}
			if got := stop(path); got != c.want || (s.logged() == nil) != (c.want != "") {
				t.Errorf("got %.100q, want %q; log %q", got, c.want, s.logged())
			}
			outside := filepath.Join(t.TempDir(), "t.jsonl")
			if err := os.WriteFile(outside, []byte(c.transcript), 0o600); err != nil {
				t.Fatal(err)
			}
			link := filepath.Join(s.dir, "link.jsonl")
			if err := os.Symlink(outside, link); err != nil {
				t.Skip("no links here")
			}
			for _, foreign := range []string{outside, link, filepath.Join(s.dir, "missing"), s.dir, "../t.jsonl"} {
				if got := stop(foreign); got != "" {
					t.Errorf("%s was read: %q", foreign, got)
				}
			}
		})
	}
}
