package hook

import (
	"strconv"
	"strings"

	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/memory"
)

// geminiAdapter is for Gemini CLI. Observed with 0.61.0; see testdata/gemini-hooks.
var geminiAdapter = adapter{
	host:       memory.HostGemini,
	member:     geminiMember,
	event:      geminiEvent,
	finish:     geminiFinish,
	registered: geminiRegistered[:],
	inMillis:   true,
}

// geminiRegistered leaves out PreCompress, which comes before every request to the model,
// whether anything is compressed or not.
var geminiRegistered = [...]registration{
	{"SessionStart", VerbContext, 10},
	{"BeforeAgent", VerbNew, 5},
	{"AfterTool", VerbSave, 5},
	{"AfterAgent", VerbSummary, 5},
	{"SessionEnd", VerbEnd, 2},
}

// geminiMember names the final answer of a turn.
func geminiMember(_ *payload, key string, _ []byte) string {
	if key == "prompt_response" {
		return "last_assistant_message"
	}
	return key
}

func geminiEvent(name string, _ *memory.Event) string {
	switch name {
	case "BeforeAgent":
		return "UserPromptSubmit"
	case "AfterTool":
		return eventSaved
	case "AfterAgent":
		return "Stop"
	}
	return name
}

// geminiTool returns Claude Code's name of a tool; MCP tools and those that it does not
// have keep theirs.
func geminiTool(name string) string {
	switch name {
	case "run_shell_command":
		return toolBash
	case "read_file":
		return toolRead
	case "write_file":
		return toolWrite
	case "replace":
		return toolEdit
	case "glob":
		return "Glob"
	case "grep_search", "search_file_content":
		return "Grep"
	case "list_directory":
		return "LS"
	case "web_fetch":
		return "WebFetch"
	case "google_web_search":
		return "WebSearch"
	case "write_todos":
		return "TodoWrite"
	}
	return name
}

// geminiFinish gives a tool call Claude Code's names and shapes. The response has the text
// for the model (llmContent), what the user sees (returnDisplay: text, or an object for an
// edit), and an error.
func geminiFinish(p *payload) {
	e := &p.event
	if p.name != eventSaved {
		return
	}
	e.ToolName = geminiTool(e.ToolName)
	var content, display, message string
	var displayed, fault []byte
	if jsonscan.Decode(e.ToolResponse, map[string]any{"llmContent": &content, "returnDisplay": &displayed, "error": &fault}) != nil {
		return
	}
	display, _ = jsonscan.Unquote(displayed)
	if len(fault) > 0 && string(fault) != "null" {
		if jsonscan.Decode(fault, map[string]any{"message": &message}) != nil {
			message = textOrJSON(fault)
		}
		p.fail(message)
		return
	}
	switch e.ToolName {
	case toolBash:
		if display == "" {
			display = content
		}
		p.setShellResult(display, geminiExit(content))
	case toolRead:
		var first int64
		_ = jsonscan.Decode(e.ToolInput, map[string]any{"start_line": &first}) // no object: from the first line
		if content != "" {                                                     // else an image
			p.setFileRead(content, first)
		}
	case toolWrite, toolEdit:
		var created bool
		var before []byte
		if jsonscan.Decode(displayed, map[string]any{"isNewFile": &created, "originalContent": &before}) == nil {
			p.setFileWritten(created, before)
		}
	default:
		if content != "" {
			e.ToolResponse = quoted(content)
		}
	}
}

// geminiExit returns the exit code that Gemini CLI reports to its model on a line of its
// own behind the output; 0 if there is none.
func geminiExit(content string) int64 {
	const mark = "\nExit Code: "
	at := strings.LastIndex(content, mark)
	if at < 0 {
		return 0
	}
	line, _, _ := strings.Cut(content[at+len(mark):], "\n")
	exit, err := strconv.ParseInt(strings.TrimSpace(line), 10, 32)
	if err != nil {
		return 0
	}
	return exit
}
