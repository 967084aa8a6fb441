package hook

import (
	"strings"

	"claudemem/jsonscan"
)

// decodeClaudeCode reads a payload of Claude Code. Only the members that are
// needed are looked at; tool_input and tool_response stay as they stand.
func decodeClaudeCode(input []byte, m *moment) error {
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
	m.settle()
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

// setPrompt takes the prompt of a moment that has one. Text that nobody typed,
// which the host sends when a background task ends, is no prompt.
func (m *moment) setPrompt(prompt typed) error {
	if m.verb != VerbNew {
		return nil
	}
	if !prompt.ok {
		return errWrongPrompt
	}
	if strings.HasPrefix(strings.TrimLeft(prompt.text, " \t\r\n"), "<task-notification>") {
		m.verb = ""
		return nil
	}
	m.event.Prompt = prompt.text
	return nil
}
