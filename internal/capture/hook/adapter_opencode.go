package hook

import (
	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/memory"
)

// openCodeAdapter is for OpenCode, which runs no commands: the plugin file that install
// writes (opencode.js) runs the hook with what OpenCode tells plugins. Observed with
// 1.18.33; see testdata/opencode-hooks.
var openCodeAdapter = adapter{
	host:   memory.HostOpenCode,
	member: openCodeMember,
	event:  openCodeEvent,
	finish: openCodeFinish,
}

// openCodeMember returns Claude Code's name of a member of the plugin's payloads.
func openCodeMember(p *payload, key string, value []byte) string {
	switch key {
	case "project_dir":
		p.projectDir, _ = jsonscan.Unquote(value)
		return ""
	case "metadata":
		p.extra = value
		return ""
	case "message_id":
		return "prompt_id"
	case "tool":
		return "tool_name"
	case "call_id":
		return "tool_use_id"
	case "args":
		return "tool_input"
	case "output":
		return "tool_response"
	}
	return key
}

func openCodeEvent(name string, e *memory.Event) string {
	switch name {
	case "session.created":
		return "SessionStart"
	case "chat.message":
		return "UserPromptSubmit"
	case "tool.execute.after":
		return eventOf(VerbSave, e)
	case "session.idle":
		return "Stop"
	case "experimental.session.compacting":
		return "PreCompact"
	case "session.deleted", "dispose":
		return "SessionEnd"
	}
	return name
}

// openCodeTool returns Claude Code's name of a tool; MCP tools and those that it does not
// have keep theirs.
func openCodeTool(name string) string {
	switch name {
	case "bash":
		return toolBash
	case "read":
		return toolRead
	case "write":
		return toolWrite
	case "edit":
		return toolEdit
	case "grep":
		return "Grep"
	case "glob":
		return "Glob"
	case "list":
		return "LS"
	case "patch":
		return "apply_patch"
	case "webfetch":
		return "WebFetch"
	case "task":
		return "Agent"
	case "skill":
		return "Skill"
	case "todowrite", "todoread":
		return "TodoWrite"
	}
	return name
}

// openCodeInput returns Claude Code's name of a tool's argument.
func openCodeInput(name string) string {
	if name == "patchText" {
		return "command"
	}
	return snake(name)
}

// openCodeFinish gives a tool call Claude Code's names and shapes. The response is the text
// for the model; what the tool knows beside it is in the payload's metadata.
func openCodeFinish(p *payload) {
	e := &p.event
	if p.name != eventSaved && p.name != eventFailure {
		return
	}
	e.ToolName = openCodeTool(e.ToolName)
	e.ToolInput = rename(e.ToolInput, openCodeInput)
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
