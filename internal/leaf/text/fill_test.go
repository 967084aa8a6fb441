package text_test

import (
	"testing"

	"claudemem/internal/leaf/text"
)

func TestFill(t *testing.T) {
	const template = "Dear {{name}},\n{{#list}}\nYou have:\n{{list}}{{/list}}\n{{#none}}Nothing for {{name}}.\n{{/none}}Bye {{name}}"
	for want, values := range map[string]map[string]string{
		"Dear A,\nYou have:\n- x\nBye A":                      {"name": "A", "list": "- x\n", "none": ""},
		"Dear {{list}},\nNothing for {{list}}.\nBye {{list}}": {"name": "{{list}}", "list": "", "none": "yes"},
	} {
		if got := text.Fill(template, values); got != want {
			t.Errorf("Fill(%v):\n%q, want\n%q", values, got, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a name without a value passes")
		}
	}()
	text.Fill("{{nobody}}", nil)
}
