package hook

import (
	"encoding/json"
	"errors"
	"strings"

	"claudemem"
	"claudemem/jsonscan"
	"claudemem/repo"
	"claudemem/wire"
)

// moment is a payload as an adapter understood it.
type moment struct {
	// verb handles it; "" when none does.
	verb Verb
	// name is the host's name for it, which a reply has to repeat.
	name  string
	event claudemem.Event
	// projectDir is where the host was started, when it says so.
	projectDir string
}

// Identifiers longer than this are not identifiers; nor are longer paths paths.
const (
	longestName = 512
	longestPath = 8 << 10
)

var (
	errEmptyInput  = errors.New("empty payload")
	errNoSession   = errors.New("no session id")
	errNoTool      = errors.New("no tool name")
	errWrongPrompt = errors.New("prompt is not text")
	errNoAdapter   = errors.New("unknown host")
)

// understand lets the host's adapter read the payload.
func (r *run) understand(input []byte) (*moment, error) {
	if len(input) == 0 {
		return nil, errEmptyInput
	}
	m := &moment{}
	var err error
	switch r.Host {
	case claudemem.HostClaudeCode:
		err = decodeClaudeCode(input, r.Verb, m)
	case claudemem.HostRaw:
		err = decodeRaw(input, r.Verb, m)
	default:
		err = errNoAdapter
	}
	if err != nil || m.verb == "" {
		return m, err
	}
	m.event.Host = r.Host
	m.event.OccurredAt = claudemem.MillisOf(r.stamp)
	return m, m.check()
}

// check refuses what is no event, and bounds what names things.
func (m *moment) check() error {
	e := &m.event
	if strings.TrimSpace(e.HostSessionID) == "" || len(e.HostSessionID) > longestName {
		return errNoSession
	}
	if e.Kind == claudemem.KindTool && e.ToolName == "" {
		return errNoTool
	}
	for _, id := range []*string{&e.PromptID, &e.ToolUseID, &e.AgentID} {
		if len(*id) > longestName {
			*id = "" // half an id would be a wrong one
		}
	}
	for _, name := range []*string{&e.ToolName, &e.AgentType, &e.Source, &e.Reason} {
		*name = truncateName(*name, longestName)
	}
	for _, path := range []*string{&e.Cwd, &m.projectDir} {
		if len(*path) > longestPath {
			*path = ""
		}
	}
	return nil
}

// set takes a member of a payload by its canonical name. A member of the wrong
// type counts as missing.
func (m *moment) set(key string, value []byte) {
	e := &m.event
	switch key {
	case "prompt_id", "cwd", "tool_name", "tool_use_id", "agent_id", "agent_type", "last_assistant_message", "source", "reason":
		*wire.TextField(e, key), _ = jsonscan.Unquote(value)
	case "session_id":
		e.HostSessionID, _ = jsonscan.Unquote(value)
	case "hook_event_name":
		m.name, _ = jsonscan.Unquote(value)
	case "tool_input":
		e.ToolInput = orNil(value)
	case "tool_response":
		e.ToolResponse = orNil(value)
	case "error":
		e.ToolError = textOrJSON(value)
	case "is_interrupt":
		e.Interrupted = jsonscan.Bool(value)
	case "duration_ms":
		e.DurationMS = max(jsonscan.Int64(value), 0)
	}
}

// present drops null, which says no more than a missing member.
func orNil(value []byte) json.RawMessage {
	if string(value) == "null" {
		return nil
	}
	return value
}

// loose takes text as it is and anything else as JSON: an error is worth keeping in any form.
func textOrJSON(value []byte) string {
	if text, ok := jsonscan.Unquote(value); ok {
		return text
	}
	return string(orNil(value))
}

// classify gives the event its kind and verb by the name that Claude Code has for
// the moment, which the other hosts' names are translated to.
func (m *moment) classify() {
	e := &m.event
	switch m.name {
	case "SessionStart":
		m.verb, e.Kind = VerbContext, claudemem.KindSessionStart
	case "UserPromptSubmit":
		m.verb, e.Kind = VerbNew, claudemem.KindPrompt
	case "PostToolUse":
		m.verb, e.Kind = VerbSave, claudemem.KindTool
		e.ToolError = ""
		wire.NameAgentRun(e)
	case "PostToolUseFailure":
		m.verb, e.Kind = VerbSave, claudemem.KindTool
		e.ToolResponse = nil
		if e.ToolError == "" {
			e.ToolError = "failed without a message"
		}
	case "Stop":
		m.verb, e.Kind = VerbSummary, claudemem.KindStop
	case "SubagentStop":
		m.noteSubagentEnd()
	case "PreCompact":
		m.verb, e.Kind = VerbSummary, claudemem.KindFlush
	case "SessionEnd":
		m.verb, e.Kind = VerbEnd, claudemem.KindSessionEnd
	}
	m.keepOwnFields()
}

// keepOwnFields drops what does not belong to the event's kind, so that a
// payload that repeats more than it should says nothing twice.
func (m *moment) keepOwnFields() {
	e := &m.event
	if e.Kind != claudemem.KindTool {
		e.ToolName, e.ToolUseID, e.ToolInput, e.ToolResponse, e.ToolError = "", "", nil, nil, ""
		e.Interrupted, e.DurationMS = false, 0
	}
	if e.Kind != claudemem.KindPrompt {
		e.Prompt = ""
	}
	if e.Kind != claudemem.KindStop {
		e.LastAssistantMessage = ""
	}
	if e.Kind != claudemem.KindSessionStart {
		e.Source = ""
	}
	if e.Kind != claudemem.KindSessionEnd {
		e.Reason = ""
	}
}

// noteSubagentEnd makes a tool event of a subagent's end. The compaction's own
// agent has no type and is none of the user's work.
func (m *moment) noteSubagentEnd() {
	if m.event.AgentType != "" {
		m.verb = VerbSummary
		wire.SubagentEnd(&m.event)
	}
}

// locate fills in where the event happened. The project is where the host was
// started, whatever directory a command has moved to since.
func (r *run) locate(m *moment) {
	if m.projectDir == "" {
		m.projectDir = truncateName(r.Getenv("CLAUDE_PROJECT_DIR"), longestPath)
	}
	id := repo.Identify(m.projectDir, m.event.Cwd)
	m.event.ProjectPath = id.Project
	m.event.WorktreeRoot = id.WorktreeRoot
	m.event.Branch = id.Branch
	m.event.HeadCommit = id.HeadCommit
}
