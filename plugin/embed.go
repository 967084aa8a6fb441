// Package plugin is what Claude Code installs: manifest, hooks, MCP server and
// skill, embedded so that one binary can install itself. They name the programs in the
// checkout's bin/; `claude-mem install` writes the paths where it puts them.
package plugin

import "embed"

// Files are the plugin's files without bin/. hooks/hooks.json is that of a checkout on
// Linux and macOS; hook.HooksJSON generates it for every system.
//
//go:embed .claude-plugin .mcp.json hooks skills
var Files embed.FS
