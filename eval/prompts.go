package main

import "path/filepath"

// prompt is what somebody typed to an agent, and what of the project's memory it
// should bring up; testdata/prompts/README.md has the fields.
type prompt struct {
	ID       string         `json:"id"`
	Project  string         `json:"project"`
	Category string         `json:"category"`
	Text     string         `json:"text"`
	Relevant map[string]int `json:"relevant"`
}

func (p *prompt) related() bool { return len(p.Relevant) > 0 }

func readPrompts(folder string) (prompts []prompt, err error) {
	return prompts, readLines(filepath.Join(folder, "prompts.jsonl"), &prompts)
}
