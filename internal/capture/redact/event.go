package redact

import (
	"claudemem/internal/capture/redact/secrets"
	"claudemem/internal/capture/redact/shapes"
	"claudemem/internal/capture/redact/tags"
	"claudemem/internal/leaf/glob"
	"claudemem/internal/leaf/text/runes"
	"claudemem/internal/memory"
)

// Event cleans an event in place: contents of files that match withhold are
// blanked, tags are stripped, secrets are masked, in every text of the event,
// paths and names too. It returns how many secrets and withheld texts there
// were by rule, nil when there were none. The bytes of its JSON are not written to: a changed
// value gets new ones. Ids that hold a secret become a mask, so whoever needs different ids to
// stay different hashes them before.
func Event(e *memory.Event, withheld glob.Set) map[string]int {
	var counts map[string]int
	withhold(e, withheld, &counts)
	for _, text := range Texts(e) {
		switch text {
		case &e.ProjectPath, &e.WorktreeRoot, &e.Cwd:
			*text = secrets.Mask(markStripped(*text), &counts)
		default:
			*text = scrub(*text, text == &e.Prompt, &counts)
		}
	}
	e.ToolInput = scrubJSON(e.ToolInput, &counts)
	e.ToolResponse = scrubJSON(e.ToolResponse, &counts)
	return counts
}

// Texts returns pointers to the plain texts of an event: all fields except JSON,
// our own ids and our own words, and the names of the session (Host, HostSessionID), which intake
// makes safe.
func Texts(e *memory.Event) [16]*string {
	return [16]*string{
		&e.Prompt, &e.LastAssistantMessage, &e.ToolError,
		&e.ProjectPath, &e.WorktreeRoot, &e.Cwd, &e.Branch, &e.HeadCommit,
		&e.ToolName, &e.ToolUseID, &e.AgentID, &e.AgentType, &e.PromptID,
		&e.Source, &e.Reason, &e.Transcript,
	}
}

// rulePrivate is what the mask names that stands in a path in the place of tags.
const rulePrivate = "private"

// markStripped is tags.Strip for the path of a folder, with a mask where the first tag was:
// without a part of its name the path would be that of another folder.
func markStripped(path string) string {
	stripped := tags.Strip(path)
	if stripped == path {
		return path
	}
	at := 0
	for at < len(stripped) && stripped[at] == path[at] {
		at++
	}
	head := runes.FirstBytes(stripped, at)
	return head + shapes.Mask(rulePrivate) + stripped[len(head):]
}

// dirty reports whether s has a tag or a secret, so that scrub would change it. typed: the user
// typed it. The cheap tests come first, as nearly all texts are clean.
func dirty(s string, typed bool) bool {
	tagged, plain := tags.Look(s)
	if plain {
		return true
	}
	found, escapes := secrets.In(s)
	return found || (tagged || escapes) && len(tags.Spans(s, typed, nil)) > 0
}

// scrub strips tags and masks secrets. typed: the user typed s.
func scrub(s string, typed bool, counts *map[string]int) string {
	if !dirty(s, typed) {
		return s
	}
	return secrets.Mask(tags.StripAs(s, typed), counts)
}
