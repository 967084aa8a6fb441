package main

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"claudemem/internal/capture/hook"
	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
	"claudemem/internal/run/daemon"
	"claudemem/internal/serve/api"
	"claudemem/internal/serve/mcpserver"

	"github.com/spf13/cobra"
)

// mcpCommand returns the command `claude-mem mcp`: serve the memory to an agent over
// MCP.
func (a *app) mcpCommand() *cobra.Command {
	return &cobra.Command{
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
		RunE: a.withDataDir(func(cmd *cobra.Command, dataDir string, _ []string) error { return a.serveMCP(cmd.Context(), dataDir) }),
	}
}

// serveMCP serves MCP on standard input and output until the input ends, and starts a
// worker in the meantime.
func (a *app) serveMCP(ctx context.Context, dataDir string) error {
	if isTerminal(a.stdin) {
		a.note("This command is for hosts: it reads MCP messages from standard input. See `claude-mem mcp --help`; Ctrl-D ends it.")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newClientMemory(ctx, a, dataDir)
	options := mcpserver.Options{Version: version, Identify: daemon.Identify, Clock: a.now}
	if session := a.getenv(sessionKey); session != "" {
		options.Session = string(memory.HostClaudeCode) + ":" + session
	}
	if options.Dir = a.getenv("CLAUDE_PROJECT_DIR"); options.Dir == "" {
		options.AskRoots, options.Dir = true, a.workingDirectory()
	}
	server := mcpserver.New(m.Memory, options)
	// The worker starts in the background: the client waits for our first answer.
	m.wakeSoon()
	err := server.ServeStdio(ctx, a.stdin, a.stdout)
	cancel()
	m.waking.Wait() // complete a claimed start: no other process may try for a while
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

const (
	// workerPatience is how long a worker may take to answer before the database is
	// read instead (it answers within a tenth of a second or is in trouble), and how
	// long a write waits for one that is starting.
	workerPatience = 5 * time.Second
	// wakePoll is the pause between two looks for that worker.
	wakePoll = 10 * time.Millisecond
)

// clientMemory is the memory of the MCP server. It asks the worker. Without one, reads use
// the files, which many processes may open, and writes wait for a worker, the one writer.
type clientMemory struct {
	api.Memory
	app     *app
	dataDir string
	// life ends with the client; waking counts the starts of a worker under way.
	life   context.Context
	waking sync.WaitGroup
	// patience is workerPatience.
	patience time.Duration
}

// newClientMemory returns the memory of a data directory for a client that stays: each
// call asks the worker. life bounds the starts of a worker.
func newClientMemory(life context.Context, a *app, dataDir string) *clientMemory {
	m := &clientMemory{app: a, dataDir: dataDir, life: life, patience: workerPatience}
	m.Memory = func(ctx context.Context, call api.Call) error {
		switch {
		case call.Reads():
			return m.read(ctx, call)
		case call.Path == api.NotePath: // without a worker nobody notes them
			_, err := askWorker(ctx, m.dataDir, m.patience, call)
			return err
		default:
			return m.write(ctx, call)
		}
	}
	return m
}

// read calls call with the worker's memory or, when no worker answers in time, with the
// files, and then starts a worker in the background.
func (m *clientMemory) read(ctx context.Context, call api.Call) error {
	err := askWorkerToRead(ctx, m.dataDir, m.patience, call)
	if err == nil || ctx.Err() != nil || memory.CodeOf(err) != memory.CodeUnavailable {
		return err
	}
	m.wakeSoon()
	files, err := m.app.openFiles(ctx, m.dataDir)
	if err != nil {
		return err
	}
	defer files.close()
	return files.Memory()(ctx, call)
}

// write waits for a worker that answers, and asks it once, so that nothing is done twice.
func (m *clientMemory) write(ctx context.Context, call api.Call) error {
	if !m.answers(ctx) {
		m.wake(ctx)
		waiting, cancel := context.WithTimeout(ctx, 2*m.patience) // one that is restarting takes longer
		defer cancel()
		for !m.answers(waiting) {
			if pause(waiting, wakePoll) {
				continue
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return memory.Errorf(memory.CodeUnavailable, "nothing was changed: no worker answers").
				WithHint("`claude-mem worker start` says what keeps it from starting; then try again")
		}
	}
	_, err := askWorker(ctx, m.dataDir, 2*m.patience, call)
	return err
}

// answers reports whether a worker answers now.
func (m *clientMemory) answers(ctx context.Context) bool {
	worker, err := api.FindWorker(m.dataDir)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, min(m.patience, time.Second))
	defer cancel()
	_, err = worker.Identity(ctx)
	return err == nil
}

// wakeSoon runs wake in the background.
func (m *clientMemory) wakeSoon() { m.waking.Go(func() { m.wake(m.life) }) }

// wake starts a detached worker unless one answers or another process is starting one.
// A caller that needs the worker has to ask it.
func (m *clientMemory) wake(ctx context.Context) {
	if m.answers(ctx) || ctx.Err() != nil {
		return
	}
	if mine, err := wire.ClaimStart(m.dataDir, m.app.now(), false); err == nil && mine {
		_ = hook.StartWorker(m.dataDir)
	}
}
