package capture

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claudemem/internal/capture/hook"
	"claudemem/internal/capture/toolcall"
	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
)

// hostShape is a payload of a host without an adapter.
type hostShape struct {
	Source string      `json:"source"`
	Host   memory.Host `json:"host"`
	// Installed is the host of the hooks that install --host registers with that agent.
	Installed memory.Host     `json:"installed"`
	What      string          `json:"what"` // prompt, edit, command, passed, failed, end or nothing
	Want      string          `json:"want"`
	Verb      hook.Verb       `json:"verb"`
	Payload   json.RawMessage `json:"payload"`
}

// run sends the payload to Claude Code's hook and returns what is wrong with what became of it, "" if
// nothing is, and whether hook.log counts it as not understood.
func (s hostShape) run(t *testing.T, as memory.Host) (fault string, counted bool) {
	t.Helper()
	dir := t.TempDir()
	var out bytes.Buffer
	hook.Run(hook.Options{
		Verb: s.Verb, Host: as, Stdin: bytes.NewReader(s.Payload), Stdout: &out, DataDir: dir, StartWorker: func(string) error { return nil },
		Getenv: func(key string) string {
			return map[string]string{"HOME": dir, "CLAUDE_MEM_DATA_DIR": dir, "CLAUDE_MEM_SLACK": "30s", "COPILOT_CLI": map[bool]string{true: "1"}[strings.Contains(s.Source, "copilot")]}[key]
		},
	})
	log, _ := os.ReadFile(filepath.Join(dir, "logs", "hook.log"))
	counted = strings.Contains(string(log), hook.NotUnderstood)
	spool := wire.SpoolOf(dir)
	names, err := spool.List(time.Now())
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if s.What == "nothing" {
		if len(names) != 0 || counted {
			return fmt.Sprintf("%d events, log %s", len(names), log), counted
		}
		return "", counted
	}
	if len(names) != 1 {
		return fmt.Sprintf("%d events, log %s", len(names), log), counted
	}
	entry, err := spool.Read(names[0])
	if err != nil {
		t.Fatal(err)
	}
	e := entry.Event
	if e.Host != s.Host && e.Host != as {
		t.Errorf("stored under %s, want %s: %s", e.Host, s.Host, s.Payload)
	}
	call := toolcall.Call{}
	if e.Kind == memory.KindTool {
		call = toolcall.Parse(e)
	}
	right := false
	switch s.What {
	case "prompt":
		right = e.Kind == memory.KindPrompt && e.Prompt == s.Want
	case "edit":
		right = call.Tool == toolcall.ToolEdit && call.Path == s.Want && call.Role == memory.FileModified
	case "command", "passed", "failed":
		right = call.Tool == toolcall.ToolCommand && call.Line == s.Want && e.Failed() == (s.What == "failed") && len(call.Checks) == 1 && call.Checks[0].Passed != (s.What == "failed")
	case "end":
		right = (e.Kind == memory.KindStop || e.Kind == memory.KindSessionEnd) && e.LastAssistantMessage == s.Want
	}
	if !right {
		return fmt.Sprintf("became %s %q%q, tool %s %s %s%s, log %s", e.Kind, e.Prompt, e.LastAssistantMessage, e.ToolName, e.ToolInput, e.ToolResponse, e.ToolError, log), counted
	}
	return "", counted
}

// madeUp makes a payload of an agent that does not exist: how it spells and nests is drawn.
type madeUp struct {
	*rand.Rand
	camel, flat, named, ids, verbs bool
}

func (m madeUp) of(words ...string) string { return words[m.IntN(len(words))] }

// spelt returns a name in snake_case as this agent spells it.
func (m madeUp) spelt(name string) string {
	if !m.camel {
		return name
	}
	parts := strings.Split(name, "_")
	for i := range parts[1:] {
		parts[i+1] = strings.ToUpper(parts[i+1][:1]) + parts[i+1][1:]
	}
	return strings.Join(parts, "")
}

