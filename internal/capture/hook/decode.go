package hook

import (
	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/memory"
)

// decode parses the members that are needed of a payload of the adapter's host;
// tool_input and tool_response stay raw JSON. The verb names the event where the payload
// does not.
func (p *payload) decode(input []byte, a *adapter, verb Verb) error {
	if err := jsonscan.Members(input, func(key string, value []byte) {
		if a.member != nil {
			if key = a.member(p, key, value); key == "" {
				return
			}
		}
		p.set(key, value)
	}); err != nil {
		return err
	}
	p.hostName = p.name
	if a.event != nil {
		p.name = a.event(p.name, &p.event)
	}
	if p.name == "" {
		p.name = eventOf(verb, &p.event)
	}
	if a.finish != nil {
		a.finish(p)
	}
	p.classify()
	return p.setPrompt()
}

// setPrompt sets the event's prompt when it is one. A note that the host sends when a
// background task ends is no prompt; what the user typed behind it is.
func (p *payload) setPrompt() error {
	if p.verb != VerbNew {
		return nil
	}
	if !p.promptIsText {
		return errWrongPrompt
	}
	p.event.Prompt = memory.TypedText(p.prompt)
	if p.event.Prompt == "" && p.prompt != "" {
		p.verb = ""
	}
	return nil
}

// eventOf returns Claude Code's name for the event that a verb is run for, "" for none.
func eventOf(verb Verb, e *memory.Event) string {
	switch verb {
	case VerbContext:
		return "SessionStart"
	case VerbNew:
		return "UserPromptSubmit"
	case VerbSave:
		if e.ToolError != "" {
			return "PostToolUseFailure"
		}
		return "PostToolUse"
	case VerbSummary:
		if e.AgentID != "" {
			return "SubagentStop"
		}
		return "Stop"
	case VerbEnd:
		return "SessionEnd"
	}
	return ""
}
