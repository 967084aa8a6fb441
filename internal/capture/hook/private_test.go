package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
		s.run(say("UserPromptSubmit", "a", `,"prompt":"<system-reminder>HUSH</system-reminder>"`))
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

// TestPrivateForms checks the forms of private tags that intake checks too, before anything
// leaves the hook.
func TestPrivateForms(t *testing.T) {
	s := newStage(t)
	for n, text := range []string{"do it <private> hush", "do it &lt;private&gt; hush", "do it <\u00a0private> hush", "do it <pri\u200bvate> hush", "do it \uff1cprivate\uff1e hush"} {
		s.run(say("UserPromptSubmit", fmt.Sprint("s", n), `,"prompt":"`+text+`"`))
	}
	for n, blocks := range []string{
		`[{"type":"text","text":"a <private> b"},{"type":"text","text":"hush"}]`,
		`{"content":[{"type":"text","text":"<private>"},{"type":"text","text":"x"},{"type":"text","text":"hush"}]}`,
		`[{"type":"text","text":"a &lt;private&gt;hush&lt;/private&gt; b"}]`,
	} {
		s.run(say("PostToolUse", fmt.Sprint("t", n), `,"tool_name":"mcp__a__b","tool_use_id":"t","tool_input":{},"tool_response":`+blocks))
	}
	if n := len(s.spooled()); n != 8 {
		t.Errorf("%d events spooled, want 8", n)
	}
	holdsNothing(t, s.data(), "hush")
	s.run(say("PostToolUse", "a", `,"tool_name":"mcp__a__b","tool_use_id":"u","tool_input":{},"tool_response":"write &lt;private&gt; before it"`))
	if events := s.spooled(); !strings.Contains(string(events[len(events)-1].ToolResponse), "before it") {
		t.Error("text about the tag is gone")
	}
}

// TestMachineryIsNoPrompt: text that only tags of machinery carry was not typed, nor were blanks.
func TestMachineryIsNoPrompt(t *testing.T) {
	s := newStage(t)
	s.run(say("UserPromptSubmit", "a", `,"prompt":"<system-reminder>be good</system-reminder>"`))
	s.run(say("UserPromptSubmit", "a", `,"prompt":""`))
	s.run(say("UserPromptSubmit", "a", `,"prompt":" \n"`))
	if events := s.spooled(); len(events) != 0 {
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

// TestPrivateTurnWithoutMark: where private/ cannot be used, the mark goes to another
// place; where none can, the worker is told, and without one nothing of the turn is
// kept. Later turns go on, and the user is told at session start.
func TestPrivateTurnWithoutMark(t *testing.T) {
	file := func(t *testing.T, path string) string {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	readOnly := func(t *testing.T, path string) string {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(path, 0o500); err != nil {
			t.Fatal(err)
		}
		if os.WriteFile(filepath.Join(path, "probe"), nil, 0o600) == nil {
			t.Skip("modes mean nothing to this user")
		}
		return path
	}
	for name, c := range map[string]struct {
		private, temp func(*testing.T, string) string
		marked        bool
	}{
		"private is a file":                   {file, nil, true},
		"private is read-only":                {readOnly, nil, true},
		"private and TMPDIR are files":        {file, file, false},
		"private and TMPDIR are read-only":    {readOnly, readOnly, false},
		"private is a file, TMPDIR read-only": {file, readOnly, false},
	} {
		for _, up := range []bool{true, false} {
			t.Run(name+map[bool]string{true: ", worker", false: ", no worker"}[up], func(t *testing.T) {
				s := newStage(t)
				var w *worker
				if up {
					w = s.worker()
				}
				c.private(t, filepath.Join(s.data(), "private"))
				s.env["TMPDIR"] = filepath.Join(s.dir, "tmp")
				if c.temp != nil {
					c.temp(t, s.env["TMPDIR"])
				}
				s.options = func(o *Options) {
					o.Fallback = noBlock
					o.StartWorker = func(string) error { return errNoBinary } // so that none is waited for
				}
				told := s.run(start)
				s.run(say("UserPromptSubmit", "a", `,"prompt_id":"p1","prompt":"<private>HUSH</private>"`))
				s.run(say("PostToolUse", "a", `,"prompt_id":"p1","tool_name":"Bash","tool_input":{"command":"private"}`))
				s.run(say("Stop", "a", `,"prompt_id":"p1","last_assistant_message":"private"`))
				s.run(say("UserPromptSubmit", "a", `,"prompt_id":"p2","prompt":"open"`))
				s.run(say("PostToolUse", "a", `,"prompt_id":"p2","tool_name":"Edit"`))

				events := s.spooled()
				if up {
					_, events = w.seen()
				}
				var got []string
				for _, e := range events {
					line := string(e.Kind) + " " + e.PromptID + " " + e.Prompt + e.ToolName
					if e.Unmarked {
						line += " unmarked"
					}
					got = append(got, line)
				}
				want := []string{"prompt p2 open", "tool p2 Edit"}
				switch {
				case !c.marked && up: // TestUnmarkedEvents of intake tells which of these are kept
					want = []string{"prompt p1 <private></private>", "tool p1 Bash unmarked", "stop p1  unmarked", "prompt p2 open", "tool p2 Edit unmarked"}
				case !c.marked:
					want = []string{"prompt p2 open"}
				}
				if strings.Join(got, "|") != strings.Join(want, "|") {
					t.Errorf("%q, want %q", got, want)
				}
				holdsNothing(t, s.data(), "HUSH")
				if strings.Contains(told, "nothing is captured") == c.marked || strings.Contains(told, "private is a file") != strings.Contains(name, "file") {
					t.Errorf("told at session start: %q", told)
				}
			})
		}
	}
}