// shape returns the payload of an event. verb is the hook that it reaches, "" where a hook without one
// was registered.
func (m madeUp) shape(what string) hostShape {
	s := hostShape{Host: memory.HostUnknown, What: what}
	outer, inner := map[string]any{}, map[string]any{}
	put := func(to map[string]any, name string, value any) { to[m.spelt(name)] = value }
	if m.ids {
		put(outer, m.of("session_id", "conversation_id", "thread_id", "chat_id"), "s-1")
	}
	put(outer, m.of("cwd", "working_directory", "workspace_path", "project_root"), "/home/dev/shop")
	put(outer, m.of("ts", "time", "seq"), 12)
	event := ""
	switch what {
	case "prompt":
		s.Want, s.Verb, event = "Why does the till round down?", hook.VerbNew, m.of("user_prompt", "prompt_submitted", "on_user_message", "prompt.submit")
		put(inner, m.of("prompt", "user_prompt", "user_message"), s.Want)
	case "edit":
		s.Want, s.Verb, event = "src/till.ts", hook.VerbSave, m.of("tool_finished", "after_tool_call", "tool.completed", "post_tool_use")
		input := map[string]any{}
		put(input, m.of("path", "file", "file_path", "target_file", "absolute_path"), "/home/dev/shop/src/till.ts")
		switch m.IntN(3) {
		case 0:
			put(input, m.of("old_text", "old_str", "search", "before"), "floor")
			put(input, m.of("new_text", "new_str", "replace", "after"), "round")
		case 1:
			put(input, m.of("content", "file_text", "contents"), "export {}\n")
		default:
			put(input, m.of("edits", "changes", "replacements"), []any{map[string]any{m.spelt("old_text"): "floor", m.spelt("new_text"): "round"}})
		}
		m.tool(inner, input, m.of("patch_file", "modify", "fs.write", "str_edit"), "Saved.", 0)
	case "failed", "passed":
		s.Want, s.Verb, event = "npm test", hook.VerbSave, m.of("tool_finished", "after_tool_call", "tool.completed", "post_tool_use")
		input := map[string]any{}
		put(input, m.of("command", "cmd", "command_line"), "npm test")
		output, exit := "Tests: 12 passed, 12 total", 0
		if what == "failed" {
			output, exit = "Tests: 1 failed, 11 passed, 12 total", 1
		}
		m.tool(inner, input, m.of("terminal", "sh", "run", "exec"), output, exit)
	case "end":
		s.Want, s.Verb, event = "The till rounds half up now.", hook.VerbSummary, m.of("turn_end", "agent_finished", "response_done", "stop")
		put(inner, m.of("last_message", "response", "final_answer", "assistant_message"), s.Want)
	}
	if !m.verbs {
		s.Verb = ""
	}
	if m.named || s.Verb == "" {
		put(outer, m.of("event", "event_name", "type", "hook"), event)
	}
	if m.flat {
		maps.Copy(outer, inner)
	} else {
		put(outer, m.of("data", "payload", "details", "body"), inner)
	}
	s.Payload, _ = json.Marshal(outer) // texts, numbers and lists
	return s
}

// tool adds a call and what came of it.
func (m madeUp) tool(to, input map[string]any, name, output string, exit int) {
	put := func(to map[string]any, name string, value any) { to[m.spelt(name)] = value }
	result := map[string]any{m.of("output", "stdout", "text"): output, m.spelt("exit_code"): exit}
	switch m.IntN(3) {
	case 0:
		result = map[string]any{m.of("content", "message"): output, m.of("success", "ok"): exit == 0}
	case 1:
		result = map[string]any{"output": output, "status": []string{"completed", "failed"}[exit]}
	}
	switch m.IntN(3) {
	case 0: // an object of its own
		to["tool"] = map[string]any{"name": name, m.of("input", "arguments", "params"): input, m.of("result", "output", "response"): result}
	case 1:
		packed, _ := json.Marshal(input) // texts and lists
		put(to, "tool_name", name)
		put(to, m.of("tool_args", "arguments"), string(packed))
		put(to, m.of("tool_result", "tool_output"), result)
	default:
		put(to, m.of("tool_name", "tool"), name)
		put(to, m.of("tool_input", "args", "parameters"), input)
		put(to, m.of("tool_response", "result"), result)
	}
}

// TestHostShapes sends payloads of agents that no adapter knows to Claude Code's hooks: those of public
// documents, and those that are made up. At least nine of ten are understood, and the others counted.
func TestHostShapes(t *testing.T) {
	var documented, invented []hostShape
	file, err := os.Open(filepath.Join("..", "..", "..", "testdata", "host-shapes", "documented.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var s hostShape
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		documented = append(documented, s)
	}
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 7))
		m := madeUp{random, seed%2 == 0, seed%3 != 0, seed%5 != 0, seed%4 != 3, seed%7 < 4}
		for _, what := range []string{"prompt", "edit", "passed", "failed", "end"} {
			invented = append(invented, m.shape(what))
		}
	}
	for name, list := range map[string][]hostShape{"documented": documented, "made up": invented} {
		understood, counted := 0, 0
		for _, s := range list {
			if s.Installed != "" {
				if fault, _ := s.run(t, s.Installed); fault != "" {
					t.Errorf("--host %s: %s: %s", s.Installed, s.Payload, fault)
				}
			}
			fault, told := s.run(t, "")
			if fault == "" {
				understood++
				continue
			}
			if told {
				counted++
			}
			t.Logf("%s of %s (verb %q): %s: %s", s.What, s.Source, s.Verb, s.Payload, fault)
		}
		if understood*10 < len(list)*9 || understood+counted < len(list) {
			t.Errorf("%s: of %d payloads %d were understood and %d counted", name, len(list), understood, counted)
		}
		t.Logf("point 3: %s: %d of %d payloads understood, %d counted", name, understood, len(list), counted)
	}
}
