package redact

import (
	"claudemem"
	"claudemem/glob"
)

// Event cleans an event in place: contents of files that match withhold are
// blanked, tags are stripped, secrets are masked, in every text of the event,
// paths and names too. It returns how many secrets and withheld texts there
// were by rule, nil when there were none.
func Event(e *claudemem.Event, withheld glob.Set) map[string]int {
	var counts map[string]int
	withhold(e, withheld, &counts)
	for _, text := range Texts(e) {
		*text = scrub(*text, text == &e.Prompt, &counts)
	}
	e.ToolInput = scrubJSON(e.ToolInput, &counts)
	e.ToolResponse = scrubJSON(e.ToolResponse, &counts)
	return counts
}

// Texts returns pointers to the plain texts of an event: all fields except JSON,
// our own ids and our own words.
func Texts(e *claudemem.Event) [15]*string {
	return [15]*string{
		&e.Prompt, &e.LastAssistantMessage, &e.ToolError,
		&e.ProjectPath, &e.WorktreeRoot, &e.Cwd, &e.Branch, &e.HeadCommit,
		&e.ToolName, &e.ToolUseID, &e.AgentID, &e.AgentType, &e.PromptID,
		&e.Source, &e.Reason,
	}
}
