package wire

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"claudemem"
	"claudemem/jsonscan"
)

// AppendEvent appends the JSON form of e: the same fields that json.Marshal
// writes, without its cost for a process that does this once. Raw JSON in e must
// be valid; bytes in it that are not UTF-8 become U+FFFD.
func AppendEvent(b []byte, e *claudemem.Event) []byte {
	o := objectWriter{b: append(b, '{')}
	o.text("delivery_id", e.DeliveryID)
	o.text("kind", string(e.Kind))
	o.text("host", string(e.Host))
	o.text("host_session_id", e.HostSessionID)
	o.optional("prompt_id", e.PromptID)
	o.number("occurred_at", int64(e.OccurredAt))
	o.optional("project_path", e.ProjectPath)
	o.optional("worktree_root", e.WorktreeRoot)
	o.optional("cwd", e.Cwd)
	o.optional("branch", e.Branch)
	o.optional("head_commit", e.HeadCommit)
	o.optional("prompt", e.Prompt)
	o.optional("tool_name", e.ToolName)
	o.optional("tool_use_id", e.ToolUseID)
	o.raw("tool_input", e.ToolInput)
	o.raw("tool_response", e.ToolResponse)
	o.optional("error", e.ToolError)
	if e.Interrupted {
		o.key("is_interrupt")
		o.b = append(o.b, "true"...)
	}
	if e.DurationMS != 0 {
		o.number("duration_ms", e.DurationMS)
	}
	o.optional("agent_id", e.AgentID)
	o.optional("agent_type", e.AgentType)
	o.optional("last_assistant_message", e.LastAssistantMessage)
	o.optional("source", e.Source)
	o.optional("reason", e.Reason)
	return append(o.b, '}')
}

// objectWriter appends the members of one JSON object.
type objectWriter struct {
	b    []byte
	some bool
}

func (o *objectWriter) key(name string) {
	if o.some {
		o.b = append(o.b, ',')
	}
	o.some = true
	o.b = append(o.b, '"')
	o.b = append(o.b, name...)
	o.b = append(o.b, '"', ':')
}

func (o *objectWriter) text(name, value string) {
	o.key(name)
	o.b = jsonscan.AppendQuote(o.b, value)
}

func (o *objectWriter) optional(name, value string) {
	if value != "" {
		o.text(name, value)
	}
}

func (o *objectWriter) number(name string, value int64) {
	o.key(name)
	o.b = strconv.AppendInt(o.b, value, 10)
}

func (o *objectWriter) raw(name string, value json.RawMessage) {
	if len(value) == 0 {
		return
	}
	o.key(name)
	if utf8.Valid(value) {
		o.b = append(o.b, value...)
	} else {
		o.b = append(o.b, bytes.ToValidUTF8(value, []byte("\uFFFD"))...)
	}
}

// ParseEvent reads what AppendEvent writes into e and reports whether data is
// just that: an object of the event's own members, each of its type. Whatever
// else a client may send (another name, a null, a number with a point) is for
// encoding/json, which takes three times as long. e keeps nothing of data.
func ParseEvent(data []byte, e *claudemem.Event) bool {
	ok := true
	text := func(to *string, value []byte) {
		var is bool
		*to, is = jsonscan.Unquote(value)
		ok = ok && is
	}
	number := func(to *int64, value []byte) {
		n, err := strconv.ParseInt(string(value), 10, 64)
		*to, ok = n, ok && err == nil
	}
	err := jsonscan.Members(data, func(key string, value []byte) {
		switch key {
		case "delivery_id":
			text(&e.DeliveryID, value)
		case "kind":
			text((*string)(&e.Kind), value)
		case "host":
			text((*string)(&e.Host), value)
		case "host_session_id":
			text(&e.HostSessionID, value)
		case "prompt_id":
			text(&e.PromptID, value)
		case "occurred_at":
			number((*int64)(&e.OccurredAt), value)
		case "project_path":
			text(&e.ProjectPath, value)
		case "worktree_root":
			text(&e.WorktreeRoot, value)
		case "cwd":
			text(&e.Cwd, value)
		case "branch":
			text(&e.Branch, value)
		case "head_commit":
			text(&e.HeadCommit, value)
		case "prompt":
			text(&e.Prompt, value)
		case "tool_name":
			text(&e.ToolName, value)
		case "tool_use_id":
			text(&e.ToolUseID, value)
		case "tool_input":
			e.ToolInput = bytes.Clone(value)
		case "tool_response":
			e.ToolResponse = bytes.Clone(value)
		case "error":
			text(&e.ToolError, value)
		case "is_interrupt":
			e.Interrupted = string(value) == "true"
			ok = ok && (e.Interrupted || string(value) == "false")
		case "duration_ms":
			number(&e.DurationMS, value)
		case "agent_id":
			text(&e.AgentID, value)
		case "agent_type":
			text(&e.AgentType, value)
		case "last_assistant_message":
			text(&e.LastAssistantMessage, value)
		case "source":
			text(&e.Source, value)
		case "reason":
			text(&e.Reason, value)
		default:
			ok = false
		}
	})
	return err == nil && ok
}
