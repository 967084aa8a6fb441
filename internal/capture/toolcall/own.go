package toolcall

import (
	"slices"
	"strings"

	"claudemem/internal/leaf/text"
)

// ownTools are the prefixes of the names of claude-mem's MCP tools: by plugin and by itself
// in Claude Code, then as Codex CLI, Gemini CLI, OpenCode and
// Copilot CLI name them.
var ownTools = []string{"mcp__plugin_claude-mem_", "mcp__claude-mem__", "mcp__claude_mem__", "mcp_claude-mem_", "claude-mem_", "claude-mem-"}

// ownCursorTools are those tools in Cursor, which does not name the server.
var ownCursorTools = text.Set("MCP:search_memory MCP:get_observations MCP:get_session_summary MCP:get_project_context MCP:save_memory MCP:forget_memory MCP:judge_memory")

// ownAddresses are parts of a URL or option that address the worker's HTTP API: its
// port, or its socket in a data directory of any name.
var ownAddresses = []string{"localhost:37777", "127.0.0.1:37777", "/worker.sock"}

// IsOwn reports whether the agent looked at its memory: a tool of claude-mem's, or a
// command line that runs claude-mem or asks its API. Then what the call printed is
// remembered already. A line that also does something else (writes a file, runs a
// test, commits) is not our own.
func (c *Call) IsOwn() bool {
	name := c.event.ToolName
	own, other := countOwn(c.Commands)
	return own > 0 && other == 0 || ownCursorTools[name] || slices.ContainsFunc(ownTools, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// countOwn counts the commands, with those within them, that are claude-mem's and those that do
// something else. Commands that leave the project as it was, and throw-away programs, are neither.
func countOwn(commands []Command) (own, other int) {
	for i := range commands {
		c := &commands[i]
		inner, otherInner := countOwn(c.Inner)
		own, other = own+inner, other+otherInner
		switch {
		case c.isOwn() && len(c.Writes) == 0:
			own++
		case !c.Kind.IsQuiet() && c.Kind != KindInline:
			other++
		}
	}
	return own, other
}

// isOwn reports whether the command runs claude-mem or asks its worker over HTTP.
func (c *Command) isOwn() bool {
	switch c.Program() {
	case "claude-mem", "claude-mem-hook":
		return true
	case "curl", "wget", "http", "httpie":
		return slices.ContainsFunc(c.Words[1:], func(w string) bool { return text.ContainsAny(w, ownAddresses...) })
	}
	return false
}
