package toolcall

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claudemem/internal/memory"
)

func TestQuestions(t *testing.T) {
	recorded, err := os.ReadFile("../../../testdata/claude-code-hooks/PostToolUse-AskUserQuestion.json")
	if err != nil {
		t.Fatal(err)
	}
	const two = `{"questions":[{"question":"Which store?","options":[{"label":"SQLite (Recommended)","description":"one file"},{"label":"SQL","description":"a server"}]},
		{"question":"Where?","multiSelect":true,"options":[{"label":"Linux"},{"label":"macOS"},{"label":"Windows"}]},{"question":"Unanswered?"}]`
	for _, test := range []struct {
		name, payload string
		want          []Question
	}{
		{"recorded", string(recorded), []Question{{Text: "Which one?", Answer: "A", Options: []Option{{"A", "first", true}, {"B", "second", false}}}}},
		{"own words and several", `{"tool_input":` + two + `},"tool_response":` + two + `,"answers":{"Which store?":"SQLite (Recommended)","Where?":"Linux, Windows"}}}`, []Question{
			{Text: "Which store?", Answer: "SQLite", Options: []Option{{"SQLite", "one file", true}, {"SQL", "a server", false}}},
			{Text: "Where?", Answer: "Linux, Windows", Several: true, Options: []Option{{Label: "Linux", Chosen: true}, {Label: "macOS"}, {Label: "Windows", Chosen: true}}},
		}},
		{"answers in the input, response a text", `{"tool_input":` + two + `,"answers":{"Which store?":"SQL, but on this machine"}},"tool_response":"answered"}`, []Question{
			{Text: "Which store?", Answer: "SQL, but on this machine", Options: []Option{{"SQLite", "one file", false}, {"SQL", "a server", true}}},
		}},
		{"labels that begin alike", `{"tool_input":{"questions":[{"question":"Which?","options":[{"label":"Redis"},{"label":"Redis with fallback"}]},
			{"question":"Where?","multiSelect":true,"options":[{"label":"Linux (new)"},{"label":"Linux"},{"label":"Linux (old)"}]}],"answers":{"Which?":"Redis with fallback","Where?":"Linux, Linux (old)"}}}`, []Question{
			{Text: "Which?", Answer: "Redis with fallback", Options: []Option{{Label: "Redis"}, {Label: "Redis with fallback", Chosen: true}}},
			{Text: "Where?", Answer: "Linux, Linux (old)", Several: true, Options: []Option{{Label: "Linux (new)"}, {Label: "Linux", Chosen: true}, {Label: "Linux (old)", Chosen: true}}},
		}},
		{"no answer", `{"tool_input":` + two + `}}`, nil},
		{"garbage", `{"tool_input":{"questions":3},"tool_response":[1]}`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var payload struct {
				ToolInput    json.RawMessage `json:"tool_input"`
				ToolResponse json.RawMessage `json:"tool_response"`
			}
			if err := json.Unmarshal([]byte(test.payload), &payload); err != nil {
				t.Fatal(err)
			}
			c := Parse(&memory.Event{Kind: memory.KindTool, ToolName: "AskUserQuestion", ToolInput: payload.ToolInput, ToolResponse: payload.ToolResponse})
			if diff := cmp.Diff(test.want, c.Questions); c.Tool != ToolQuestion || diff != "" {
				t.Errorf("tool %d, questions (-want +got):\n%s", c.Tool, diff)
			}
		})
	}
}

// A dialog that the user has dismissed decides nothing.
func TestQuestionDismissed(t *testing.T) {
	c := Parse(&memory.Event{Kind: memory.KindTool, ToolName: "AskUserQuestion", ToolError: "The user doesn't want to proceed",
		ToolInput: json.RawMessage(`{"questions":[{"question":"Which?"}],"answers":{"Which?":"A"}}`)})
	if len(c.Questions) != 0 {
		t.Errorf("questions %+v, want none", c.Questions)
	}
}
