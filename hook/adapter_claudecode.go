package hook

import (
	"claudemem"
	"claudemem/jsonscan"
)

// decodeClaudeCode parses the members that are needed of a payload of Claude Code;
// tool_input and tool_response stay raw JSON. The verb names the event where the
// payload does not.
func decodeClaudeCode(input []byte, verb Verb, m *moment) error {
	prompt := wrongType
	if err := jsonscan.Members(input, func(key string, value []byte) {
		if key == "prompt" {
			prompt = textOf(value)
			return
		}
		m.set(key, value)
	}); err != nil {
		return err
	}
	if m.name == "" {
		m.name = eventOf(verb, &m.event)
	}
	m.classify()
	return m.setPrompt(prompt)
}

// typed is a text that may be missing or of another type.
type typed struct {
	text string
	ok   bool
}

var wrongType = typed{}

func textOf(value []byte) typed {
	text, ok := jsonscan.Unquote(value)
	return typed{text, ok}
}

// setPrompt takes the prompt of a moment that has one. A note that the host sends
// when a background task ends is no prompt; what the user typed behind it is.
func (m *moment) setPrompt(prompt typed) error {
	if m.verb != VerbNew {
		return nil
	}
	if !prompt.ok {
		return errWrongPrompt
	}
	m.event.Prompt = claudemem.TypedText(prompt.text)
	if m.event.Prompt == "" && prompt.text != "" {
		m.verb = ""
	}
	return nil
}
