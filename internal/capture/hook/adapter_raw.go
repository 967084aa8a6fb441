package hook

import "claudemem/internal/memory"

// rawAdapter is for a host without an adapter of its own: it sends the members of Claude
// Code's payloads, in camelCase or snake_case (docs/hosts.md).
var rawAdapter = adapter{
	host:      memory.HostRaw,
	camelCase: true,
	members: names{
		{"user_prompt", "prompt"}, {"host_session_id", "session_id"}, {"content_session_id", "session_id"},
		{"event", "hook_event_name"}, {"kind", "hook_event_name"}, {"event_name", "hook_event_name"},
		{"tool_result", "tool_response"}, {"tool_output", "tool_response"}, {"tool_error", "error"},
		{"project", "project_dir"}, {"project_path", "project_dir"},
	},
	events: names{
		{"session_start", "SessionStart"}, {"prompt", "UserPromptSubmit"}, {"tool", aToolCall}, {"stop", "Stop"},
		{"session_end", "SessionEnd"}, {"flush", "PreCompact"},
	},
	take: takeProjectDir,
}

// snake converts camelCase to snake_case; snake_case stays as it is. A key above 64 bytes, which is
// none of ours, is returned as it is.
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
