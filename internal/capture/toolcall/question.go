package toolcall

import (
	"encoding/json"
	"strings"
)

// Question is one that an agent put to its user in a dialog, with the answer.
type Question struct {
	Text    string
	Options []Option
	// Answer is what the user chose or wrote, "" for none.
	Answer string
	// Several: more than one option could be chosen.
	Several bool
}

// Option is an answer that the agent offered.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description"`
	// Chosen: the user's answer names it.
	Chosen bool `json:"-"`
}

// Bounds of what is read of one dialog.
const (
	maxQuestions = 10
	maxOptions   = 20
)

// recommended ends a label that the agent recommends.
const recommended = " (recommended)"

// dialog is a dialog's input, and its response once the user has answered.
type dialog struct {
	Questions []struct {
		Question    string   `json:"question"`
		MultiSelect bool     `json:"multiSelect"`
		Options     []Option `json:"options"`
	} `json:"questions"`
	Answers map[string]string `json:"answers"`
}

// questions returns the questions of a dialog that the user has answered, the first maxQuestions;
// nil for none. Answers are found by the question's text, in the response or else in the input.
func questions(input, response json.RawMessage) []Question {
	var asked, answered dialog
	_ = json.Unmarshal(input, &asked) // a field of a wrong type leaves the others filled
	_ = json.Unmarshal(response, &answered)
	if len(answered.Questions) == 0 {
		answered.Questions = asked.Questions
	}
	var out []Question
	for _, q := range answered.Questions[:min(len(answered.Questions), maxQuestions)] {
		answer, ok := answered.Answers[q.Question]
		if !ok {
			answer = asked.Answers[q.Question]
		}
		if answer = strings.TrimSpace(answer); answer == "" {
			continue
		}
		question := Question{Text: q.Question, Answer: withoutRecommended(answer), Several: q.MultiSelect}
		for _, o := range q.Options[:min(len(q.Options), maxOptions)] {
			o.Label = withoutRecommended(o.Label)
			o.Chosen = question.chose(o.Label)
			question.Options = append(question.Options, o)
		}
		out = append(out, question)
	}
	return out
}

// withoutRecommended removes the mark of a recommended label, in any letter case.
func withoutRecommended(label string) string {
	if i := len(label) - len(recommended); i > 0 && strings.EqualFold(label[i:], recommended) {
		return label[:i]
	}
	return label
}

// chose reports whether the answer names an option: it is the label, or begins with it
// and goes on in other words; of several, one of those between commas is. "" is no label.
func (q *Question) chose(label string) bool {
	answer := q.Answer
	for label != "" {
		if rest, ok := strings.CutPrefix(answer, label); ok && (rest == "" || strings.IndexByte(",.;: (", rest[0]) >= 0) {
			return true
		}
		i := strings.Index(answer, ", ")
		if !q.Several || i < 0 {
			return false
		}
		answer = answer[i+2:]
	}
	return false
}
