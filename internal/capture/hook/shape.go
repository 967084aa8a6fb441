package hook

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/memory"
)

// unknownAdapter is for a host that calls the hooks of another one: it runs the hooks of Claude
// Code's settings, or copied them. Its payloads are understood by their shape.
var unknownAdapter = adapter{host: memory.HostUnknown, byShape: true}

// NotUnderstood is the message in hook.log about a payload of an unknown host of which no event could
// be made. claude-mem doctor counts them.
const NotUnderstood = "payload not understood"

var errNoEvent = errors.New("neither its name nor its members tell what happened")

// shape has the members of a payload by their names in snake_case, those of inner objects also behind
// the name of the object: that of {"tool":{"name":"x"}} is "tool_name" and "name". Of two members of
// one name the outer one counts.
type shape map[string][]byte

// deepestShape is the depth of objects in which members are looked for.
const deepestShape = 4

// The names of members by what they are, the surest first.
const (
	namesOfSession  = "session_id host_session_id content_session_id conversation_id thread_id trajectory_id task_id chat_id session_uuid session_key run_id session conversation thread chat"
	namesOfEvent    = "hook_event_name hook_event event_name event_type event hook_name hook agent_action_name kind type method action trigger"
	namesOfTool     = "tool_name tool tool_call_name tool_use_name call_name function_name mcp_tool_name name"
	namesOfInput    = "tool_input tool_args tool_arguments tool_parameters tool_params mcp_tool_arguments tool_call_arguments arguments args parameters params input"
	namesOfResponse = "tool_response tool_result tool_output tool_use_result mcp_result call_result result output response outcome observation"
	namesOfOutput   = "stdout text_result_for_llm llm_content output text content result message"
	namesOfError    = "error tool_error error_message failure failure_reason"
	namesOfCwd      = "cwd working_directory working_dir work_dir workdir current_directory directory workspace_path workspace_root workspace_folder workspace_roots workspace_folders workspace_directory workspace " + namesOfProject
	namesOfProject  = "project_dir project_path project_root project root_dir repo_root repo_path root"
	namesOfPrompt   = "prompt prompt_text user_prompt user_message user_input initial_prompt initial_task message text content query input request body"
	namesOfLast     = "last_assistant_message assistant_message assistant_response prompt_response last_message final_message final_response final_answer response answer reply message text content output_text output summary result"
)

// looseInput are the members of a tool's input that a host may report without an object around them.
const looseInput = "command command_line cmd script file_path path file filename edits changes patch diff old_string new_string old_text new_text old_str new_str before after content query pattern url"

// isWhole reports whether a member is what a tool was called with or answered: its members are none of
// the payload's.
func isWhole(name string) bool {
	return slices.Contains(strings.Fields("tool_input tool_args tool_arguments tool_parameters tool_response tool_result tool_output tool_use_result arguments args"), name)
}

// shapeOf reads a payload. The error is jsonscan.ErrNotObject.
func shapeOf(input []byte) (shape, error) {
	if err := jsonscan.Members(input, func(string, []byte) {}); err != nil {
		return nil, err
	}
	s, level := shape{}, []part{{"", bytes.TrimSpace(jsonscan.TrimBOM(input))}}
	for range deepestShape {
		var next []part
		for _, object := range level {
			jsonscan.Parts(object.value, func(key string, value []byte) {
				key = snake(key)
				for _, name := range []string{object.key + key, key} {
					if _, taken := s[name]; !taken {
						s[name] = value
					}
				}
				if value[0] == '{' && !isWhole(object.key+key) && !isWhole(key) {
					next = append(next, part{key + "_", value})
				}
			})
		}
		level = next
	}
	return s, nil
}

// value returns the first member of the names that is not null.
func (s shape) value(names string) []byte {
	for name := range strings.FieldsSeq(names) {
		if v := orNil(s[name]); v != nil {
			return v
		}
	}
	return nil
}

