package hook

import (
	"cmp"

	"claudemem/internal/capture/hosttext"
	"claudemem/internal/capture/wire"
	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/memory"
)

// decode parses the members that are needed of a payload of the adapter's host;
// tool_input and tool_response stay raw JSON, as parts of input. The verb names the event where
// the payload does not; it may be "". An unknown event leaves p.verb "". The error is
// jsonscan.ErrNotObject, or errWrongPrompt.
func (p *payload) decode(input []byte, a *adapter, verb Verb) error {
	e, fields := &p.event, p.fields()
	if err := jsonscan.Members(input, func(key string, value []byte) {
		switch key, _ = a.members.of(key); {
		case a.take != nil && a.take(p, key, value):
		case key == "prompt":
			p.prompt, p.promptIsText = jsonscan.Unquote(value)
		case key == "error":
			e.ToolError = textOrJSON(value)
		default:
			p.foreign = p.foreign || key == "timestamp" || key == "conversation_id" || key == "workspace_roots"
			jsonscan.SetField(fields[key], value)
		}
	}); err != nil {
		return err
	}
	e.ToolInput, e.ToolResponse, e.DurationMS = orNil(e.ToolInput), orNil(e.ToolResponse), max(e.DurationMS, 0)
	p.hostName = p.name
	if name, listed := a.events.of(p.name); listed && name == aToolCall {
		p.name = eventOf(VerbSave, e)
	} else {
		p.name = cmp.Or(name, eventOf(verb, e))
	}
	if a.finish != nil && (p.name == eventSaved || p.name == eventFailure) {
		e.ToolName, _ = a.tools.of(e.ToolName)
		a.finish(p)
	}
	p.classify()
	return p.setPrompt()
}

// fields returns where the members of a payload go, by their names. A member of the wrong
// type counts as missing.
func (p *payload) fields() map[string]any {
	e := &p.event
	return map[string]any{
		"hook_event_name": &p.name, "session_id": &e.HostSessionID, "prompt_id": &e.PromptID, "cwd": &e.Cwd,
		"tool_name": &e.ToolName, "tool_use_id": &e.ToolUseID, "tool_input": (*[]byte)(&e.ToolInput), "tool_response": (*[]byte)(&e.ToolResponse),
		"is_interrupt": &e.Interrupted, "duration_ms": &e.DurationMS, "agent_id": &e.AgentID, "agent_type": &e.AgentType,
		"last_assistant_message": &e.LastAssistantMessage, "source": &e.Source, "reason": &e.Reason, "transcript_path": &p.transcript,
	}
}

// setPrompt sets the event's prompt to what the user typed. A message of somebody else is no prompt,
// but belongs to the turn (wire.Message). A payload with neither is ignored (verb ""). errWrongPrompt
// if there is no text.
func (p *payload) setPrompt() error {
	if p.verb != VerbNew {
		return nil
	}
	if !p.promptIsText {
		return errWrongPrompt
	}
	var message hosttext.Message
	switch p.event.Prompt, message = hosttext.Read(p.prompt); {
	case p.event.Prompt != "":
	case message.Text != "":
		wire.Message(&p.event, message)
	case hosttext.IsForHost(p.prompt):
		p.event.Prompt = "<private></private>" // nothing of the turn is for the user
	default:
		p.verb = ""
	}
	return nil
}

// The names of Claude Code's events that are told from others of their verb.
const (
	eventPrompt   = "UserPromptSubmit"
	eventSaved    = "PostToolUse"
	eventFailure  = "PostToolUseFailure"
	eventStop     = "Stop"
	eventSubagent = "SubagentStop"
)

// claudeEvents are Claude Code's events, to whose names the adapters translate those of other
// hosts, with the verb that handles each and the kind of event that it is.
var claudeEvents = [...]struct {
	name string
	verb Verb
	kind memory.EventKind
}{
	{"SessionStart", VerbContext, memory.KindSessionStart},
	{eventPrompt, VerbNew, memory.KindPrompt},
	{eventSaved, VerbSave, memory.KindTool},
	{eventFailure, VerbSave, memory.KindTool},
	{eventStop, VerbSummary, memory.KindStop},
	{eventSubagent, VerbSummary, memory.KindTool},
	{"PreCompact", VerbSummary, memory.KindFlush},
	{"SessionEnd", VerbEnd, memory.KindSessionEnd},
}

// EventNamed returns what handles an event of Claude Code and what it is, "" for an unknown
// name.
func EventNamed(name string) (Verb, memory.EventKind) {
	for _, c := range claudeEvents {
		if c.name == name {
			return c.verb, c.kind
		}
	}
	return "", ""
}

// eventOf returns Claude Code's name for the event that a verb is run for, "" for none: the first
// of the verb's, unless what is known of the event tells another.
func eventOf(verb Verb, e *memory.Event) string {
	switch {
	case verb == VerbSave && e.ToolError != "":
		return eventFailure
	case verb == VerbSummary && e.AgentID != "":
		return eventSubagent
	}
	for _, c := range claudeEvents {
		if c.verb == verb {
			return c.name
		}
	}
	return ""
}
