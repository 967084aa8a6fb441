//go:build unix

package world

import (
	"fmt"
	"path/filepath"
)

// TurnTools is the number of tool events between a prompt and its stop.
const TurnTools = 10

// CrashPayloads are the events of one session: turns of a prompt, turnTools
// edits of a file that no other turn touches, and a stop.
func CrashPayloads(session, count int) (verbs []string, payloads []map[string]any) {
	id := fmt.Sprintf("crash-session-%d", session)
	turn := 0
	for len(payloads) < count {
		in := len(payloads) % (TurnTools + 2)
		if in == 0 {
			turn++
		}
		p := map[string]any{"session_id": id, "cwd": "/nonexistent/project", "prompt_id": fmt.Sprintf("%s-prompt-%d", id, turn)}
		verb := "save"
		file := fmt.Sprintf("/nonexistent/project/src/session%d_turn%d.go", session, turn)
		switch {
		case in == 0:
			verb = "new"
			p["hook_event_name"], p["prompt"] = "UserPromptSubmit", fmt.Sprintf("Add handler %d for client %d", turn, session)
		case in == TurnTools+1 || len(payloads) == count-1:
			verb = "summary"
			p["hook_event_name"], p["last_assistant_message"] = "Stop", fmt.Sprintf("Added handler %d for client %d in %s.", turn, session, filepath.Base(file))
		default:
			p["hook_event_name"], p["tool_name"] = "PostToolUse", "Edit"
			p["tool_use_id"] = fmt.Sprintf("%s-tool-%d", id, len(payloads))
			p["tool_input"] = map[string]any{"file_path": file, "old_string": "a", "new_string": fmt.Sprintf("line %d", in)}
			p["tool_response"] = map[string]any{"filePath": file, "oldString": "a", "newString": fmt.Sprintf("line %d", in)}
		}
		verbs, payloads = append(verbs, verb), append(payloads, p)
	}
	return verbs, payloads
}
