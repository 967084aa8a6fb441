package hook

import "claudemem/internal/memory"

// codexAdapter is for Codex CLI, whose hooks are modelled on Claude Code's: the same
// events, members and replies. Observed with 0.169.0: a command line comes as the tool
// Bash, whatever the model's tool is called, and its response is the output as text, of a
// command that failed too. It cuts the time of a SessionEnd hook to 3 s.
var codexAdapter = adapter{
	host:           memory.HostCodex,
	members:        names{{"turn_id", "prompt_id"}},
	contextInBytes: true,
	registered:     []string{"SessionStart", "UserPromptSubmit", eventSaved, "Stop", "SubagentStop", "PreCompact", "SessionEnd"},
}
