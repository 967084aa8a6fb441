package hook

import (
	"cmp"
	"strconv"
	"strings"

	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/memory"
)

// geminiAdapter is for Gemini CLI. Observed with 0.61.0; see testdata/gemini-hooks. It does
// not register PreCompress, which comes before every request to the model, whether anything
// is compressed or not.
var geminiAdapter = adapter{
	host:    memory.HostGemini,
	members: names{{"prompt_response", "last_assistant_message"}},
	events:  names{{"BeforeAgent", "UserPromptSubmit"}, {"AfterTool", eventSaved}, {"AfterAgent", "Stop"}},
	tools: names{
		{"run_shell_command", toolBash}, {"read_file", toolRead}, {"write_file", toolWrite}, {"replace", toolEdit},
		{"glob", "Glob"}, {"grep_search", "Grep"}, {"search_file_content", "Grep"}, {"list_directory", "LS"},
		{"web_fetch", "WebFetch"}, {"google_web_search", "WebSearch"}, {"write_todos", "TodoWrite"},
	},
	finish:     geminiFinish,
	registered: []string{"SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "SessionEnd"},
	inMillis:   true,
}

// qwenAdapter is for Qwen Code, which has Claude Code's events and Gemini CLI's tools. Observed with
// 0.24.4; see testdata/qwen-hooks. It reports each answer of a tool as a prompt without text.
var qwenAdapter = adapter{
	host: memory.HostQwen, tools: append(names{{"edit", toolEdit}, {"todo_write", "TodoWrite"}, {"task", "Agent"}}, geminiAdapter.tools...), finish: geminiFinish,
	registered: claudeCodeAdapter.registered, inMillis: true,
}

// geminiFinish gives a tool call Claude Code's shape. The response has the text
// for the model (llmContent), what the user sees (returnDisplay: text, or an object for an
// edit), and an error, which makes the call a failure. A response of another form stays as it is.
func geminiFinish(p *payload) {
	e := &p.event
	var content, display, message string
	var displayed, fault []byte
	if exit := geminiExit(e.ToolError); p.name == eventFailure && exit != 0 { // of Qwen Code
		_, output, _ := strings.Cut(e.ToolError, "\nOutput: ")
		output, _, _ = strings.Cut(output, "\nError: ")
		p.setShellResult(output, exit)
	}
	if p.name != eventSaved || jsonscan.Decode(e.ToolResponse, map[string]any{"llmContent": &content, "returnDisplay": &displayed, "error": &fault}) != nil {
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
		p.setShellResult(cmp.Or(display, content), geminiExit(content))
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
			p.setFileWritten(created || string(before) == `""`, before)
		}
	default:
		if content != "" {
			e.ToolResponse = jsonscan.AppendQuote(nil, content)
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
