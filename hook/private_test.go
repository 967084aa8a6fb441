package hook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claudemem"
)

func say(event, session, more string) string {
	return `{"hook_event_name":"` + event + `","session_id":"` + session + `"` + more + `}`
}

// TestPrivateTurn: a wholly private prompt leaves no trace of its turn, in
// either way of delivery, and only of its turn and session.
func TestPrivateTurn(t *testing.T) {
	for _, up := range []bool{true, false} {
		s := newStage(t)
		var w *worker
		if up {
			w = s.worker()
		}
		s.run(say("UserPromptSubmit", "a", `,"prompt":"first"`))
		s.run(say("UserPromptSubmit", "a", `,"prompt":" <private>HUSH</private>\n"`))
		s.run(say("PostToolUse", "a", `,"tool_name":"Bash","tool_input":{"command":"HUSH"}`))
		s.run(say("UserPromptSubmit", "a", `,"prompt":"<task-notification>HUSH</task-notification>"`))
		s.run(say("SubagentStop", "a", `,"agent_id":"x","agent_type":"y","last_assistant_message":"HUSH"`))
		s.run(say("PostToolUse", "b", `,"tool_name":"Read"`))
		s.run(say("PreCompact", "a", ``))
		s.run(say("Stop", "a", `,"last_assistant_message":"HUSH"`))
		s.run(say("UserPromptSubmit", "a", `,"prompt":"second <private>HUSH</private>"`))
		s.run(say("PostToolUse", "a", `,"tool_name":"Edit"`))
		s.run(say("UserPromptSubmit", "a", `,"prompt":"<private>HUSH"`))
		s.run(say("SessionEnd", "a", `,"reason":"clear"`))
		s.run(say("Stop", "a", `,"last_assistant_message":"after the end"`))

		events := s.spooled()
		if up {
			_, events = w.seen()
		}
		var got []string
		for _, e := range events {
			got = append(got, string(e.Kind)+" "+e.HostSessionID+" "+strings.TrimSpace(e.Prompt)+e.ToolName)
		}
		want := []string{"prompt a first", "tool b Read", "prompt a second", "tool a Edit", "session_end a ", "stop a "}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("worker %v: %q, want %q", up, got, want)
		}
		holdsNothing(t, s.data(), "HUSH")
		marks, _ := os.ReadDir(filepath.Join(s.data(), "private"))
		if len(marks) != 0 {
			t.Errorf("marks left: %v", marks)
		}
	}
}

func holdsNothing(t *testing.T, dir, secret string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), secret) || strings.Contains(path, secret) {
			t.Errorf("%s holds %q", path, secret)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestSecretsDoNotReachTheSpool plants one in each field; what is a secret is redact's to say.
func TestSecretsDoNotReachTheSpool(t *testing.T) {
	const key = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	s := newStage(t)
	s.run(say("UserPromptSubmit", "a", `,"prompt":"use `+key+`"`))
	s.run(say("PostToolUse", "a", `,"tool_name":"Bash","tool_input":{"command":"`+key+`"},"tool_response":{"stdout":"`+
		strings.Repeat("x", longestField/2-20)+" "+key+" "+strings.Repeat("x", longestField)+`"}`))
	s.run(say("PostToolUseFailure", "a", `,"tool_name":"Bash","error":"`+key+`"`))
	s.run(say("Stop", "a", `,"last_assistant_message":"`+key+`"`))
	s.run(say("PostToolUse", "a", `,"tool_name":"Read","tool_input":{"file_path":"/p/.env"},"tool_response":{"type":"text","file":{"filePath":"/p/.env","content":"WITHHELD=1"}}`))
	if n := len(s.spooled()); n != 5 {
		t.Errorf("%d events spooled, want 5", n)
	}
	holdsNothing(t, s.data(), key[4:30])
	holdsNothing(t, s.data(), "WITHHELD=1")
}

// TestMachineryIsNoPrompt: text that only tags of machinery carry was not typed.
func TestMachineryIsNoPrompt(t *testing.T) {
	s := newStage(t)
	s.run(say("UserPromptSubmit", "a", `,"prompt":"<system-reminder>be good</system-reminder>"`))
	s.run(say("UserPromptSubmit", "a", `,"prompt":""`))
	events := s.spooled()
	if len(events) != 1 || events[0].Prompt != "" || events[0].Kind != claudemem.KindPrompt {
		t.Errorf("%+v", events)
	}
}

func TestExcludedProjectsStayInTheHook(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		want int
	}{
		"excluded":     {map[string]string{"CLAUDE_MEM_EXCLUDED_PROJECTS": "/other, /nowhere/p*"}, 0},
		"other":        {map[string]string{"CLAUDE_MEM_EXCLUDED_PROJECTS": "/other"}, 1},
		"included":     {map[string]string{"CLAUDE_MEM_INCLUDED_PROJECTS": "/nowhere/*"}, 1},
		"not included": {map[string]string{"CLAUDE_MEM_INCLUDED_PROJECTS": "/other"}, 0},
		"both":         {map[string]string{"CLAUDE_MEM_INCLUDED_PROJECTS": "/nowhere", "CLAUDE_MEM_EXCLUDED_PROJECTS": "p"}, 0},
		"launched in":  {map[string]string{"CLAUDE_MEM_EXCLUDED_PROJECTS": "/launch", "CLAUDE_PROJECT_DIR": "/launch"}, 0},
	} {
		s := newStage(t)
		w := s.worker()
		for key, value := range c.env {
			s.env[key] = value
		}
		s.run(say("Stop", "a", `,"cwd":"/nowhere/p"`))
		out := s.run(start)
		if _, events := w.seen(); len(events) != c.want || (out != "") != (c.want == 1) {
			t.Errorf("%s: %d events, stdout %q", name, len(events), out)
		}
	}
}
