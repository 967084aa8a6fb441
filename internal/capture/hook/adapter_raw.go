package hook

import "claudemem/internal/memory"

// rawAdapter is for a host without an adapter of its own: it sends the members of Claude
// Code's payloads, in camelCase or snake_case (docs/hosts.md).
var rawAdapter = adapter{host: memory.HostRaw, byShape: true}

// vsCodeAdapter is for the agent mode of VS Code, which runs the hooks of Claude Code's settings too.
// Its payloads are from its documentation; see testdata/vscode-hooks.
var vsCodeAdapter = adapter{
	host: memory.HostVSCode, byShape: true, silent: eventPrompt,
}

// copilotAdapter is for Copilot CLI, observed with 1.0.102 (see testdata/copilot-hooks), and for the hooks
// that VS Code reads in the same directory. Under these names of events Copilot CLI calls its tools as
// Claude Code does.
var copilotAdapter = adapter{
	host: memory.HostCopilot, byShape: true, contextInBytes: true, print: contextAt("additionalContext"),
	registered: []string{"SessionStart", eventPrompt, eventSaved, eventFailure, eventStop, eventSubagent, "PreCompact", "SessionEnd"},
}

// snake converts a name to snake_case, which stays as it is. A key above 64 bytes, which is none of
// ours, is returned as it is.
func snake(key string) string {
	if len(key) > 64 {
		return key // none of ours
	}
	b := make([]byte, 0, 64)
	for i := range len(key) {
		c := key[i]
		switch {
		case 'A' <= c && c <= 'Z':
			if i > 0 && (key[i-1] < 'A' || 'Z' < key[i-1]) { // sessionID as well as sessionId
				b = append(b, '_')
			}
			c += 'a' - 'A'
		case c == '-' || c == '.' || c == ' ':
			c = '_'
		}
		b = append(b, c)
	}
	return string(b)
}
