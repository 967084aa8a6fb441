package hook

import (
	"encoding/json"

	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/memory"
)

// openCodeAdapter is for OpenCode, which runs no commands: the plugin file that install
// writes (opencode.js) runs the hook with what OpenCode tells plugins. Observed with
// 1.18.33; see testdata/opencode-hooks.
var openCodeAdapter = adapter{
	host: memory.HostOpenCode,
	members: names{
		{"message_id", "prompt_id"}, {"tool", "tool_name"}, {"call_id", "tool_use_id"}, {"args", "tool_input"}, {"output", "tool_response"},
	},
	events: names{
		{"session.created", "SessionStart"}, {"chat.message", "UserPromptSubmit"}, {"tool.execute.after", aToolCall}, {"session.idle", "Stop"},
		{"experimental.session.compacting", "PreCompact"}, {"session.deleted", "SessionEnd"}, {"dispose", "SessionEnd"},
	},
	tools: names{
		{"bash", toolBash}, {"read", toolRead}, {"write", toolWrite}, {"edit", toolEdit}, {"grep", "Grep"}, {"glob", "Glob"}, {"list", "LS"},
		{"patch", "apply_patch"}, {"webfetch", "WebFetch"}, {"task", "Agent"}, {"skill", "Skill"}, {"todowrite", "TodoWrite"}, {"todoread", "TodoWrite"},
	},
	take:   openCodeTake,
	finish: openCodeFinish,
}

// openCodeTake takes the directory of the project and what a tool knows beside its answer.
func openCodeTake(p *payload, key string, value []byte) bool {
	switch key {
	case "metadata":
		p.extra = value
	case "project_dir":
		p.projectDir, _ = jsonscan.Unquote(value)
	default:
		return false
	}
	return true
}

// openCodeInput gives the arguments of a tool Claude Code's names; JSON that is no object stays as
// it is.
func openCodeInput(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || raw[0] != '{' {
		return raw
	}
	list := partsOf(raw)
	for i := range list {
		key := list[i].key
		if key == "patchText" {
			key = "command"
		}
		list[i].key = snake(key)
	}
	return encodeParts(list, '{')
}

// openCodeFinish gives a tool call Claude Code's shape. The response is the text
// for the model; what the tool knows beside it is in the payload's metadata.
func openCodeFinish(p *payload) {
	e := &p.event
	e.ToolInput = openCodeInput(e.ToolInput)
	if p.name == eventFailure {
		return
	}
	output, _ := jsonscan.Unquote(e.ToolResponse)
	switch e.ToolName {
	case toolBash:
		var exit int64
		_ = jsonscan.Decode(p.extra, map[string]any{"exit": &exit}) // no metadata: it passed
		p.setShellResult(output, exit)
	case toolRead:
		var display []byte
		var text string
		var first int64
		_ = jsonscan.Decode(p.extra, map[string]any{"display": &display})                // none: an image
		_ = jsonscan.Decode(display, map[string]any{"text": &text, "lineStart": &first}) // none: an image
		if text != "" {
			p.setFileRead(text, first)
		}
	case toolWrite:
		existed := true
		_ = jsonscan.Decode(p.extra, map[string]any{"exists": &existed}) // not told: no new file
		p.setFileWritten(!existed, nil)
	case toolEdit:
		p.setFileWritten(false, nil)
	}
}
