package main

import (
	"context"
	"os"
	"path/filepath"

	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
	"claudemem/internal/serve/mcpserver"

	"github.com/spf13/cobra"
)

// mcpCommand returns the command `claude-mem mcp`: serve the memory to an agent over
// MCP.
func (a *app) mcpCommand() *cobra.Command {
	return a.InDataDir(&cobra.Command{
		Use:   "mcp",
		Short: "Serve the memory to an agent over MCP",
		Long: `Serve the memory as tools of the Model Context Protocol, on standard input and
output: a host starts this for each of its windows and ends it by closing the input.

It asks the worker, starts one when none runs, and reads the database itself until
the worker answers. "This project" is the project of the client's first root, or of the
directory that it was started in. A worker serves the same tools at /mcp of its address
(` + "`claude-mem worker status`" + `). The tools are described in docs/mcp.md.`,
		Example: `  claude mcp add claude-mem -- claude-mem mcp
  npx @modelcontextprotocol/inspector --cli claude-mem mcp --method tools/list`,
	}, func(ctx context.Context, dataDir string, _ []string) error { return a.serveMCP(ctx, dataDir) })
}

// serveMCP serves MCP on standard input and output until the input or ctx ends, and starts a
// worker in the meantime, which stays when this process ends.
func (a *app) serveMCP(ctx context.Context, dataDir string) error {
	if print.IsTerminal(a.Stdin) {
		a.Note("This command is for hosts: it reads MCP messages from standard input. See `claude-mem mcp --help`; Ctrl-D ends it.")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := a.Place(dataDir).Client(ctx)
	options := mcpserver.Options{Version: wire.Program, Clock: a.Now}
	if session := a.Getenv(sessionKey); session != "" {
		options.Session = string(memory.HostClaudeCode) + ":" + session
	}
	if options.Dir = a.Getenv("CLAUDE_PROJECT_DIR"); options.Dir == "" {
		options.AskRoots, options.Dir = true, a.workingDirectory()
	}
	server := mcpserver.New(m.Memory, options)
	// The worker starts in the background: the client waits for our first answer.
	m.Wake()
	err := server.ServeStdio(ctx, a.Stdin, a.Stdout)
	cancel()
	m.Wait() // complete a claimed start: no other process may try for a while
	return err
}

// workingDirectory returns the directory in which the host started this process, "" for
// the root of the file system and the user's home: some hosts start their servers there.
func (a *app) workingDirectory() string {
	dir, err := os.Getwd()
	if err != nil || dir == filepath.Dir(dir) {
		return ""
	}
	if home, err := os.UserHomeDir(); err == nil && filepath.Clean(home) == dir {
		return ""
	}
	return dir
}
