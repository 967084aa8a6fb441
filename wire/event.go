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
	if e.Unmarked {
		o.key("unmarked")
		o.b = append(o.b, "true"...)
	}
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

// TextField returns e's member with a name in the JSON form, nil when it has none
// of that name or it is no text.
func TextField(e *claudemem.Event, name string) *string {
	switch name {
	case "delivery_id":
		return &e.DeliveryID
	case "kind":
		return (*string)(&e.Kind)
	case "host":
		return (*string)(&e.Host)
	case "host_session_id":
		return &e.HostSessionID
	case "prompt_id":
		return &e.PromptID
	case "project_path":
		return &e.ProjectPath
	case "worktree_root":
		return &e.WorktreeRoot
	case "cwd":
		return &e.Cwd
	case "branch":
		return &e.Branch
	case "head_commit":
		return &e.HeadCommit
	case "prompt":
		return &e.Prompt
	case "tool_name":
		return &e.ToolName
	case "tool_use_id":
		return &e.ToolUseID
	case "error":
		return &e.ToolError
	case "agent_id":
		return &e.AgentID
	case "agent_type":
		return &e.AgentType
	case "last_assistant_message":
		return &e.LastAssistantMessage
	case "source":
		return &e.Source
	case "reason":
		return &e.Reason
	}
	return nil
}

// ParseEvent parses what AppendEvent writes into e and reports whether data is
// just that: an object of the event's own members, each of its type. Anything else
// that a client may send (another name, null, a number with a point) is for
// encoding/json, which takes three times as long. e keeps no reference to data.
func ParseEvent(data []byte, e *claudemem.Event) bool {
	ok := true
	number := func(to *int64, value []byte) {
		n, err := strconv.ParseInt(string(value), 10, 64)
		*to, ok = n, ok && err == nil
	}
	err := jsonscan.Members(data, func(key string, value []byte) {
		if to := TextField(e, key); to != nil {
			var isText bool
			*to, isText = jsonscan.Unquote(value)
			ok = ok && isText
			return
		}
		switch key {
		case "occurred_at":
			number((*int64)(&e.OccurredAt), value)
		case "duration_ms":
			number(&e.DurationMS, value)
		case "tool_input":
			e.ToolInput = bytes.Clone(value)
		case "tool_response":
			e.ToolResponse = bytes.Clone(value)
		case "unmarked":
			e.Unmarked = string(value) == "true"
			ok = ok && (e.Unmarked || string(value) == "false")
		case "is_interrupt":
			e.Interrupted = string(value) == "true"
			ok = ok && (e.Interrupted || string(value) == "false")
		default:
			ok = false
		}
	})
	return err == nil && ok
}
