package hook

import (
	"bytes"
	"encoding/json"
	"strings"

	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/memory"
)

// cursorAdapter is for Cursor. Its payloads are from its documentation, since it has no
// program that runs without a login; see testdata/cursor-hooks. A conversation is a session,
// a generation the answer to one prompt. The final answer is in afterAgentResponse, which
// ends the turn; stop, which does not have it, only flushes.
var cursorAdapter = adapter{
	host: memory.HostCursor, silent: eventPrompt,
	members: names{
		{"conversation_id", "session_id"}, {"generation_id", "prompt_id"}, {"tool_output", "tool_response"},
		{"error_message", "error"}, {"duration", "duration_ms"}, {"text", "last_assistant_message"},
	},
	events: names{
		{"sessionStart", "SessionStart"}, {"beforeSubmitPrompt", "UserPromptSubmit"},
		{"postToolUse", eventSaved}, {"afterFileEdit", eventSaved}, {"postToolUseFailure", eventFailure},
		{"afterAgentResponse", "Stop"}, {"stop", "PreCompact"}, {"preCompact", "PreCompact"}, {"sessionEnd", "SessionEnd"},
	},
	tools:  names{{"Shell", toolBash}, {"Task", "Agent"}},
	take:   cursorTake,
	finish: cursorFinish,
	print:  contextAt("additional_context"),
	registered: []string{"sessionStart", "beforeSubmitPrompt", "postToolUse", "postToolUseFailure", "afterFileEdit",
		"afterAgentResponse", "stop", "preCompact", "sessionEnd"},
}

// cursorTake takes the first of the directories that are open, and what afterFileEdit tells: that
// goes into p.extra as members of an object, each with a comma before it, for cursorFinish.
func cursorTake(p *payload, key string, value []byte) bool {
	switch key {
	case "workspace_roots":
		p.projectDir, _, _ = strings.Cut(textIn(value), "\n") // one a line
	case "file_path", "edits":
		p.extra = append(append(append(p.extra, ',', '"'), key...), '"', ':')
		p.extra = append(p.extra, value...)
	default:
		return false
	}
	return true
}

// cursorFinish gives a tool call Claude Code's shape. Edits come by
// afterFileEdit, which has the texts; the call of the tool itself would be a second event, so it
// gets a name that no event has and is ignored.
func cursorFinish(p *payload) {
	e := &p.event
	if p.hostName == "afterFileEdit" {
		e.ToolName, e.ToolResponse = "MultiEdit", nil
		if len(p.extra) > 0 {
			e.ToolInput = append(append(json.RawMessage{'{'}, p.extra[1:]...), '}')
		}
		return
	}
	switch e.ToolName {
	case toolWrite, toolEdit, "MultiEdit", "StrReplace", "ApplyPatch", "EditNotebook":
		if p.name == eventSaved {
			p.name = "afterFileEdit has it"
		}
	case toolBash:
		if p.name == eventSaved {
			cursorShell(p)
		}
	case toolRead:
		if text, ok := jsonscan.Unquote(e.ToolResponse); ok && p.name == eventSaved {
			p.setFileRead(text, 1)
		}
	}
}

// cursorShell sets the result of a command line from its output: JSON within a string, or
// plain text, which tells no exit code and counts as success.
func cursorShell(p *payload) {
	output, _ := jsonscan.Unquote(p.event.ToolResponse)
	var stdout, stderr, text string
	var exit int64
	if bytes.HasPrefix([]byte(output), []byte("{")) &&
		jsonscan.Decode([]byte(output), map[string]any{"stdout": &stdout, "stderr": &stderr, "output": &text, "exitCode": &exit}) == nil {
		output = stdout + stderr + text
	}
	p.setShellResult(output, exit)
}
