package hook

import "claudemem/internal/memory"

// codexAdapter is for Codex CLI, whose hooks are modelled on Claude Code's: the same
// events, members and replies. Observed with 0.169.0: a command line comes as the tool
// Bash, whatever the model's tool is called, and its response is the output as text, of a
// command that failed too.
var codexAdapter = adapter{
	host:           memory.HostCodex,
	member:         codexMember,
	contextInBytes: true,
	registered:     codexRegistered[:],
}

// codexRegistered has the names that Codex CLI 0.169.0 knows. It cuts the time of a
// SessionEnd hook to 3 s.
var codexRegistered = [...]registration{
	{"SessionStart", VerbContext, 10},
	{"UserPromptSubmit", VerbNew, 5},
	{"PostToolUse", VerbSave, 5},
	{"Stop", VerbSummary, 5},
	{"SubagentStop", VerbSummary, 5},
	{"PreCompact", VerbSummary, 5},
	{"SessionEnd", VerbEnd, 2},
}

// codexMember names the turn after the prompt that it answers.
func codexMember(_ *payload, key string, _ []byte) string {
	if key == "turn_id" {
		return "prompt_id"
	}
	return key
}
