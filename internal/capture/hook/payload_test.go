package hook

import (
	"strings"
	"testing"

	"claudemem/internal/memory"
)

func TestAgentRunHasOneID(t *testing.T) {
	s := newStage(t)
	all := fixtures(t)
	for _, name := range []string{"SubagentStop", "PostToolUse-Agent", "PostToolUse-Agent-background"} {
		s.run(all[name])
	}
	events := s.spooled()
	if len(events) != 3 {
		t.Fatalf("%d events", len(events))
	}
	if events[0].ToolUseID != "agent:a1a378c7a2846d8b7" || events[1].ToolUseID != events[0].ToolUseID {
		t.Errorf("ids %q and %q", events[0].ToolUseID, events[1].ToolUseID)
	}
	if events[2].ToolUseID != "toolu_fake_000009_0" {
		t.Errorf("a launched agent has id %q", events[2].ToolUseID)
	}
}

func TestRawHost(t *testing.T) {
	cases := map[string]struct {
		verb  Verb
		input string
		want  string
	}{
		"camelCase": {"", `{"hookEventName":"PostToolUse","sessionId":"s","toolName":"Bash","toolInput":{"command":"ls"},"toolResponse":{"stdout":"x"},"toolUseId":"t1","durationMs":5}`,
			`tool s Bash t1 {"command":"ls"} {"stdout":"x"}`},
		"snake_case":      {"", `{"event":"tool","session_id":"s","tool_name":"Bash","tool_input":"x","tool_use_id":"t1"}`, `tool s Bash t1 "x" `},
		"failure":         {VerbSave, `{"sessionId":"s","toolName":"Bash","error":"no"}`, `tool s Bash   no`},
		"kind of failure": {"", `{"kind":"tool","sessionID":"s","toolName":"Bash","error":"no"}`, `tool s Bash   no`},
		"verb names it":   {VerbNew, `{"contentSessionId":"s","prompt":"hello"}`, `prompt s hello`},
		"stop":            {VerbSummary, `{"hostSessionId":"s","lastAssistantMessage":"done"}`, `stop s done`},
		"end":             {VerbEnd, `{"sessionId":"s","reason":"quit"}`, `session_end s quit`},
		"other verb":      {VerbEnd, `{"event":"prompt","sessionId":"s","prompt":"x"}`, ``},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.host, s.verb = memory.HostRaw, c.verb
			if out := s.run(c.input); out != "" {
				t.Errorf("stdout %q", out)
			}
			got := ""
			for _, e := range s.spooled() {
				parts := []string{string(e.Kind), e.HostSessionID}
				if e.Kind == memory.KindTool {
					parts = append(parts, e.ToolName, e.ToolUseID, string(e.ToolInput), string(e.ToolResponse)+e.ToolError)
				} else {
					parts = append(parts, e.Prompt+e.LastAssistantMessage+e.Reason)
				}
				if e.Host != memory.HostRaw {
					t.Errorf("host %q", e.Host)
				}
				got += strings.Join(parts, " ")
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestUnnamedEvent: where a payload does not name its event, the verb does.
func TestUnnamedEvent(t *testing.T) {
	for verb, c := range map[Verb]struct{ fields, want string }{
		VerbNew:     {`"prompt":"hello"`, "prompt hello"},
		VerbSave:    {`"tool_name":"Bash","tool_input":{}`, "tool "},
		VerbSummary: {`"last_assistant_message":"done"`, "stop done"},
		VerbEnd:     {`"reason":"other"`, "session_end other"},
	} {
		s := newStage(t)
		s.verb = verb
		s.run(`{"session_id":"s",` + c.fields + `}`)
		got := ""
		for _, e := range s.spooled() {
			got += string(e.Kind) + " " + e.Prompt + e.LastAssistantMessage + e.Reason
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", verb, got, c.want)
		}
	}
	s := newStage(t)
	s.verb = VerbSummary
	s.run(`{"session_id":"s","agent_id":"a1","agent_type":"Explore","last_assistant_message":"found"}`)
	if events := s.spooled(); len(events) != 1 || events[0].ToolUseID != "agent:a1" {
		t.Errorf("a subagent's end: %+v", events)
	}
}

// TestWordsBehindNotification: what the user typed behind a host's note is kept.
func TestWordsBehindNotification(t *testing.T) {
	s := newStage(t)
	s.run(`{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt":"<task-notification>\n<status>completed</status>\n</task-notification>\nNow fix the parser"}`)
	if events := s.spooled(); len(events) != 1 || events[0].Prompt != "Now fix the parser" {
		t.Errorf("%+v", events)
	}
}

func TestSnake(t *testing.T) {
	for in, want := range map[string]string{
		"sessionId": "session_id", "sessionID": "session_id", "session_id": "session_id", "Cwd": "cwd", "": "",
		"lastAssistantMessage": "last_assistant_message",
	} {
		if got := snake(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestUnlistedHost: a host that --host names and that has no adapter is understood by shape.
func TestUnlistedHost(t *testing.T) {
	s := newStage(t)
	s.host = "emacs"
	if out, events := s.run(stop), s.spooled(); out != "" || len(events) != 1 || events[0].Host != "emacs" || events[0].Kind != memory.KindStop || s.logged() != nil {
		t.Errorf("stdout %q, log %q, events %+v", out, s.logged(), events)
	}
	s.run(`{"nothing":"SECRETWORD"}`)
	if log := s.logged(); len(log) != 1 || !strings.Contains(log[0], NotUnderstood) || !strings.Contains(log[0], "emacs") || !strings.Contains(log[0], "members: nothing") || strings.Contains(log[0], "SECRETWORD") {
		t.Errorf("log %q", log)
	}
}

func TestArguments(t *testing.T) {
	for in, want := range map[string]string{
		"save":              "save  false",
		"":                  "  false",
		"--host raw new":    "new raw false",
		"new --host=gemini": "new gemini false",
		"new --host claude": "new claude-code false",
		"end --host":        "end  false",
		"save --what x":     "save  false",
		"--help":            "  true",
	} {
		verb, host, help := parseArguments(strings.Fields(in))
		got := string(verb) + " " + string(host) + " false"
		if help {
			got = string(verb) + " " + string(host) + " true"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestDeepPayload captures an event whose input is nested deeper than any parser follows:
// what is too deep is left out, and says so.
func TestDeepPayload(t *testing.T) {
	for _, depth := range []int{400, 511, 513, 10_000, 1_000_000} {
		s := newStage(t)
		s.run(`{"hook_event_name":"PostToolUse","session_id":"s","tool_name":"mcp__tree__get","tool_input":{"path":"a","tree":` +
			strings.Repeat(`[`, depth) + strings.Repeat(`]`, depth) + `},"tool_response":{"stdout":"found it"}}`)
		events := s.spooled()
		if len(events) != 1 {
			t.Errorf("depth %d: %d events, log %q", depth, len(events), s.logged())
			continue
		}
		input := string(events[0].ToolInput)
		if !strings.Contains(input, `"path":"a"`) || string(events[0].ToolResponse) != `{"stdout":"found it"}` {
			t.Errorf("depth %d: captured %.200s, %s", depth, input, events[0].ToolResponse)
		}
		if depth > 512 && !strings.Contains(input, "bytes cut]") {
			t.Errorf("depth %d: the input does not say that it was cut: %.200s", depth, input)
		}
		if events[0].Host != memory.HostClaudeCode || events[0].ProjectPath == "" && events[0].Cwd != "" {
			t.Errorf("depth %d: %+v", depth, events[0])
		}
	}
}
