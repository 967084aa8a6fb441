package hook

import (
	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/memory"
)

// rawAdapter is for a host without an adapter of its own: it sends the members of Claude
// Code's payloads, in camelCase or snake_case (docs/hosts.md).
var rawAdapter = adapter{host: memory.HostRaw, member: rawMember, event: rawName}

// rawMember takes the directory of the project and returns Claude Code's name of any other
// member.
func rawMember(p *payload, key string, value []byte) string {
	if key = rawKey(key); key != "project_dir" {
		return key
	}
	p.projectDir, _ = jsonscan.Unquote(value)
	return ""
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
func rawName(name string, e *memory.Event) string {
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
