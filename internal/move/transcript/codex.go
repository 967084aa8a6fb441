package transcript

import (
	"cmp"
	"slices"
	"strings"

	"claudemem/internal/leaf/jsonscan"
)

// codexMeta is the kind of the record that begins a session of Codex CLI.
const codexMeta = "session_meta"

// parseCodexMeta fills in the record of a session's beginning from its payload. A session of a subagent,
// whose source is an object, is hidden.
func (r *record) parseCodexMeta() {
	var source []byte
	_ = jsonscan.Decode(r.payload, map[string]any{"id": &r.session, "cwd": &r.cwd, "forked_from_id": &r.forkedFrom.session, "source": &source})
	r.hidden = len(source) > 0 && source[0] == '{'
}

// codexSilent are the kinds of records of Codex CLI that say nothing that is not said by others.
var codexSilent = []string{"compacted", "world_state", "token_usage_record", "inter_agent_communication", "inter_agent_communication_metadata"}

// takeCodex takes a line of Codex CLI in. A turn has an id from about version 0.80 on, which is in all
// records of its events; the prompt is told by the event of the user's message, not by the items that the
// model is sent, which the host adds to. It returns false for a line that is no record.
func (p *Parser) takeCodex(line []byte) bool {
	var kind, at string
	var payload []byte
	if jsonscan.Decode(line, map[string]any{"type": &kind, "timestamp": &at, "payload": &payload}) != nil || kind == "" {
		return false
	}
	var f struct {
		kind, turn, cwd, call, name, space, message, answer     string
		arguments, input, output, action, item, content, result []byte
	}
	_ = jsonscan.Decode(payload, map[string]any{ // else nothing is told
		"type": &f.kind, "turn_id": &f.turn, "cwd": &f.cwd, "call_id": &f.call, "name": &f.name, "namespace": &f.space, "message": &f.message,
		"last_agent_message": &f.answer, "arguments": &f.arguments, "input": &f.input, "output": &f.output, "action": &f.action, "item": &f.item,
	})
	p.setTime(at)
	p.now.promptID, p.now.cwd = cmp.Or(f.turn, p.now.promptID), cmp.Or(f.cwd, p.now.cwd)
	if f.kind == "item_completed" {
		_ = jsonscan.Decode(f.item, map[string]any{"type": &f.kind, "id": &f.call, "content": &f.content, "result": &f.result})
	}
	switch f.kind {
	case "user_message", "UserMessage":
		p.hooked("UserPromptSubmit", "turn_id", p.now.promptID, "prompt", cmp.Or(f.message, contentText(f.content)))
	case "task_complete":
		if f.answer != "" {
			p.hooked("Stop", "turn_id", p.now.promptID, "last_assistant_message", f.answer)
		}
	case "function_call", "custom_tool_call", "local_shell_call":
		name, input := codexCall(cmp.Or(f.name, "local_shell"), f.space, cmp.Or(string(f.arguments), string(f.input), string(f.action)))
		if name == "" || f.call == "" {
			p.Counts.Unknown++ // no hook is told of it
			break
		}
		p.addCall(call{f.call, name, input})
	case "McpToolCall":
		p.endCodexCall(f.call, f.result)
	case "function_call_output", "custom_tool_call_output":
		p.endCodexCall(f.call, f.output)
	default:
		if kind != codexMeta && kind != "turn_context" && kind != "event_msg" && kind != "response_item" && !slices.Contains(codexSilent, kind) {
			p.Counts.Unknown++
		}
	}
	return true
}

// codexCall returns the tool and the input that a hook is given for a call, "" for one that no hook is
// told of. The arguments are a JSON string, with JSON or a patch.
func codexCall(name, space, arguments string) (tool string, input []byte) {
	text, ok := jsonscan.Unquote([]byte(arguments))
	if !ok {
		text = arguments
	}
	switch name = strings.TrimPrefix(space+"__"+name, "__"); {
	case name == "apply_patch":
		_ = jsonscan.Decode([]byte(text), map[string]any{"input": &text}) // of older versions; else it is the patch
		return name, jsonscan.Object("command", text)
	case strings.HasPrefix(name, "mcp__"):
		return name, []byte(text)
	case name != "exec_command" && name != "local_shell" && name != "container.exec" && !strings.HasPrefix(name, "shell"):
		return "", nil
	}
	var command string
	var list []byte
	_ = jsonscan.Decode([]byte(text), map[string]any{"cmd": &command, "command": &list})
	if whole, ok := jsonscan.Unquote(list); ok {
		command = whole
	} else if len(list) > 0 && list[0] == '[' {
		var words []string
		jsonscan.Parts(list, func(_ string, value []byte) {
			word, _ := jsonscan.Unquote(value)
			words = append(words, word)
		})
		if len(words) == 3 && strings.HasPrefix(words[1], "-") { // bash -lc "…"
			words = words[2:]
		}
		command = strings.Join(words, " ")
	}
	return "Bash", jsonscan.Object("command", command)
}

// endCodexCall makes an event of what a call has returned. Of a command line it is the output, without the
// lines for the model before it.
func (p *Parser) endCodexCall(id string, output []byte) {
	c, ok := p.takeCall(id)
	if !ok || len(output) == 0 {
		return
	}
	if text, ok := jsonscan.Unquote(output); ok {
		if refused(text) {
			return
		}
		_ = jsonscan.Decode([]byte(text), map[string]any{"output": &text}) // of older versions
		if head, rest, ok := strings.Cut(text, "\nOutput:\n"); ok && c.name == "Bash" && strings.Contains(head, "Wall time: ") {
			text = rest
		}
		output = jsonscan.AppendQuote(nil, text)
	}
	p.hooked("PostToolUse", "turn_id", p.now.promptID, "tool_name", c.name, "tool_input", c.input, "tool_response", output, "tool_use_id", id)
}
