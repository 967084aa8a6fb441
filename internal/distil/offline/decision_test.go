package offline

import (
	"context"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

// dialog adds a question to the user with options, as label, description, label …, and
// the answer.
func (s *story) dialog(question, answer string, options ...string) *story {
	var list []fields
	for i := 0; i < len(options); i += 2 {
		list = append(list, fields{"label": options[i], "description": options[i+1]})
	}
	asked := []fields{{"question": question, "header": "Pick", "multiSelect": false, "options": list}}
	return s.add(memory.Event{Kind: memory.KindTool, ToolName: "AskUserQuestion", ToolInput: object(fields{"questions": asked}),
		ToolResponse: object(fields{"questions": asked, "answers": fields{question: answer}})})
}

func TestDialogDecides(t *testing.T) {
	const question = "Where should the sessions be kept?"
	options := []string{"Redis", "one more service to run", "Postgres", "a table; slower, but there already"}
	for _, test := range []struct {
		name, question, answer string
		options                []string
		title, subtitle        string
	}{
		{"an option", question, "Postgres", options, "Postgres rather than Redis", "Where should the sessions be kept? Not Redis. A table; slower, but there already"},
		{"an option and more", question, "Postgres, but behind an interface, so that we can still move to something else when it hurts", options,
			"Postgres, but behind an interface, so that we can still move to something else when it hurts", "Where should the sessions be kept? Not Redis. A table; slower, but there already"},
		{"own words", question, "in a signed cookie, nothing on the server", options, "In a signed cookie, nothing on the server", question},
		{"yes", "Drop support for Node 18?", "Yes", []string{"Yes", "end of life in April", "No", ""}, "Drop support for Node 18? Yes", "End of life in April"},
		{"errand", "Should I commit this?", "Yes", []string{"Yes", "", "No", ""}, "", ""},
		{"question in return", question, "what does Redis cost?", options, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, err := New().Distil(context.Background(), tell().ask("keep sessions over a restart").dialog(test.question, test.answer, test.options...).batch)
			if err != nil {
				t.Fatal(err)
			}
			verify(t, out)
			if test.title == "" {
				if len(out.Observations) > 0 {
					t.Errorf("observations %+v, want none", out.Observations)
				}
				return
			}
			if len(out.Observations) != 1 {
				t.Fatalf("%d observations, want 1", len(out.Observations))
			}
			o := out.Observations[0]
			if o.Type != memory.TypeDecision || o.Title != test.title || o.Subtitle != test.subtitle {
				t.Errorf("%s %q: %q, want %q: %q", o.Type, o.Title, o.Subtitle, test.title, test.subtitle)
			}
			rejected := strings.Contains(strings.Join(o.Facts, "\n"), "Rejected: Redis (one more service to run)")
			if want := strings.HasPrefix(test.title, "Postgres"); rejected != want {
				t.Errorf("facts %q: rejected %t, want %t", o.Facts, rejected, want)
			}
		})
	}
}
