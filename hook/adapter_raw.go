package hook

import (
	"claudemem"
	"claudemem/jsonscan"
)

// decodeRaw parses the payload of a host without an adapter of its own: the members
// of Claude Code's payloads, in camelCase or snake_case. The verb names the event
// where the payload does not.
func decodeRaw(input []byte, verb Verb, m *moment) error {
	prompt := wrongType
	if err := jsonscan.Members(input, func(key string, value []byte) {
		switch key = snake(key); key {
		case "prompt", "user_prompt":
			prompt = textOf(value)
		case "host_session_id", "content_session_id":
			m.set("session_id", value)
		case "event", "kind", "event_name":
			m.set("hook_event_name", value)
		case "tool_result", "tool_output":
			m.set("tool_response", value)
		case "tool_error":
			m.set("error", value)
		case "project", "project_path", "project_dir":
			m.projectDir, _ = jsonscan.Unquote(value)
		default:
			m.set(key, value)
		}
	}); err != nil {
		return err
	}
	m.name = rawName(m.name, verb, &m.event)
	m.classify()
	return m.setPrompt(prompt)
}

// rawName translates the name of a kind of event, or else the verb, to Claude Code's name.
func rawName(name string, verb Verb, e *claudemem.Event) string {
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
	case "":
		return eventOf(verb, e)
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
