package hook

import (
	"claudemem"
	"claudemem/jsonscan"
)

// decode parses the members that are needed of a host's payload; tool_input and
// tool_response stay raw JSON. The verb names the event where the payload does not.
// A host without an adapter of its own (raw) sends the members of Claude Code's
// payloads, in camelCase or snake_case.
func (p *payload) decode(input []byte, host claudemem.Host, verb Verb) error {
	if err := jsonscan.Members(input, func(key string, value []byte) {
		if host == claudemem.HostRaw {
			key = rawKey(key)
			if key == "project_dir" {
				p.projectDir, _ = jsonscan.Unquote(value)
			}
		}
		p.set(key, value)
	}); err != nil {
		return err
	}
	if host == claudemem.HostRaw {
		p.name = rawName(p.name, &p.event)
	}
	if p.name == "" {
		p.name = eventOf(verb, &p.event)
	}
	p.classify()
	return p.setPrompt()
}

// setPrompt sets the event's prompt when it is one. A note that the host sends when a
// background task ends is no prompt; what the user typed behind it is.
func (p *payload) setPrompt() error {
	if p.verb != VerbNew {
		return nil
	}
	if !p.promptIsText {
		return errWrongPrompt
	}
	p.event.Prompt = claudemem.TypedText(p.prompt)
	if p.event.Prompt == "" && p.prompt != "" {
		p.verb = ""
	}
	return nil
}

// rawKey returns Claude Code's name of a member of a raw payload.
func rawKey(key string) string {
	switch key = snake(key); key {
	case "user_prompt":
		return "prompt"
	case "host_session_id", "content_session_id":
		return "session_id"
	case "event", "kind", "event_name":
		return "hook_event_name"
	case "tool_result", "tool_output":
		return "tool_response"
	case "tool_error":
		return "error"
	case "project", "project_path":
		return "project_dir"
	}
	return key
}

// rawName translates the name of a kind of event to Claude Code's name of the event.
func rawName(name string, e *claudemem.Event) string {
	switch name {
	case "session_start":
		return "SessionStart"
	case "prompt":
		return "UserPromptSubmit"
	case "tool":
		return eventOf(VerbSave, e)
	case "stop":
		return "Stop"
	case "session_end":
		return "SessionEnd"
	case "flush":
		return "PreCompact"
	}
	return name
}

// eventOf returns Claude Code's name for the event that a verb is run for, "" for none.
func eventOf(verb Verb, e *claudemem.Event) string {
	switch verb {
	case VerbContext:
		return "SessionStart"
	case VerbNew:
		return "UserPromptSubmit"
	case VerbSave:
		if e.ToolError != "" {
			return "PostToolUseFailure"
		}
		return "PostToolUse"
	case VerbSummary:
		if e.AgentID != "" {
			return "SubagentStop"
		}
		return "Stop"
	case VerbEnd:
		return "SessionEnd"
	}
	return ""
}

// snake converts camelCase to snake_case; snake_case stays as it is.
func snake(key string) string {
	if len(key) > 64 {
		return key // none of ours
	}
	b := make([]byte, 0, 64)
	for i := range len(key) {
		c := key[i]
		if 'A' <= c && c <= 'Z' {
			if i > 0 && (key[i-1] < 'A' || 'Z' < key[i-1]) { // sessionID as well as sessionId
				b = append(b, '_')
			}
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return string(b)
}
