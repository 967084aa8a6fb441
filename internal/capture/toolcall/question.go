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
			question.Options = append(question.Options, o)
		}
		question.choose()
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

// choose marks the options that the answer names: the one whose label it is, or begins with before it
// goes on in other words; of several one of those between commas each. Of labels that begin alike it is
// the longest. "" is no label.
func (q *Question) choose() {
	for answer, more := q.Answer, true; more; {
		chosen := &Option{}
		for i := range q.Options {
			o := &q.Options[i]
			if rest, ok := strings.CutPrefix(answer, o.Label); ok && len(o.Label) > len(chosen.Label) && (rest == "" || strings.IndexByte(",.;: (", rest[0]) >= 0) {
				chosen = o
			}
		}
		chosen.Chosen = true
		_, answer, more = strings.Cut(answer[len(chosen.Label):], ", ")
		more = more && q.Several
	}
}
