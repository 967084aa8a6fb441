// Package plugin is what Claude Code installs: manifest, hooks, MCP server and
// skill, embedded so that one binary can install itself. The programs that they
// name are put into bin/ by `make build`, or by `claude-mem install` from where
// it runs.
package plugin

import "embed"

// Files are the plugin's files but for bin/. hooks/hooks.json is that of Linux
// and macOS; hook.HooksJSON has it for every system.
//
//go:embed .claude-plugin .mcp.json hooks skills
var Files embed.FS
