package hook

import (
	"bytes"
	"encoding/json"

	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/memory"
)

// cursorAdapter is for Cursor. Its payloads are from its documentation, since it has no
// program that runs without a login; see testdata/cursor-hooks.
var cursorAdapter = adapter{
	host:       memory.HostCursor,
	member:     cursorMember,
	event:      cursorEvent,
	finish:     cursorFinish,
	print:      cursorReply,
	registered: cursorRegistered[:],
}

// cursorRegistered has afterAgentResponse for the final answer, which stop does not have.
var cursorRegistered = [...]registration{
	{"sessionStart", VerbContext, 10},
	{"beforeSubmitPrompt", VerbNew, 5},
	{"postToolUse", VerbSave, 5},
	{"postToolUseFailure", VerbSave, 5},
	{"afterFileEdit", VerbSave, 5},
	{"afterAgentResponse", VerbSummary, 5},
	{"stop", VerbSummary, 5},
	{"preCompact", VerbSummary, 5},
	{"sessionEnd", VerbEnd, 2},
}

// cursorMember returns Claude Code's name of a member. A conversation is a session, a
// generation the answer to one prompt.
func cursorMember(p *payload, key string, value []byte) string {
	switch key {
	case "conversation_id":
		return "session_id"
	case "generation_id":
		return "prompt_id"
	case "workspace_roots":
		if len(value) > 0 && value[0] == '[' {
			jsonscan.Parts(value, func(_ string, root []byte) {
				if path, ok := jsonscan.Unquote(root); ok && p.projectDir == "" {
					p.projectDir = path
				}
			})
		}
		return ""
	case "tool_output":
		return "tool_response"
	case "error_message":
		return "error"
	case "duration":
		return "duration_ms"
	case "text":
		return "last_assistant_message"
	case "file_path", "edits":
		p.extra = append(append(append(p.extra, ',', '"'), key...), '"', ':')
		p.extra = append(p.extra, value...)
		return ""
	}
	return key
}

func cursorEvent(name string, _ *memory.Event) string {
	switch name {
	case "sessionStart":
		return "SessionStart"
	case "beforeSubmitPrompt":
		return "UserPromptSubmit"
	case "postToolUse", "afterFileEdit":
		return eventSaved
	case "postToolUseFailure":
		return eventFailure
	case "afterAgentResponse":
		return "Stop"
	case "stop", "preCompact":
		return "PreCompact" // flush: afterAgentResponse has ended the turn
	case "sessionEnd":
		return "SessionEnd"
	}
	return name
}

// cursorTool returns Claude Code's name of a tool.
func cursorTool(name string) string {
	switch name {
	case "Shell":
		return toolBash
	case "Task":
		return "Agent"
	}
	return name
}

// cursorFinish gives a tool call Claude Code's names and shapes. Edits come by
// afterFileEdit, which has the texts; the call of the tool itself would be a second event.
func cursorFinish(p *payload) {
	e := &p.event
	switch {
	case p.name != eventSaved && p.name != eventFailure:
		return
	case p.hostName == "afterFileEdit":
		e.ToolName, e.ToolResponse = "MultiEdit", nil
		if len(p.extra) > 0 {
			e.ToolInput = append(append(json.RawMessage{'{'}, p.extra[1:]...), '}')
		}
		return
	}
	switch e.ToolName = cursorTool(e.ToolName); e.ToolName {
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
// plain text.
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

// cursorReply returns the reply of sessionStart and postToolUse. A prompt's reply cannot
// have context.
func cursorReply(event, context string) []byte {
	if context == "" || event == "UserPromptSubmit" {
		return nil
	}
	return object("additional_context", quoted(context))
}