// text returns the first text of the members of the names that is not blank.
func (s shape) text(names string) string {
	for name := range strings.FieldsSeq(names) {
		if text := textIn(s[name]); strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}

// path is text for a path, also of a list of paths, or one in the form of a URL.
func (s shape) path(names string) string {
	first, _, _ := strings.Cut(s.text(names), "\n")
	return strings.TrimPrefix(first, "file://")
}

// says reports whether one of the members has one of the values, as they stand in the JSON.
func (s shape) says(names string, values ...string) bool {
	return slices.ContainsFunc(strings.Fields(names), func(name string) bool { return slices.Contains(values, string(s[name])) })
}

// textIn returns the text of a value: of a string, of the parts of a list, a line each, or of
// the first member of an object that is known to have one.
func textIn(value []byte) string {
	text, ok := jsonscan.Unquote(value)
	switch {
	case ok || len(value) == 0:
	case value[0] == '[':
		var texts []string
		jsonscan.Parts(value, func(_ string, element []byte) {
			if t := textIn(element); t != "" {
				texts = append(texts, t)
			}
		})
		text = strings.Join(texts, "\n")
	case value[0] == '{':
		jsonscan.Parts(value, func(key string, member []byte) {
			if text == "" && slices.Contains([]string{"text", "content", "message", "value", "result", "path", "uri", "name"}, snake(key)) {
				text = textIn(member)
			}
		})
	}
	return text
}

// unpacked returns the object that a JSON string holds, any other value as it is.
func unpacked(value []byte) []byte {
	if text, ok := jsonscan.Unquote(value); ok && strings.HasPrefix(text, "{") && jsonscan.Check([]byte(text)) == nil {
		return []byte(text)
	}
	return value
}

// decodeShape is decode for a payload of unknown form. errNoEvent if it does not tell what happened.
func (p *payload) decodeShape(input []byte, verb Verb, now time.Time) error {
	s, err := shapeOf(input)
	if err != nil {
		return err
	}
	e := &p.event
	e.PromptID, e.ToolUseID = s.text("prompt_id generation_id turn_id message_id execution_id"), s.text("tool_use_id tool_call_id call_id tool_id invocation_id")
	e.AgentID, e.AgentType = s.text("agent_id subagent_id"), s.text("agent_type subagent_type agent_name subagent_name")
	e.Cwd, p.projectDir = s.path(namesOfCwd), s.path(namesOfProject)
	e.Source, e.Reason, p.transcript = s.text("source"), s.text("reason end_reason"), s.path("transcript_path transcript")
	e.DurationMS, e.Interrupted = max(jsonscan.Int64(s.value("duration_ms execution_time_ms duration")), 0), s.says("is_interrupt interrupted", "true")
	if e.Source == "new" {
		e.Source = "startup"
	}
	if e.HostSessionID = s.text(namesOfSession); e.HostSessionID == "" && e.Cwd != "" { // a session for each day
		e.HostSessionID = now.UTC().Format(time.DateOnly) + " " + e.Cwd
	}
	p.hostName, e.ToolName = s.text(namesOfEvent), s.text(namesOfTool)
	if e.ToolInput = unpacked(s.value(namesOfInput)); len(e.ToolInput) == 0 || e.ToolInput[0] == '"' {
		if loose := s.loose(); loose != nil {
			e.ToolInput = loose
		}
	}
	response := unpacked(s.value(namesOfResponse))
	if whole, _ := shapeOf(response); whole["input"] != nil && whole["output"] != nil { // it repeats the call
		e.ToolInput, response = whole["input"], whole["output"]
	}
	if string(s["parent_agent_id"]) == "null" { // the agent that has no other above it
		e.AgentID = ""
	}
	message := p.outcome(s, response)
	known := p.setEvent(s, verb, message != "" || response != nil)
	p.hostName = cmp.Or(p.hostName, p.name)
	switch p.name {
	case eventSaved, eventFailure:
		e.ToolName = cmp.Or(e.ToolName, p.hostName)
		if e.ToolError == "" && p.name == eventFailure {
			e.ToolError = message
		} else if e.ToolResponse == nil {
			e.ToolResponse = orNil(response)
		}
	case eventStop, eventSubagent:
		e.LastAssistantMessage = s.text(namesOfLast)
	case "UserPromptSubmit":
		p.prompt = s.text(namesOfPrompt)
		p.promptIsText = p.prompt != ""
	}
	if p.classify(); p.verb == "" && !known {
		return errNoEvent
	}
	return p.setPrompt()
}

// loose returns the members of the input of a tool that have no object of their own, nil for none.
func (s shape) loose() []byte {
	var list []part
	for name := range strings.FieldsSeq(looseInput) {
		if v := orNil(s[name]); v != nil {
			list = append(list, part{name, v})
		}
	}
	if list == nil {
		return nil
	}
	return encodeParts(list, '{')
}

// outcome sets what came of a tool call: its error if it failed, else its response, with the output
// of a command as Claude Code names it. It returns the error or the output.
func (p *payload) outcome(s shape, response []byte) string {
	e, r := &p.event, s
	output := s.text("stdout")
	if len(response) > 0 && response[0] == '{' {
		r, _ = shapeOf(response) // part of valid JSON
		output = r.text(namesOfOutput)
	} else if response != nil {
		output = textIn(response)
	}
	if stderr := cmp.Or(r.text("stderr"), s.text("stderr")); stderr != "" {
		output = strings.TrimPrefix(output+"\n"+stderr, "\n")
	}
	message, exit := cmp.Or(s.text(namesOfError), r.text(namesOfError)), exitIn(output)
	failed := message != ""
	for _, m := range []shape{s, r} {
		exit = cmp.Or(exit, jsonscan.Int64(m.value("exit_code exit_status exitcode return_code returncode exit code")))
		failed = failed || m.says("success succeeded ok", "false") || m.says("is_error failed has_error", "true") ||
			m.says("result_type status outcome state", `"error"`, `"failed"`, `"failure"`, `"denied"`)
	}
	if exit != 0 {
		message = "Exit code " + strconv.FormatInt(exit, 10) + "\n" + cmp.Or(output, message)
	} else if failed {
		message = cmp.Or(message, output, "failed without a message")
	}
	switch {
	case message != "":
		e.ToolError = message
		return message
	case output != "" && (response == nil || response[0] == '['):
		e.ToolResponse = jsonscan.Object("stdout", output)
	case output != "" && response[0] == '{' && r["stdout"] == nil:
		e.ToolResponse = encodeParts(append(partsOf(response), part{"stdout", jsonscan.AppendQuote(nil, output)}), '{')
	}
	return output
}

// exitIn returns the exit code that the last line of an output tells, 0 for none.
func exitIn(output string) int64 {
	last := strings.ToLower(output[strings.LastIndexByte(output, '\n')+1:])
	for _, mark := range []string{"exit code", "exited with code", "exit status"} {
		if _, rest, ok := strings.Cut(last, mark); ok {
			exit, _ := strconv.ParseInt(strings.Trim(rest, ": =.)>\r"), 10, 32) // no number: it passed
			return exit
		}
	}
	return 0
}

// setEvent sets Claude Code's name of the event: by the host's name of it, else by the verb if it has
// no name, else by the members; "" for one that is not captured. done says that what came of a tool call
// is known. It returns false if nothing tells what happened.
func (p *payload) setEvent(s shape, verb Verb, done bool) (known bool) {
	e := &p.event
	p.name, known = eventInWords(p.hostName, done)
	switch hasTool := e.ToolName != "" || e.ToolInput != nil; {
	case known && p.name == eventSaved, !known && verb == VerbSave && hasTool, !known && verb == "" && hasTool && done:
		p.name = eventOf(VerbSave, e)
	case known || verb == VerbSave:
	case verb != "" && p.hostName == "": // a name that says nothing may be of any event
		p.name = eventOf(verb, e)
	case s.text("role message_role") != "assistant" && s.text("prompt prompt_text user_prompt user_message message query text") != "":
		p.name = eventOf(VerbNew, e)
	case s.text(namesOfLast) != "":
		p.name = eventOf(VerbSummary, e)
	case e.Reason != "":
		p.name = eventOf(VerbEnd, e)
	case e.Source != "":
		p.name = eventOf(VerbContext, e)
	}
	return known || p.name != ""
}

// The words by which hosts name what a tool does, and the begin and the end of something.
const (
	toolWords  = "tool command shell edit write patch mcp readcode readfile execut terminal"
	beginWords = "start begin creat spawn open init resum new"
	endWords   = "end stop clos delet shutdown exit terminat cancel dispos finish complet abort"
)

// eventWords tells Claude Code's name of an event, "" for one that is not captured: the first row of
// which the host's name has one of the words, and one of more unless that is "".
var eventWords = []struct{ words, more, event string }{
	{"subagent", endWords, eventSubagent},
	{"compact compress flush", "", "PreCompact"},
	{"subagent permission notif approv elicit config setup worktree instruction delta model checkpoint", "", ""},
	{"prompt usermessage userinput userquery userturn chatmessage usersubmit messagesubmit messagesent beforeagent", "", "UserPromptSubmit"},
	{toolWords, "fail error", eventFailure},
	{toolWords, "", eventSaved},
	{"error turnstart turnbegin", "", ""},
	{"session conversation thread chat task agent", beginWords, "SessionStart"},
	{"session conversation thread chat taskcancel taskabort", endWords, "SessionEnd"},
	{"dispos shutdown exit", "", "SessionEnd"},
	{endWords + " idle turn response answer done afteragent assistant", "", eventStop},
}

// eventInWords returns Claude Code's name of an event by the words of the host's name, "" for one that
// is not captured, such as a tool call that is about to be made. done says that the payload tells what
// came of the call.
func eventInWords(name string, done bool) (event string, known bool) {
	name = strings.ReplaceAll(snake(name), "_", "")
	has := func(words string) bool {
		return slices.ContainsFunc(strings.Fields(words), func(word string) bool { return strings.Contains(name, word) })
	}
	for _, row := range eventWords {
		if !has(row.words) || row.more != "" && !has(row.more) {
			continue
		}
		if row.event == eventSaved && !done && (strings.HasPrefix(name, "pre") || has("pretool before start begin request pending will")) {
			return "", true
		}
		return row.event, true
	}
	return "", false
}

// isForeign reports whether a payload that reached Claude Code's hooks is of another host. Claude Code
// tells session and event; its transcript is projects/…/SESSION.jsonl in any directory that is not another
// agent's, since CLAUDE_CONFIG_DIR moves it.
func (p *payload) isForeign() bool {
	transcript, session := strings.ReplaceAll(p.transcript, `\`, "/"), p.event.HostSessionID
	_, kind := EventNamed(p.hostName)
	switch {
	case session == "" || p.hostName == "":
		return true
	case strings.HasSuffix(transcript, "/"+session+".jsonl") && strings.Contains(transcript, "/projects/"):
		return slices.Contains([]string{"codex", "cursor", "factory", "gemini", "qwen"}, agentOfPath(transcript)) // they write such names too
	}
	return p.foreign || kind == "" || agentOfPath(transcript) != ""
}

// agentOfPath returns the name of the agent in whose directory below the home a transcript is
// (/home/dev/.qwen/…), "" for Claude Code's, and for one that tells nothing or is not in each payload.
func agentOfPath(path string) string {
	_, rest, _ := strings.Cut(path, "/.")
	name, _, _ := strings.Cut(rest, "/")
	if strings.HasPrefix(name, "claude") || slices.Contains([]string{"config", "local", "cache", "copilot", "vscode-server"}, name) {
		return ""
	}
	return name
}

// hostOf returns the host of a payload that is not Claude Code's: VS Code by its own spelling, another
// by what the payload calls it, else HostUnknown. All payloads of a session must give the same.
func hostOf(input []byte) memory.Host {
	outer, name := map[string]bool{}, ""
	jsonscan.Parts(bytes.TrimSpace(jsonscan.TrimBOM(input)), func(key string, value []byte) {
		outer[key] = true
		switch program, isVersion := strings.CutSuffix(snake(key), "_version"); {
		case isVersion && !slices.Contains(strings.Fields("hook hooks schema api protocol payload format sdk app client server event model"), program):
			name = cmp.Or(name, program)
		case key == "host" || key == "client":
			name = cmp.Or(name, textIn(value))
		case key == "transcript_path":
			name = cmp.Or(name, agentOfPath(textIn(value)))
		}
	})
	name = strings.ReplaceAll(strings.ToLower(name), " ", "-")
	switch {
	case outer["hookEventName"] && outer["sessionId"] && !outer["toolName"] && !outer["toolInput"] && (outer["timestamp"] || outer["transcript_path"]):
		return memory.HostVSCode
	case name == "" || len(name) > 32 || strings.HasPrefix(name, "claude") || !isName(name):
		return memory.HostUnknown
	}
	return memory.Host(name).Canonical()
}

// isName reports whether s has letters, digits, '-' and '_' only.
func isName(s string) bool {
	return strings.Trim(snake(s), "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// memberNames returns the names of a payload's outer members, the first ones, without any that could be
// more than a name.
func memberNames(input []byte) string {
	var list []string
	_ = jsonscan.Members(input, func(key string, _ []byte) { // none of what is no object
		if len(list) < 16 && len(key) <= 32 && isName(key) && !strings.Contains(key, " ") {
			list = append(list, key)
		}
	})
	return strings.Join(list, ", ")
}
