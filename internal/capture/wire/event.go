package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"

	"claudemem/internal/capture/hosttext"
	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/memory"
)

// member is a member of an event's JSON form.
type member struct {
	name string
	to   any // *string, *int64, *bool or *json.RawMessage: the event's field
	// always: it is written also when it is empty.
	always bool
}

// membersOf returns the members of e's JSON form in the order in which they are written: one for each
// field of the type.
func membersOf(e *memory.Event) [27]member {
	return [...]member{
		{"delivery_id", &e.DeliveryID, true},
		{"kind", (*string)(&e.Kind), true},
		{"host", (*string)(&e.Host), true},
		{"host_session_id", &e.HostSessionID, true},
		{"prompt_id", &e.PromptID, false},
		{"occurred_at", (*int64)(&e.OccurredAt), true},
		{"project_path", &e.ProjectPath, false},
		{"worktree_root", &e.WorktreeRoot, false},
		{"cwd", &e.Cwd, false},
		{"branch", &e.Branch, false},
		{"head_commit", &e.HeadCommit, false},
		{"unmarked", &e.Unmarked, false},
		{"prompt", &e.Prompt, false},
		{"tool_name", &e.ToolName, false},
		{"tool_use_id", &e.ToolUseID, false},
		{"tool_input", &e.ToolInput, false},
		{"tool_response", &e.ToolResponse, false},
		{"error", &e.ToolError, false},
		{"is_interrupt", &e.Interrupted, false},
		{"duration_ms", &e.DurationMS, false},
		{"agent_id", &e.AgentID, false},
		{"agent_type", &e.AgentType, false},
		{"last_assistant_message", &e.LastAssistantMessage, false},
		{"source", &e.Source, false},
		{"reason", &e.Reason, false},
		{"transcript", &e.Transcript, false},
		{"backfill", (*string)(&e.Backfill), false},
	}
}

// EncodeEvent returns the JSON form of e: the same members that json.Marshal writes, without
// its cost for a process that does this once. Raw JSON in e must be valid, as it is not looked at;
// bytes in it that are not UTF-8 become U+FFFD.
func EncodeEvent(e *memory.Event) []byte {
	texts := e.Bytes()
	b := append(make([]byte, 0, 1024+texts+texts/64), '{')
	for i, m := range membersOf(e) {
		before := len(b)
		if i > 0 { // the first is always written
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, m.name...)
		b = append(b, `":`...)
		empty := false
		switch value := m.to.(type) {
		case *string:
			empty = *value == ""
			b = jsonscan.AppendQuote(b, *value)
		case *int64:
			empty = *value == 0
			b = strconv.AppendInt(b, *value, 10)
		case *bool:
			empty = !*value
			b = strconv.AppendBool(b, *value)
		case *json.RawMessage:
			empty = len(*value) == 0
			if utf8.Valid(*value) {
				b = append(b, *value...)
			} else {
				b = append(b, bytes.ToValidUTF8(*value, []byte("\uFFFD"))...)
			}
		}
		if empty && !m.always {
			b = b[:before]
		}
	}
	return append(b, '}')
}

// ParseEvent parses what EncodeEvent writes into e and reports whether data is
// just that: an object of the event's own members, each of its type. Anything else
// that a client may send (another name, null, a number with a point) is for
// encoding/json, which takes three times as long. After false e may be filled in part. e keeps no
// reference to data.
func ParseEvent(data []byte, e *memory.Event) bool {
	members := membersOf(e)
	ok := true
	err := jsonscan.Members(data, func(key string, value []byte) {
		i := slices.IndexFunc(members[:], func(m member) bool { return m.name == key })
		ok = ok && i >= 0 && parseMember(value, members[i].to)
	})
	return err == nil && ok
}

// parseMember parses a JSON value into a field of an event; false means that the
// value is of another type.
func parseMember(value []byte, field any) (ok bool) {
	switch to := field.(type) {
	case *string:
		*to, ok = jsonscan.Unquote(value)
	case *int64:
		n, err := strconv.ParseInt(string(value), 10, 64)
		*to, ok = n, err == nil
	case *bool:
		*to = string(value) == "true"
		ok = *to || string(value) == "false"
	case *json.RawMessage:
		*to, ok = bytes.Clone(value), true
	}
	return ok
}

const agentTool = "Agent"

// agentRun returns the id under which a subagent's run is kept.
func agentRun(agentID string) string { return "agent:" + agentID }

// NameAgentRun gives the call of a subagent that has completed the id that the
// subagent's end gets: the host reports one run twice, and the key of an event is made of its id,
// so that it is stored once. A subagent that was only launched keeps the id of its call; other
// events stay as they are.
func NameAgentRun(e *memory.Event) {
	if e.Kind != memory.KindTool || e.ToolName != agentTool && e.ToolName != "Task" {
		return
	}
	var status, id string
	if jsonscan.Decode(e.ToolResponse, map[string]any{"status": &status, "agentId": &id}) == nil && status == "completed" && id != "" {
		e.ToolUseID = agentRun(id)
	}
}

// SubagentEnd turns the end of a subagent, a KindStop with AgentID, into a tool event of its run: it
// is no end of the session's turn. It looks as if the Agent tool had returned the subagent's last
// message.
func SubagentEnd(e *memory.Event) {
	e.Kind = memory.KindTool
	e.ToolName = agentTool
	e.ToolUseID = ""
	if e.AgentID != "" {
		e.ToolUseID = agentRun(e.AgentID)
	}
	e.ToolInput = jsonscan.Object("subagent_type", e.AgentType)
	answer := jsonscan.Object("type", "text", "text", e.LastAssistantMessage)
	e.ToolResponse = jsonscan.Object("status", "completed", "agentId", e.AgentID, "agentType", e.AgentType, "content", slices.Concat([]byte("["), answer, []byte("]")))
	e.ToolError, e.LastAssistantMessage = "", ""
}

// Message turns a prompt that is a message of somebody else into a tool event, as if an agent of the
// sender's name had returned it: so it is neither the user's word nor lost.
func Message(e *memory.Event, m hosttext.Message) {
	e.Prompt, e.AgentType, e.LastAssistantMessage = "", m.From, m.Text
	SubagentEnd(e)
	if e.AgentType = ""; e.PromptID != "" {
		e.ToolUseID = "message:" + e.PromptID
	}
}
